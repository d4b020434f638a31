"""One call of a search at a time: a second thread is refused at once, neither admitted nor made to wait."""

import contextlib
import threading
from collections.abc import Callable, Iterator

from anabranch.errors import SearchError
from anabranch.interrupts import held


class Exclusive:
    """Guards what only one call at a time may use. Signals wait until a call is complete (`interrupts.py`)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: threading.Thread | None = None

    @contextlib.contextmanager
    def changing(self, on_interrupt: Callable[[], bool] | None = None) -> Iterator[None]:
        """While something is changed; `on_interrupt`: see `held`."""
        with held(on_interrupt):  # outermost, so that no handler raises while the lock is acquired or released
            if not self._lock.acquire(blocking=False):
                if self._owner is threading.current_thread():
                    raise SearchError("this search is running: what it calls may look at it, but not run or change it")
                raise SearchError("another thread is using this search: give each thread a Search of its own")
            try:
                self._owner = threading.current_thread()
                yield
            finally:
                self._owner = None
                self._lock.release()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """While something is read; code called from within a call may do that too."""
        if self._owner is threading.current_thread():
            yield
        else:
            with self.changing():
                yield
