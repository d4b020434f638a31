"""The search as data: `Search.graph` agrees with the result and with the rules, in both layouts, and can be read and drawn."""

import json
import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Pig, TicTacToe, TriNim
from anabranch.jit import COMPILED
from anabranch.search.results.draw import GAP, JOINED, SURE, Box, Line, crossings, draw, layers, ordered, placed, text_width
from anabranch.search.results.export import NO_PLAYER, _titles
from tests.conftest import in_soak
from tests.search.games import Board

VISITS = 2000 if COMPILED else 150
LAYOUTS = {"tree": {}, "graph": {"graph": True}, "proofs": {"graph": True, "prove": True}}
SVG = "{http://www.w3.org/2000/svg}"


def opinion(states):
    return None, np.zeros((len(states), 1))


def searched(game, visits=VISITS, position=None, **options):
    search = ab.Search(game, memory="20MB", **options)
    return search, search.run(position, visits=visits)


@pytest.fixture(scope="module", params=LAYOUTS)
def found(request):
    """A search of Tic-tac-toe, its result, its view."""
    search, result = searched(TicTacToe(), **LAYOUTS[request.param])
    return search, result, search.graph


@pytest.fixture(scope="module")
def shared():
    """A search with many transpositions, its result, its view."""
    search, result = searched(TicTacToe(), position=TicTacToe().position(["b2", "a1", "c3"]), graph=True)
    return search, result, search.graph


# --- nodes and edges ---


def test_before_a_search_there_is_no_graph():
    search = ab.Search(TicTacToe())
    with pytest.raises(ab.errors.SearchError, match=r"call run\(\) first"):
        search.graph  # noqa: B018


def test_the_roots_edges_have_all_visits_and_the_results_values(found):
    _, result, view = found
    edges = view.edges[view.edges["source"] == 0]
    assert edges["visits"].sum() == result.stats.simulations
    assert dict(zip(edges["action"].tolist(), edges["visits"].tolist(), strict=True)) == dict(enumerate(result.visits))
    for move in result.moves:
        if not move.proven:
            edge = edges[edges["action"] == move.action][0]
            assert (edge["visits"], edge["prior"]) == (move.visits, pytest.approx(move.prior))
            assert edge["value"] == move.value if move.value is not None else np.isnan(edge["value"])
    assert view.nodes["value"][0] == pytest.approx(result.value)
    assert view.nodes["visits"][0] == result.stats.simulations + 1


def test_there_are_as_many_nodes_as_the_result_says(found):
    _, result, view = found
    bare = (view.edges["visits"] > 0) & (view.edges["target"] < 0)
    assert len(view.nodes) + bare.sum() == result.stats.nodes
    assert not bare.any() or not result.settings["graph"]


def test_nodes_are_numbered_breadth_first(found):
    view = found[2]
    led = view.edges[view.edges["target"] >= 0]
    depth, nearest = view.nodes["depth"], np.full(len(view.nodes), np.iinfo(np.int32).max)
    assert depth[0] == 0 and (np.diff(depth) >= 0).all()
    assert (depth[led["target"]] <= depth[led["source"]] + 1).all()
    np.minimum.at(nearest, led["target"], depth[led["source"]] + 1)
    assert (nearest[1:] == depth[1:]).all()
    assert (np.diff(view.edges["source"]) >= 0).all()


def test_walking_down_view_and_game_together_agrees_on_everything(found):
    search, _, view = found
    positions = {0: search.position}
    first = np.searchsorted(view.edges["source"], np.arange(len(view.nodes) + 1))
    for number, node in enumerate(view.nodes):
        position = positions[number]
        edges = view.edges[first[number] : first[number + 1]]
        assert node["over"] == position.is_over
        if search.rooted.needs.merge:
            assert tuple(node["key"].tolist()) == position.key
        if len(edges):
            assert node["player"] == position.to_play
            assert sorted(edges["action"].tolist()) == position.legal_actions
        else:
            assert node["player"] == NO_PLAYER
        if position.is_over:
            assert node["value"][0] == position.returns[0]
        for edge in edges[edges["target"] >= 0]:
            positions.setdefault(int(edge["target"]), position.play(int(edge["action"])))


def test_a_transposition_has_two_edges_or_more_and_each_is_a_merge(shared):
    _, result, view = shared
    led = view.edges["target"][view.edges["target"] >= 0]
    times = Counter(led.tolist())
    assert all(times[number] >= 1 for number in range(1, len(view.nodes)))
    assert sum(count - 1 for count in times.values()) == result.stats.merges > 0


def test_in_a_tree_every_node_has_one_edge():
    view = searched(TicTacToe())[0].graph
    assert sorted(view.edges["target"][view.edges["target"] >= 0].tolist()) == list(range(1, len(view.nodes)))
    assert not view.nodes["key"].any()


def test_bounds_are_there_only_with_proofs(found):
    _, result, view = found
    low, high, value = view.nodes["low"], view.nodes["high"], view.nodes["value"]
    if not result.settings["prove"]:
        assert np.isnan(low).all() and np.isnan(high).all()
        return
    assert ((low <= value) & (value <= high)).all()
    over = view.nodes["over"]
    assert (low[over] == high[over]).all() and all(view.is_proven(number) for number in np.flatnonzero(over))


@pytest.mark.parametrize("backup", [pytest.param(ab.backup.Max(), marks=in_soak), ab.backup.Mix(0.5)], ids=str)
def test_a_compact_trees_values_follow_its_backup(backup):
    search, result = searched(TicTacToe(), visits=100, backup=backup)
    assert search.graph.nodes["value"][0, 0] == pytest.approx(result.value)


def test_the_arrays_are_copies(found):
    search, _, view = found
    again = search.graph
    again.nodes["visits"] = -1
    again.edges["visits"] = -1
    assert search.graph.nodes.tobytes() == view.nodes.tobytes()
    assert search.graph.edges.tobytes() == view.edges.tobytes()


def test_after_advance_the_new_root_comes_first():
    search, result = searched(TicTacToe(), graph=True)
    known = len(search.graph.nodes)
    search.advance(result.best)
    view = search.graph
    assert len(view.nodes) < known
    assert view.nodes["player"][0] == 1 and view.nodes["depth"][0] == 0
    assert tuple(view.nodes["key"][0].tolist()) == search.position.key


def test_players_have_their_own_values_and_chance_its_events():
    wide = searched(TriNim(), visits=60, graph=True)[0].graph
    assert wide.nodes["value"].shape[1] == 3
    at_chance = searched(Pig(), visits=60)[0].graph
    rolls = np.flatnonzero(at_chance.nodes["player"] == ab.CHANCE)
    edges = np.flatnonzero(np.isin(at_chance.edges["source"], rolls))
    assert {at_chance.name_of(edge) for edge in edges} == {f"[{number}]" for number in range(1, 7)}
    assert wide.svg() and at_chance.svg()


def test_evaluators_and_games_in_python_have_views_as_well():
    for game, options in ((TicTacToe(), {"graph": True, "evaluate": opinion}), (Board, {})):
        search, result = searched(game, visits=40, **options)
        assert len(search.graph.nodes) == result.stats.nodes
        assert search.graph.svg()


# --- what others read ---


def test_json_round_trips(found):
    _, result, view = found
    told = json.loads(view.to_json())
    assert told["settings"] == json.loads(json.dumps(result.settings))
    for kind, array in (("nodes", view.nodes), ("edges", view.edges)):
        assert len(told[kind]) == len(array)
        for name in array.dtype.names:
            read = [record[name] for record in told[kind]]
            if name == "key":
                read = [[int(key[16:], 16), int(key[:16], 16)] for key in read]
            np.testing.assert_array_equal(np.array(read, array.dtype[name].base), array[name])
    assert told["edges"][0]["name"] == view.name_of(0)


def test_dot_has_the_most_visited_nodes_and_the_edges_between_them(shared):
    text = shared[2].to_dot(limit=30)
    assert text.startswith("digraph anabranch {") and text.endswith("}\n")
    nodes = {int(number) for number in re.findall(r"^  n(\d+) \[", text, re.MULTILINE)}
    links = [(int(a), int(b)) for a, b in re.findall(r"^  n(\d+) -> n(\d+) \[", text, re.MULTILINE)]
    assert len(nodes) == 30 and 0 in nodes
    assert {end for link in links for end in link} == nodes
    assert {target for _, target in links} >= nodes - {0}
    assert r'n0 [label="root\n' in text
    assert ('fillcolor="orange"' in text) == any(count > 1 for count in Counter(b for _, b in links).values())


def test_the_part_that_is_drawn_hangs_together_and_is_the_most_visited(shared):
    view = shared[2]
    part = view.most_visited(25)
    assert part.nodes[0] == 0 and len(set(part.nodes)) == 25
    reached = {0}
    for number in part.nodes[1:]:
        assert any(source in reached for source, target in part.links if target == number)
        reached.add(number)
    first_level = np.flatnonzero(view.nodes["depth"] == 1)
    least = min(view.nodes["visits"][number] for number in part.nodes)
    assert all(number in reached for number in first_level if view.nodes["visits"][number] > least)


# --- drawings ---


def boxes_of(svg):
    """The outer rectangle of each node as (left, top, right, bottom)."""
    found = []
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if group.get("class") == "node":
            x, y, width, height = (float(group.find(f"{SVG}rect").get(name)) for name in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


def assert_apart(boxes):
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:i]:
            apart = max(left - other[2], other[0] - right, top - other[3], other[1] - bottom)
            assert apart >= GAP - 1


def test_boxes_stand_apart_inside_the_picture(found):
    view = found[2]
    for limit in (1, 2, 12, 40, 90):
        svg = view.svg(limit)
        boxes = boxes_of(svg)
        assert len(boxes) == min(limit, len(view.nodes))
        assert_apart(boxes)
        picture = ElementTree.fromstring(svg)
        assert min(box[0] for box in boxes) > 0
        assert max(box[2] for box in boxes) < float(picture.get("width"))
        assert max(box[3] for box in boxes) < float(picture.get("height"))


def test_transpositions_are_marked_and_explained(shared):
    view = shared[2]
    svg = view.svg(60)
    parents = Counter(target for _, target in view.most_visited(60).links)
    joined = sum(count > 1 for count in parents.values())
    assert joined > 0
    assert svg.count(f'fill="{JOINED}"') == joined + 1  # and once in the legend
    assert "transposition" in svg and "60 of" in svg
    tree = searched(TicTacToe(), visits=60)[0].graph.svg()
    assert JOINED not in tree and "transposition" not in tree


def test_proven_nodes_are_marked_and_explained():
    position = TicTacToe().position(["b2", "a1", "c3"])
    search = ab.Search(TicTacToe(), graph=True, prove=True, memory="20MB")
    assert search.run(position, visits=1000).proven
    svg = search.graph.svg()
    assert svg.count(f'stroke="{SURE}"') > 1
    assert "=+0.000" in svg and ">proven<" in svg
    assert "color=darkgreen" in search.graph.to_dot()


def test_boxes_tell_action_visits_and_value():
    search, result = searched(ConnectFour(), visits=100)
    texts = [text.text for text in ElementTree.fromstring(search.graph.svg()).iter(f"{SVG}text")]
    assert texts[:3] == ["root", "101", f"{result.value:+.3f}"]
    most = result.moves[0]
    assert texts[3:5] == [most.name, f"{most.visits:,}"]
    assert search.graph._repr_svg_() == search.graph.svg()
    assert (
        repr(search.graph)
        == f"GraphView({len(search.graph.nodes):,} nodes, {len(search.graph.edges):,} edges of ConnectFour())"
    )


@pytest.mark.parametrize("limit", [0, -1, 2.5, "many"])
def test_a_limit_that_makes_no_sense_is_refused(shared, limit):
    for method in (shared[2].svg, shared[2].to_dot):
        with pytest.raises(ab.errors.SearchError, match=r"limit=.*must be a whole number of 1 or more"):
            method(limit)


def plain(count):
    return [Box([str(i), "1", "+0.000"], 0, False, False, False, "") for i in range(count)]


def line(source, target):
    return Line(source, target, 0.5, "")


def test_rows_are_ordered_so_that_lines_need_not_cross():
    lines = [line(0, 1), line(0, 2), line(1, 4), line(2, 3), line(1, 3), line(2, 5), line(1, 6)]
    rows = [np.array(row) for row in ([0], [1, 2], [5, 4, 3, 6])]
    steps = [np.array([[0, 1], [0, 2]]), np.array([[1, 4], [2, 3], [1, 3], [2, 5], [1, 6]])]
    assert crossings(rows, steps) > 0
    assert crossings(ordered(rows, lines), steps) == 0


def test_a_parent_stands_over_the_middle_of_its_children():
    lines = [line(0, i) for i in range(1, 6)]
    rows = layers(6, lines)
    x = placed(rows, np.full(6, 50.0), lines)
    assert x[0] == pytest.approx((x[1:].min() + x[1:].max()) / 2)
    assert np.diff(np.sort(x[1:])) == pytest.approx(50.0 + GAP)


def test_a_line_may_lead_back_to_its_own_row_or_to_its_own_box():
    svg = draw(plain(4), [line(0, 1), line(0, 2), line(1, 2), line(2, 0), line(3, 3), line(1, 3)], [])
    assert svg.count("stroke-dasharray") == 3 + 1
    assert "leads back" in svg
    assert_apart(boxes_of(svg))


def test_a_row_that_is_too_wide_for_a_page_becomes_a_column():
    names = [f"right/left {i}" for i in range(25)]
    boxes = [Box([name, "or stay/stay", "1", "+0.000 -0.000"], -1, False, False, False, "", 2) for name in names]
    svg = draw(boxes, [line(0, i) for i in range(1, 25)], ["width of lines: visits"])
    found = boxes_of(svg)
    assert_apart(found)
    assert float(ElementTree.fromstring(svg).get("width")) < 500
    assert len({left for left, *_ in found[1:]}) == 1 and found[0][2] < found[1][0]
    few = draw(boxes[:5], [line(0, i) for i in range(1, 5)], [])
    assert len({top for _, top, *_ in boxes_of(few)[1:]}) == 1


def test_texts_fit_their_boxes_and_the_legend_does_not_collide(shared):
    picture = ElementTree.fromstring(shared[2].svg(30))
    for group in picture.iter(f"{SVG}g"):
        if group.get("class") == "node":
            width = float(group.find(f"{SVG}rect").get("width"))
            for text in group.iter(f"{SVG}text"):
                assert text_width(text.text, bold=text.get("font-weight") == "bold") < width
    legend = next(group for group in picture.iter(f"{SVG}g") if group.get("class") == "legend")
    ends = {}
    for text in legend.findall(f"{SVG}text"):
        x, y = float(text.get("x")), float(text.get("y"))
        assert x > ends.get(y, 0.0)
        ends[y] = x + text_width(text.text)
    assert max(ends.values()) < float(picture.get("width"))


def test_alternatives_are_told_from_pairs():
    assert _titles(["up/left"]) == ["up/left"]
    assert _titles(["a1", "b2"]) == ["a1 or b2"]
    assert _titles(["up/left", "stay/left", "up/up", "a/b", "c/d"]) == ["up/left", "or stay/left", "or up/up", "or 2 more"]


def test_players_are_called_by_their_names(shared):
    assert "X moves" in shared[2].svg(30) and "value for X" in shared[2].svg(30)


def test_a_drawing_may_be_deep():
    count = 1200
    svg = draw(plain(count), [line(i, i + 1) for i in range(count - 1)], [])
    assert len(boxes_of(svg)) == count


def test_names_with_odd_letters_do_no_harm():
    class Quoted(Board):
        @staticmethod
        def name_of(action):
            return f'<"{action}\\&>'

    view = searched(Quoted, visits=30)[0].graph
    ElementTree.fromstring(view.svg())
    assert r'label="<\"' in view.to_dot()
    assert json.loads(view.to_json())["edges"][0]["name"].startswith('<"')
