"""`terminal` makes the program think that it writes on a terminal so many columns wide."""

import re

import pytest

STYLES = re.compile(r"\x1b\[[\d;]*m")  # what Rich writes for colours
STEERING = re.compile(r"\x1b\[\??\d*[A-Za-z]|\r")  # and for tables that are drawn again


@pytest.fixture
def terminal(monkeypatch):
    def set_width(columns):
        for name, value in {"TTY_COMPATIBLE": "1", "TERM": "xterm", "COLUMNS": str(columns), "LINES": "50"}.items():
            monkeypatch.setenv(name, value)

    return set_width


def unstyled(text):
    return STEERING.sub("", STYLES.sub("", text))
