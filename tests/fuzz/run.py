"""Feed a target with inputs that reach ever more of its code, by atheris (libFuzzer), or with given files.

    python tests/fuzz/run.py sgf --seconds 60 --seed 7       # the corpus, and what grows from it
    python tests/fuzz/run.py sgf fuzz-failures/sgf-1f0c...   # again what has failed
    python tests/fuzz/run.py sgf tests/fuzz/corpus/sgf       # the corpus alone; atheris is not needed

A target is a module `fuzz_NAME.py` with

    WORDS      what inputs are made of, besides bytes
    check      a function of bytes: it raises if something is wrong; errors that are declared are none

and stands in `TARGETS` with the modules whose code guides the search: none with kernels, whose bytecode must stay as it is.

Also wrong: a crash, more than `SECONDS` for an input, more than `MEGABYTES` in all. The input is then written to a file in
`--failures`, whose name is printed, and the program ends with a code other than 0.
"""

import argparse
import faulthandler
import hashlib
import importlib
import inspect
import os
import secrets
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"
TARGETS = {
    "gtp": ("anabranch.protocols",),
    "requests": ("anabranch.protocols",),
    "saves": tuple(f"anabranch.search.results.{name}" for name in ("save", "archive", "check_saved", "check_nodes")),
    "sgf": ("anabranch.protocols",),
}
RUNNING = "running"  # the file with the input that is tried
BROKEN = "broken"  # fails, for tests of this program
SECONDS = 20  # for an input, on a machine that has much else to do; most need a thousandth of one
MEGABYTES = 2000  # of the process
LONGEST = 2000  # bytes of an input


def main() -> None:
    """Read the arguments, and fuzz or replay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=(*TARGETS, BROKEN))
    parser.add_argument("inputs", nargs="*", type=Path, help="files or folders to replay")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31 - 1) + 1)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), help="folder for inputs that fail")
    parser.add_argument("--grow", type=Path, help="folder for inputs that reach new code")
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)  # of the process that is fed
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    os.environ["ANABRANCH_QUIET"] = "1"  # what is compiled is no complaint
    if asked.inputs:
        replay(asked.target, asked.inputs)
    elif asked.scratch is None:
        fuzz(asked)
    else:
        feed(asked.target, asked.seconds, asked.seed, asked.scratch, asked.grow)


def load(target: str) -> ModuleType:
    """A target, ready to be fed: everything that it needs is compiled."""
    module = importlib.import_module(f"tests.fuzz.fuzz_{target}")
    for path in sorted((CORPUS / target).iterdir()):
        module.check(path.read_bytes())
    return module


def replay(target: str, inputs: list[Path]) -> None:
    """Check files, one after the other."""
    module = load(target)
    count = 0
    for path in _files(inputs):
        print(f"{target}: {path}", flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        module.check(path.read_bytes())
        faulthandler.cancel_dump_traceback_later()
        count += 1
    used = most_memory()
    if used > MEGABYTES:
        sys.exit(f"{target}: took {used:,} MB, more than {MEGABYTES:,}")
    print(f"{target}: {count} inputs, all right")


def most_memory() -> int:
    """The most megabytes that this process has taken; what getrusage says is at least what its parent had."""
    lines = Path("/proc/self/status").read_text().splitlines() if sys.platform == "linux" else []
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _files(inputs: list[Path]) -> Iterator[Path]:
    for path in inputs:
        yield from sorted(path.iterdir()) if path.is_dir() else [path]


def fuzz(asked: argparse.Namespace) -> None:
    """Search for an input that fails, in another process: whatever it dies of, the input is known."""
    print(f"target {asked.target}, seed {asked.seed}, {asked.seconds} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        options = ["--seconds", str(asked.seconds), "--seed", str(asked.seed), "--scratch", scratch]
        grow = [] if asked.grow is None else ["--grow", str(asked.grow)]
        code = subprocess.run([sys.executable, __file__, asked.target, *options, *grow], check=False).returncode
        running = Path(scratch) / RUNNING
        if code and running.exists():
            data = running.read_bytes()
            asked.failures.mkdir(parents=True, exist_ok=True)
            kept = asked.failures / f"{asked.target}-{hashlib.sha1(data).hexdigest()[:12]}"
            kept.write_bytes(data)
            sys.exit(f"{asked.target}: failed with code {code}; again: python tests/fuzz/run.py {asked.target} {kept}")
    sys.exit(code)


def feed(target: str, seconds: int, seed: int, scratch: Path, grow: Path | None) -> None:
    """Let atheris feed a target; does not return."""
    import atheris

    module = load(target)
    for function in functions(TARGETS.get(target, ())):
        atheris.instrument_func(function)

    def check(data: bytes) -> None:
        (scratch / RUNNING).write_bytes(data)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            module.check(data)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        faulthandler.cancel_dump_traceback_later()

    words, grown = scratch / "words", grow or scratch / "grown"
    words.write_text("".join(f'"{_quoted(word)}"\n' for word in module.WORDS), encoding="utf-8")
    grown.mkdir(parents=True, exist_ok=True)
    limits = [f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LONGEST}", f"-rss_limit_mb={MEGABYTES}"]
    others = [f"-timeout={10 * SECONDS}", f"-dict={words}", f"-artifact_prefix={scratch}/"]  # `check` sees hangs before
    atheris.Setup([sys.argv[0], *limits, *others, str(grown), str(CORPUS / target)], check)
    atheris.Fuzz()


def functions(prefixes: tuple[str, ...]) -> Iterator[FunctionType]:
    """All functions and methods of the modules with these names, and of those below them."""
    for name, module in list(sys.modules.items()):
        if name.startswith(prefixes):
            for found in list(vars(module).values()):
                for one in vars(found).values() if isinstance(found, type) else [found]:
                    one = inspect.unwrap(getattr(one, "fget", None) or getattr(one, "__func__", one))
                    if isinstance(one, FunctionType) and one.__module__ == name:
                        yield one


def _quoted(word: str) -> str:
    """A word as libFuzzer's dictionaries have it."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in word.encode())


if __name__ == "__main__":
    main()
