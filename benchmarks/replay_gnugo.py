"""Games that the arena has recorded, replayed by GNU Go: is every move legal to it, and does it find the same result?

    anabranch match "python -m anabranch gtp" "gnugo --mode gtp --level 10 --chinese-rules --positional-superko" \\
        --game go:size=9,komi=6.5 --games 100 --seconds 60 --referee gnugo --sgf games
    python benchmarks/replay_gnugo.py games

A game that was played to its end is scored anew; one that was resigned or forfeited is replayed to its last move. Ends with
status 1 if anything differs.
"""

import argparse
import re
from collections import Counter
from pathlib import Path

from anabranch.arena.gtp_client import GtpClient, GtpRefusal
from anabranch.arena.notation import find_program
from anabranch.protocols import sgf

SCORED = re.compile(r"(?:[BW]\+[\d.]+|0|Draw)")
COMMAND = ("--mode", "gtp", "--quiet", "--chinese-rules", "--positional-superko")
TIMEOUT = 120.0  # seconds for an answer


def replay(client: GtpClient, path: Path) -> str:
    """What GNU Go says of a record: "same score", "legal, resigned ..." or what is wrong."""
    written = re.search(r"RE\[([^\]]*)\]", path.read_text(encoding="utf-8"))
    if written is None:
        return "no result in the record"
    moves = sum(node.action is not None for node in sgf.load(path).path())
    try:
        client.ask(f"loadsgf {path}")
        count = len(client.ask("move_history").split("\n"))
    except GtpRefusal as error:
        return f"refused: {error}"
    if count != moves:
        return f"{count} of {moves} moves replayed"
    if not SCORED.fullmatch(written[1]):
        return f"legal, {written[1][2:] or written[1]}"
    score = client.ask("final_score")
    return "same score" if score.split()[0] == written[1] else f"{score} and not {written[1]}"


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    program = find_program("gnugo")
    if program is None:
        parser.error("gnugo is not installed")
    client = GtpClient([program, *COMMAND], TIMEOUT)
    counts: Counter[str] = Counter()
    for path in sorted(path for folder in parser.parse_args().folders for path in folder.glob("*.sgf")):
        found = replay(client, path)
        counts[found] += 1
        if not found.startswith(("same", "legal")):
            print(f"{path.name}: {found}")
    client.close()
    print(", ".join(f"{found}: {count}" for found, count in counts.most_common()))
    raise SystemExit(any(not found.startswith(("same", "legal")) for found in counts))


if __name__ == "__main__":
    main()
