"""Disks that are full: a message, and everything whole that was there, so that the run can go on."""

import itertools
import os
import resource

import pytest

import softparse
from softparse.learning.training import train
from softparse.parser import ModelError
from tests.learning.runs import small, weights


@pytest.fixture(scope="module")
def whole(treebanks, tmp_path_factory):
    """The weights that an undisturbed run gives."""
    output = tmp_path_factory.mktemp("whole") / "model"
    train(small(treebanks, output, "train.epochs=2"))
    return weights(output)


def test_a_full_disk_at_any_file(treebanks, tmp_path, monkeypatch, whole):
    output = tmp_path / "model"
    train(small(treebanks, output, "train.epochs=1", "train.seed=7"))
    config = small(treebanks, output, "train.epochs=2")
    fsync, messages = os.fsync, []
    for files in itertools.count(1):  # one more file finds room each time, until all do
        room = iter(range(files))

        def until_full(descriptor, room=room):
            if next(room, None) is None:
                raise OSError(28, "No space left on device")
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", until_full)
        try:
            train(config, force=files == 1, resume=files > 1)
            break
        except ModelError as error:
            messages.append(str(error))
            softparse.load(output)
    assert len(messages) > 5
    for message in messages:
        assert message.startswith(str(output))
        assert "cannot be written (No space left on device)" in message
    assert weights(output) == whole
    assert {path.name for path in tmp_path.iterdir()} == {"model"}


def test_a_file_that_cannot_grow(treebanks, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(ModelError, match=r"model\.resume: cannot be written \(File too large\)"):
            train(small(treebanks, tmp_path / "model"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    train(small(treebanks, tmp_path / "model", "train.epochs=1"), resume=True)
