"""The operators inside torch and inside a process: compilation, threads, fork, caches, a machine without Numba."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading

import pytest
import torch

from softparse.trees import NonProjectiveTrees, ProjectiveTrees, eisner, operators, relaxed_parse
from softparse.trees.kernels import threads
from softparse.trees.kernels.views import LOG, RELAXED


def example(sentences=40, words=12, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(sentences, words + 1, words + 1, generator=generator, dtype=dtype)
    return scores, torch.randint(1, words + 1, (sentences,), generator=generator)


def loss_and_gradient(scores, lengths):
    scores = scores.clone().requires_grad_()
    loss = relaxed_parse(scores, lengths).square().sum() + ProjectiveTrees(scores, lengths).log_partition.sum()
    loss.backward()
    return loss.detach(), scores.grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("view", [LOG, RELAXED])
def test_operators_are_registered_properly(dtype, view, single_root):
    scores, lengths = example(3, 4, dtype)
    arguments = (scores.requires_grad_(), lengths, 0.8, single_root, view, True)
    torch.library.opcheck(torch.ops.softparse.soft_trees.default, arguments)
    torch.library.opcheck(torch.ops.softparse.soft_trees.default, (*arguments[:-1], False))
    _, _, wide, thin = operators._soft_trees(*arguments)
    slopes = torch.randn_like(scores)
    torch.library.opcheck(
        torch.ops.softparse.soft_trees_backward.default,
        (slopes, lengths, 0.8, single_root, view, wide.detach(), thin.detach()),
    )
    torch.library.opcheck(
        torch.ops.softparse.decode.default, (scores.detach(), lengths, scores.new_empty(0), single_root)
    )
    uniforms = torch.rand(2, 3, 10, dtype=torch.float64)
    torch.library.opcheck(torch.ops.softparse.decode.default, (scores.detach(), lengths, uniforms, single_root))
    torch.library.opcheck(torch.ops.softparse.k_best.default, (scores.detach(), lengths, 2, single_root))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_torch_compile_of_a_caller(backend):
    """No graph break, and the same numbers."""
    scores, lengths = example(5, 6)
    layer = torch.nn.Linear(7, 7)

    def model(scores):
        soft = relaxed_parse(layer(scores), lengths, temperature=0.5)
        log_partition = ProjectiveTrees(layer(scores), lengths).log_partition
        return (soft * scores).sum() + log_partition.sum()

    expected = torch.autograd.grad(model(scores), layer.weight)[0]
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    torch.testing.assert_close(compiled(scores), model(scores))
    torch.testing.assert_close(torch.autograd.grad(compiled(scores), layer.weight)[0], expected)


def test_torch_compile_with_the_rest_of_the_surface():
    """What is not a registered operator breaks the graph, and nothing else."""
    scores, lengths = example(3, 5)
    heads = ProjectiveTrees(scores, lengths).mode

    def model(scores):
        one, other = ProjectiveTrees(scores, lengths), NonProjectiveTrees(scores, lengths)
        return one.log_prob(heads).sum() + one.entropy().sum() + other.entropy().sum() + other.log_prob(heads).sum()

    compiled = torch.compile(model, backend="aot_eager")
    results = []
    for function in (model, compiled):
        leaf = scores.clone().requires_grad_()
        function(leaf).backward()
        results.append(leaf.grad)
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_threads_change_nothing(count, monkeypatch):
    monkeypatch.setattr(threads, "_SERIAL_BELOW", 0)
    scores, lengths = example()
    expected = loss_and_gradient(scores, lengths)
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        found = loss_and_gradient(scores, lengths)
    finally:
        torch.set_num_threads(before)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)


def test_thread_count_follows_torch(monkeypatch):
    monkeypatch.setattr(threads, "_SERIAL_BELOW", 0)
    before = torch.get_num_threads()
    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            started = set()
            barrier = threading.Barrier(count)

            def task(start, step, started=started, barrier=barrier):
                started.add((start, step))
                barrier.wait(timeout=30)  # passes only if all run at once

            threads.run(task, 8, 1e9)
            assert started == {(start, count) for start in range(count)}
    finally:
        torch.set_num_threads(before)


def test_errors_in_a_thread_reach_the_caller(monkeypatch):
    monkeypatch.setattr(threads, "_SERIAL_BELOW", 0)

    def task(start, step):
        if start == step - 1:
            raise RuntimeError("in a thread")

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with pytest.raises(RuntimeError, match="in a thread"):
            threads.run(task, 8, 1e9)
    finally:
        torch.set_num_threads(before)


def test_several_python_threads_at_once(monkeypatch):
    monkeypatch.setattr(threads, "_SERIAL_BELOW", 0)
    scores, lengths = example()
    expected = loss_and_gradient(scores, lengths)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    results, errors = [], []

    def work():
        try:
            for _ in range(10):
                results.append(loss_and_gradient(scores, lengths))
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
    torch.set_num_threads(before)
    assert not errors
    assert len(results) == 60
    for loss, gradient in results:
        assert torch.equal(loss, expected[0])
        assert torch.equal(gradient, expected[1])


def _in_child(queue):
    scores, lengths = example()
    torch.set_num_threads(2)
    threads._SERIAL_BELOW = 0
    queue.put((relaxed_parse(scores, lengths).sum().item(), eisner(scores, lengths).sum().item()))


def test_after_fork(monkeypatch):
    """The parent has used its threads; the child has to make its own."""
    monkeypatch.setattr(threads, "_SERIAL_BELOW", 0)
    scores, lengths = example()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    expected = relaxed_parse(scores, lengths).sum().item(), eisner(scores, lengths).sum().item()
    torch.set_num_threads(before)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_in_child, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    answers = [queue.get(timeout=60) for _ in children]
    for child in children:
        child.join(timeout=60)
        assert child.exitcode == 0
    assert answers == [expected, expected]


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_without_numba():
    """Everything works on the torch path and in plain Python, with the same results."""
    code = """
        import sys
        if HIDE:
            sys.modules["numba"] = None
        import torch
        from softparse.trees import ESTIMATORS, NonProjectiveTrees, ProjectiveTrees, expectation, operators
        assert operators.HAVE_NUMBA == (not HIDE)
        scores = torch.randn(3, 6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
        for kind in (ProjectiveTrees, NonProjectiveTrees):
            for single_root in (True, False):
                trees = kind(scores, [5, 3, 1], single_root=single_root)
                g = torch.Generator().manual_seed(1)
                outputs = [trees.log_partition, trees.marginals, trees.entropy(), trees.rsample((2,), generator=g)]
                outputs += [trees.kbest(3)[1].clamp(min=-99), trees.mode, trees.mbr, trees.sample((4,), generator=g)]
                outputs += [trees.given(torch.tensor([[-1, -1, 1, -1, -1, -1], [-1] * 6, [-1] * 6])).entropy()]
                for name in ESTIMATORS:
                    outputs.append(expectation(trees, lambda t: t[..., 0, 1], name, samples=2, generator=g))
                total = sum(output.double().sum() * weight for weight, output in enumerate(outputs, start=1))
                (gradient,) = torch.autograd.grad(total, scores)
                print(f"{total.item():.9f} {gradient.square().sum().item():.9f}")
    """
    with_numba, without = (python(code.replace("HIDE", str(hide))) for hide in (False, True))
    assert without.returncode == 0, without.stderr
    assert with_numba.returncode == 0, with_numba.stderr
    assert without.stdout == with_numba.stdout
    assert len(without.stdout.split()) == 8


# The smallest kernel stands for all of them.
COMPILE = """
    import numpy as np
    from softparse.trees.kernels import checks, compiled
    compiled.ANNOUNCE_AFTER = 0.2
    print(checks.inspect(np.float32, np.zeros((1, 4, 4), np.float32), np.array([3])))
    print(compiled._cache_folder())
"""


def test_compilation_is_announced_and_cached(tmp_path):
    first = python(COMPILE, NUMBA_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert "compiling the CPU kernel 'inspect' for this machine (once" in first.stderr
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert len(files) == 1
    second = python(COMPILE.replace("= 0.2", "= 2.0"), NUMBA_CACHE_DIR=str(tmp_path))
    assert second.returncode == 0, second.stderr
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == files
    assert "compiling" not in second.stderr


def test_cache_where_the_package_cannot_be_written(tmp_path):
    """A stand-in for folders one may not write, which holds for root too: their places are taken by files."""
    taken = tmp_path / "taken"
    taken.write_text("")
    code = f"""
        import pathlib, tempfile
        make = pathlib.Path.mkdir
        def mkdir(self, *arguments, **options):
            if "__pycache__" in self.parts:
                raise PermissionError(self)
            return make(self, *arguments, **options)
        pathlib.Path.mkdir = mkdir
        tempfile.tempdir = {str(tmp_path)!r}
    """
    code = textwrap.dedent(code) + textwrap.dedent(COMPILE)
    environment = {"XDG_CACHE_HOME": str(tmp_path / "home"), "NUMBA_CACHE_DIR": ""}
    in_home = python(code, **environment)
    assert in_home.returncode == 0, in_home.stderr
    assert f"{tmp_path}/home/softparse" in in_home.stdout
    assert len(list((tmp_path / "home").rglob("*.nbc"))) == 1
    environment["XDG_CACHE_HOME"] = str(taken)
    in_temporary = python(code, **environment)
    assert in_temporary.returncode == 0, in_temporary.stderr
    assert f"{tmp_path}/softparse-" in in_temporary.stdout
    nowhere = python(code.replace(repr(str(tmp_path)), repr(str(taken))), **environment)
    assert nowhere.returncode == 0, nowhere.stderr
    assert "None" in nowhere.stdout


def test_the_compiler_is_not_imported_without_need():
    code = "import sys, softparse.parser.bulk; sys.exit('torch._dynamo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
