"""Programs that speak GTP as badly as we could think of, a few lines each: what they do in place of a polite program.

PROGRAM is a polite one; a kind replaces its functions, and says how its games end.
"""

import shlex
import sys
from pathlib import Path

PROGRAM = r"""
import os, signal, subprocess, sys, time
out, err = sys.stdout.buffer, sys.stderr.buffer
INFO = {"protocol_version": "2", "name": "Fake", "version": "0"}
COMMANDS = [*INFO, "list_commands", "quit", "boardsize", "clear_board", "komi", "play", "genmove", "set_random_seed"]

def say(data):
    out.write(data)
    out.flush()

def answer(text="", sign="="):
    say(f"{sign} {text}\n\n".encode())

def start(): pass                        # before anything is read
def at(command): return False            # for each command; True: that was the answer
def genmove(): answer("PASS")
def leave(): answer()                    # at `quit`

#KIND

start()
for line in sys.stdin:
    command = (line.split() or [""])[0]
    if at(command):
        pass
    elif command == "quit":
        leave()
        break
    elif command == "genmove":
        genmove()
    elif command == "list_commands":
        answer("\n".join(COMMANDS))
    elif command in COMMANDS:
        answer(INFO.get(command, ""))
    else:
        answer("unknown command", "?")
"""

CRASH, SILENCE, NONSENSE, ILLEGAL = "crash", "silence", "nonsense", "illegal move"
OVER, RESIGNATION = "played out", "resignation"
HOLD_THE_PIPES = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'])"
ESCAPES = r"\x1b]0;owned\x07\x1b[31mred\x1b[2J\u202egnol\0"

# What it does, and how its games end.
AT_ONCE = {
    "exits at once": ("def start(): sys.exit(0)", CRASH),
    "exits at its first move": ("def genmove(): sys.exit(3)", CRASH),
    "exits after its first move": ("def genmove(): answer('PASS'); sys.exit(0)", CRASH),
    "is killed by a signal": ("def genmove(): os.kill(os.getpid(), signal.SIGSEGV)", CRASH),
    "is killed by a real-time signal": ("def genmove(): os.kill(os.getpid(), 40)", CRASH),
    "closes its output and exits": ("def genmove(): os.close(1); os._exit(0)", CRASH),
    "closes its output and lives on": ("def genmove(): os.close(1); time.sleep(30)", CRASH),
    "a line without an end": ("def genmove(): say(b'= ' + b'x' * 30_000_000); answer('PASS')", NONSENSE),
    "an endless line": ("def genmove():\n    while True: say(b'x' * 65536)", NONSENSE),
    "endless lines": ("def genmove():\n    while True: say(b'blah\\n' * 10000)", NONSENSE),
    "endless answers": ("def genmove():\n    while True: say(b'= PASS\\n\\n' * 10000)", NONSENSE),
    "an answer of many long lines": ("def genmove(): say(b'= ' + (b'x' * 60000 + b'\\n') * 900 + b'\\n')", NONSENSE),
    "binary garbage": ("def genmove(): say(bytes(range(256)) * 100 + b'\\n\\n')", NONSENSE),
    "invalid UTF-8": ("def genmove(): say(b'= \\xff\\xfe\\xc0\\x80\\xed\\xa0\\x80\\n\\n')", NONSENSE),
    "NUL bytes": ("def genmove(): say(b'= D\\x004\\n\\n')", NONSENSE),
    "terminal escapes as a move": (f"def genmove(): answer('{ESCAPES}')", NONSENSE),
    "an empty move": ("def genmove(): answer('')", NONSENSE),
    "a move off the board": ("def genmove(): answer('T19')", NONSENSE),
    "a row of 5,000 digits": ("def genmove(): answer('A' + '1' * 5000)", NONSENSE),
    "two moves": ("def genmove(): answer('A1 B2')", NONSENSE),
    "no sign before the move": ("def genmove(): say(b'PASS\\n\\n')", NONSENSE),
    "an occupied point": ("moves = iter(['A1'] * 99)\ndef genmove(): answer(next(moves))", ILLEGAL),
    "refuses boardsize": ("def at(c): return c == 'boardsize' and not answer('unacceptable size', '?')", NONSENSE),
    "refuses clear_board": ("def at(c): return c == 'clear_board' and not answer('no', '?')", NONSENSE),
    "refuses komi": ("def at(c): return c == 'komi' and not answer('no', '?')", NONSENSE),
    "refuses play": ("def at(c): return c == 'play' and not answer('no', '?')", NONSENSE),
    "refuses genmove": ("def at(c): return c == 'genmove' and not answer('no', '?')", NONSENSE),
    "refuses set_random_seed": ("def at(c): return c == 'set_random_seed' and not answer('no', '?')", NONSENSE),
    "refuses at great length": ("def at(c): return c == 'genmove' and not answer('no ' * 300_000, '?')", NONSENSE),
    "refuses everything": ("def at(c): return not answer('no', '?')", NONSENSE),
    "claims commands that it lacks": ("COMMANDS += ['undo', 'kgs-genmove_cleanup']\n"
        "def at(c): return c in ('undo', 'kgs-genmove_cleanup') and not answer('unknown command', '?')", OVER),
    "claims a cleanup that it lacks": ("COMMANDS += ['undo', 'kgs-genmove_cleanup']\n"
        "def at(c): return c == 'kgs-genmove_cleanup' and not answer('unknown command', '?')", NONSENSE),
    "dies with 1.2 MB on stderr": ("def genmove(): err.write(b'noise ' * 200_000); err.flush(); sys.exit(1)", CRASH),
    "dies with 40 long lines on stderr": (
        "def genmove(): err.write((b'n' * 60_000 + b'\\n') * 40); err.flush(); sys.exit(1)", CRASH),
    "dies with terminal escapes on stderr": (
        f"def genmove(): err.write('{ESCAPES}\\n'.encode()); err.flush(); sys.exit(1)", CRASH),
    "refuses after 2 MB on stderr": ("def start(): err.write(b'n' * 2_000_000); err.flush()\n"
        "def genmove(): answer('no', '?')", NONSENSE),
    "kills its worker": ("def genmove(): os.kill(os.getppid(), signal.SIGKILL); time.sleep(30)", CRASH),
    # Bad manners that do no harm.
    "is as polite as can be": ("", OVER),
    "1.2 MB on stderr at its start": ("def start(): err.write(b'noise\\n' * 200_000); err.flush()", OVER),
    "1.2 MB on stderr at every move": (
        "def genmove(): err.write(b'noise ' * 200_000); err.flush(); answer('PASS')", OVER),
    "binary garbage on stderr": (
        "def genmove(): err.write(bytes(range(256)) * 1000); err.flush(); answer('PASS')", OVER),
    "closes its stderr": ("def start(): os.close(2)", OVER),
    "a banner of 1 MB": ("def start(): say(b'welcome\\n' * 125_000)", OVER),
    "ids that were not given": ("def genmove(): say(b'=77 PASS\\n\\n')", OVER),
    "refuses its name and version": ("def at(c): return c in INFO and not answer('no', '?')", OVER),
    "a name of 100,000 letters": ("INFO = dict.fromkeys(INFO, 'x' * 100_000)", OVER),
    "terminal escapes as its name": (f"INFO = dict.fromkeys(INFO, '{ESCAPES}')", OVER),
    "carriage returns": ("def answer(text='', sign='='): say(f'{sign} {text}\\r\\n\\r\\n'.encode())", OVER),
    "empty lines before each answer": ("def at(c): return say(b'\\n\\n\\n')", OVER),
    "resigns at its first move": ("def genmove(): answer('resign')", RESIGNATION),
    "ignores quit": ("def leave(): signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(30)", OVER),
    "is slow to leave": ("def leave(): answer(); time.sleep(0.3)", OVER),
    "leaves a child behind that holds its pipes": (f"def start(): {HOLD_THE_PIPES}", OVER),
}  # fmt: skip
AFTER_A_WAIT = {
    "says nothing": ("def start(): time.sleep(30)", SILENCE),
    "hangs at its first move": ("def genmove(): time.sleep(30)", SILENCE),
    "answers too late": ("def genmove(): time.sleep(2.5); answer('PASS')", SILENCE),
    "half an answer": ("def genmove(): say(b'= PASS\\n'); time.sleep(30)", SILENCE),
    "empty lines for ever": ("def genmove():\n    while True: say(b'\\n'); time.sleep(0.001)", SILENCE),
    "a banner without an end": ("def start():\n    while True: say(b'welcome\\n\\n'); time.sleep(0.001)", SILENCE),
    "closes its input": ("def start(): os.close(0); time.sleep(30)", SILENCE),
    "stops itself": ("def genmove(): os.kill(os.getpid(), signal.SIGSTOP)", SILENCE),
    "dies while a child holds its pipes": (
        f"def genmove(): {HOLD_THE_PIPES[:-1]}, start_new_session=True); os._exit(1)", SILENCE),
}  # fmt: skip

# Files that the system takes for programs until it starts them.
NO_PROGRAMS = {
    "has no interpreter": b"#!/no/such/interpreter\n",
    "is no program": b"\x7fELF\0 and then nothing",
    "is an empty file": b"",
}
ENDINGS = {kind: ending for kind, (_, ending) in {**AT_ONCE, **AFTER_A_WAIT}.items()} | dict.fromkeys(NO_PROGRAMS, CRASH)


def opponent(kind: str, folder: Path) -> str:
    """Such a program as a player is written."""
    script = folder / f"{kind.replace(' ', '-')}.py"
    if kind in NO_PROGRAMS:
        script.write_bytes(NO_PROGRAMS[kind])
        script.chmod(0o755)
        return f"bad: {shlex.quote(str(script))}"
    body, _ = {**AT_ONCE, **AFTER_A_WAIT}[kind]
    script.write_text(PROGRAM.replace("#KIND", body), encoding="utf-8")
    return f"bad: {shlex.join([sys.executable, '-I', '-S', str(script)])}"
