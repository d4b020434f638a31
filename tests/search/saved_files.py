"""Saved searches that were damaged or forged, and what a search makes of them: it refuses them, or goes on soundly.

Flipped files have one bit changed. Forged ones have checksums that are right, and a few fields, counters or arrays that are
not: what somebody who knows the format would write. They are loaded in a process beside, so that a crash is seen.

    python -m tests.search.saved_files --flipped 3000 --forged 1000 [--of NAME ...] [--seed N]
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np

import anabranch as ab
from anabranch.games import ConnectFour, Go, Goofspiel, Pig, TicTacToe, Treasure, TriNim, Tug
from anabranch.search.memory.graph import header_dtype, node_dtype
from anabranch.search.memory.layout import SLOTS, edge_dtype
from anabranch.search.memory.tree import node_dtype as tree_node_dtype
from tests.search.invariants import check_counts, reached

VISITS = 300
AFTERWARDS = 200  # visits of a search that has loaded such a file
PATIENCE = 120  # seconds for one file


def opinion(states):
    """An evaluator that says something of every position, always the same."""
    return None, np.array([[(zlib.crc32(states[i].tobytes()) % 7 - 3) / 3.0] for i in range(len(states))])


SEARCHES = {
    "tree": (ConnectFour(), {}),
    "graph": (ConnectFour(), {"graph": True}),
    "proofs": (TicTacToe(), {"graph": True, "prove": True}),
    "parents": (TicTacToe(), {"graph": ab.graphs.GraphOptions(stale=ab.graphs.Ancestors())}),
    "repetitions": (Tug(), {"graph": True}),
    "python": (TicTacToe(), {"graph": True, "evaluate": opinion}),
    "python on a tree": (TicTacToe(), {"evaluate": opinion}),
    "rave": (TicTacToe(), {"graph": True, "select": ab.Rave()}),
    "heuristic": (TicTacToe(), {"graph": True, "select": ab.Rave(), "heuristic": ab.evaluate.EvenGame()}),
    "rewards": (Treasure(), {"graph": True}),
    "chance": (Pig(), {"graph": True}),
    "three players": (TriNim(), {}),
    "simultaneous": (Goofspiel(4), {"select": ab.RegretMatching()}),
    "threads": (ConnectFour(), {"graph": True, "threads": 2}),
    "threads on a tree": (ConnectFour(), {"threads": 2}),
    "Go": (Go(4), {"graph": True, "evaluate": ab.Uniform()}),
}


def make(name):
    """A search that has found something; on most graphs its root has moved, so that there is waste and a past."""
    game, options = SEARCHES[name]
    search = ab.Search(game, memory=3_000_000, seed=5, **options)
    result = search.run(visits=VISITS)
    if name != "proofs":
        search.advance(result.best)
        search.run(visits=VISITS)
    return search


# --- making them -----------------------------------------------------------------------------------------------------------


def flip(content, chance):
    """The same bytes but for one bit."""
    changed = bytearray(content)
    changed[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(changed)


NUMBERS = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 255, 65535, 2**31 - 1, 2**31, 2**62, 2**63 - 1]
FLOATS = [float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 0.5, 1.5, 1e30, 1e308, -1e308, 5e-324]


def number_for(dtype, slots, chance):
    """A number of this type that somebody might put in the place of another."""
    if dtype.kind == "f":
        return np.array(chance.choice([*FLOATS, chance.uniform(-2, 2)])).astype(dtype)
    near = slots + chance.randrange(-2, 3)
    places = max(slots, 1)  # their number may itself be forged
    value = chance.choice([*NUMBERS, near, chance.randrange(places), chance.randrange(places), chance.randrange(12)])
    return np.array(value & (2 ** (8 * dtype.itemsize) - 1), np.uint64).astype(f"u{dtype.itemsize}").view(dtype)


def forge_element(array, slots, chance):
    """Another number at a random place of an array, in a random field if it has some."""
    if array.size:
        array = array.reshape(-1)
        if array.dtype.names:
            array = array[chance.choice(array.dtype.names)].reshape(-1)
        where = chance.randrange(array.size)
        near = array[where] + np.array(chance.choice([1, -1])).astype(array.dtype)
        with np.errstate(over="ignore"):
            array[where] = near if chance.random() < 0.3 else number_for(array.dtype, slots, chance)


def forge_slot(arrays, search, chance):
    """Another number in a node, its card or one of its edges; mostly of those that the root reaches."""
    graph, slots = search.rooted.graph, int(arrays["used"][SLOTS])
    width = graph.edges["total"].shape[1]
    on_graph = "learnt" in arrays
    known = reached(graph, search.rooted.root)
    number = chance.choice(list(known))
    kinds = [(node_dtype if on_graph else tree_node_dtype)(width), edge_dtype(width), header_dtype(width)]
    kind = chance.choice(kinds if on_graph else kinds[:2])
    place = number - 1 if kind is kinds[2] else number
    if kind is kinds[1]:
        place = chance.choice(list(known[number]) or [number])
    if chance.random() < 0.1:
        place = chance.randrange(slots)
    row = arrays["slots"].view(kind)[place : place + 1]
    field = chance.choice(kind.names)
    if field == "child" and chance.random() < 0.7:
        row["child"] = chance.choice([*known, number])
    elif field == "action" and chance.random() < 0.7:
        row["action"] = chance.randrange(search.game.edge_actions)
    else:
        forge_element(row[field], slots, chance)


def forge_visits(arrays, search, chance):
    """More visits of an edge, counted at its node as well."""
    graph = search.rooted.graph
    number, edges = chance.choice([(n, e) for n, e in reached(graph, search.rooted.root).items() if e])
    more = chance.choice([1, -1, 10, 2**30, 2**31 - 1])
    for dtype, place in ((graph.nodes.dtype, number), (graph.edges.dtype, chance.choice(list(edges)))):
        row = arrays["slots"].view(dtype)["visits"]
        row[place] = (int(row[place]) + more + 2**31) % 2**32 - 2**31


def forge_edges(arrays, search, chance):
    """Two edges of the same or of different nodes change places, or one takes the other's."""
    graph = search.rooted.graph
    numbers = [e for edges in reached(graph, search.rooted.root).values() for e in edges]
    rows, (one, other) = arrays["slots"].view(graph.edges.dtype), chance.choices(numbers, k=2)
    rows[one], rows[other] = (rows[other].copy(), rows[one].copy()) if chance.random() < 0.7 else (rows[other], rows[other])


ODD = [
    None,
    True,
    -1,
    0,
    1,
    2,
    0.5,
    "x",
    "0" * 64,
    [],
    {},
    [1, 2],
    [[1, 2]],
    [[0, 0]],
    10**30,
    -(2**63),
    2**64,
    [10**25],
    "\n\x1b[2J",
]


def forge_header(arrays, chance):
    """Another value somewhere in the header, which may be no JSON any more."""
    try:
        header = json.loads(arrays["header"].tobytes())
    except (ValueError, RecursionError):
        return
    if not isinstance(header, dict) or not header:
        return
    place, key = header, chance.choice(list(header))
    while isinstance(place[key], (dict, list)) and place[key] and chance.random() < 0.8:
        place = place[key]
        key = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
    old = place[key]
    if type(old) is int and chance.random() < 0.6:
        place[key] = old + chance.choice([1, -1, 2, 100])
    elif isinstance(old, str) and old and chance.random() < 0.5:
        at = chance.randrange(len(old))
        place[key] = old[:at] + chance.choice("0123456789abcdef") + old[at + 1 :]
    elif isinstance(old, list) and chance.random() < 0.5:
        place[key] = old + old if chance.random() < 0.5 else old[:-1]
    elif isinstance(place, dict) and chance.random() < 0.1:
        del place[key]
    else:
        place[key] = chance.choice(ODD)
    text = json.dumps(header)
    if chance.random() < 0.05:
        text = chance.choice(["[" * 100_000, "null", "{}", text[:-2], text.replace("null", "NaN"), '{"a":' * 50_000])
    arrays["header"] = np.frombuffer(text.encode(), np.uint8)


def forge_array(arrays, chance):
    """An array of another type or shape; one too few or too many."""
    name = chance.choice(list(arrays))
    array = arrays[name]
    others = [array[:-1], array[:0], array.astype("f4") if array.dtype.kind in "uif" else array[:1], np.zeros((2, 2))]
    others += [np.array([{"a": 1}], object), np.concatenate([array, array])] if array.ndim == 1 else [array.T]
    arrays[name] = chance.choice(others)
    if chance.random() < 0.2:
        del arrays[name]
    if chance.random() < 0.2:
        arrays["table"] = np.zeros(3, np.uint64)


def forge(arrays, search, chance):
    """One to three of all that."""
    arrays = {name: array.copy() for name, array in arrays.items()}
    slots = int(arrays["used"][SLOTS])
    beside = [name for name, array in arrays.items() if array.size and name not in ("header", "slots")]
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        draw = chance.random()
        if draw < 0.5:
            forge_slot(arrays, search, chance)
        elif draw < 0.58:
            forge_visits(arrays, search, chance)
        elif draw < 0.66:
            forge_edges(arrays, search, chance)
        elif draw < 0.82:
            forge_element(arrays[chance.choice(beside)], slots, chance)
        else:
            forge_header(arrays, chance)
    if chance.random() < 0.05:
        forge_array(arrays, chance)
    return arrays


# --- trying them -----------------------------------------------------------------------------------------------------------


def read(path):
    """All arrays of a file."""
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


def write(path, arrays):
    """A file with these arrays, the checksums right."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(name + ".npy", "w") as stream:
                np.lib.format.write_array(stream, array, allow_pickle=True)


def bytes_of(search):
    """What a search that refuses a file must not have changed."""
    driver, slots = search.rooted.driver, int(search.rooted.graph.used[SLOTS])
    return search.position.data, driver.root, driver.graph.used.tobytes(), driver.graph.nodes[:slots].tobytes()


def shown(search):
    """All that a search shows of what it has found."""
    view = search.graph
    return search.position.data, view.nodes.tobytes(), view.edges.tobytes()


def try_out(search, path, saved=None):
    """Load a file and go on; whether it was accepted. `saved`: the search that it must still be, if there is one."""
    before = bytes_of(search)
    try:
        search.load(path)
    except ab.errors.SearchError as error:
        assert "\n" not in str(error) and bytes_of(search) == before
        return False
    assert saved is None or shown(search) == shown(saved)
    check_counts(search)
    for _ in range(2):
        search.run(visits=AFTERWARDS)
        check_counts(search)
        found, view = search.result(), search.graph
        assert len(view.nodes) > 0 and found.visits is not None
        search.advance(found.best)
        if search.position.is_over:
            break
    return True


def try_all(name, kind, first, last, seed):
    """Try files `first` to `last` of a kind, printing the number of each before and what became of it after."""
    search = make(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.search"
        search.save(path)
        content, arrays = path.read_bytes(), read(path)
        victim = make(name)
        for case in range(first, last):
            chance = random.Random(f"{seed} {name} {kind} {case}")
            print(case, end=" ", flush=True)
            if kind == "flipped":
                path.write_bytes(flip(content, chance))
            else:
                write(path, forge(arrays, search, chance))
            signal.alarm(PATIENCE)
            accepted = try_out(victim, path, search if kind == "flipped" else None)
            signal.alarm(0)
            if accepted:
                victim = make(name)
            print("accepted" if accepted else "refused", flush=True)


def attack(name, kind, count, seed=0):
    """How many of so many files were refused and accepted, and the numbers of those that a search did not survive."""
    counts, crashes, first = {"refused": 0, "accepted": 0}, [], 0
    while first < count:
        command = [sys.executable, "-m", "tests.search.saved_files", "--try", name, kind, str(first), str(count), str(seed)]
        done = subprocess.run(command, capture_output=True, text=True)
        told = [line.split() for line in done.stdout.splitlines()]
        for line in told:
            if line[1:]:
                counts[line[1]] += 1
        if done.returncode == 0:
            break
        if not told:
            raise AssertionError(done.stderr)
        first = int(told[-1][0]) + 1
        crashes.append((first - 1, done.returncode, done.stderr.strip().splitlines()[-1:]))
    return counts, crashes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flipped", type=int, default=3000)
    parser.add_argument("--forged", type=int, default=1000)
    parser.add_argument("--of", nargs="*", default=list(SEARCHES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--try", dest="one", nargs=5)
    given = parser.parse_args()
    if given.one:
        name, kind, first, last, seed = given.one
        try_all(name, kind, int(first), int(last), int(seed))
        return
    for name in given.of:
        for kind in ("flipped", "forged"):
            counts, crashes = attack(name, kind, getattr(given, kind), given.seed)
            print(
                f"{name}, {kind}: {counts['refused']} refused, {counts['accepted']} accepted, {len(crashes)} not survived",
                *crashes,
            )


if __name__ == "__main__":
    main()
