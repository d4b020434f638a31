"""What nobody should send: lines of GTP and requests in JSON that are random, broken, or both. One seed, one stream."""

import json
import random
import re
from collections.abc import Iterator
from typing import Any

from anabranch.protocols.gtp_words import COMMANDS, parsed

VERTICES = ("A1", "e5", "C3", "D4", "B2", "pass", "PASS", "E1", "A5", "Z9", "i5", "T19", "D0", "", "resign")
COLOURS = ("b", "w", "black", "WHITE", "B", "W", "green", "")
NUMBERS = ("0", "1", "2", "5", "9", "-1", "3.5", "1e9", "nan", "inf", "-0", "99999999999999999999", "0x10", "½", "7.25")
COLOURED = ("play", "is_legal", "genmove", "reg_genmove", "captures", "list_stones", "all_legal", "kgs-genmove_cleanup")
SLOW = (  # they search: these come seldom
    "genmove", "reg_genmove", "kgs-genmove_cleanup", "lz-genmove_analyze", "kata-genmove_analyze", "genmove_analyze",
    "kata-search", "kata-search_analyze", "lz-analyze", "kata-analyze", "analyze", "anabranch-moves", "anabranch-ownership",
    "final_score", "final_status_list",
)  # fmt: skip
LIMITS = (
    "kata-set-param",
    "kata-set-params",
    "kata-benchmark",
    "anabranch-options",
)  # a mutation could make every search endless
LARGE = re.compile(r"\b(1[0-9]|2[0-5])\b")
SIGNS = " \t\r#=?\x00\x07\x1b-_.,;{}[]\"'\\/aZ09é漢\ufffd"
RULES = ("chinese", "japanese", "tromp-taylor", "aga", "martian", '{"ko":"SIMPLE"}', '{"ko":5}', "{", "{}", "koSIMPLE")


def lines(count: int, seed: int) -> Iterator[str]:
    """Lines for an engine; none of them is `quit`."""
    dice = random.Random(seed)
    names = sorted(set(COMMANDS) - {"quit", *LIMITS})
    while count > 0:
        name = dice.choice(names)
        if name in SLOW and dice.random() < 0.7:
            continue
        line = _line(name, dice)
        for _ in range(dice.choice((0, 0, 0, 1, 1, 2, 5))):
            line = _mutated(line, dice)
        if not _is_trouble(line):
            count -= 1
            yield line


def _is_trouble(line: str) -> bool:
    """Whether a line would end the test, make it endless, or have it compile for another size of board."""
    found = parsed(line)
    large = found is not None and "boardsize" in found.name and LARGE.search(found.rest)
    return bool(large) or any(word in line for word in ("quit", *LIMITS))


def _line(name: str, dice: random.Random) -> str:
    words = [str(dice.randrange(10**6))] if dice.random() < 0.5 else []
    words.append(name)
    if name == "boardsize":
        words.append(dice.choice(("5", "7", "9", "2", *NUMBERS)))
    elif name == "rectangular_boardsize":
        words += [dice.choice(("5", "9", "3", *NUMBERS)) for _ in range(2)]
    elif name in COLOURED:
        words += [dice.choice(COLOURS[:6]), dice.choice(VERTICES[:9])]
    elif name in ("gogui-play_sequence", "play_sequence", "gogui-setup", "set_position"):
        for _ in range(dice.randrange(6)):
            words += [dice.choice((*COLOURS[:6], "e")), dice.choice(VERTICES[:9])]
    elif name == "set_free_handicap":
        words += dice.sample(VERTICES[:9], dice.randrange(6))
    elif "rule" in name:
        words += [dice.choice(("ko", "suicide", "tax", "weather"))] * name.endswith("set-rule") + [dice.choice(RULES)]
    elif name in ("loadsgf", "printsgf"):
        words += [dice.choice(("good.sgf", "bad.sgf", "nowhere.sgf", '"good.sgf"')), dice.choice(("", "1", "3", "99", "x"))]
    elif "analyze" in name:
        words += [dice.choice(COLOURS), dice.choice(("0", "1", "10", "x"))]
        words += dice.choice(
            ("ownership true", "minmoves 3", "maxmoves 1", "avoid b A1,B2 3", "allow w A1 1", "nonsense")
        ).split()
    elif "time" in name:
        words += [dice.choice(("none", "absolute", "byoyomi", "canadian", "fischer", "b", "w", *NUMBERS))]
        words += [dice.choice(NUMBERS) for _ in range(dice.randrange(4))]
    elif name == "final_status_list":
        words.append(dice.choice(("dead", "alive", "seki", "dame", "black_territory", "tired")))
    else:
        words += [dice.choice((*NUMBERS, *VERTICES, *COLOURS)) for _ in range(dice.randrange(3))]
    return " ".join(words)


def _mutated(line: str, dice: random.Random) -> str:
    """A sign or a word more, less, or elsewhere."""
    place = dice.randrange(len(line) + 1)
    kind = dice.randrange(7)
    if kind == 0:
        return line[:place] + dice.choice(SIGNS) + line[place:]
    if kind == 1:
        return line[:place] + line[place + 1 :]
    if kind == 2:
        words = line.split(" ")
        dice.shuffle(words)
        return " ".join(words)
    if kind == 3:
        return line[:place]
    if kind == 4:
        return line[:place] + dice.choice(SIGNS) * dice.choice((1, 3, 200)) + line[place:]
    if kind == 5:
        return line + " " + dice.choice((*NUMBERS, *VERTICES, *RULES))
    return "".join(dice.choice(SIGNS) for _ in range(dice.randrange(40)))


# --- JSON ---------------------------------------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "id": "q", "moves": [["B", "C3"], ["W", "D4"]], "rules": "chinese", "komi": 7.5, "boardXSize": 5, "boardYSize": 5,
    "initialStones": [["B", "A1"]], "initialPlayer": "B", "analyzeTurns": [0, 2], "maxVisits": 2, "priority": 1,
    "includeOwnership": False, "includePolicy": True, "reportDuringSearchEvery": 1.0,
    "overrideSettings": {"maxTime": 0.5, "reportAnalysisWinratesAs": "BLACK"},
    "avoidMoves": [{"player": "B", "moves": ["A1"], "untilDepth": 1}],
}  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2.5, 1e308, 10**30, float("nan"), "", "B", "pass", "A1", "(0,1)", "japanese", "é\ufffd",
    "x" * 1000, [], {}, [[]], [["B"]], [["B", "Z9"]], [["W", "A1"], ["W", "A1"]], [1, 2], ["A1"], {"ko": "SIMPLE"}, {"a": 1},
    [0] * 50, [None], [[None, None]],
)  # fmt: skip
ACTIONS = ("terminate", "terminate_all", "query_version", "query_models", "clear_cache", "dance", None, 5)


def requests(count: int, seed: int) -> Iterator[str]:
    """Requests for an analysis engine, most of them broken."""
    dice = random.Random(seed)
    for number in range(count):
        if dice.random() < 0.15:
            request = {"id": f"a{number}", "action": dice.choice(ACTIONS), "terminateId": dice.choice(("q5", 7, None))}
        else:
            kept = [name for name in GOOD if dice.random() < 0.98]
            request = {name: GOOD[name] for name in kept} | ({"id": f"q{number}"} if dice.random() < 0.95 else {})
            for _ in range(dice.choice((0, 0, 1, 1, 2, 3))):
                request[dice.choice((*GOOD, "nonsense"))] = dice.choice(VALUES)
            if isinstance(request.get("id"), str):
                request["id"] += f"/{number}"  # so that answers can be told apart
        text = json.dumps(request)
        for _ in range(dice.choice((0, 0, 0, 0, 1, 3))):
            text = _mutated(text, dice).replace("\n", " ")
        yield text
