"""`terminal` makes the program think that it writes on a terminal so many columns wide."""

import re

import pytest

from anabranch.cli.terminal import console, errors

LINES = 50
STYLES = re.compile(r"\x1b\[[\d;]*m")  # what Rich writes for colours
STEERING = re.compile(r"\x1b\[\??\d*[A-Za-z]|\r")  # and for tables that are drawn again


@pytest.fixture
def terminal(monkeypatch):
    def set_width(columns):
        for name, value in {"TTY_COMPATIBLE": "1", "TERM": "xterm"}.items():
            monkeypatch.setenv(name, value)
        for stream in (console, errors):
            monkeypatch.setattr(stream, "_width", columns)  # and not by COLUMNS, which they may have read already
            monkeypatch.setattr(stream, "_height", LINES)

    return set_width


def unstyled(text):
    return STEERING.sub("", STYLES.sub("", text))
