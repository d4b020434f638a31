"""Rules as KataGo and those who talk to it write them: a short name, or a JSON object with a field for each point.

    {"friendlyPassOk":true,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA","suicide":false,"tax":"NONE","whiteHandicapBonus":"N"}

Names that KataGo shares with us mean our rule sets (`games/go/rulesets.py`), which differ from KataGo's in one point: Chinese
rules here know positional superko, which KataGo calls chinese-ogs. Used by `gtp_analysis.py` and `queries.py`.
"""

import json
import re
from typing import Any

from anabranch.errors import GameError
from anabranch.games.go import RULE_SETS, RuleSet
from anabranch.protocols.sgf_go import BONUSES, rules_called

POINTS = {"ko": "ko", "scoring": "scoring", "tax": "tax", "suicide": "suicide", "whiteHandicapBonus": "handicap_bonus"}
BUTTON, FRIENDLY = "hasButton", "friendlyPassOk"
FIELDS = (*POINTS, BUTTON, FRIENDLY)
OTHER_NAMES = {
    "chinese-ogs": RULE_SETS["chinese"],
    "chinese-kgs": RULE_SETS["chinese"],
    "stone-scoring": RuleSet(ko="simple", tax="all"),
    "ancient-area": RuleSet(ko="simple", tax="all"),
    "ancient-territory": RuleSet(ko="simple", scoring="territory", tax="all"),
}


def rules_of(written: Any) -> RuleSet:
    """The rule set of a short name, of JSON as text, or of an object."""
    if isinstance(written, dict):
        return _changed(RuleSet(), written)
    if not isinstance(written, str):
        raise GameError(f"rules are a name such as chinese, or an object with the fields {', '.join(FIELDS)}")
    text = written.strip()
    if text.startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise GameError("the rules are not valid JSON") from None
        return rules_of(found)
    plain = re.sub(r"[\s_]+", "-", text.lower())
    known = OTHER_NAMES.get(plain) or rules_called(text)
    if known is None:
        raise GameError(f"there are no rules called {text[:40]!r}; known ones are {', '.join((*RULE_SETS, *OTHER_NAMES))}")
    return known


def with_point(rules: RuleSet, name: str, value: str) -> RuleSet:
    """The same rules with one point as `kata-set-rule` writes it: ko SIMPLE, suicide true."""
    words = {"true": True, "false": False}
    return _changed(rules, {name: words.get(value.lower(), value)})


def fields_of(rules: RuleSet) -> dict[str, Any]:
    """All fields as KataGo has them."""
    bonus = next(short for short, words in BONUSES.items() if words == rules.handicap_bonus)
    return {
        FRIENDLY: rules.dead == "agreed",
        BUTTON: False,
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
        if name not in FIELDS:
            raise GameError(f"rules have no field {name[:40]!r}; they have {', '.join(FIELDS)}")
        if name in (BUTTON, FRIENDLY, "suicide") and not isinstance(value, bool):
            raise GameError(f"{name} must be true or false")
        if name == BUTTON:
            if value:
                raise GameError("Button Go is not supported: hasButton must be false")
        elif name == FRIENDLY:
            points["dead"] = "agreed" if value else "none"
        elif name == "whiteHandicapBonus":
            points["handicap_bonus"] = _bonus(value)
        else:
            points[POINTS[name]] = value.lower() if isinstance(value, str) else value
    return rules.but(**points)


def _bonus(value: Any) -> str:
    short = str(value)
    if short not in BONUSES:
        raise GameError(f"whiteHandicapBonus must be one of {', '.join(BONUSES)}")
    return BONUSES[short]
