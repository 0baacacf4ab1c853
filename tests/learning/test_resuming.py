"""Whose name it is: runs that begin, are killed, fail and go on beside old models and old states."""

import json

import pytest

from softparse.corpus import locks
from softparse.learning import data, state
from softparse.learning.loop import Interrupted
from softparse.learning.observer import Observer
from softparse.learning.training import train
from softparse.parser import ModelError
from tests.learning.runs import StopAt, small, weights


class Killed(BaseException):
    """As a kill: nothing may be done about it any more."""


class KillAt(StopAt):
    def stepped(self, step, steps, epoch, loss):
        if step == self.step:
            raise Killed


@pytest.fixture
def output(treebanks, tmp_path):
    """A complete model."""
    train(small(treebanks, tmp_path / "model", "train.epochs=1"))
    return tmp_path / "model"


def killed(config, monkeypatch, **options):
    def kill(*arguments):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(data, "load", kill)
        with pytest.raises(Killed):
            train(config, **options)


def seed_of(model):
    return json.loads((model / "metrics.json").read_text())["settings"]["train"]["seed"]


def test_a_run_that_replaces_a_model_is_resumed_when_it_was_killed_while_loading(treebanks, output, monkeypatch):
    old = weights(output)
    config = small(treebanks, output, "train.epochs=1", "train.seed=9")
    killed(config, monkeypatch, force=True)
    killed(config, monkeypatch, resume=True)  # once more
    with pytest.raises(ValueError, match="No such file"):
        train(small(treebanks, output, train=["none.conllu"]), resume=True)
    assert weights(output) == old
    train(config, resume=True)
    assert seed_of(output) == 9
    assert not state.place(output).exists()


def test_a_run_that_replaces_a_stopped_one_is_the_new_one(treebanks, output, monkeypatch):
    with pytest.raises(Interrupted):
        train(small(treebanks, output, "train.seed=5"), force=True, observer=StopAt(2))
    config = small(treebanks, output, "train.epochs=1", "train.seed=9")
    killed(config, monkeypatch, force=True)
    train(config, resume=True)  # the old state has other settings, and is no concern of this run
    assert seed_of(output) == 9


def test_an_error_in_the_data_leaves_what_was_there(treebanks, output, tmp_path):
    (tmp_path / "bad.conllu").write_text("1\ta\t_\t_\t_\t_\t5\tx\t_\t_\n\n")
    bad = small(treebanks, output, train=[str(tmp_path / "bad.conllu")])
    with pytest.raises(ValueError, match="HEAD 5"):
        train(bad, force=True)
    assert not state.place(output).exists()
    config = small(treebanks, output, "train.seed=5")
    with pytest.raises(Interrupted):
        train(config, force=True, observer=StopAt(2))
    with pytest.raises(ValueError, match="HEAD 5"):
        train(bad, force=True)
    train(config, resume=True)
    assert seed_of(output) == 5


def test_a_stopped_run_is_not_replaced_by_accident(treebanks, tmp_path):
    config = small(treebanks, tmp_path / "model")
    with pytest.raises(Killed):
        train(config, observer=KillAt(2))
    assert not (tmp_path / "model").exists()
    with pytest.raises(ModelError, match="there is a run that was stopped already; use --resume, --force"):
        train(small(treebanks, tmp_path / "model", "train.seed=9"))
    train(config, resume=True)


def test_what_is_left_of_a_run_without_its_state_is_no_run(treebanks, output):
    """A kill while the state is being deleted, at the end of a run."""
    place = state.place(output)
    place.mkdir()
    (place / "metrics.jsonl").write_text("")
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    train(small(treebanks, output, "train.epochs=1"), resume=True, observer=observer)
    assert warnings == [f"{output}: training is complete; nothing to resume"]


def test_a_complete_run_is_not_resumed_with_other_settings(treebanks, output):
    with pytest.raises(ModelError, match=r"training is complete, with other settings \(train\.epochs\); use --force"):
        train(small(treebanks, output, "train.epochs=3"), resume=True)


@pytest.mark.skipif(locks.fcntl is None, reason="this system has no locks on files")
def test_a_lock_on_a_file_that_was_deleted_is_none(tmp_path, monkeypatch):
    """One process opens the file, another one deletes it and lets go, and the first locks what it has opened."""
    path = tmp_path / "m.resume" / "lock"
    flock = locks.fcntl.flock

    def late(file, how):
        monkeypatch.setattr(locks.fcntl, "flock", flock)
        path.unlink()
        path.parent.rmdir()
        flock(file, how)

    monkeypatch.setattr(locks.fcntl, "flock", late)
    with locks.locked(path), pytest.raises(locks.Taken), locks.locked(path):
        raise AssertionError


@pytest.mark.skipif(locks.fcntl is None, reason="this system has no locks on files")
def test_the_lock_stays_until_the_run_lets_go(tmp_path):
    with state.alone(tmp_path / "m"):
        state.begin(tmp_path / "m")
        state.discard(tmp_path / "m")
        assert not state.is_open(tmp_path / "m")
        with pytest.raises(ModelError, match="another process"), state.alone(tmp_path / "m"):
            raise AssertionError
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(locks.fcntl is None, reason="this system has no locks on files")
@pytest.mark.parametrize("resume", [True, False])
def test_two_runs_cannot_have_one_name_at_a_time(treebanks, tmp_path, resume):
    config = small(treebanks, tmp_path / "model", "train.epochs=1")
    with state.alone(tmp_path / "model"), pytest.raises(ModelError, match="another process is training it"):
        train(config, resume=resume)
    assert not list(tmp_path.glob("model*"))
    train(config, resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
