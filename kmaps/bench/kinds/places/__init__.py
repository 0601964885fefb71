"""Places: where the patches of images lie, on a grid or where the image is salient."""
