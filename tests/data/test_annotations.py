"""VOC 2007 and INRIA person in their official layouts."""

import numpy as np
import pytest
from PIL import Image

from kmaps.data.annotations import VOC_CLASSES, load_inria, load_voc
from kmaps.errors import ConfigError, DataError

VOC = """<annotation>
  <folder>VOC2007</folder><filename>000005.jpg</filename>
  <size><width>50</width><height>40</height><depth>3</depth></size>
  <object>
    <name>chair</name><pose>Rear</pose><truncated>0</truncated><difficult>0</difficult>
    <bndbox><xmin>26</xmin><ymin>21</ymin><xmax>32</xmax><ymax>34</ymax></bndbox>
  </object>
  <object>
    <name>sofa</name><pose>Unspecified</pose><truncated>1</truncated><difficult>1</difficult>
    <bndbox><xmin>1</xmin><ymin>24.0</ymin><xmax>6</xmax><ymax>37</ymax></bndbox>
  </object>
</annotation>
"""
INRIA = """# PASCAL Annotation Version 1.00

Image filename : "Test/pos/crop_1.png"
Image size (X x Y x C) : 594 x 720 x 3
Database : "The Rhône-Alpes Regional Group"
Objects with ground truth : 2 { "PASperson" "PASperson" }
# Top left pixel co-ordinates : (1, 1)

# Details for object 1 ("PASperson")
Original label for object 1 "PASperson" : "UprightPerson"
Bounding box for object 1 "PASperson" (Xmin, Ymin) - (Xmax, Ymax) : (194, 127) - (413, 647)

# Details for object 2 ("PASperson")
Bounding box for object 2 "PASperson" (Xmin, Ymin) - (Xmax, Ymax) : (1, 2) - (3, 5)
"""


@pytest.fixture
def voc(tmp_path):
    root = tmp_path / "VOC2007"
    for part in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (root / part).mkdir(parents=True)
    (root / "ImageSets/Main/val.txt").write_text("000005\n000007\n\n")
    (root / "ImageSets/Main/car_val.txt").write_text("000005 -1\n000007  1\n")
    (root / "Annotations/000005.xml").write_text(VOC)
    (root / "Annotations/000007.xml").write_text("<annotation/>")
    return root


@pytest.fixture
def inria(tmp_path):
    root = tmp_path / "INRIAPerson" / "Test"
    for part in ("pos", "neg", "annotations"):
        (root / part).mkdir(parents=True)
    for path in ("pos/crop_1.png", "neg/none_2.png"):
        Image.fromarray(np.zeros((4, 4), np.uint8)).save(root / path)
    (root / "annotations/crop_1.txt").write_text(INRIA, "latin-1")
    return root.parent


def test_voc(voc):
    first, second = load_voc(voc, "val")
    assert (first.name, first.path) == ("000005", voc / "JPEGImages" / "000005.jpg")
    assert first.classes == ("chair", "sofa")
    # Counted from 0, ends excluded: 7 pixels wide and 14 high.
    assert first.boxes.tolist() == [[25, 20, 32, 34], [0, 23, 6, 37]]
    assert first.difficult.tolist() == [False, True]
    boxes, difficult = first.of_class("sofa")
    assert (boxes.tolist(), difficult.tolist()) == ([[0, 23, 6, 37]], [True])
    assert second.boxes.shape == (0, 4)
    assert second.of_class("car")[0].shape == (0, 4)
    assert len(VOC_CLASSES) == len(set(VOC_CLASSES)) == 20


def test_voc_that_is_not_whole(voc):
    with pytest.raises(
        DataError, match=r"Main/test\.txt: no such file \(image sets: car_val, val\)"
    ):
        load_voc(voc, "test")
    path = voc / "Annotations" / "000005.xml"
    for text in ("<annotation>", VOC.replace("<ymax>34</ymax>", ""), VOC.replace(">26<", ">x<")):
        path.write_text(text)
        with pytest.raises(DataError, match=r"000005\.xml: not a VOC annotation"):
            load_voc(voc, "val")
    path.write_text(VOC.replace(">26<", ">33<"))
    with pytest.raises(DataError, match="an object's box is empty"):
        load_voc(voc, "val")
    path.unlink()
    with pytest.raises(DataError, match=r"000005\.xml: .*No such file"):
        load_voc(voc, "val")
    path.symlink_to("/dev/zero")
    with pytest.raises(DataError, match="a device or a pipe"):
        load_voc(voc, "val")


def test_inria(inria):
    people, nobody = load_inria(inria, "Test")
    assert people.path.name == "crop_1.png"
    assert people.boxes.tolist() == [[193, 126, 413, 647], [0, 1, 3, 5]]
    assert people.classes == ("person", "person")
    assert not people.difficult.any()
    assert nobody.path.name == "none_2.png"
    assert nobody.boxes.shape == (0, 4)


def test_inria_that_is_not_whole(inria):
    with pytest.raises(ConfigError, match="'test', did you mean 'Test'"):
        load_inria(inria, "test")
    with pytest.raises(DataError, match="Train/pos: no such folder"):
        load_inria(inria, "Train")
    path = inria / "Test" / "annotations" / "crop_1.txt"
    path.write_text("# PASCAL Annotation Version 1.00")
    with pytest.raises(DataError, match=r"crop_1\.txt: has no bounding box"):
        load_inria(inria, "Test")
    path.unlink()
    with pytest.raises(DataError, match=r"crop_1\.txt: No such file"):
        load_inria(inria, "Test")
