"""What happened in a run: one line of JSON each, appended by all of its processes.

log.add("step", loss=1.2, policy=0.9)      {"what": "step", "time": ..., "loss": 1.2, "policy": 0.9}
log.read("step")                           all of them, oldest first
"""

import json
import math
import os
import time
from pathlib import Path
from typing import Any

from anabranch.errors import TrainingError

DIGITS = 7  # significant ones, of numbers that are not whole


class Log:
    """The file log.jsonl of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: list[dict[str, Any]] = []
        self._read = 0  # bytes of it

    def add(self, what: str, **facts: Any) -> None:
        """Append a line, in one write."""
        line = json.dumps({"what": what, "time": round(time.time(), 3)} | {k: _finite(v) for k, v in facts.items()}) + "\n"
        try:
            with open(self.path, "ab", buffering=0) as file:
                if file.tell() and self._ends_torn():
                    line = "\n" + line
                file.write(line.encode())
        except OSError as error:
            raise TrainingError(f"{self.path} cannot be written: {error.strerror}") from None

    def read(self, *what: str) -> list[dict[str, Any]]:
        """The lines of these kinds, or all; a line that was not written whole is left out."""
        self._catch_up()
        return [line for line in self._known if not what or line["what"] in what]

    def _catch_up(self) -> None:
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            file.seek(self._read)
            content = file.read()
        whole, newline, _ = content.rpartition(b"\n")
        self._read += len(whole) + len(newline)
        for line in whole.split(b"\n"):
            try:
                known = json.loads(line)
            except ValueError:
                continue
            if isinstance(known, dict) and "what" in known and "time" in known:
                self._known.append(known)

    def _ends_torn(self) -> bool:
        """Whether the last line lacks its end: its process was killed, or the disk was full."""
        with open(self.path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"


def _finite(value: Any) -> Any:
    """Numbers as JSON has them."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _finite(each) for name, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_finite(each) for each in value] if isinstance(value, (list, tuple, set)) else value
