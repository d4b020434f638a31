"""Names in machine code that are the same in every process, and different for different records.

Numba names a compiled function after the types of its arguments, and a record type by a number that counts types in the order
in which this process met them. Kernels that two processes compiled for different games can then share names. Loaded from the
cache into a third process, the code of one game would be called for records of the other. So a record is named by a digest of
its fields instead.

This reaches into Numba (`Record.mangling_args`). Beside: `lean.py`, `frontend.py`.
"""

import hashlib
from typing import Any

from numba.core import types

_numbers: dict[int, int] = {}  # of the types that this process has met, by Numba's own number


def name_records_by_content() -> None:
    """From now on."""
    record: Any = types.Record
    record.mangling_args = property(_mangling_args)


def _content_number(record: Any) -> int:
    """A number that tells a record type from others, by its fields."""
    if record._code not in _numbers:
        _numbers[record._code] = int.from_bytes(hashlib.sha256(record.name.encode()).digest()[:7], "big")
    return _numbers[record._code]


def _mangling_args(record: Any) -> tuple[str, tuple[int]]:
    return type(record).__name__, (_content_number(record),)
