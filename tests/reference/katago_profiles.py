"""KataGo's profiles of players, number by number: what `nets/katago/profiles.py` makes from a name, made slowly."""

import math
from datetime import date, timedelta


def metadata(name: str, points: int, is_white: bool) -> list[float]:
    """The 192 numbers for one player to move."""
    kind, *rest = name.split("_")
    is_pro = kind == "proyear"
    ranks = [1, 1] if is_pro else [steps_below_ten_dan(rank) for rank in (rest[0], rest[-1])]
    own, other = reversed(ranks) if is_white else ranks
    numbers = [1.0, 1.0] + 4 * [0.0]  # two humans; nobody is unranked, or of a rank that is not known
    for rank in (own, other):
        numbers += [1.0 if step < rank else 0.0 for step in range(34)]
    numbers.append(0.0 if is_pro else 0.5)  # whether the game is rated
    numbers += [1.0 if limit == ("unknown" if is_pro else "byo-yomi") else 0.0 for limit in LIMITS]
    main, period, periods = (0, 0, 0) if is_pro else (20 * 60, 30, 5)
    numbers.append((math.log(main + 60) - 6.5) * 0.4)
    numbers.append((math.log(period + 1) - 3) * 0.3)
    numbers.append((math.log(periods + 2) - 1.5) * 0.5)
    numbers.append((math.log(0 + 2) - 1.5) * 0.25)
    numbers.append(math.log(math.sqrt(points / (19 * 19))))
    day = {"rank": date(2020, 3, 1), "preaz": date(2016, 9, 1)}.get(kind) or date(int(rest[0]), 6, 1)
    turns = (day - date(1970, 1, 1)) / timedelta(days=7)  # of the hand that goes round once a week
    for _ in range(32):
        numbers += [math.cos(turns * math.tau), math.sin(turns * math.tau)]
        turns /= 80_000 ** (1 / 31)
    source = "KGS" if not is_pro else "GoGoD" if int(rest[0]) <= 2020 else "Go4Go"
    numbers += [1.0 if one == source else 0.0 for one in SOURCES]
    return numbers + [0.0] * (192 - len(numbers))


LIMITS = ("unknown", "none", "absolute", "simple", "byo-yomi", "Canadian", "Fischer")
SOURCES = ("", "OGS", "KGS", "Fox", "Tygem", "GoGoD", "Go4Go")


def steps_below_ten_dan(rank: str) -> int:
    """9 dan is one step below, 1 dan nine, 1 kyu ten."""
    number = int(rank[:-1])
    return 10 - number if rank.endswith("d") else 9 + number
