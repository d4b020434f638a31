"""Requests in JSON: each line is answered, in JSON, and no answer is an internal error. The real server searches, on boards up
to 9x9 and with few visits."""

import contextlib
import io
import json
from dataclasses import replace
from typing import Any

from anabranch.goengine.searches import Options
from anabranch.protocols import analysis, queries
from anabranch.protocols.analysis import Server
from anabranch.protocols.queries import OVERRIDES, USED, Query, query_of

VISITS, TIME = 2, 0.05
MOST_LINES = 10
MOST_TURNS = 4  # of a request that are searched
TEXT = """
"query_version" "query_models" "clear_cache" "terminate" "terminate_all" "chinese" "japanese" "BLACK" "SIDETOMOVE"
["B","C3"] ["W","pass"] "B" "W" "A1" "(0,1)" {"ko":"SIMPLE"} true false null NaN 1e999 9 5 -1 2.5 {} [] \\ud800
"id":"a", "moves":[], "boardXSize":5,"boardYSize":5,
"""
WORDS = [
    *TEXT.split(),
    *(f'"{name}":' for name in (*USED, *OVERRIDES, "terminateId", "turnNumbers", "player", "untilDepth")),
    "\n",
]


def _small(request: dict[str, Any], positions: queries.Positions) -> Query:
    query = query_of(request, positions)
    turns = dict(list(query.priorities.items())[:MOST_TURNS])
    return replace(query, priorities=turns, visits=VISITS, seconds=TIME)


analysis.query_of = _small  # type: ignore[attr-defined]
queries.LARGEST = 9  # boards beyond have other kernels


def check(data: bytes) -> None:
    """A server with these lines."""
    lines = data.split(b"\n")[:MOST_LINES]
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said):
        Server(Options(memory="1MB"), lines, out, threads=1).run()
    assert not said.getvalue(), said.getvalue()
    answers = [json.loads(line, parse_constant=_none) for line in out.getvalue().splitlines()]
    asked = sum(bool(line.decode("utf-8", "replace").strip()) for line in lines)
    assert sum("warning" not in answer for answer in answers) >= asked, f"{len(answers)} answers to {asked} lines"
    assert not any("Internal" in answer.get("error", "") for answer in answers), answers


def _none(word: str) -> None:
    raise AssertionError(f"the server wrote {word}, which is not JSON")
