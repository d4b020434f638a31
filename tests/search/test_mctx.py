"""Searches build the trees of DeepMind's mctx, visit for visit (`tests/data/make_mctx_trees.py` wrote them)."""

import json
from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch.jit import COMPILED
from tests.search.trees import read_tree

TREES = json.loads((Path(__file__).parents[1] / "data" / "mctx_trees.json").read_text())
PLACES, ACTIONS = 997, 5


class Walk:
    """The game of the file as Python objects. A discount below 0 there means two players here, who take turns."""

    actions = ACTIONS

    def __init__(self, place=0, ply=0):
        self.place, self.ply = place, ply

    def legal_actions(self):
        return self.case["legal"] if self.ply == 0 else list(range(ACTIONS))

    def play(self, action):
        return type(self)((ACTIONS * self.place + action + 1) % PLACES, self.ply + 1)

    def to_play(self):
        return self.ply % self.players

    def is_over(self):
        return False

    def returns(self):
        raise AssertionError("nobody ever arrives")

    def paid(self):
        reward = self.case["rewards"] * float(self.table["rewards"][self.place])
        return [reward] if self.players == 1 else [reward, -reward][:: 1 if self.ply % 2 else -1]


def walk_of(case):
    random = np.random.default_rng(case["seed"])
    table = {
        "logits": random.normal(size=(PLACES, ACTIONS)),
        "values": random.uniform(-1.0, 1.0, PLACES),
        "rewards": random.uniform(-0.5, 0.5, PLACES),
    }
    facts = {"case": case, "table": table, "players": 2 if case["discount"] < 0 else 1, "discount": abs(case["discount"])}
    return type("Walk", (Walk,), facts)


def opinion(positions):
    places = [position.place for position in positions]
    table = positions[0].table
    return np.exp(table["logits"][places]), table["values"][places]


def rule_of(case):
    if case["rule"] == "muzero":
        q = ab.select.AmongSiblings() if case["q"] == "siblings" else ab.select.BetweenBounds(-2.0, 1.5)
        return ab.select.MuZero(c=case["c"], base=case["base"], q=q)
    return ab.select.Gumbel(
        considered=case["considered"],
        scale=0.0,
        value_scale=case["value_scale"],
        visit_offset=case["maxvisit_init"],
        rescale=case["rescale_values"],
        mixed=case["use_mixed_value"],
    )


def visits_by_path(node, path=""):
    """The visits of each node's actions, by the actions that lead there, as the file has them."""
    visits = {edge.action: edge.visits for edge in node.edges}
    found = {path: [visits.get(action, 0) for action in range(ACTIONS)]} if any(visits.values()) else {}
    for edge in node.edges:
        if edge.child is not None:
            found |= visits_by_path(edge.child, path + str(edge.action))
    return found


def describe(case):
    return "-".join(
        str(case.get(name)) for name in ("rule", "q", "discount", "rewards", "considered", "simulations") if name in case
    )


@pytest.mark.parametrize("case", TREES if COMPILED else TREES[::5], ids=describe)
def test_the_tree_is_that_of_mctx(case):
    search = ab.Search(walk_of(case), select=rule_of(case), evaluate=opinion, ties="lowest", memory="10MB")
    result = search.run(visits=case["simulations"])
    assert visits_by_path(read_tree(search)[0]) == case["nodes"]
    np.testing.assert_allclose(result.target, case["target"], atol=2e-6)
    if "best" in case:
        assert result.best == case["best"]


def test_all_discounts_rewards_and_rules_are_among_the_trees():
    found = {(case["rule"], case.get("q"), case["discount"], case["rewards"]) for case in TREES}
    rules = [("muzero", "siblings"), ("muzero", "bounds"), ("gumbel", None)]
    assert found == {(*rule, discount, rewards) for rule in rules for discount in (1.0, 0.9, -1.0) for rewards in (0.0, 1.0)}
