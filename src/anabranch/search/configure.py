"""From options to what a search runs on: rules, limits, and what is kept in memory.

`chosen_of` takes the options of `Search`, each as given or by default, and checks that they can be combined; the functions
below it build the settings of kernels and drivers, and those shown to users. Nothing here depends on a particular rule:
options declare what they need (`requirements.py`).
Above: `searcher.py`. Below: `checks.py`; `drivers/make.py`, which allocates memory and picks the driver.
"""

from collections.abc import Iterator
from typing import Any

from anabranch._version import __version__
from anabranch.errors import SearchError
from anabranch.games.advice import advise
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.rules import REPETITIONS
from anabranch.jit import generic
from anabranch.jit.options import is_option
from anabranch.search.backup.graph_update import Continue, after_visit, as_stop, has_enough, keeps_means, stays_on_path
from anabranch.search.backup.operators import Mean, carry
from anabranch.search.backup.propagate import follows_links, spread
from anabranch.search.checks import at_least_one, describe, is_function, one_of, option, serves
from anabranch.search.drivers.base import Setting
from anabranch.search.evaluate.heuristic import EvenGame, NoHeuristic, advise_all, advises_objects
from anabranch.search.evaluate.rollout import Rollout, bound_to
from anabranch.search.evaluate.rollout import evaluate as evaluate_state
from anabranch.search.graph_options import TREE, graph_options
from anabranch.search.loops.graph import GraphRules
from anabranch.search.loops.steps import Rules
from anabranch.search.loops.tree_threads import BUNDLE
from anabranch.search.memory.collect import to_forget
from anabranch.search.memory.graph import Needs
from anabranch.search.memory.layout import MOST_PENDING
from anabranch.search.requirements import Chosen, check_inside, check_together, goes_with_threads, needed_columns
from anabranch.search.results.final import RootTemperature, adjust_priors, choose, default_final, wants_errors
from anabranch.search.select.base import at_node, chooses_pairs, is_ordered, learner_of, parts_of, prefer, score
from anabranch.search.select.limits import Expansion, Limits, Scale
from anabranch.search.select.puct import PUCT
from anabranch.search.select.uct import UCT

NO_DEPTH_LIMIT = 2**31 - 1
MOST_THREADS = MOST_PENDING // BUNDLE  # each has so many simulations under way
TIES = SEED, LOWEST = "seed", "lowest"  # how ties are broken: by an order drawn from the seed, or by the lowest action


selects = serves(score, at_node, prefer)  # whether an option is a selection rule


# --- what was chosen ---------------------------------------------------------------------------------------------------------


def chosen_of(
    game: Game | ObjectGame,
    *,
    select: Any,
    evaluate: Any,
    heuristic: Any,
    backup: Any,
    final: Any,
    graph: Any,
    prove: bool,
) -> Chosen:
    """The options of a search of this game, each as given or by default, checked that they can be combined."""
    graph = graph_options(graph)
    if not is_function(evaluate):
        evaluate = option(evaluate, Rollout(), "evaluate", serves(evaluate_state))
    evaluate = bound_to(evaluate, game)
    select = option(select, default_rule(game, evaluate), "select", selects)
    chosen = Chosen(
        game=game,
        select=select,
        evaluate=evaluate,
        backup=option(backup, default_backup(select), "backup", serves(carry)),
        heuristic=heuristic_of(game, heuristic),
        final=option(final, default_final(select), "final", serves(choose)),
        graph=graph.merge,
        update=option(graph.update, TREE.update, "update", serves(after_visit)),
        ahead=option(graph.ahead, TREE.ahead, "ahead", serves(has_enough)),
        stale=option(graph.stale, TREE.stale, "stale", serves(spread)),
        collect=option(graph.collect, TREE.collect, "collect", serves(to_forget)),
        prove=prove,
    )
    check(chosen)
    return chosen


@generic(default=True)
def default_rule(game, evaluate):
    """The default selection rule, which depends on the evaluator. One in Python, a network or a function, gives priors (None
    stands for uniform ones, with which `PUCT` works too); others give only values."""
    return UCT() if is_option(evaluate) else PUCT()


@generic(default=True)
def default_backup(select):
    """The default backup operator with this selection rule."""
    return Mean()


def heuristic_of(game: Game | ObjectGame, heuristic: Any) -> Any:
    """Prior knowledge of actions: an option, a Python function, or None."""
    if heuristic is None or is_function(heuristic):
        return heuristic
    chosen = option(heuristic, EvenGame(), "heuristic", serves(advise, advise_all))
    if isinstance(game, ObjectGame) and not advises_objects(chosen):
        raise SearchError(f"heuristic={chosen!r}: a game of Python objects wants a Python function f(position), or EvenGame()")
    return chosen


# --- whether options fit together --------------------------------------------------------------------------------------------


def check(chosen: Chosen) -> None:
    """Raise if options cannot be combined."""
    check_parts(chosen.select)
    if chooses_pairs(chosen.select) and not chosen.at_once:
        raise SearchError(
            f"select={chosen.select!r} is for games in which both move at once, and in {chosen.game!r} they take turns"
        )
    usual = isinstance(chosen.update, type(TREE.update)) and isinstance(chosen.stale, type(TREE.stale))
    if not chosen.graph and not (usual and (isinstance(chosen.ahead, Continue) or chosen.ahead == TREE.ahead)):
        raise SearchError("update, ahead and stale are for graphs: say graph=True as well")
    if keeps_means(chosen.update):
        name = type(chosen.update).__name__
        if not stays_on_path(chosen.stale):
            raise SearchError(f"{name}() keeps running means on edges, which nothing else may touch: use stale=PathOnly()")
        if not isinstance(chosen.backup, Mean):
            raise SearchError(f"{name}() averages: use it with backup=Mean()")
    if wants_errors(chosen.final) and chosen.at_once:
        raise SearchError(
            f"final={chosen.final!r}: where both move at once no bounds are kept; use MostVisits() or ByTemperature()"
        )
    for each in (*chosen, *rules_inside(chosen.select)):
        check_together(each, chosen)


def check_parts(rule: Any) -> None:
    """Raise if an option inside a selection rule is not of a kind that belongs there."""
    for name, functions in parts_of(rule).items():
        part = getattr(rule, name)
        if not is_option(part):
            continue
        if not serves(*functions)(part):
            fitting = "a selection rule that gives scores" if name == "rule" else f"such as {rule._field_defaults[name]!r}"
            raise SearchError(f"{type(rule).__name__}({name}={part!r}): not an option for {name}, which is {fitting}")
        check_inside(part, rule)
        if name == "rule":
            check_parts(part)


def rules_inside(rule: Any) -> Iterator[Any]:
    """The rules inside a rule, outer ones first."""
    while hasattr(rule, "rule"):
        rule = rule.rule
        yield rule


def check_threads(threads: int, chosen: Chosen) -> int:
    """The number of threads; raises if these options do not support several."""
    if at_least_one(threads, "threads") == 1:
        return 1
    if threads > MOST_THREADS:
        raise SearchError(f"threads={threads}: at most {MOST_THREADS:,}; more than the machine has cores is seldom of use")
    if isinstance(chosen.game, ObjectGame) or is_function(chosen.heuristic):
        raise SearchError(f"threads={threads}: where Python plays or advises there is one thread at a time; say threads=1")
    if not stays_on_path(chosen.stale):
        raise SearchError(
            f"threads={threads}: {chosen.stale!r} changes nodes beside a simulation's path, where other threads may be at "
            "work; use stale=PathOnly()"
        )
    if keeps_means(chosen.update):
        raise SearchError(
            f"threads={threads}: {chosen.update!r} compares edges with children that other threads change; use "
            "update=Incremental() or Idempotent()"
        )
    for each in chosen:
        if not goes_with_threads(each):
            raise SearchError(f"threads={threads}: {each!r} is not for several threads; say threads=1")
    return int(threads)


# --- settings of kernels, drivers and results --------------------------------------------------------------------------------


def rules_of(chosen: Chosen) -> Rules:
    """The options that kernels are compiled for."""
    return Rules(chosen.select, chosen.evaluate, chosen.backup)


def shape_of(rule: Any) -> Any:
    """The part of a rule that decides how it is compiled and what is stored for it: its class, its switches, and those of its
    parts."""
    if not is_option(rule):
        return rule if isinstance(rule, bool) else None
    return type(rule), tuple(shape_of(part) for part in rule)


def retuned(setting: Setting, select: Any) -> Setting:
    """The same with other numbers in its selection rule."""
    graph_rules = setting.graph_rules._replace(learner=learner_of(select))
    return setting._replace(rules=setting.rules._replace(select=select), graph_rules=graph_rules)


def limits_of(game: Game | ObjectGame, expand: Expansion, ties: str) -> Limits:
    """How far the tree grows, and the units of the game's values."""
    low, high = game.value_range
    return Limits(
        depth=NO_DEPTH_LIMIT if expand.depth is None else at_least_one(expand.depth, "depth"),
        expand_after=expand.after,
        scale=Scale(middle=(low + high) / 2.0, factor=2.0 / (high - low)),
        discount=float(game.discount),
        repetition=REPETITIONS.index(game.repetition),
        lots=one_of(ties, TIES, "ties") == SEED,
    )


def graph_rules_of(chosen: Chosen, ties: str) -> GraphRules:
    """The rules of a graph, as kernels take them."""
    return GraphRules(
        update=chosen.update,
        stop=as_stop(chosen.ahead if chosen.graph else Continue()),
        stale=chosen.stale,
        opaque=isinstance(chosen.game, ObjectGame),
        heuristic=chosen.heuristic if is_option(chosen.heuristic) else NoHeuristic(),
        ordered=is_ordered(chosen.select),
        in_order=ties == LOWEST or chooses_pairs(chosen.select),  # pairs form a grid
        learner=learner_of(chosen.select),
    )


def needs_of(chosen: Chosen, ties: str) -> Needs:
    """What must be stored in memory besides nodes and edges: for the game, for proofs, and for each option."""
    game, prove = chosen.game, chosen.prove
    rewards = game.has_rewards if isinstance(game, ObjectGame) else bool(game.rule("has_rewards")(None))
    repeats = game.repetition != "nothing"
    places = isinstance(game, Game) and repeats and bool(game.rule("has_repetition_key")(None))
    # Whether a node's value may combine those of several children, or differ from that of the chosen one: see
    # `backup/bounds.py`.
    mixes = game.value_width() > 1 or game.events > 0 or rewards or game.discount != 1.0
    columns = {name for each in chosen for name in needed_columns(each)}
    kept = {
        "bounds": prove,
        "levels": prove and chosen.graph and repeats and (mixes or places),
        "rewards": rewards,
        "cuts": repeats,
        "repetition_keys": places,
        "amaf": chosen.heuristic is not None,
        "hints": chosen.heuristic is not None,
        "links": follows_links(chosen.stale),
        "heads": follows_links(chosen.stale),
        "squares": wants_errors(chosen.final),
    }
    columns.update(name for name, is_kept in kept.items() if is_kept)
    return Needs(
        merge=chosen.graph,
        columns=frozenset(columns - {"plan"}),
        plan=game.edge_actions if "plan" in columns else 0,
        in_order=graph_rules_of(chosen, ties).in_order,
    )


def noise_of(given: Any) -> Any:
    """What is done to the root's priors during a run, or None; of `RootTemperature`, what it puts on them too."""
    noise = option(given, None, "noise", serves(adjust_priors))
    return noise._replace(noise=noise_of(noise.noise)) if isinstance(noise, RootTemperature) else noise


def settings_of(
    setting: Setting,
    needs: Needs,
    *,
    chosen: Chosen,
    noise: Any,
    seed: int,
    expand: Expansion,
) -> dict[str, Any]:
    """All options as written in code; those for graphs are None on a tree."""
    on_graph = needs.merge
    return {
        "version": __version__,
        "game": repr(setting.game),
        **{name: describe(option) for name, option in setting.rules._asdict().items()},
        "heuristic": describe(setting.heuristic),
        "final": describe(chosen.final),
        "noise": describe(noise),
        "graph": on_graph,
        "update": describe(chosen.update) if on_graph else None,
        "ahead": describe(chosen.ahead) if on_graph else None,
        "stale": describe(chosen.stale) if on_graph else None,
        "prove": "bounds" in needs.columns,
        "collect": describe(setting.collect) if on_graph else None,
        "virtual": None if is_option(setting.rules.evaluate) else describe(setting.virtual),
        "ties": SEED if setting.limits.lots else LOWEST,
        "seed": seed,
        "memory": setting.memory,
        "depth": expand.depth,
        "expand_after": expand.after,
        "threads": setting.threads,
    }
