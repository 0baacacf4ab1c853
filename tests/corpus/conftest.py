import pytest


@pytest.fixture
def file(tmp_path):
    """Makes a file of bytes or a string and gives its path."""

    def make(data, name="t.conllu"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return make
