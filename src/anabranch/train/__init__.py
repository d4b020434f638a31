"""Training: from the rules of a game to a network that plays it well.

    settings.py   what can be set, as dataclasses and as TOML       run.py       a run is a folder: what is in it
    game_file.py  finished games on disk                            self_play.py games of the search with itself
    game_in_progress.py  a game until it is written                 openings.py  how games begin
    choices.py    how self-play searches and chooses                rows.py      what is kept of a search
    network_in_use.py  its evaluator                                summary.py   what it did, for the log
    window.py     the rows that are learnt from at the moment       final.py     what the end of a game adds to them
    targets.py    what a network should say of a position           model.py     networks, with heads for learning
    learner.py    learns, averages weights, writes checkpoints      gate.py      new networks play old ones; ratings
    supervisor.py all of it at once, in processes of their own      log.py       what happened, as JSON lines
    progress.py   where a run stands, as its log says               findings.py  known faults, recognised in the log
    faults_of_self_play.py, faults_of_learning.py  the checks       evidence.py  what checks look at
    report.py     a page about a run                                curves.py    its charts
    replays.py    games to step through                             opinions.py  what networks say of the start
    report_page.py  how the page looks

Every part reads and writes only the run's folder, so each can be killed at any moment, and used by itself. It needs PyTorch
for learning, and ONNX Runtime for everything else. Docs: docs/training.md.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Settings": "settings", "Run": "run", "SelfPlay": "self_play", "Learner": "learner", "Gate": "gate", "train": "supervisor",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """`anabranch.train.Run` and so on, imported when first used: only the learner needs PyTorch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'anabranch.train' has no attribute {name!r}")
    return getattr(import_module(f"anabranch.train.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(_HOMES)
