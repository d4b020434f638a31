"""Programs that speak GTP well or badly, for tests: small Python scripts that are written to a folder when they are needed."""

import shlex
import sys
from pathlib import Path

SCRIPT = """
import os, sys, time

MODE, HOME = sys.argv[1], sys.argv[2]
COMMANDS = "protocol_version name version list_commands quit boardsize clear_board komi play genmove undo".split()
COMMANDS += "set_random_seed time_left time_settings".split()
genmoves = 0


def answer(text, sign="="):
    sys.stdout.write(sign + " " + text + "\\n\\n")
    sys.stdout.flush()


def genmove():
    global genmoves
    genmoves += 1
    if MODE == "dies" or MODE == "dies once" and not os.path.exists(HOME + "/died"):
        open(HOME + "/died", "w").close()
        sys.stderr.write("out of ideas\\n")
        sys.exit(3)
    if MODE == "hangs":
        time.sleep(1000)
    if MODE == "slow":
        time.sleep(1.5)
    if MODE == "babbles":
        sys.stdout.write("I like Go\\nvery much\\n\\n")
        return sys.stdout.flush()
    if MODE == "floods":
        while True:
            sys.stdout.write("blah blah blah\\n")
    if MODE == "twice":
        answer("pass")
    if MODE == "refuses":
        return answer("I do not feel like it", "?")
    answer({"nonsense": "Z99", "illegal": "A1", "resigns": "resign"}.get(MODE, "PASS"))


if MODE == "dead":
    sys.stderr.write("cannot load the network\\n")
    sys.exit(1)
if MODE == "mute":
    time.sleep(1000)
if MODE == "compiles":
    time.sleep(4.0)
if MODE == "banner":
    print("Welcome!\\n\\nThis program plays Go.")
with open(HOME + "/heard", "a") as heard:
    for line in sys.stdin:
        heard.write(line)
        heard.flush()
        words = line.split() or [""]
        if words[0] == "quit":
            answer("")
            break
        elif words[0] == "list_commands":
            answer("\\n".join(COMMANDS))
        elif words[0] == "genmove":
            genmove()
        elif words[0] == "boardsize" and MODE == "large only" and int(words[1]) < 9:
            answer("unacceptable size", "?")
        elif words[0] in COMMANDS:
            answer({"protocol_version": "2", "name": "Fake", "version": "0"}.get(words[0], ""))
        else:
            answer("unknown command", "?")
"""


def command(mode: str, folder: Path) -> list[str]:
    """How to start a program of this kind: polite, banner, dies, dies once, hangs, slow, babbles, floods, twice, refuses,
    nonsense, illegal, resigns, dead, mute, compiles, large only."""
    script = folder / "fake.py"
    script.write_text(SCRIPT)
    return [sys.executable, "-I", "-S", str(script), mode, str(folder)]


def player(mode: str, folder: Path) -> str:
    """The same as a player is written."""
    return f"{mode}: {shlex.join(command(mode, folder))}"


def heard(folder: Path) -> list[str]:
    """The commands that programs of this folder were sent."""
    return (folder / "heard").read_text().splitlines()
