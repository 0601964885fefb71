"""What each mode of an image file means: depths, transparency, orientation, several images."""

import struct

import numpy as np
import pytest
from PIL import Image, ImageOps, TiffImagePlugin

from kmaps.errors import FileNote, InputError
from kmaps.features import extract, load_image
from kmaps.features.images import DEEP, EIGHT_BITS, TRANSPARENT

LEVELS = np.arange(12, dtype=np.uint8).reshape(3, 4) * 23
GREY = LEVELS / np.float32(255)


def loaded(path, **options):
    return load_image(path, 255, None, **options)


def tags(**values):
    directory = TiffImagePlugin.ImageFileDirectory_v2()
    for number, value in values.items():
        directory[int(number[1:])] = value
    return directory


EIGHT = {
    "L.png": lambda: Image.fromarray(LEVELS),
    "RGB.png": lambda: Image.fromarray(np.stack([LEVELS] * 3, axis=-1)),
    "opaque.png": lambda: Image.fromarray(LEVELS).convert("RGBA"),
    "LA.png": lambda: Image.fromarray(LEVELS).convert("LA"),
    "P.png": lambda: Image.fromarray(LEVELS).convert("P"),
    "P.gif": lambda: Image.fromarray(LEVELS),
    "L.tif": lambda: Image.fromarray(LEVELS),
    "L.bmp": lambda: Image.fromarray(LEVELS),
    "L.pgm": lambda: Image.fromarray(LEVELS),
    "RGB.webp": lambda: Image.fromarray(LEVELS),
}


@pytest.mark.parametrize("name", EIGHT)
def test_eight_bits(tmp_path, name):
    options = {"lossless": True} if name.endswith("webp") else {}
    EIGHT[name]().save(tmp_path / name, **options)
    # 1.2e-7 measured: colours are weighted to grey levels, which are whole.
    np.testing.assert_allclose(loaded(tmp_path / name), GREY, atol=3e-7)


def test_two_levels(tmp_path):
    Image.fromarray(LEVELS > 100).save(tmp_path / "a.png")
    np.testing.assert_array_equal(loaded(tmp_path / "a.png"), LEVELS > 100)


def test_inks_are_light_that_is_missing(tmp_path):
    for mode, colours in (("CMYK", [(0, 0, 0, 0), (0, 0, 0, 255)]), ("YCbCr", [(255, 128, 128)])):
        for colour in colours:
            Image.new(mode, (2, 2), colour).save(tmp_path / "a.tif")
            assert loaded(tmp_path / "a.tif").tolist() == [[float(colour[-1] != 255)] * 2] * 2


WIDE = LEVELS.astype(np.uint16) * 257
DEEP_FILES = {
    "16.png": (lambda path: Image.fromarray(WIDE).save(path), GREY),
    "16.tif": (lambda path: Image.fromarray(WIDE).save(path), GREY),
    "16.pgm": (lambda path: Image.fromarray(WIDE).save(path), GREY),
    "big endian.tif": (
        lambda path: Image.frombytes("I;16B", (4, 3), WIDE.astype(">u2").tobytes()).save(path),
        GREY,
    ),
    "stated.tif": (
        lambda path: Image.fromarray(WIDE // 16).save(path, tiffinfo=tags(t281=4095)),
        (WIDE // 16) / 4095,
    ),
    "inverted.tif": (
        lambda path: Image.fromarray(WIDE).save(path, tiffinfo=tags(t262=0)),
        1 - GREY,
    ),
    "16 signed.tif": (
        lambda path: Image.fromarray(WIDE // 2).save(path, tiffinfo=tags(t339=2)),
        (WIDE // 2) / 32767,
    ),
    "12.pgm": (
        lambda path: path.write_bytes(b"P5 4 3 4095\n" + (WIDE // 16).astype(">u2").tobytes()),
        (WIDE // 16) / 4095,
    ),
    "real numbers.tif": (
        lambda path: Image.fromarray(np.float32(WIDE / 16)).save(path, tiffinfo=tags(t341=4095.0)),
        WIDE / 16 / 4095,
    ),
    "32 stated.tif": (
        lambda path: Image.fromarray(WIDE.astype(np.int32)).save(path, tiffinfo=tags(t281=65535)),
        GREY,
    ),
}


@pytest.mark.parametrize("name", DEEP_FILES)
def test_more_than_eight_bits(tmp_path, name):
    write, expected = DEEP_FILES[name]
    write(tmp_path / name)
    # Pillow rounds the levels of PGM to 16 bits: 8e-6 measured.
    np.testing.assert_allclose(loaded(tmp_path / name), expected, atol=2e-5)
    small = load_image(tmp_path / name, 255, 2)
    assert small.shape == (2, 2)
    assert 0 <= small.min() < small.max() <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_what_does_not_state_its_white_is_refused_without_it(tmp_path, dtype):
    Image.fromarray(WIDE.astype(dtype)).save(tmp_path / "a.tif")
    with pytest.raises(InputError, match="does not state its white; pass white=LEVEL"):
        loaded(tmp_path / "a.tif")
    np.testing.assert_allclose(loaded(tmp_path / "a.tif", white=65535), GREY, atol=1e-7)
    with pytest.raises(InputError, match="holds the level 65021, expected 0 to 4095"):
        loaded(tmp_path / "a.tif", white=4095)


def packed_tiff(path, levels, bits, sample_format=1):
    """Write levels as samples of so many bits, without compression, by TIFF's specification."""
    height, width = levels.shape
    lines = []
    for row in levels.tolist():
        line = "".join(format(level, f"0{bits}b") for level in row)
        line += "0" * (-len(line) % 8)
        lines.append(int(line, 2).to_bytes(len(line) // 8, "big"))
    data = b"".join(lines)
    entries = {256: width, 257: height, 258: bits, 259: 1, 262: 1, 277: 1, 278: height}
    entries |= {273: 8 + 2 + 12 * 10 + 4, 279: len(data), 339: sample_format}
    directory = b"".join(struct.pack("<HHII", tag, 4, 1, entries[tag]) for tag in sorted(entries))
    count = struct.pack("<H", len(entries))
    path.write_bytes(b"II*\0\x08\0\0\0" + count + directory + bytes(4) + data)


def test_samples_of_other_depths(tmp_path):
    path = tmp_path / "a.tif"
    odd = np.arange(15).reshape(3, 5) * 273  # lines that end within a byte
    packed_tiff(path, odd, 12)
    np.testing.assert_allclose(loaded(path), odd / 4095, atol=1e-6)
    packed_tiff(path, odd // 273, 4)
    np.testing.assert_allclose(loaded(path), odd // 273 / 15, atol=1e-6)
    for bits in (10, 14, 24):
        packed_tiff(path, odd % 1024, bits)
        with pytest.raises(InputError, match="save it with 8 or 16 bits"):
            loaded(path)
    packed_tiff(path, odd // 273, 8, sample_format=2)
    with pytest.raises(InputError, match="signed samples of 8 bits"):
        loaded(path)


def test_levels_below_zero_are_refused_and_none_at_zero_is_not(tmp_path):
    Image.fromarray(LEVELS.astype(np.int32) - 1).save(tmp_path / "a.tif")
    with pytest.raises(InputError, match="holds the level -1, expected 0 to 255"):
        loaded(tmp_path / "a.tif", white=255)
    Image.fromarray(LEVELS.astype(np.int32) + 2).save(tmp_path / "b.tif")
    np.testing.assert_allclose(loaded(tmp_path / "b.tif", white=255), GREY + 2 / 255, atol=1e-7)


def test_other_modes_are_refused(tmp_path):
    Image.new("LAB", (2, 2)).save(tmp_path / "a.tif")
    with pytest.raises(InputError, match="mode LAB"):
        loaded(tmp_path / "a.tif")
    known = {*EIGHT_BITS, *TRANSPARENT, *DEEP, "LAB"}
    assert {found[0] for found in TiffImagePlugin.OPEN_INFO.values()} <= known


def ink(mode):
    """A transparent image with black ink, whose hidden colour is white in one half."""
    alpha = np.zeros((4, 6), np.uint8)
    alpha[1:3, 1:5] = 255
    hidden = np.where(np.arange(6) < 3, 255, 0).astype(np.uint8) * (alpha == 0)
    image = Image.merge("LA", [Image.fromarray(hidden), Image.fromarray(alpha)])
    return image if mode == "LA" else image.convert("RGBA")


@pytest.mark.parametrize(("mode", "suffix"), [("LA", "png"), ("RGBA", "png"), ("RGBA", "webp")])
def test_transparent_images_are_composed(tmp_path, mode, suffix):
    path = tmp_path / f"a.{suffix}"
    ink(mode).save(path, **({"lossless": True, "exact": True} if suffix == "webp" else {}))
    expected = np.ones((4, 6))
    expected[1:3, 1:5] = 0
    np.testing.assert_array_equal(loaded(path), expected)
    message = r"becomes one grey value on background=black; pass background=white"
    with pytest.raises(InputError, match=message):
        loaded(path, background="black")


def test_a_transparent_colour_is_composed(tmp_path):
    for name, image in {
        "P.gif": Image.fromarray(LEVELS // 64 * 0 + (LEVELS > 100).astype(np.uint8), "P"),
        "P.png": Image.fromarray((LEVELS > 100).astype(np.uint8), "P"),
    }.items():
        image.putpalette([0, 0, 0, 9, 9, 9])
        image.save(tmp_path / name, transparency=0)
        np.testing.assert_allclose(
            loaded(tmp_path / name), np.where(LEVELS > 100, 9 / 255, 1), atol=1e-6
        )
    for name, levels, white in (("L.png", LEVELS, 255), ("16.png", WIDE, 65535)):
        Image.fromarray(levels).save(tmp_path / name, transparency=0)
        expected = np.where(levels == 0, 1, levels / white)
        np.testing.assert_allclose(loaded(tmp_path / name), expected, atol=1e-6)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
def test_images_are_turned_as_viewers_turn_them(tmp_path, orientation, suffix):
    levels = np.zeros((16, 24), np.uint8)
    levels[:8, :8] = 250
    levels[8:, :8] = 120
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"webp": {"lossless": True}, "tif": {"compression": "tiff_lzw"}}.get(suffix, {})
    Image.fromarray(levels).save(tmp_path / f"a.{suffix}", exif=exif, **options)
    with Image.open(tmp_path / f"a.{suffix}") as opened:
        expected = np.asarray(ImageOps.exif_transpose(opened).convert("L")) / 255
    found = loaded(tmp_path / f"a.{suffix}")
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.shape == ((24, 16) if 5 <= orientation <= 8 else (16, 24))


def test_a_tiff_that_pillow_scrambles_is_refused(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(LEVELS).save(tmp_path / "a.tif", exif=exif)
    with pytest.raises(InputError, match="uncompressed TIFF of orientation 6"):
        loaded(tmp_path / "a.tif")


def test_damaged_exif_turns_nothing(tmp_path):
    Image.fromarray(LEVELS).save(tmp_path / "a.png", exif=b"Exif\0\0broken")
    np.testing.assert_array_equal(loaded(tmp_path / "a.png"), GREY)


def test_dark_images_of_16_bits_are_reported(tmp_path):
    names = [tmp_path / f"{number}.png" for number in range(3)]
    for name in names:
        Image.fromarray(WIDE // 16).save(name)

    class Folder:
        name, max_level, digest, images = "folder", 255, "", names
        white: float | None = None
        background = "white"

    with pytest.warns(FileNote, match=r"exceeds 4,063, .* 12 bits\? white=4095 makes"):
        extract(Folder(), "intensity")
    Folder.white = 4095
    bright = extract(Folder(), "intensity")
    np.testing.assert_allclose(bright[0], (WIDE // 16).ravel() / 4095, atol=1e-7)


def test_files_of_several_images_are_counted(tmp_path):
    names = [tmp_path / name for name in ("a.gif", "b.png", "c.tif")]
    frames = [Image.fromarray(LEVELS), Image.fromarray(255 - LEVELS)]
    for name in names:
        frames[0].save(name, save_all=True, append_images=frames[1:])

    class Folder:
        name, max_level, digest, images = "folder", 255, "", names

    with pytest.warns(FileNote, match="3 files hold several images, of which the first"):
        X = extract(Folder(), "intensity")
    np.testing.assert_allclose(X[0], GREY.ravel(), atol=3e-7)
