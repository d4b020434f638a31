"""Saved searches in a hostile world: two savers, links and devices, full disks, files from strangers."""

import io
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import tracemalloc
import zipfile

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Go, Pig, TicTacToe, Tug
from anabranch.search.memory.layout import POSITIONS, SLOTS
from anabranch.search.results import save as keep
from tests.conftest import in_soak, when_compiled
from tests.search import saved_files
from tests.search.invariants import check_counts, reached
from tests.search.test_keep import VISITS, changed, make, refuses, state_of

DAMAGED = "is cut short or damaged: save the search again"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kept.search"


@pytest.fixture
def kept(path):
    """A saved search of Tic-tac-toe on a graph; the search."""
    search = make(TicTacToe(), graph=True)
    search.run(visits=VISITS)
    search.save(path)
    return search


@pytest.fixture
def busy():
    """A search that has found something, in another position."""
    search = make(TicTacToe(), graph=True)
    search.run(TicTacToe().position(["a1"]), visits=20)
    return search


def rewritten(path, **arrays):
    """The file with other arrays, or others besides."""
    saved_files.write(path, saved_files.read(path) | arrays)


# --- saving ------------------------------------------------------------------------------------------------------------


def test_two_savers_leave_one_file_that_is_whole(path, kept):
    other = make(TicTacToe(), graph=True)
    other.run(visits=3 * VISITS)
    faults, done = [], threading.Event()

    def save(search):
        try:
            for _ in range(25):
                search.save(path)
        except Exception as error:
            faults.append(error)

    def load():
        reader = make(TicTacToe(), graph=True)
        while not done.is_set():
            try:
                reader.load(path)
                assert reader.rooted.graph.used[SLOTS] in (kept.rooted.graph.used[SLOTS], other.rooted.graph.used[SLOTS])
            except Exception as error:
                faults.append(error)

    savers = [threading.Thread(target=save, args=(search,)) for search in (kept, other)]
    reader = threading.Thread(target=load)
    for thread in (reader, *savers):
        thread.start()
    for thread in savers:
        thread.join()
    done.set()
    reader.join()
    assert not faults
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_link_is_neither_followed_nor_replaced(path, kept):
    link, content = path.with_name("link.search"), path.read_bytes()
    link.symlink_to(path)
    kept.run(visits=VISITS)
    with pytest.raises(ab.errors.SearchError, match="cannot be written: it is a symbolic link; name the file itself"):
        kept.save(link)
    assert link.is_symlink() and path.read_bytes() == content
    again = make(TicTacToe(), graph=True)
    again.load(link)  # to read through one does no harm


def test_nothing_is_written_through_a_link_that_somebody_has_planted(path, kept):
    precious = path.with_name("precious")
    precious.write_text("precious")
    for name in (".part", ".tmp", ""):
        path.with_name(f"{path.name}{name}~").symlink_to(precious)
    path.with_name(path.name + ".part").symlink_to(precious)
    kept.save(path)
    assert precious.read_text() == "precious" and path.read_bytes()[:2] == b"PK"


def special_files(folder):
    """What stands where a file should, and is none."""
    pipe, device, door = folder / "pipe", folder / "device", folder / "socket"
    os.mkfifo(pipe)
    yield pipe
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(door))
    yield door
    server.close()
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))  # /dev/null, where one is allowed to
    except (OSError, AttributeError):
        return
    yield device


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="wants pipes and devices")
def test_pipes_sockets_and_devices_are_neither_replaced_nor_read(tmp_path, monkeypatch, kept, busy):
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    for place in special_files(tmp_path):
        mode = place.lstat().st_mode
        with pytest.raises(ab.errors.SearchError, match="cannot be written: it is a device or a pipe; name a file"):
            kept.save(place)
        assert place.lstat().st_mode == mode
        refuses(busy, place, "cannot be read")


@pytest.mark.parametrize("place", [".", "", "..", "folder", "kept\0search", "/proc/kept.search"])
def test_what_cannot_be_written_is_told_in_one_line(place, tmp_path, monkeypatch, kept):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(ab.errors.SearchError, match="cannot be written: ") as told:
        kept.save(place)
    assert "\n" not in str(told.value)


FULL_DISK = """
import resource, sys
import anabranch as ab
from anabranch.games import TicTacToe

search = ab.Search(TicTacToe(), memory="20MB", graph=True)
search.run(visits=300)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    search.save(sys.argv[1])
except ab.errors.SearchError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file_and_nothing_else(path, kept):
    pytest.importorskip("resource")
    content = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL_DISK, path], capture_output=True, text=True)
    assert done.stdout.strip() == f"{path} cannot be written: File too large" and "Traceback" not in done.stderr
    assert path.read_bytes() == content and [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_file_is_readable_as_the_user_wants_files_to_be(path, kept):
    before = os.umask(0o027)
    try:
        kept.save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


# --- sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["header", "slots", "used", "random", "bounds", "more"])
def test_no_memory_is_taken_for_what_a_file_says_of_itself(name, path, kept):
    search = make(TicTacToe(), memory="1MB", graph=True)
    search.load(path)  # so that nothing is compiled later, which takes memory
    with zipfile.ZipFile(path) as archive:
        members = {entry: archive.read(entry) for entry in archive.namelist()}
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(huge, {"descr": "|u1", "fortran_order": False, "shape": (3 * 10**9,)})
    members[f"{name}.npy"] = huge.getvalue() + bytes(200_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for entry, content in members.items():
            archive.writestr(entry, content)
    del members, content, huge
    tracemalloc.start()
    try:
        refuses(search, path, DAMAGED)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_directory_without_end_is_not_read(path, busy):
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(20_000):
            archive.writestr(f"{i:020}.npy", b"")
    refuses(busy, path, DAMAGED)


def test_pickles_are_not_opened(path, kept, busy):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "sprung"),)

    for name in ("learnt", "header", "trap"):
        kept.save(path)
        rewritten(path, **{name: np.array([Trap()], object)})
        refuses(busy, path, DAMAGED)
    assert not (path.parent / "sprung").exists()


def test_two_arrays_of_one_name_are_one_too_many(path, kept, busy):
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("used.npy", b"")
    refuses(busy, path, DAMAGED)


# --- headers -----------------------------------------------------------------------------------------------------------

BAD_FIELDS = {
    "a root that is no number": {"root": "1"},
    "a root beyond the end": {"root": 10**9},
    "a root that is a card": {"root": 0},
    "a truth for a number": {"root": True},
    "a path without end": {"path": 2**40},
    "a path below the least": {"path": 1},
    "more refusals than there were": {"refused": 5},
    "a past of negative keys": {"history": [[-1, 2]]},
    "a past of three": {"history": [[1, 2, 3]]},
    "no moves": {"position": {"record": "00"}},
    "a record that is no text": {"position": {"record": 5, "moves": []}},
    "an illegal move": {"position": {"record": "00", "moves": [4, 4]}},
    "a move that is huge": {"position": {"record": "00", "moves": [10**25]}},
    "a move that is nested": {"position": {"record": "00", "moves": [[[[1]]]]}},
    "a game without end": {"position": {"record": "00", "moves": [0] * 30_000}},
    "facts that are none": {"facts": 3},
    "options that are none": {"options": ["graph"]},
    "waste that is a number": {"waste": 1},
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_a_header_is_read_field_by_field(name, path, kept, busy):
    changed(path, **BAD_FIELDS[name])
    refuses(busy, path, DAMAGED)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "{}", "null", "", '{"format": NaN}', "\udc80", "1e999"])
def test_a_header_that_is_none_is_told(text, path, kept, busy):
    rewritten(path, header=np.frombuffer(text.encode("utf-8", "surrogateescape"), np.uint8))
    refuses(busy, path, DAMAGED)


def test_words_of_a_stranger_stay_in_their_line(path, kept, busy):
    changed(path, game="Go\n\x1b[2J" + 10_000 * "!")
    with pytest.raises(ab.errors.SearchError, match=r"is a search of Go\?\?\[2J!+\.\.\., and this one") as told:
        busy.load(path)
    assert len(str(told.value)) < 1_000


# --- positions ---------------------------------------------------------------------------------------------------------


def test_a_position_is_what_its_moves_lead_to(path, busy):
    search = make(TicTacToe(), graph=True)
    search.run(TicTacToe().position(["b2", "a1"]), visits=VISITS)
    search.save(path)
    place = json.loads(saved_files.read(path)["header"].tobytes())["position"]
    for wrong in (
        place | {"moves": [4]},
        place | {"moves": [4, 1]},
        place | {"record": "ff" + place["record"][2:]},
        place | {"record": place["record"] + "00"},
    ):
        changed(path, position=wrong)
        refuses(busy, path, r"a position that its moves do not lead to: if it was set up, give it, load\(path, position\)")


@in_soak
def test_a_position_that_was_set_up_is_given_again(path):
    def search():
        return ab.Search(game, evaluate=ab.Uniform(), memory="20MB", graph=True)

    game = Go(4)
    position = game.arranged(["A1", "B2"], ["C3"], to_play=1)
    first, second = search(), search()
    first.run(position, visits=VISITS)
    first.advance("B3")
    first.run(visits=VISITS)
    first.save(path)
    with pytest.raises(ab.errors.SearchError, match="if it was set up, give it"):
        second.load(path)
    with pytest.raises(
        ab.errors.SearchError, match=r"a search of another position, or of another past, than the one that load\(\)"
    ):
        second.load(path, position)
    second.load(path, position.play("B3"))
    assert state_of(second)[:2] == state_of(first)[:2] and second.position.moves == first.position.moves
    for each in (first, second):
        each.run(visits=VISITS)
    assert state_of(second)[:2] == state_of(first)[:2]


def test_a_past_that_was_left_behind_stays_so(path):
    game = Tug()
    position = game.position(["+1", "+1"]).without_past()
    search, other = make(game, graph=True), make(game, graph=True)
    search.run(position, visits=VISITS)
    search.save(path)
    other.load(path)
    assert other.position.past == () and other.position.moves == position.moves
    assert state_of(other) == state_of(search)


def test_chance_events_are_played_again(path):
    game = Pig()
    position = game.start()
    for _ in range(4):
        position = position.play(position.legal_actions[0])
    search, other = make(game), make(game)
    search.run(position, visits=VISITS)
    search.save(path)
    other.load(path)
    assert state_of(other) == state_of(search)


def test_a_game_too_long_to_be_played_again_is_not_saved(path, kept, monkeypatch):
    kept.advance("b2")
    kept.run(visits=20)
    monkeypatch.setattr(keep, "MOST_MOVES", 0)
    with pytest.raises(ab.errors.SearchError, match="a game of 1 moves is not saved"):
        kept.save(path)


# --- what is in memory -------------------------------------------------------------------------------------------------


def test_what_no_position_of_the_game_leads_to_is_dropped(path):
    """A node that is only found by its key cannot be checked: its position is not known."""
    game = TicTacToe()
    search, other = make(game, graph=True), make(game, graph=True)
    search.run(game.position(["a1", "b2"]), visits=4 * VISITS)
    search.run(game.position(["c3", "b2", "a1"]), visits=VISITS)
    before = int(search.rooted.graph.used[POSITIONS])
    search.save(path)
    other.load(path)
    assert len(reached(other.rooted.graph, other.rooted.root)) == other.rooted.graph.used[POSITIONS] < before
    assert state_of(other)[:2] == state_of(search)[:2]
    other.run(visits=VISITS)
    check_counts(other)


@when_compiled
@pytest.mark.parametrize("threads", [2, 4])
def test_a_full_graph_of_several_threads_loads_again(threads, path):
    for seed in range(4):
        search, other = (ab.Search(ConnectFour(), graph=True, threads=threads, memory=60_000, seed=seed) for _ in range(2))
        assert search.run(visits=6_000).memory_full
        search.save(path)
        other.load(path)
        assert other.graph.nodes.tobytes() == search.graph.nodes.tobytes()
        other.run(visits=500)
        check_counts(other)


@when_compiled
@pytest.mark.parametrize(("saver", "loader"), [(1, 2), (2, 1)])
def test_a_graph_goes_from_one_thread_to_several_and_back(saver, loader, path):
    search, other = (ab.Search(ConnectFour(), graph=True, threads=threads, memory="20MB") for threads in (saver, loader))
    search.run(visits=2_000)
    search.save(path)
    other.load(path)
    if loader > 1:  # what a node keeps is how many are under way from there, and not when the last one came
        assert not other.rooted.graph.nodes["under_way"][list(reached(other.rooted.graph, other.rooted.root))].any()
    other.run(visits=2_000)
    check_counts(other)


def test_deep_paths_are_looked_through_with_few_states_at_hand(path, kept, monkeypatch):
    from anabranch.search.results import check_saved

    monkeypatch.setattr(check_saved, "STATES", 0)  # two
    other = make(TicTacToe(), graph=True)
    other.load(path)
    assert state_of(other) == state_of(kept)


# --- files that nobody saved like that ---------------------------------------------------------------------------------


@when_compiled
@pytest.mark.parametrize("name", ["tree", "graph"])
def test_a_flipped_bit_is_refused_or_harmless(name):
    counts, crashes = saved_files.attack(name, "flipped", 75)
    assert not crashes and sum(counts.values()) == 75


@when_compiled
@pytest.mark.parametrize("name", ["tree", "graph", "proofs", "repetitions"])
def test_a_forged_file_is_refused_or_harmless(name):
    counts, crashes = saved_files.attack(name, "forged", 25)
    assert not crashes and sum(counts.values()) == 25 and counts["refused"]
