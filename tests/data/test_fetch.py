"""The whole way of a dataset into the cache, from a mirror the tests draw."""

import gzip
import json
import multiprocessing
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from kmaps.data import download, load_dataset
from kmaps.data.cache import verified
from kmaps.errors import DataError

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.delenv("KMAPS_MIRROR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def get(tiny, root):
    """Return the function that downloads the dataset, from its mirror or another place."""

    def get_it(address=None, **options):
        if address is not None:
            return download(tiny.at(address), data_dir=root, **options)
        return download(tiny.manifest, data_dir=root, **{"mirror": tiny.folder, **options})

    return get_it


def assert_is_tiny(tiny, root):
    data = load_dataset(tiny.manifest, data_dir=root)
    np.testing.assert_array_equal(data.images, tiny.images)
    np.testing.assert_array_equal(data.y, tiny.y)
    assert data.groups.tolist() == ["train"] * 3 + ["test"] * 2
    assert data.digest == tiny.manifest.digest


def files_of(root):
    found = (p for p in root.rglob("*") if p.is_file() and p.name != "lock")  # not on all systems
    return sorted(p.relative_to(root).as_posix() for p in found)


def test_from_a_mirror_folder_then_present(tiny, root, get, tmp_path):
    for path in sorted((tiny.folder / "tiny").iterdir())[:2]:  # plain files serve as well
        path.write_bytes(gzip.decompress(path.read_bytes()))
    done = get()
    assert (done.status, done.folder, done.notes) == ("downloaded", root / "tiny", ())
    assert_is_tiny(tiny, root)
    before = {path: (root / path).stat().st_mtime_ns for path in files_of(root)}
    shutil.rmtree(tiny.folder)
    assert get(mirror=[]).status == "present"
    assert {path: (root / path).stat().st_mtime_ns for path in files_of(root)} == before
    names = ("groups.npy", "images.npy", "labels.npy", "stamp.json")
    assert list(before) == [f"tiny/{name}" for name in names]
    shutil.copytree(root, tmp_path / "copy", copy_function=shutil.copyfile)  # with other times
    assert_is_tiny(tiny, tmp_path / "copy")


def test_next_source_when_the_first_lacks_the_file_and_the_second_has_another(
    tiny, root, get, serve, tmp_path
):
    wrong = tmp_path / "wrong"
    shutil.copytree(tiny.folder, wrong)
    (wrong / "tiny/test-labels.gz").write_bytes(b"<!DOCTYPE html><html>moved</html>")
    (wrong / "tiny/train-labels.gz").unlink()
    (tmp_path / "third/tiny").mkdir(parents=True)
    (tiny.folder / "tiny/train-labels.gz").rename(tmp_path / "third/tiny/train-labels.gz")
    missing, refused, other = get(mirror=[wrong, serve(tiny.folder).url, tmp_path / "third"]).notes
    assert_is_tiny(tiny, root)
    expected = next(f.sha256 for f in tiny.manifest.files if f.role == "test-labels")
    assert missing == f"{wrong}/tiny/train-labels.gz: no such file"
    assert refused.endswith("train-labels.gz: HTTP 404 Not Found")
    assert other.startswith(
        f"{wrong}/tiny/test-labels.gz: wrong content: expected 10 bytes of sha256 {expected}, got "
    )
    assert other.endswith("the file has 33 bytes and begins b'<!DOCTYPE html><'")


@pytest.mark.parametrize("damage", ["wrong", "truncated"])
def test_damaged_everywhere(tiny, root, get, serve, damage):
    path = tiny.folder / "tiny/train-images.gz"
    path.write_bytes(gzip.compress(b"other") if damage == "wrong" else path.read_bytes()[:-10])
    said = "wrong content: expected" if damage == "wrong" else "truncated or damaged"
    server = serve(tiny.folder)
    with pytest.raises(DataError) as caught:
        get(server.url, mirror=tiny.folder)
    message = str(caught.value)
    assert message.startswith("tiny/train-images.gz: no source has it: ")
    for origin in (tiny.folder, server.url):
        assert f" {origin}/tiny/train-images.gz: {said}" in message
    assert str(root) not in message
    assert message.endswith("an address that has it with mirror=PLACE or KMAPS_MIRROR")
    assert "\n" not in message
    assert files_of(root) == []


def test_files_already_fetched_are_not_fetched_again(tiny, get, serve):
    last = tiny.manifest.files[-1].path
    content = (tiny.folder / last).read_bytes()
    (tiny.folder / last).unlink()
    server = serve(tiny.folder)
    with pytest.raises(DataError, match="404"):
        get(server.url)
    (tiny.folder / last).write_bytes(content)
    server.requests.clear()
    get(server.url)
    assert server.requests == [(f"/{last}", None)]


@pytest.mark.parametrize("value", ["1", "0", "false", ""])
def test_offline_asks_nobody_and_may_be_switched_off(tiny, get, serve, monkeypatch, value):
    server = serve(tiny.folder)
    monkeypatch.setenv("KMAPS_OFFLINE", value)
    for offline in [True, False] if value == "1" else [True]:
        with pytest.raises(DataError, match="no source has it: kmaps is offline"):
            get(server.url, mirror=server.url, offline=offline)
    assert server.requests == []
    if value != "1":
        assert get(server.url, mirror=server.url).status == "downloaded"


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "damage", "reason"),
    [
        ("images.npy", lambda path: path.write_bytes(b""), "images.npy: has 0 bytes, expected 158"),
        ("images.npy", flip, "images.npy: has changed since it was verified"),
        ("labels.npy", Path.unlink, "No such file"),
        ("stamp.json", Path.unlink, "No such file"),
        *(
            ("stamp.json", lambda path, text=text: path.write_text(text), "damaged or edited")
            for text in ("{", "{}", "[]")
        ),
    ],
)
def test_damaged_cache_is_reported_and_repaired(tiny, root, get, name, damage, reason):
    get()
    damage(root / "tiny" / name)
    with pytest.raises(DataError, match=f"{reason}.*`kmaps download tiny`"):
        load_dataset(tiny.manifest, data_dir=root)
    before = files_of(root)
    with pytest.raises(DataError, match="no source has it"):
        get(mirror=[])
    assert files_of(root) == before
    done = get()
    assert done.status == "repaired"
    assert done.notes == (f"{root}/tiny was damaged or had another version; it is replaced",)
    assert_is_tiny(tiny, root)


def test_bytes_that_changed_while_the_time_stayed_are_found_by_hashing(tiny, root, get):
    get()
    images = root / "tiny/images.npy"
    assert verified(root) == {"tiny": ""}
    written = images.stat().st_mtime_ns
    flip(images)
    os.utime(images, ns=(written, written))
    assert get(mirror=[]).status == "present"
    assert verified(root) == {"tiny": "images.npy: has changed since it was verified"}
    assert get(verify=True).status == "repaired"
    assert_is_tiny(tiny, root)


@pytest.mark.parametrize("name", ["images.npy", "stamp.json"])
def test_a_device_in_the_cache_is_not_read(tiny, root, get, name):
    get()
    stamp = json.loads((root / "tiny/stamp.json").read_text())
    stamp["files"]["images.npy"]["size"] = 0  # as /dev/zero has it
    (root / "tiny/stamp.json").write_text(json.dumps(stamp))
    (root / "tiny" / name).unlink()
    (root / "tiny" / name).symlink_to("/dev/zero")
    with pytest.raises(DataError, match=r"device|regular file"):
        load_dataset(tiny.manifest, data_dir=root)


def _download_in_a_process(manifest, root, barrier, results):
    barrier.wait()
    results.put(download(manifest, data_dir=root).status)


def test_two_processes_at_once_fetch_once(tiny, root, serve):
    server = serve(tiny.folder)
    barrier, results = SPAWN.Barrier(3), SPAWN.Queue()
    work = (tiny.at(server.url), root, barrier, results)
    processes = [SPAWN.Process(target=_download_in_a_process, args=work) for _ in range(3)]
    for process in processes:
        process.start()
    statuses = sorted(results.get(timeout=60) for _ in processes)
    for process in processes:
        process.join()
    assert statuses == ["downloaded", "present", "present"]
    assert len(server.requests) == 4
    assert_is_tiny(tiny, root)


def _die_while_writing(manifest, root, mirror):
    np.save = lambda *_: os._exit(9)
    download(manifest, data_dir=root, mirror=mirror)


def test_killed_while_writing_leaves_nothing_under_the_name(tiny, root, get):
    work = (tiny.manifest, root, tiny.folder)
    process = SPAWN.Process(target=_die_while_writing, args=work)
    process.start()
    process.join()
    assert process.exitcode == 9
    assert (root / ".work/tiny/staging").exists()
    with pytest.raises(DataError, match=r"^tiny is not in .*`kmaps download tiny`$"):
        load_dataset(tiny.manifest, data_dir=root)
    assert get().status == "downloaded"  # the dead process holds no lock
    assert not (root / ".work/tiny/staging").exists()
    assert_is_tiny(tiny, root)
