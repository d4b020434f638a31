"""Players as text: what is understood, and what is said of the rest."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.arena.notation import PolicySpec, ProgramSpec, SearchSpec, _routed, parse, split
from anabranch.errors import AnabranchError, ArenaError
from anabranch.games import Nim, PyRat, TicTacToe
from anabranch.games.go import Go, Light, MoGo, Softmax
from anabranch.games.pyrat import Nearest
from anabranch.games.registry import load
from anabranch.option_names import option_names

GO = Go(size=9)
OWN_GAME = """
import numpy as np
import anabranch as ab
from anabranch.games.nim import Nim as Base
from typing import NamedTuple

class Careful(NamedTuple):
    \"\"\"A policy of one's own.\"\"\"
    care: float = 0.5

@ab.evaluate.pick.register(Careful)
def pick_careful(policy, state, random):
    return 0

VERY = Careful(1.0)

def knows_all(states):
    return np.ones((len(states), 3)), np.zeros(len(states))

class MyNim(Base):
    \"\"\"Mine.\"\"\"
"""


@pytest.fixture
def own_game(tmp_path):
    (tmp_path / "own_nim.py").write_text(OWN_GAME)
    return load(f"{tmp_path / 'own_nim.py'}:MyNim")


def test_a_search_is_written_by_its_rule_and_options():
    spec = parse("uct visits=1000 c=0.5 policy=MoGo", GO)
    assert isinstance(spec, SearchSpec)
    assert spec.options == {"select": ab.UCT(c=0.5), "evaluate": ab.Rollout(policy=MoGo())}
    assert spec.limits == {"visits": 1000} and spec.reuse is True


def test_options_may_be_nested_and_divided_by_commas():
    long = parse("search:visits=1000,select=UCT(c=0.5),evaluate=Rollout(policy=MoGo(self_atari=0.95), playouts=2)", GO)
    short = parse("uct visits=1000 c=0.5 policy=MoGo(self_atari=0.95) playouts=2", GO)
    assert long.options == short.options and long.limits == short.limits


def test_all_options_of_a_search_are_there():
    written = (
        "puct c=1.1 growth=0.45 fpu=ReducedFPU(0.3) graph prove=False backup=Mix(0.5) final=ByTemperature(temperature=0.3) "
        "noise=Dirichlet(alpha=0.1) update=Idempotent ahead=Continue stale=Parents collect=Forget(0.5) depth=40 expand_after=2 "
        "memory=64MB total=300 seconds=0.5 reuse=False threads=1"
    )
    spec = parse(written, GO)
    assert spec.options["select"] == ab.PUCT(c=1.1, growth=0.45, fpu=ab.select.ReducedFPU(0.3))
    assert repr(spec.options["graph"]) == repr(
        ab.graphs.GraphOptions(ab.graphs.Idempotent(), ab.graphs.Continue(), ab.graphs.Parents(), ab.graphs.Forget(0.5))
    )
    assert spec.options["expand"] == ab.select.Expansion(after=2, depth=40)
    assert spec.options["prove"] is False and spec.options["memory"] == "64MB"
    assert spec.options["backup"] == ab.backup.Mix(0.5) and spec.options["final"] == ab.final.ByTemperature(0.3)
    assert spec.limits == {"total": 300, "seconds": 0.5} and spec.reuse is False
    ab.Search(GO, **spec.options)


def test_every_selection_rule_is_a_kind_of_player():
    assert parse("greedy visits=5", GO).options["select"] == ab.Greedy()
    assert parse("Regularized visits=5", GO).options["select"] == ab.select.Regularized()
    assert parse("search visits=5", GO).options == {}


def test_blanks_around_equals_signs_and_case_of_the_kind_do_not_matter():
    spec = parse("  UCT   visits = 10 ,  c=0.5 ", GO)
    assert spec.text == "uct visits=10 c=0.5" == parse("uct:visits=10,c=0.5", GO).text


def test_a_player_may_have_a_name():
    assert parse("strong one: puct visits=10", GO).label == "strong one"
    assert parse("strong one: puct visits=10", GO).text == "puct visits=10"
    assert parse("puct visits=10", GO).label == "puct visits=10"
    assert parse("random: random", GO).label == "random"
    assert parse("uct: visits=10", GO).text == "uct visits=10"


def test_policies_and_random_moves_are_players_too():
    assert parse("random", Nim()) == PolicySpec("random", "random", None)
    assert parse("playout", GO).policy == GO.policy
    assert parse("playout policy=Light", GO).policy == Light()
    assert parse("playout policy=Softmax(temperature=0.5)", GO).policy == Softmax(temperature=0.5)
    assert parse("playout", Nim()).policy == ab.evaluate.RandomPolicy()


def test_any_other_first_word_is_a_program():
    spec = parse("engine: sh -c 'exec cat'", GO)
    assert isinstance(spec, ProgramSpec)
    assert spec.command[0].endswith("/sh") and spec.command[1:] == ("-c", "exec cat")


def test_options_of_a_users_own_file_are_known(own_game):
    assert parse("uct visits=9 policy=Careful(care=0.1)", own_game).options["evaluate"].policy.care == 0.1
    assert parse("playout policy=VERY", own_game).policy.care == 1.0
    assert parse("uct visits=9 evaluate=knows_all", own_game).options["evaluate"].__name__ == "knows_all"
    assert "knows_all" in option_names(own_game) and "MoGo" not in option_names(own_game) and "UCT" in option_names(own_game)


BAD = {
    "": "the description of a player is empty",
    "uctt visits=3": "'uctt' is neither a kind of player (best, bestchance, forced, greedy, gumbel, katagopuct,",
    "gnugoo --mode gtp": "nor a program on this machine",
    "uct visits=-3": "visits=-3: must be a whole number above 0",
    "uct visits=2.5": "visits=2.5: must be a whole number above 0",
    "uct visits=many": "there is no option `many`",
    "uct visist=3": "a search has no option `visist`; did you mean visits? It has select, evaluate",
    "uct seed=3": "a search has no option `seed`",
    "uct policy=Mogo": "there is no option `Mogo`; did you mean MoGo? Known options: AmongSiblings, Ancestors",
    "uct policy=MoGo(sav=1)": "MoGo has no field `sav`; did you mean save? It has save, nakade",
    "uct policy=UCT": "not a default policy",
    "uct c=-1": "UCT: c=-1.0 must be 0 or more",
    "uct c=big": "there is no option `big`; known options: AmongSiblings, Ancestors",
    "uct c='big'": "UCT: c must be a number",
    "uct select=PUCT": "`uct` already names the selection rule",
    "search select=Rollout": "not an option for select",
    "search evaluate=Uniform policy=MoGo": "a search has no option `policy`",
    "search evaluate=3": "give an evaluator such as Rollout",
    "uct c=(1": "an unmatched bracket or quote",
    "uct visits=3 visits=4": "`visits` is given twice",
    "uct 3": "'3' is not an option; write key=value",
    "uct c=1+1": "'1+1' is not a value",
    "uct c=__import__('os').system('true')": "is not a value",
    "uct c=__import__('os')": "there is no option `__import__`",
    "uct c=[x for x in 'abc']": "is not a value",
    "uct policy=MoGo(**{})": "is not a value",
    "uct policy=MoGo(1,2,3,4,5,6,7,8,9,10,11,12)": "MoGo takes save, nakade",
    "uct update=CatchUp": "say graph=True as well",
    "uct reuse=3": "reuse=3: must be True or False",
    "random visits=3": "`random` takes no options",
    "playout c=3": "`playout` has no option `c`",
    "x" * 5000: "at most 4,000 characters",
    "uct c=" + "(" * 500 + "1" + ")" * 500: "UCT: c must be a number",
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:40])
def test_what_is_not_understood_is_told_with_what_is_known(text):
    with pytest.raises(ArenaError) as told:
        parse(text, GO)
    assert BAD[text] in str(told.value)


def test_a_program_plays_only_go():
    with pytest.raises(ArenaError, match="programs play only Go, over GTP; the game is Nim"):
        parse("sh", Nim())


@given(st.text(alphabet="uct visz=10,()[]'\"MoG.:-+\\{}\n", max_size=60))
def test_no_text_whatever_raises_anything_but_our_own_errors(text):
    try:
        parse(text, GO)
    except AnabranchError as error:
        assert str(error)


@given(
    st.lists(st.sampled_from(["a=1", "b=F(1, 2)", "c='x, y'", "d=[1, 2]", "e"]), unique=True), st.sampled_from([" ", ", ", ","])
)
def test_words_are_split_outside_of_brackets_and_quotes(words, between):
    assert split(between.join(words)) == words


def test_where_both_move_at_once_the_kinds_are_others():
    game = PyRat(preset="5x5")
    found = parse("decoupled visits=10 c=2.0 replies=ByPriors", game)
    assert found.options["select"] == ab.Decoupled(c=2.0, replies=ab.simultaneous.ByPriors())
    assert parse("search visits=10 c=2.0", game).options["select"] == ab.Decoupled(c=2.0)
    assert parse("greedy", game).policy == Nearest()
    for text, told in {"uct visits=10": "'uct' is neither a kind of player (best, decoupled, equilibrium, exp3, greedy,",
                       "greedy lowest=True": "`greedy` takes no options"}.items():  # fmt: skip
        with pytest.raises(ArenaError, match=re.escape(told)):
            parse(text, game)


def test_a_network_is_searched_by_its_priors_and_their_constant_can_be_given():
    """`c` belongs to the rule that goes with the evaluator."""
    options = {"evaluate": lambda states: (None, np.zeros(len(states))), "c": 0.7}
    assert _routed(options, TicTacToe())["select"] == ab.PUCT(c=0.7)
    assert _routed({"c": 0.7}, TicTacToe())["select"] == ab.UCT(c=0.7)
