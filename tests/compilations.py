"""A pytest plugin that records which tests wait for the compiler, and for which kernels: most of the time of a cold test run.

python -m pytest -p tests.compilations tests/search      a line a kernel in compilations.tsv: seconds, test, kernel
"""

import os
from pathlib import Path
from typing import Any

from anabranch.jit.kernels import Reporter, report_with

FILE = Path("compilations.tsv").absolute()


class Recorder(Reporter):
    """Appends what is compiled to a file, which the processes of a run share."""

    def started(self, what: str) -> None:
        """A compilation begins."""

    def finished(self, what: str, seconds: float, problem: str | None) -> None:
        """It has ended."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "while importing").replace("\t", " ")
        with FILE.open("a") as file:
            file.write(f"{seconds:.2f}\t{test}\t{what}\t{problem or ''}\n")


def pytest_configure(config: Any) -> None:
    """Record from here on."""
    report_with(Recorder())
