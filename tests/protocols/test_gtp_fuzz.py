"""A session survives whatever is sent to it, and answers each line that wants an answer, in order.

ANABRANCH_FUZZ=100000 pytest tests/protocols/test_gtp_fuzz.py        more lines: benchmarks/fuzz_protocols.py does that
"""

import io
import os
from dataclasses import replace

from anabranch.goengine.engine import Engine
from anabranch.protocols.gtp import Session
from anabranch.protocols.gtp_words import parsed
from tests.conftest import when_compiled
from tests.protocols import fuzz
from tests.protocols.talk import OPTIONS

LINES = int(os.environ.get("ANABRANCH_FUZZ", "3000"))
SEED = int(os.environ.get("ANABRANCH_FUZZ_SEED", "0"))


@when_compiled
def test_a_session_of_random_and_broken_lines_is_answered_to_the_end(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # some lines write files
    (tmp_path / "bad.sgf").write_text("(;SZ[9];B[zz])", encoding="utf-8")
    (tmp_path / "good.sgf").write_text("(;SZ[5]KM[0.5]AB[aa];B[cc];W[dd];B[bb])", encoding="utf-8")
    lines = list(fuzz.lines(LINES, SEED))
    out = io.StringIO()
    engine = Engine(replace(OPTIONS, size=5, visits=3, seconds=0.2, memory="2MB"))
    Session(engine, [*lines, "999 name\n"], out).run()
    answers = out.getvalue().split("\n\n")
    asked = [found for found in map(parsed, lines) if found is not None]
    assert len(answers) == len(asked) + 2 and answers[-2:] == ["=999 Anabranch", ""]
    for line, answer in zip(asked, answers, strict=False):
        assert answer[0] in "=?" and answer[1:].startswith(line.number), f"{line}: {answer}"
    refused = sum(answer.startswith("?") for answer in answers)
    assert 0.2 < refused / len(asked) < 0.8  # it was not all nonsense, nor all sense
    assert not [answer for answer in answers if answer.startswith("? internal error")], capsys.readouterr().err
