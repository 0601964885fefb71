"""What a file is by its first bytes, whatever its name: compressed files and other encodings."""

from pathlib import Path

from kmaps.errors import InputError

_FIRST_BYTES = 16
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"PK\x03\x04": "zip",
}
_WIDE = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_ARCHIVES = ("npz", "zip")  # formats that are archives themselves
_TEXTS = ("csv", "svm", "libsvm")


def check_content(path: str | Path, name: str, form: str) -> None:
    """Refuse a file that is compressed, or text of two or four bytes per character, by that name.

    Parameters
    ----------
    path : str or Path
        A regular file.
    name : str
        What the message calls the file.
    form : str
        The format that the file should have.

    Raises
    ------
    InputError
        When the file begins as a compressed file or an archive does, unless ``form`` is an archive,
        with the mark of UTF-16 or UTF-32, or, where it should be text, with bytes that are none.
    """
    with open(path, "rb") as file:
        beginning = file.read(_FIRST_BYTES)
    for mark, compression in _COMPRESSED.items():
        if beginning.startswith(mark) and not (compression == "zip" and form in _ARCHIVES):
            hint = "; of a spreadsheet, save the sheet as csv" if compression == "zip" else ""
            raise InputError(
                f"{name}: is compressed ({compression}), whatever its name; unpack it first{hint}"
            )
    for mark, encoding in _WIDE.items():
        if beginning.startswith(mark):
            raise InputError(f"{name}: is text in {encoding}; save it in UTF-8")
    if form in _TEXTS and b"\0" in beginning:
        raise InputError(f"{name}: is no text, or text in UTF-16; save it as text in UTF-8")
