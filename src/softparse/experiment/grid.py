"""Many runs, some at a time, each in a process of its own; what is done is not done again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .agreement import outdated
from .processes import stopping_politely
from .results import read_result
from .rows import Task
from .run import result_path, setting_path
from .settings import read_setting

ELSEWHERE = 75  # the code of a run that another process is at: EX_TEMPFAIL, try again later
Say = Callable[[str], None]


@dataclass
class Grid:
    tasks: Sequence[Task]
    data: Path
    work: Path
    results: Path
    jobs: int = 1
    renew: bool = False  # whether results that were made otherwise than their rows say now are made again
    say: Say = print
    failed: list[Task] = field(default_factory=list)
    elsewhere: list[Task] = field(default_factory=list)  # which another process is at

    def run(self) -> bool:
        """Run what has no result yet. Returns whether everything has one now."""
        waiting = [task for task in self.tasks if not self._is_done(task)]
        done = len(self.tasks) - len(waiting)
        self.say(f"{len(self.tasks)} runs, {done} of them done already; {self.jobs} at a time")
        self._tell_of_outdated()
        with stopping_politely():
            self._run(waiting)
        return not self.failed and not self.elsewhere

    def _is_done(self, task: Task) -> bool:
        return result_path(task, self.results).exists() and not (self.renew and self._outdated(task))

    def _outdated(self, task: Task) -> list[str]:
        """In what the result of a run, if there is one, differs from what its row says now."""
        path = result_path(task, self.results)
        return outdated(task, read_result(path), *read_setting(setting_path(task))) if path.exists() else []

    def _tell_of_outdated(self) -> None:
        remedy = "it is made again" if self.renew else "--renew makes it again"
        for task in self.tasks:
            different = self._outdated(task)
            if different:
                self.say(f"{task.name}: its result was made otherwise than the row says now "
                         f"({', '.join(different[:5])}); {remedy}")  # fmt: skip

    def _run(self, waiting: list[Task]) -> None:
        running: dict[subprocess.Popen[bytes], tuple[Task, float]] = {}
        began, finished, total = time.monotonic(), 0, len(waiting)
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    task = waiting.pop(0)
                    if self._is_done(task):  # another grid has made it meanwhile
                        total -= 1
                        continue
                    running[self._start(task)] = task, time.monotonic()
                time.sleep(0.2)
                for process in [process for process in running if process.poll() is not None]:
                    task, start = running.pop(process)
                    finished += 1
                    left = (time.monotonic() - began) / finished * (total - finished)
                    self._tell(task, process.returncode, time.monotonic() - start, left)
        finally:
            for process in running:  # at a Ctrl-C or a polite kill: they save their state and can be resumed
                process.terminate()
            for process in running:
                process.wait()

    def _start(self, task: Task) -> subprocess.Popen[bytes]:
        log = self.work / "runs" / f"{task.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        threads = str(max(1, (os.cpu_count() or 1) // self.jobs))
        command = [sys.executable, "-m", "softparse", "experiment", "one", str(task.path), task.setting, str(task.seed),
                   "--data", str(self.data), "--work", str(self.work), "--results", str(self.results)]  # fmt: skip
        with open(log, "ab") as file:
            return subprocess.Popen(command, stdout=file, stderr=file, env={"OMP_NUM_THREADS": threads, **os.environ})

    def _tell(self, task: Task, code: int, seconds: float, left: float) -> None:
        if code == 0 and self._is_done(task):
            self.say(f"{task.name}: done in {seconds / 60:.1f} minutes; about {left / 60:.0f} minutes left for all")
            return
        if code == ELSEWHERE:
            self.elsewhere.append(task)
            self.say(f"{task.name}: another process is at it")
            return
        self.failed.append(task)
        log = self.work / "runs" / f"{task.name}.log"
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        self.say(f"{task.name}: failed ({lines[-1] if lines else f'exit code {code}'}); see {log}")
