"""Runs that are killed: a program that forks one child per run, and its caller.

The program imports `mystangle.write` once and reads a line of JSON per run. The child
counts its calls of the operating system and kills itself around the n-th.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COUNTED = ("open", "write", "fsync", "chmod", "replace", "unlink", "mkdir", "rmdir")
CHANGES = {"open", "os.chmod", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
CHANGES |= {"os.truncate", "os.link", "os.symlink", "os.utime", "os.chown"}
LOCK = "mystangle.lock"


@dataclass
class Meter:
    """Counts calls; `strike` is told before and after each: (name, n, when, args)."""

    strike: Callable[[str, int, str, tuple[Any, ...]], None]
    calls: list[str] = field(default_factory=list)
    inside: bool = False
    uncounted: list[str] = field(default_factory=list)

    def wrap(self, name: str) -> Callable[..., Any]:
        # A killed process loses nothing that the system has: fsync need not wait.
        plain = (lambda handle: None) if name == "fsync" else getattr(os, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            number, self.inside = len(self.calls), True
            self.strike(name, number, "before", args)
            try:
                return plain(*args, **kwargs)
            finally:
                self.inside = False
                self.strike(name, number, "after", args)

        return counted

    def watch(self, event: str, args: tuple[Any, ...]) -> None:
        """An audit hook that finds changes which no counted call has made."""
        if event in CHANGES and not self.inside:
            reads = event == "open" and not int(args[2]) & (
                os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
            )
            if not reads:
                self.uncounted.append(f"{event} {args[0]}")


def _child(order: Mapping[str, Any], report: int) -> None:
    """Carry out one run; end by SIGKILL, or with the report and status 0, 1 or 3."""
    from mystangle.problems import MystangleError
    from mystangle.write import write_tree

    real_write = os.write

    def strike(name: str, number: int, when: str, args: tuple[Any, ...]) -> None:
        if number != order["n"]:
            return
        if order["when"] == "torn" and name == "write" and when == "before":
            real_write(args[0], bytes(args[1])[: len(args[1]) // 2])
        if order["when"] in (when, "torn"):
            os.kill(os.getpid(), signal.SIGKILL)

    meter = Meter(strike)
    for name in COUNTED:
        setattr(os, name, meter.wrap(name))
    sys.addaudithook(meter.watch)
    files = {path: text.encode() for path, text in order["files"].items()}
    status, text = 0, ""
    try:
        write_tree(Path(order["root"]), "src", LOCK, files, force=order["force"])
    except MystangleError as error:
        status, text = error.exit_code, str(error)
    answer = {"calls": meter.calls, "uncounted": meter.uncounted, "text": text}
    real_write(report, json.dumps(answer).encode())
    os._exit(status)


def _serve() -> None:
    for line in sys.stdin:
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            _child(json.loads(line), writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            text = pipe.read()
        _, status = os.waitpid(process, 0)
        answer = json.loads(text or b"{}")
        answer["status"] = os.waitstatus_to_exitcode(status)
        print(json.dumps(answer), flush=True)


@dataclass(frozen=True)
class Run:
    """How a run ended: `status` is negative if it was killed."""

    status: int
    calls: tuple[str, ...]
    uncounted: tuple[str, ...]
    text: str

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL


class Killer:
    """The caller's side of the program."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        root: Path,
        files: Mapping[str, bytes],
        *,
        force: bool = False,
        n: int = 0,
        when: str = "before",
    ) -> Run:
        """Tangle `files` in a new process, killed around its n-th call (0: never)."""
        assert self.process.stdin and self.process.stdout
        texts = {path: data.decode() for path, data in files.items()}
        order = {"root": str(root), "files": texts, "force": force}
        self.process.stdin.write(json.dumps({**order, "n": n, "when": when}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        calls, uncounted = answer.get("calls", ()), answer.get("uncounted", ())
        text = answer.get("text", "")
        return Run(answer["status"], tuple(calls), tuple(uncounted), text)

    def close(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    from filelock import FileLock  # noqa: F401  (so that no child has to import it)

    import mystangle.write  # noqa: F401

    _serve()
