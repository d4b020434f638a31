"""Searches in files: what was saved goes on bit for bit, and what does not fit is refused without harm."""

import json
import re
import zlib

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Hex, TicTacToe, Treasure, TriNim, Tug
from anabranch.jit import COMPILED
from anabranch.search.memory.collect import collect
from anabranch.search.memory.graph import FIRST_TABLE
from anabranch.search.memory.layout import POSITIONS, SLOTS, TABLE
from tests.conftest import in_soak, when_compiled
from tests.search.games import Board

VISITS = 500 if COMPILED else 40


def opinion(states):
    """An evaluator that says something of every position, always the same."""
    return None, np.array([[(zlib.crc32(states[i].tobytes()) % 7 - 3) / 3.0] for i in range(len(states))])


SEARCHES = {
    "tree": (TicTacToe(), {}),
    "tree of Connect Four": (ConnectFour(), {"select": ab.PUCT()}),
    "graph": (TicTacToe(), {"graph": True}),
    "graph of Connect Four": (ConnectFour(), {"graph": True}),
    "graph with proofs": (TicTacToe(), {"graph": True, "prove": True}),
    "graph that knows parents": (TicTacToe(), {"graph": ab.graphs.GraphOptions(stale=ab.graphs.Ancestors())}),
    "graph with an evaluator in Python": (TicTacToe(), {"graph": True, "evaluate": opinion}),
    "graph with repetitions": (Tug(), {"graph": True}),
    "tree with rewards": (Treasure(), {}),
    "tree for three": (TriNim(), {}),
}
ALIKE = ("tree of Connect Four", "graph of Connect Four", "graph with repetitions")  # to others, for the kernels behind files


def make(game, memory="20MB", **options):
    return ab.Search(game, memory=memory, seed=5, **options)


def state_of(search):
    """All that a search will go on from, as bytes."""
    driver, view = search.rooted.driver, search.graph
    return (
        view.nodes.tobytes(),
        view.edges.tobytes(),
        driver.graph.used.tobytes(),
        driver.work.random.tobytes(),
        search.position.data,
        search.position.moves,
        search.rooted.history.keys,
    )


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


@pytest.mark.parametrize("name", [pytest.param(name, marks=in_soak if name in ALIKE else ()) for name in SEARCHES])
def test_with_a_file_in_between_a_search_is_the_same_bit_for_bit(name, path):
    game, options = SEARCHES[name]
    straight = make(game, **options)
    whole = straight.run(visits=2 * VISITS)
    first, second = make(game, **options), make(game, **options)
    first.run(visits=VISITS)
    first.save(path)
    second.load(path)
    assert state_of(second) == state_of(first)
    result = second.run(visits=VISITS)
    assert state_of(second) == state_of(straight)
    assert (result.visits == whole.visits).all() and result.value == whole.value
    assert result.stats.nodes == whole.stats.nodes and result.stats.merges == whole.stats.merges
    assert result.stats.bytes == whole.stats.bytes


@pytest.mark.parametrize("options", [{}, {"graph": True}], ids=["tree", "graph"])
def test_a_game_goes_on_where_it_was_saved(options, path):
    search, other = make(ConnectFour(), **options), make(ConnectFour(), **options)
    for action in ("d", "d", "c"):
        search.run(visits=VISITS)
        search.advance(action)
    search.run(visits=VISITS)
    search.save(path)
    other.load(path)
    assert other.position == search.position and other.position.moves == (3, 3, 2)
    for each in (search, other):
        each.run(visits=VISITS)
        each.advance("e")
        each.run(visits=VISITS)
    assert state_of(other) == state_of(search)


def test_the_past_of_the_game_is_kept(path):
    search, other = make(Tug(), graph=True), make(Tug(), graph=True)
    search.run(visits=VISITS)
    search.advance("+1")
    search.run(visits=VISITS)
    search.save(path)
    other.load(path)
    assert other.rooted.history.keys == search.rooted.history.keys != []
    assert (other.rooted.driver.work.exhausted == search.rooted.driver.work.exhausted).all()
    for each in (search, other):
        each.run(visits=VISITS)
    assert state_of(other) == state_of(search)


def test_a_full_memory_stays_full(path):
    search, other = (make(ConnectFour(), memory=12_000, graph=True) for _ in range(2))
    assert search.run(visits=4 * VISITS).memory_full
    search.save(path)
    other.load(path)
    for each in (search, other):
        each.run(visits=VISITS)
    assert state_of(other) == state_of(search)


def test_long_paths_are_kept_long(path, kept):
    kept.rooted.driver.lengthen_path()
    kept.save(path)
    other = make(TicTacToe(), graph=True)
    other.load(path)
    assert len(other.rooted.driver.work.path_edges) == len(kept.rooted.driver.work.path_edges)


@pytest.mark.parametrize("memory", ["1MB", "100MB"])
def test_another_limit_of_memory_holds_from_then_on(memory, path, kept):
    other = make(TicTacToe(), memory=memory, graph=True)
    other.load(path)
    other.run(visits=VISITS)
    kept.run(visits=VISITS)
    assert other.graph.nodes.tobytes() == kept.graph.nodes.tobytes()
    assert other.run(visits=VISITS).stats.bytes < other.memory


def test_what_was_found_before_gives_way(path, kept):
    other = make(TicTacToe(), graph=True)
    other.run(TicTacToe().position(["a1"]), visits=20)
    other.load(path)
    assert state_of(other) == state_of(kept)


def test_other_options_may_be_others(path, kept):
    other = make(
        TicTacToe(), graph=ab.graphs.GraphOptions(ahead=ab.graphs.Continue()), select=ab.UCT(c=0.5), final=ab.final.ByValue()
    )
    other.load(path)
    result = other.run(visits=20)
    assert result.stats.kept == VISITS and result.settings["select"].startswith("UCT(c=0.5")


def test_the_file_is_small_and_plain(path, kept):
    assert path.stat().st_size < 200 * VISITS + 20_000
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    with np.load(path, allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes())
        assert {name: archive[name].dtype.kind for name in archive.files}.keys() >= {"slots", "random", "used"}
    assert header["game"] == "TicTacToe()" and header["anabranch"] == ab.__version__
    assert header["settings"]["graph"] is True and header["position"]["moves"] == []


def test_saving_again_replaces_the_file(path, kept):
    kept.run(visits=VISITS)
    kept.save(str(path))
    other = make(TicTacToe(), graph=True)
    other.load(str(path))
    assert other.run(visits=1).stats.kept == 2 * VISITS


# --- what is refused ---


def changed(path, /, **fields):
    """The file with other fields in its header."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes()) | fields
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with open(path, "wb") as stream:
        np.savez_compressed(stream, **arrays)


def refuses(search, path, message):
    """Loading fails like this, and the search is as it was."""
    before = None if search.rooted.driver is None else state_of(search)
    with pytest.raises(ab.errors.SearchError, match=message) as told:
        search.load(path)
    assert "\n" not in str(told.value)
    assert (None if search.rooted.driver is None else state_of(search)) == before
    search.run(visits=20)


@pytest.fixture
def busy():
    """A search that has found something, in another position."""
    search = make(TicTacToe(), graph=True)
    search.run(TicTacToe().position(["a1"]), visits=20)
    return search


def test_a_file_that_is_not_there_is_told(path, busy):
    refuses(busy, path, "kept.search cannot be read: No such file")
    refuses(busy, path.parent, "cannot be read")


@pytest.mark.parametrize("content", [b"hello", b"\x93NUMPY", b"{}", b"\x80\x04K\x01."])
def test_another_file_is_no_saved_search(content, path, busy):
    path.write_bytes(content)
    refuses(busy, path, "is not a saved search: those are written by Search.save")


def test_another_archive_is_no_saved_search(path, busy):
    with open(path, "wb") as stream:
        np.savez(stream, numbers=np.arange(3))
    refuses(busy, path, "is not a saved search")


def test_another_format_of_ours_is_no_saved_search(path, busy, kept):
    changed(path, format="anabranch something")
    refuses(busy, path, "is not a saved search")


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_short_is_told(share, path, busy, kept):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refuses(busy, path, "is cut short or damaged: save the search again")


def test_damage_is_told(path, busy, kept):
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 20] = b"?" * 20
    path.write_bytes(content)
    refuses(busy, path, "is cut short or damaged")


def test_another_version_of_the_format_is_told(path, busy, kept):
    changed(path, version=99, anabranch="9.0")
    refuses(busy, path, r"has format 99, and anabranch .* reads format 4: load it with anabranch 9\.0")


def test_another_layout_of_nodes_is_told(path, busy, kept):
    changed(path, slots=["Graph", "other", "fields", "10"])
    refuses(busy, path, "which keeps nodes otherwise: search anew")


def test_another_game_is_told_by_both_names(path, kept):
    refuses(make(ConnectFour(), graph=True), path, r"search of TicTacToe\(\), and this one is of ConnectFour\(\): load it with")


def test_another_size_of_a_game_is_another_game(path):
    search = make(Hex(3))
    search.run(visits=10)
    search.save(path)
    with pytest.raises(ab.errors.SearchError, match=r"Hex\(size=3\), and this one is of Hex\(size=4\)"):
        make(Hex(4)).load(path)


def test_other_rules_under_the_same_name_are_told(path, busy, kept):
    changed(path, facts={"record": []})
    refuses(busy, path, r"search of TicTacToe\(\) whose rules or data were not the same: search anew")


OTHERS = {
    "graph": ({}, "with graph=True, and this search is with graph=False: make it with the same options"),
    "prove": ({"graph": True, "prove": True}, "saved without prove=True, and this search is with prove=True"),
    "stale": (
        {"graph": ab.graphs.GraphOptions(stale=ab.graphs.Ancestors())},
        r"this search is with stale=Parents\(\) or Ancestors\(\)",
    ),
    "evaluate": ({"graph": True, "evaluate": opinion}, "this search is with an evaluator in Python"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_options_that_decide_what_is_in_memory_must_be_alike(name, path, kept):
    options, message = OTHERS[name]
    search = make(TicTacToe(), **options)
    search.run(visits=10)
    refuses(search, path, message)


def bytes_asked_for(search, path):
    """How much memory a search that has too little is told to take."""
    with pytest.raises(
        ab.errors.SearchError, match=rf"needs [\d,]+ bytes, this search may take {search.memory:,}: give"
    ) as told:
        search.load(path)
    return int(re.search(r"needs ([\d,]+)", str(told.value))[1].replace(",", ""))


@pytest.mark.parametrize(("least", "options"), [(4_000, {}), (12_000, {"graph": True})], ids=["tree", "graph"])
def test_a_memory_that_is_too_small_is_told_and_what_is_asked_for_is_enough(least, options, path):
    search = make(ConnectFour(), **options)
    search.run(visits=4 * VISITS)
    search.save(path)
    enough = bytes_asked_for(make(ConnectFour(), memory=least, **options), path)
    with pytest.raises(ab.errors.SearchError, match="needs"):
        make(ConnectFour(), memory=enough - 1, **options).load(path)
    other = make(ConnectFour(), memory=enough, **options)
    other.load(path)
    assert other.graph.nodes.tobytes() == search.graph.nodes.tobytes()
    assert other.run(visits=VISITS).memory_full


@when_compiled
def test_a_table_that_has_grown_needs_its_room_even_after_nodes_are_gone(path):
    search = make(ConnectFour(), memory=400_000, graph=True)
    search.run(visits=4000)
    for action in "dddd":
        search.advance(action)
    driver = search.rooted.driver
    driver.root = int(collect(driver.graph, driver.root)[driver.root])
    search.run(visits=100)
    used = driver.graph.used
    assert 4 * used[POSITIONS] < used[TABLE] > FIRST_TABLE
    search.save(path)
    enough = bytes_asked_for(make(ConnectFour(), memory=20_000, graph=True), path)
    assert enough > search.run(visits=1).stats.bytes
    other = make(ConnectFour(), memory=enough, graph=True)
    other.load(path)
    assert len(other.rooted.driver.graph.table) == used[TABLE]


def test_python_objects_are_not_saved(path):
    search = make(Board)
    search.run(visits=10)
    with pytest.raises(ab.errors.SearchError, match="positions that are Python objects are not saved"):
        search.save(path)
    with pytest.raises(ab.errors.SearchError, match="positions that are Python objects are not saved"):
        search.load(path)
    assert not path.exists()


def test_there_must_be_something_to_save(path):
    with pytest.raises(ab.errors.SearchError, match=r"nothing was searched from here yet: call run\(\) first"):
        make(TicTacToe()).save(path)


def test_a_place_that_cannot_be_written_is_told(path, kept):
    with pytest.raises(ab.errors.SearchError, match="cannot be written: No such file or directory"):
        kept.save(path.parent / "nowhere" / "kept.search")
    with pytest.raises(ab.errors.SearchError, match="cannot be written"):
        kept.save(path.parent)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_search_in_the_background_is_left_alone(path, kept):
    kept.start()
    try:
        for ask in (lambda: kept.save(path), lambda: kept.load(path), lambda: kept.graph):
            with pytest.raises(ab.errors.SearchError, match="running in the background"):
                ask()
    finally:
        kept.stop()
    assert kept.rooted.driver.graph.used[SLOTS] > 0
