"""Where output goes: through links, to devices, pipes and open files, and what is said when it cannot."""

import gzip
import os
import resource
import stat
import subprocess
import sys
import threading

import pytest

from softparse.corpus.files import replacing, written

SCRIPT = "import sys; from softparse.corpus.files import written\nwith written(sys.argv[1]) as file: file.write(b'new')"


def put(path, data=b"new"):
    with written(path) as file:
        file.write(data)


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to("there/target")
    with written(link) as file:
        file.write(b"new")
        file.flush()
        assert target.read_text() == "old"  # until it is complete
        assert len(os.listdir(tmp_path / "there")) == 2  # beside its place, so that it can be renamed
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(tmp_path / "there") == ["target"]


def test_links_to_nothing_and_in_a_circle(tmp_path):
    (tmp_path / "link").symlink_to("absent/target")
    put(tmp_path / "link")
    assert (tmp_path / "absent" / "target").read_text() == "new"
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match=r"Too many levels of symbolic links: '.*circle'"):
        put(tmp_path / "circle")
    assert (tmp_path / "circle").is_symlink()


def test_permissions_stay(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("old")
    secret.chmod(0o600)
    put(secret)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


@pytest.mark.parametrize("number", [1, 3])
def test_names_of_open_files(tmp_path, number):
    """As /dev/stdout is one; a link of our own, since a mistake would replace the system's."""
    link, kept = tmp_path / "stdout", tmp_path / "kept"
    link.symlink_to(f"/proc/self/fd/{number}")
    kept.write_text("before ")
    for _ in range(2):
        shell = f'exec "$0" -c "$1" "$2" {number}>>"$3"'
        subprocess.run(["sh", "-c", shell, sys.executable, SCRIPT, link, kept], check=True)
    assert kept.read_text() == "before newnew"
    assert link.is_symlink()


def test_standard_output_into_a_pipe(tmp_path):
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    for name in (link, "-"):
        assert subprocess.run([sys.executable, "-c", SCRIPT, name], stdout=subprocess.PIPE).stdout == b"new"


@pytest.mark.parametrize("name", ["pipe", "pipe.gz"])
def test_pipes(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    put(path)
    reader.join()
    assert (gzip.decompress(got[0]) if name.endswith(".gz") else got[0]) == b"new"
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_errors_say_the_name(tmp_path):
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        put("/dev/full")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"is a file, not a folder: '.*file/below'"):
        put(tmp_path / "file" / "below")
    with pytest.raises(OSError, match="Is a directory: '"):
        put(tmp_path)


def test_a_disk_that_is_full(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: '.*x\.conllu'"), replacing(path) as file:
            file.write(bytes(100_000))
        with pytest.raises(OSError, match=r"File too large: '.*x\.conllu\.gz'"):
            put(tmp_path / "x.conllu.gz", os.urandom(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.conllu"]
