"""Faults in logs made by hand are named; a healthy log and a short one have none."""

import json

import pytest

from anabranch.games.registry import load
from anabranch.train.faults_of_self_play import has_openings
from anabranch.train.findings import SILENT, WARNING, findings
from anabranch.train.progress import Clock, most_entropy, played, progress, speeds, time_text
from anabranch.train.run import Run
from anabranch.train.settings import Settings

START = 1_000_000.0
GAME = {"worker": 0, "network": "000001.onnx", "seconds": 15.0, "cpu": 14.0, "games": 60, "moves": 1800, "rows": 1800}
PLAYED = GAME | {"entropy": 0.8, "openings": 55, "scores": {"first": 30, "second": 25, "draw": 5}, "resigned": {}}
STEP = {"loss": 1.5, "policy": 1.2, "value": 0.3, "entropy": 1.0, "accuracy": 0.5, "value_accuracy": 0.7, "value_spread": 0.4}
LINES = 40


def run_with(tmp_path, self_play=None, step=None, more=(), settings=Settings(), lines=LINES, game="connectfour"):  # noqa: B008
    """A run whose log has so many lines of self-play and of learning; numbers may be functions of the line's number."""
    run = Run.create(tmp_path / "run", game, settings)
    found = []
    for n in range(lines):
        network = {"evaluations": 9_000 * n, "hits": 1_000 * n, "seconds": 8.0 * n}
        games = PLAYED | {"time": START + 15 * n, "of_network": network} | (self_play or {})
        learnt = STEP | {"time": START + 15 * n, "step": 100 * (n + 1), "samples": 25_600 * (n + 1), "rows": 6_400 * (n + 1)}
        learnt |= {"loss": 1.5 - n / 100, "gradient": 0.5, "rate": 2e-3} | (step or {})
        for what, line in (("self-play", games), ("step", learnt)):
            found.append({"what": what} | {k: value(n) if callable(value) else value for k, value in line.items()})
    found += [{"time": START + 15 * lines} | line for line in more]
    run.log.path.write_text("".join(json.dumps(line) + "\n" for line in found))
    return run


def names(run, later=0.0):
    return [finding.name for finding in findings(run, now=START + 15 * LINES + later)]


def ratings(*elos):
    return [{"what": "rating", "network": n, "elo": elo, "anchors": {"random": 0, "uct": 500}} for n, elo in enumerate(elos)]


def gates(*accepted):
    return [{"what": "gate", "network": n, "against": 1, "accepted": each, "elo": -50} for n, each in enumerate(accepted)]


def test_a_healthy_run_has_no_findings(tmp_path):
    more = [*ratings(0, 100, 200, 300, 400, 450, 500, 520), *gates(True, False, False, True)]
    assert names(run_with(tmp_path, more=more)) == []


def test_an_empty_log_has_no_findings(tmp_path):
    assert findings(Run.create(tmp_path / "run", "tictactoe")) == []


FAULTS = {
    "the search's policy has collapsed": {"self_play": {"entropy": 0.01}},
    "the network's policy has collapsed": {"step": {"entropy": 0.01}},
    "one opening only": {"self_play": {"openings": 1}},
    "the value is always the same": {"step": {"value_spread": 0.001}},
    "the value does not know who wins": {"step": {"value_accuracy": 0.51}},
    "the loss rises": {"step": {"loss": lambda n: 1.0 if n < 30 else 1.0 + (n - 30) / 20}},
    "gradients explode": {"step": {"gradient": lambda n: 0.4 if n < 30 else 30.0}},
    "the loss does not fall": {"step": {"loss": 2.0}},
    "the learner is behind": {"step": {"samples": lambda n: 3_000 * (n + 1)}},
    "resignations are wrong too often": {"self_play": {"resigned": {"checked, wrong": 2, "checked, right": 8, "resigned": 50}}},
    "draws only": {"self_play": {"scores": {"draw": 60}}},
    "the first player always wins": {"self_play": {"scores": {"first": 59, "second": 1}}},
    "self-play waits for the processor": {"self_play": {"cpu": 5.0}, "step": {}},
    "little time in the network": {
        "self_play": {"of_network": lambda n: {"evaluations": 9 * n, "hits": n, "seconds": 0.1 * n}}
    },
    "networks are refused": {"more": gates(True, False, False, False)},
    "Elo does not rise": {"more": ratings(0, 390, 400, 400, 400, 400, 390, 400, 405)},
    "the anchors are too weak": {"more": ratings(0, 900)},
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named_alone_with_the_setting_to_change(tmp_path, name):
    run = run_with(tmp_path, **FAULTS[name])
    (finding,) = findings(run, now=START + 15 * LINES)
    assert finding.name == name
    settings = [f"{section}." for section in ("network", "self_play", "targets", "learner", "gate")]
    assert any(each in finding.text for each in settings)


@pytest.mark.parametrize("name", sorted(FAULTS.keys() - {"the anchors are too weak"}))  # one rating far above them says it
def test_nothing_is_claimed_with_too_little_data(tmp_path, name):
    fault = FAULTS[name]
    few = {"games": 5, "rows": 150, "seconds": 1.0, "cpu": 0.9} | fault.get("self_play", {})
    scores = {result: count // 10 for result, count in few.get("scores", {}).items()}
    few |= {"scores": scores, "resigned": {"checked, wrong": 1}, "cpu": min(few["cpu"], 0.9)}
    assert names(run_with(tmp_path, few, fault.get("step"), fault.get("more", [])[:2], lines=2)) in (
        [],
        ["the anchors are too weak"],
    )


def test_noise_that_is_off_is_named_where_the_rule_needs_it(tmp_path):
    off = {"self_play_noise_weight": 0.0}
    assert names(run_with(tmp_path / "gumbel", settings=Settings().but(**off))) == []
    assert names(run_with(tmp_path / "puct", settings=Settings().but(self_play_select="puct", **off))) == ["noise is off"]


def test_a_game_with_few_openings_may_repeat_them(tmp_path):
    assert not has_openings(load("trinim:stones=4"), 50)
    assert has_openings(load("connectfour"), 50) and has_openings(load("tictactoe"), 50)


def test_silence_is_noticed_unless_the_planned_time_is_over(tmp_path):
    assert names(run_with(tmp_path / "stopped"), later=2 * SILENT) == ["nothing happens"]
    over = [{"what": "time", "seconds": 600, "of": 600}]
    assert names(run_with(tmp_path / "over", more=over), later=2 * SILENT) == []
    alone = [{"what": "time", "time": START + 15 * LINES + 2 * SILENT, "seconds": 1800, "of": None}]
    assert names(run_with(tmp_path / "alone", more=alone), later=2 * SILENT) == ["self-play is silent"]


def test_warnings_come_first(tmp_path):
    run = run_with(tmp_path, self_play={"scores": {"draw": 60}, "openings": 1}, step={"value_spread": 0.0})
    severities = [finding.severity for finding in findings(run, now=START + 15 * LINES)]
    assert severities == sorted(severities, key=lambda severity: severity != WARNING) and len(severities) == 3


def test_lines_of_another_version_do_no_harm(tmp_path):
    broken = {"what": "self-play", "entropy": None, "scores": 3, "of_network": None, "seconds": "x"}
    more = [broken, {"what": "step", "loss": None}, {"what": "gate"}, {"what": "rating", "elo": None, "anchors": 1}]
    run = run_with(tmp_path, more=more)
    findings(run)
    assert progress(run).games == 60 * LINES


# --- progress ---------------------------------------------------------------------------------------------------------


def test_speeds_of_processes_are_added_and_counters_that_began_anew_are_not_subtracted(tmp_path):
    lines = [
        {"time": 0.0, "worker": worker, "network": network, "seconds": 10.0, "games": 5, "rows": 50}
        | {"of_network": {"evaluations": count}}
        for worker, network, count in ((0, "a", 100), (1, "a", 300), (0, "a", 300), (1, "b", 200))
    ]
    assert [line["evaluations"] for line in played(lines)] == [100, 300, 200, 200]
    assert speeds(played(lines)) == pytest.approx((1.0, 10.0, 15.0 + 25.0))


def test_progress_says_how_long_it_takes_and_what_is_done(tmp_path):
    more = [
        {"what": "time", "seconds": 600, "of": 3600},
        {"what": "state", "part": "learner", "doing": "waits for games"},
        {"what": "state", "part": "learner", "doing": "learns"},
    ]
    found = progress(run_with(tmp_path, more=more), now=START + 15 * LINES)
    assert (found.games, found.positions, found.left, found.doing) == (60 * LINES, 1800 * LINES, 3000.0, {"learner": "learns"})
    assert found.speeds == pytest.approx((4.0, 120.0, 600.0))
    assert found.disk > 1000


def test_the_clock_leaves_pauses_out():
    told = [(0.0, 0.0), (10.0, 10.0), (5000.0, 10.0), (5010.0, 20.0)]
    clock = Clock([{"what": "time", "time": time, "seconds": seconds} for time, seconds in told])
    assert clock.spent([5.0, 2000.0, 5005.0, 5012.0]).tolist() == [5.0, 10.0, 15.0, 22.0]


def test_entropy_is_that_of_the_legal_actions_of_the_first_decision():
    assert most_entropy(load("connectfour")) == pytest.approx(1.9459, abs=1e-4)
    assert most_entropy(load("pyrat")) > 1.0


@pytest.mark.parametrize(("seconds", "text"), [(12.4, "12 s"), (150, "2 min"), (7260, "2 h 1 min")])
def test_time_is_told_as_people_say_it(seconds, text):
    assert time_text(seconds) == text
