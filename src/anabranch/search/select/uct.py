"""UCB1 on trees, and greedy selection. AlphaZero's rule and its relatives: `puct.py`."""

from typing import Any, NamedTuple

from anabranch.jit.options import NonNegative
from anabranch.search.memory.layout import F4
from anabranch.search.select.base import ConstantFPU, first_play, score, value_of
from anabranch.search.select.visit_functions import inverse_root

__all__ = ["UCT", "Greedy"]

# --- rules -----------------------------------------------------------------------------------------------------------


class UCT(NamedTuple):
    """UCB1 on trees: Q + c sqrt(ln N / n). Gelly & Silver (7), Kocsis & Szepesvari 2006."""

    c: NonNegative = 1.4
    fpu: Any = ConstantFPU()


class Greedy(NamedTuple):
    """The best value so far, without an exploration bonus: greedy MCTS of Gelly & Silver 2.4."""

    fpu: Any = ConstantFPU()


@score.register(UCT)
def score_uct(rule, parent, edge):
    if edge.visits == 0:
        return F4(first_play(rule.fpu, parent))
    return value_of(parent, edge) + F4(rule.c) * parent.root_log_visits * inverse_root(edge.visits)


@score.register(Greedy)
def score_greedy(rule, parent, edge):
    return float(value_of(parent, edge)) if edge.visits > 0 else first_play(rule.fpu, parent)
