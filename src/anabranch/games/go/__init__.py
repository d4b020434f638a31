"""Go: rules (`game.py`), stones, scores, life and ladders, playouts, drawings."""

from anabranch.games.go.game import Go, Go13, Go19, Go25
from anabranch.games.go.light import Light
from anabranch.games.go.mogo import MoGo
from anabranch.games.go.rulesets import RULE_SETS, RuleSet
from anabranch.games.go.sense import Handcrafted, Sense
from anabranch.games.go.shapes import Shapes
from anabranch.games.go.softmax import Softmax
from anabranch.games.go.utility import Utility

__all__ = [
    "RULE_SETS", "Go", "Go13", "Go19", "Go25", "Handcrafted", "Light", "MoGo", "RuleSet", "Sense", "Shapes", "Softmax",
    "Utility",
]  # fmt: skip
