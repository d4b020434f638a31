"""Rules as KataGo and those who talk to it write them: a short name, or a JSON object with a field for each point.

    {"friendlyPassOk":true,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA","suicide":false,"tax":"NONE","whiteHandicapBonus":"N"}

All names mean what they mean to KataGo. One differs from our rule sets (`games/go/rulesets.py`): KataGo's Chinese rules have a
simple ko; ours have positional superko, which KataGo calls chinese-ogs. On our command line names are our own (`own_rules_of`).
Spight's ko rule is not known here. Used by `gtp_analysis.py` and `queries.py`.
"""

import json
import re
from typing import Any

from anabranch.errors import GameError
from anabranch.games.go import RULE_SETS, RuleSet
from anabranch.protocols.sgf_go import BONUSES, rules_called

BUTTON, FRIENDLY = "hasButton", "friendlyPassOk"
POINTS = {
    "ko": "ko",
    "scoring": "scoring",
    "tax": "tax",
    "suicide": "suicide",
    "whiteHandicapBonus": "handicap_bonus",
    BUTTON: "button",
}
FIELDS = (*POINTS, FRIENDLY)
STONE_SCORING = RuleSet(ko="simple", tax="all")
NAMES = {
    "tromp-taylor": RULE_SETS["tromp-taylor"],
    "chinese": RULE_SETS["chinese"].but(ko="simple"),
    "chinese-ogs": RULE_SETS["chinese"],
    "chinese-kgs": RULE_SETS["chinese"],
    "japanese": RULE_SETS["japanese"],
    "korean": RULE_SETS["japanese"],
    "aga": RULE_SETS["aga"],
    "bga": RULE_SETS["aga"],
    "french": RULE_SETS["aga"],
    "aga-button": RULE_SETS["aga"].but(button=True),
    "new-zealand": RULE_SETS["new-zealand"],
    "nz": RULE_SETS["new-zealand"],
    "goe": RULE_SETS["tromp-taylor"].but(dead="agreed"),
    "ing": RULE_SETS["tromp-taylor"].but(dead="agreed"),
    "stone-scoring": STONE_SCORING,
    "ancient-area": STONE_SCORING,
    "ancient-territory": STONE_SCORING.but(scoring="territory"),
}


def rules_of(written: Any) -> RuleSet:
    """The rule set of a short name, of JSON as text, or of an object. Fields that an object leaves out are as in Tromp-Taylor
    rules; with territory scoring, points in seki do not count."""
    if isinstance(written, dict):
        is_territory = str(written.get("scoring", written.get("score"))).lower() == "territory"
        return _changed(RULE_SETS["tromp-taylor"].but(tax="seki" if is_territory else "none"), written)
    if not isinstance(written, str):
        raise GameError(f"rules are a name such as chinese, or an object with the fields {', '.join(FIELDS)}")
    text = written.strip()
    if text.startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise GameError("the rules are not valid JSON") from None
        return rules_of(found)
    known = next((rules for name, rules in NAMES.items() if _letters(name) == _letters(text)), None) or rules_called(text)
    if known is None:
        raise GameError(f"there are no rules called {text[:40]!r}; known ones are {', '.join(NAMES)}")
    return known


def own_rules_of(written: str) -> RuleSet:
    """The same, but names of our own rule sets mean those."""
    own = next((rules for name, rules in RULE_SETS.items() if _letters(name) == _letters(written)), None)
    return own or rules_of(written)


def with_point(rules: RuleSet, name: str, value: str) -> RuleSet:
    """The same rules with one point as `kata-set-rule` writes it: ko SIMPLE, suicide true."""
    words = {"true": True, "false": False}
    return _changed(rules, {name: words.get(value.lower(), value)})


def fields_of(rules: RuleSet) -> dict[str, Any]:
    """All fields as KataGo has them."""
    bonus = next(short for short, words in BONUSES.items() if words == rules.handicap_bonus)
    return {
        FRIENDLY: rules.dead == "agreed",
        BUTTON: rules.button,
        "ko": rules.ko.upper(),
        "scoring": rules.scoring.upper(),
        "suicide": rules.suicide,
        "tax": rules.tax.upper(),
        "whiteHandicapBonus": bonus,
    }


def written(rules: RuleSet) -> str:
    """The same as text."""
    return json.dumps(fields_of(rules), sort_keys=True, separators=(",", ":"))


def _changed(rules: RuleSet, fields: dict[str, Any]) -> RuleSet:
    points: dict[str, Any] = {}
    for name, value in fields.items():
        name = "scoring" if name == "score" else name
        if name not in FIELDS:
            raise GameError(f"rules have no field {name[:40]!r}; they have {', '.join(FIELDS)}")
        if name in (BUTTON, FRIENDLY, "suicide") and not isinstance(value, bool):
            raise GameError(f"{name} must be true or false")
        if name == FRIENDLY:
            points["dead"] = "agreed" if value else "none"
        elif name == "whiteHandicapBonus":
            points["handicap_bonus"] = _bonus(value)
        else:
            points[POINTS[name]] = value.lower() if isinstance(value, str) else value
    changed = rules.but(**points)
    return changed.but(dead="agreed") if changed.scoring == "territory" else changed  # KataGo settles it by playing on


def _letters(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.lower())


def _bonus(value: Any) -> str:
    short = str(value)
    if short not in BONUSES:
        raise GameError(f"whiteHandicapBonus must be one of {', '.join(BONUSES)}")
    return BONUSES[short]
