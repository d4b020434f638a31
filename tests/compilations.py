"""A pytest plugin that records which tests wait for the compiler, and for which kernels: most of the time of a cold test run.

python -m pytest -p tests.compilations tests/search      a line a kernel in compilations.tsv: CPU seconds, test, kernel
"""

import os
import resource
import time
from pathlib import Path
from typing import Any

from anabranch.jit.kernels import Kernel

FILE = Path("compilations.tsv").absolute()
_compiled = Kernel._compiled


def _recorded(kernel: Any, signature: Any) -> Any:
    """Compile, and append a line to the file that the processes of a run share."""
    began, before = _cpu_seconds(), kernel.compilations
    try:
        return _compiled(kernel, signature)
    finally:
        if kernel.compilations > before:
            test = os.environ.get("PYTEST_CURRENT_TEST", "while importing").replace("\t", " ")
            with FILE.open("a") as file:
                file.write(f"{_cpu_seconds() - began:.2f}\t{test}\t{kernel.function.__name__} {kernel._types!r:.300}\n")


def _cpu_seconds() -> float:
    """Of this thread, which compiles, and of children that have compiled for it."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


def pytest_configure(config: Any) -> None:
    """Record from here on."""
    Kernel._compiled = _recorded  # type: ignore[method-assign]
