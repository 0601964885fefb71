"""Detection: a trade-off of detectors in the images of VOC 2007, as in genrbf, Sect. 4."""
