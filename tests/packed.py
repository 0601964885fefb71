"""Archives that tests draw."""

import io
import tarfile
import zipfile


def tarred(*members, mode="w:gz"):
    """Return a tar of ``(name or TarInfo, content)``."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for member, content in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def zipped(*members, method=zipfile.ZIP_STORED):
    """Return a zip of ``(name or ZipInfo, content)``."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return file.getvalue()
