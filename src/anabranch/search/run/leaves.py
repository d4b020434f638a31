"""Leaves that a search has handed out for evaluation: `Search.ask` and `Search.tell`."""

from typing import Any

from anabranch.errors import EvaluatorError


class Leaves:
    """Positions that wait for priors and values; give those to `tell`, in the same order."""

    def __init__(self, states: Any) -> None:
        self.states = states  # an array of records: `states.board`, `states[0].turn`

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<{len(self)} leaves>"


def no_evaluator(states: Any) -> Any:
    """The evaluator of a search that gets its values from `tell`."""
    raise EvaluatorError("this search is told values with tell(); to use run() as well, give Search an evaluate=")
