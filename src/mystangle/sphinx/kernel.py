"""Run code cells in a Jupyter kernel of their own, or take their outputs from a cache.

The cache is jupyter-cache's.  A cell's outputs depend on the cells before it, and on
the digest of what they can import: both are part of the key.  Only runs in which
every cell did what it was meant to do are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_cache import get_cache  # type: ignore[import-untyped]
from jupyter_cache.base import CacheBundleIn  # type: ignore[import-untyped]
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, v4
from traitlets.config import Config

ANSI = re.compile(r"\x1b\[[0-9;]*m")
SYNTAX_PLACE = re.compile(r" \(\d+\.py, line \d+\)$")
CELL_LINE = re.compile(r"Cell In\[\d+\], line (\d+)")
# IPython prints this, and goes on, where it does not understand a magic.
USAGE_ERROR = "UsageError"
USAGE = re.compile(rf"^{USAGE_ERROR}: (.*)", re.MULTILINE)
MAGIC = re.compile(r"%%?\w+")


@dataclass(frozen=True)
class Code:
    """A cell to run: its source, and the name of the error it must end with, if any."""

    source: str
    raises: str | None = None


@dataclass(frozen=True)
class Fault:
    """A cell that did not do what it was meant to: its index, and a line in it."""

    index: int
    row: int
    message: str


@dataclass(frozen=True)
class Result:
    """The outputs of each cell; `ran` is False if they came from the cache."""

    outputs: tuple[list[NotebookNode], ...]
    faults: tuple[Fault, ...]
    ran: bool


@dataclass(frozen=True)
class Runner:
    """How cells are run: the import path, where, for how long, and with which cache."""

    python_path: Sequence[Path]
    digest: str
    cache: Path | None
    folder: Path | None
    timeout: int
    state: Path

    def run(self, cells: Sequence[Code], uri: str) -> Result:
        """Return the outputs of `cells`, which are the code of the document `uri`."""
        notebook = self._notebook(cells)
        if self.cache is None:
            return self._execute(notebook, cells)
        cache = get_cache(str(self.cache))
        try:
            _, notebook = cache.merge_match_into_notebook(notebook)
        except KeyError:
            result = self._execute(notebook, cells)
            if not result.faults:
                bundle = CacheBundleIn(notebook, uri)
                cache.cache_notebook_bundle(
                    bundle, check_validity=False, overwrite=True
                )
            return result
        return _result(notebook, cells, ran=False)

    def _notebook(self, cells: Sequence[Code]) -> NotebookNode:
        # The cache's key is made of the cells and of the kernelspec.
        spec = {"name": "python3", "display_name": "Python 3", "mystangle": self.digest}
        return new_notebook([cell.source for cell in cells], {"kernelspec": spec})

    def _execute(self, notebook: NotebookNode, cells: Sequence[Code]) -> Result:
        started = [0]
        self.state.mkdir(parents=True, exist_ok=True)

        def note_start(cell: NotebookNode, cell_index: int) -> None:
            started[0] = cell_index

        with TemporaryDirectory(prefix="k") as private, self._cwd() as cwd:
            client = NotebookClient(
                notebook,
                resources={"metadata": {"path": cwd}},
                config=_connection(private),
                # A kernel that is stopped while it works logs errors of its own.
                extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
                timeout=self.timeout,
                allow_errors=True,
                coalesce_streams=True,  # a line may come in pieces, at any place
                record_timing=False,  # it would change the cache's key
                on_cell_start=note_start,
            )
            try:
                client.execute(env=self._environment())
            except (CellTimeoutError, DeadKernelError) as error:
                return _result(notebook, cells, True, (started[0], self._text(error)))
        return _result(notebook, cells, ran=True)

    def _cwd(self) -> AbstractContextManager[str]:
        return nullcontext(str(self.folder)) if self.folder else TemporaryDirectory()

    def _environment(self) -> dict[str, str]:
        inherited = os.environ.get("PYTHONPATH")
        path = [*map(str, self.python_path), *([inherited] if inherited else [])]
        warnings = os.environ.get("PYTHONWARNINGS")
        filters = [*([warnings] if warnings else []), "ignore:To exit"]
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            # The folders on that path are shared; nothing may be written to them.
            "PYTHONDONTWRITEBYTECODE": "1",
            # IPython's advice after a SystemExit shows where it is installed.
            "PYTHONWARNINGS": ",".join(filters),
            # A reader's own start-up files must not colour the book.
            "IPYTHONDIR": str(self.state / "ipython"),
        }

    def _text(self, error: Exception) -> str:
        if isinstance(error, CellTimeoutError):
            return f"must end within {self.timeout} s (`execute: timeout`), did not"
        return "must leave the kernel alive, and it died"


def new_notebook(sources: Sequence[str], metadata: dict[str, Any]) -> NotebookNode:
    """Return a notebook of code cells without outputs."""
    cells = [v4.new_code_cell(s) for s in sources]  # type: ignore[no-untyped-call]
    notebook: NotebookNode = v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=cells, metadata=metadata
    )
    return notebook


def _connection(private: str) -> Config:
    """Return a way to reach the kernel that needs no network where there is one."""
    config = Config()
    config.KernelManager.connection_file = str(Path(private, "kernel.json"))
    if os.name == "posix":
        config.KernelManager.transport = "ipc"
    return config


def _result(
    notebook: NotebookNode,
    cells: Sequence[Code],
    ran: bool,
    stopped: tuple[int, str] | None = None,
) -> Result:
    """Judge every cell's outputs; `stopped` is the cell that did not end, and why."""
    faults = []
    for index, (cell, code) in enumerate(zip(notebook.cells, cells, strict=True)):
        error = _error(cell)
        if stopped and index == stopped[0]:
            faults.append(Fault(index, 0, f"the cell {stopped[1]}"))
            break
        fault = _fault(index, code, error)
        if fault:
            faults.append(fault)
    for cell in notebook.cells:
        for output in cell.outputs:
            if output.output_type == "error":
                output.traceback = _shortened(output)
    outputs = tuple(list(cell.outputs) for cell in notebook.cells)
    return Result(outputs, tuple(faults), ran)


def _error(cell: NotebookNode) -> Mapping[str, Any] | None:
    """Return the error with which a cell ended, also one that was only printed."""
    for output in cell.outputs:
        if output.output_type == "error":
            return dict(output)
        if output.output_type == "stream" and output.name == "stderr":
            said = USAGE.search(ANSI.sub("", output.text))
            if said:
                return {"ename": USAGE_ERROR, "evalue": said[1], "traceback": []}
    return None


def _fault(index: int, code: Code, error: Mapping[str, Any] | None) -> Fault | None:
    came = f"{error['ename']}: {error['evalue']}" if error else "no error"
    came = SYNTAX_PLACE.sub("", came.partition("\n")[0].removesuffix(": "))
    row = _row(error, code.source) if error else None
    if code.raises is None:
        if error is None:
            return None
        line = "the cell" if row is None else f"`{_line(code.source, row)}`"
        return Fault(index, row or 0, f"{line} must run, got {came}")
    if error is not None and error["ename"] == code.raises:
        return None
    return Fault(index, row or 0, f"the cell must raise {code.raises}, got {came}")


def _line(source: str, row: int) -> str:
    return source.split("\n")[row].strip()


def _row(error: Mapping[str, Any], source: str) -> int | None:
    """Return the row, from 0, of the cell's statement that raised an error.

    None if neither the traceback nor the name of a magic tells.
    """
    match = CELL_LINE.search(ANSI.sub("", "\n".join(error["traceback"])))
    if match:
        return int(match[1]) - 1
    rows = list(range(source.count("\n") + 1))
    magic = MAGIC.search(error["evalue"])
    if magic and error["ename"] == USAGE_ERROR:
        rows = [row for row in rows if magic[0] in _line(source, row)]
    return rows[0] if len(rows) == 1 else None


def _shortened(error: NotebookNode) -> list[str]:
    """Return what is left of a traceback when the frames are gone.

    It is the last element that begins with the error's name, and any notes after it.
    """
    lines: list[str] = error.traceback
    for start in reversed(range(len(lines))):
        if ANSI.sub("", lines[start]).startswith(error.ename):
            return lines[start:]
    return lines[-1:]
