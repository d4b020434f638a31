"""Rule sets as data: each point on which they differ is a field of its own. No code of the game is here.

Go(rules="aga")    Go(rules=RULE_SETS["chinese"].but(ko="simple"))    Go(rules=RuleSet(ko="situational", suicide=True))
"""

import difflib
import re
from dataclasses import dataclass, fields, replace
from typing import Any

from anabranch.errors import GameError

# What a point may be; the place in its tuple is what kernels see.
KO = ("simple", "positional", "situational")
SCORING = ("area", "territory")
TAX = ("none", "seki", "all")
DEAD = ("none", "agreed")
BONUS = ("none", "stones", "stones - 1")
CHOICES = {"ko": KO, "scoring": SCORING, "tax": TAX, "dead": DEAD, "handicap_bonus": BONUS}

SIMPLE, POSITIONAL, SITUATIONAL = range(3)
AREA, TERRITORY = range(2)
NO_TAX, SEKI_TAX, ALL_TAX = range(3)
ALL_ALIVE, AGREED = range(2)


@dataclass(frozen=True)
class RuleSet:
    """The points on which rules of Go differ."""

    ko: str = "positional"  # what may not come again: the ko at once; the stones; the stones with the same player to move
    scoring: str = "area"  # stones and territory; or territory and prisoners
    suicide: bool = False  # whether a move may take off the player's own chain (of two stones or more)
    tax: str = "none"  # empty points that do not count: those in seki; or also two for each living group
    dead: str = "agreed"  # after two passes: what stands there lives; or dead stones are taken off
    handicap_bonus: str = "none"  # what white gets for handicap stones: a point for each; for each but one
    button: bool = False  # whether the first pass takes half a point and does not count towards the end of the game

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                known = ", ".join(map(repr, choices))
                raise GameError(f"{name}={getattr(self, name)!r} is not a rule of Go; it is one of {known}")
        for name in ("suicide", "button"):
            if not isinstance(getattr(self, name), bool):
                raise GameError(f"{name}={getattr(self, name)!r}: say True or False")
        if self.button and self.scoring != "area":
            raise GameError("button=True: Button Go is played with area scoring")

    def but(self, **points: Any) -> "RuleSet":
        """The same with other points."""
        known = [field.name for field in fields(self)]
        for name in points:
            if name not in known:
                raise GameError(f"a rule set has no point {name!r}; it has {', '.join(known)}")
        return replace(self, **points)

    def bonus(self, handicap: int) -> int:
        """Points that white gets for this many handicap stones."""
        return {"none": 0, "stones": handicap, "stones - 1": max(handicap - 1, 0)}[self.handicap_bonus]


RULE_SETS = {
    "chinese": RuleSet(handicap_bonus="stones"),
    "tromp-taylor": RuleSet(suicide=True, dead="none"),
    "japanese": RuleSet(ko="simple", scoring="territory", tax="seki"),
    "aga": RuleSet(ko="situational", handicap_bonus="stones - 1"),
    "new-zealand": RuleSet(ko="situational", suicide=True),
}


def rule_set(rules: str | RuleSet) -> RuleSet:
    """The rule set of this name; case, blanks, `-` and `_` do not matter."""
    if isinstance(rules, RuleSet):
        return rules
    if not isinstance(rules, str):
        raise GameError(f"rules={rules!r}: give a name ({', '.join(RULE_SETS)}) or a RuleSet")
    plain = re.sub(r"[\s_-]+", "-", rules.strip().lower())
    for name, found in RULE_SETS.items():
        if plain.replace("-", "") == name.replace("-", ""):
            return found
    near = difflib.get_close_matches(plain, RULE_SETS, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise GameError(f"there is no rule set {rules!r}; {hint}there are {', '.join(RULE_SETS)}")
