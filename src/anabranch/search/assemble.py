"""From options to what a search runs on: rules, limits, manner and needs, then memory, then a driver.

The first half reads the options of `Search` (`checks.py` checks each by itself; here, whether they go together) and tells
them again as `Result.settings`; the second half decides between tree and graph and picks the driver.
Above: `searcher.py`. Below: `drive.py` and `drive_python.py`, the drivers; `tree.py` and `graph.py`, the two layouts in memory.
"""

from typing import Any

import numpy as np

from anabranch._version import __version__
from anabranch.errors import SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Position
from anabranch.games.rules import REPETITIONS
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.jit.options import is_option
from anabranch.search import graph as graphs
from anabranch.search import tree as trees
from anabranch.search.backup import Mean, carry
from anabranch.search.certainty import ByCertainty
from anabranch.search.checks import at_least_one, describe, is_a, is_function, one_of, option, selects, serves
from anabranch.search.drive import Driver, GraphDriver, Setting, TreeDriver
from anabranch.search.drive_batch import BatchDriver
from anabranch.search.drive_python import CallableDriver, ObjectDriver
from anabranch.search.drive_threads import ThreadedBatchDriver, ThreadedGraphDriver, ThreadedTreeDriver
from anabranch.search.evaluate import Rollout
from anabranch.search.evaluate import evaluate as evaluate_state
from anabranch.search.final import ByGumbel, ByLowerBound, ByTemperature, Dirichlet, FinalChoice, MostVisits
from anabranch.search.graph import Graph, Needs
from anabranch.search.gumbel import Gumbel
from anabranch.search.heuristic import EvenGame, NoHeuristic, advise, advise_all
from anabranch.search.history import History
from anabranch.search.layout import MOST_PENDING, Off
from anabranch.search.muzero import BetweenBounds, bounds_of
from anabranch.search.prune import Widening, innermost, is_ordered, reads_lore
from anabranch.search.puct import KataGoPUCT
from anabranch.search.rave import Rave, beta, with_amaf_of
from anabranch.search.select import PUCT, UCT, Scale, at_node, first_play, prefer, score
from anabranch.search.simulate_graph import Manner
from anabranch.search.simulate_shared import BUNDLE
from anabranch.search.simultaneous.decoupled import Decoupled, weigh_replies
from anabranch.search.simultaneous.equilibrium import Equilibrium
from anabranch.search.simultaneous.grid import chooses_pairs
from anabranch.search.simultaneous.strategies import ByStrategies, Nothing, learns
from anabranch.search.stale import Ancestors, Parents, PathOnly
from anabranch.search.steps import Limits, Rules
from anabranch.search.tree import Tree
from anabranch.search.update import CONTINUE, CatchUp, Continue, Idempotent, Incremental, Stop
from anabranch.search.virtual import VirtualLoss

NO_DEPTH_LIMIT = 2**31 - 1
MOST_THREADS = MOST_PENDING // BUNDLE  # each has so many simulations under way
TIES = SEED, LOWEST = "seed", "lowest"  # how ties are broken: by an order drawn from the seed, or by the lowest action

# --- what the options mean -------------------------------------------------------------------------------------------------


def rules_of(game: Game | ObjectGame, select: Any, evaluate: Any, backup: Any) -> Rules:
    """The options that kernels are compiled for."""
    if not is_function(evaluate):
        evaluate = option(evaluate, Rollout(), "evaluate", serves(evaluate_state))
    if isinstance(evaluate, Rollout) and evaluate.policy is None:
        evaluate = evaluate._replace(policy=game.policy)
    if hasattr(evaluate, "bind"):
        evaluate.bind(game)  # a network says at once if it is for another game
    select = option(select, default_rule(game, evaluate), "select", selects)
    check_parts(select)
    chosen = Rules(
        select,
        evaluate,
        option(backup, ByStrategies() if learns(select) else Mean(), "backup", serves(carry)),
    )
    check_pairs(game, chosen)
    return chosen


def default_rule(game: Game | ObjectGame, evaluate: Any) -> Any:
    """How edges are chosen, unless it is said: by what the evaluator gives. One in Python, a network or a function, gives
    priors, and if it answers None in their place they are uniform, with which `PUCT` works too; others give values alone."""
    if isinstance(game, SimultaneousGame):
        return Decoupled()
    return UCT() if is_option(evaluate) else PUCT()


def shape_of(rule: Any) -> Any:
    """What of a rule decides how it is compiled and what is kept for it: its class, its switches, and those of its parts."""
    if not is_option(rule):
        return rule if isinstance(rule, bool) else None
    return type(rule), tuple(shape_of(part) for part in rule)


def retuned(setting: Setting, rules: Rules) -> Setting:
    """The same with other numbers in its rules."""
    learner = rules.select if learns(rules.select) else setting.manner.learner
    return setting._replace(rules=rules, manner=setting.manner._replace(learner=learner))


def check_pairs(game: Game | ObjectGame, rules: Rules) -> None:
    """Whether the rules are for players who move at once where they do, and only there."""
    at_once = isinstance(game, SimultaneousGame)
    if chooses_pairs(rules.select) != at_once:
        if at_once:
            raise SearchError(
                f"select={rules.select!r} is for players who take turns, and in {game!r} both move at once: use Decoupled(), "
                "RegretMatching(), Exp3() or Equilibrium()"
            )
        raise SearchError(f"select={rules.select!r} is for games in which both move at once, and in {game!r} they take turns")
    if at_once and not isinstance(rules.backup, (Mean, ByStrategies)):
        raise SearchError(
            f"backup={rules.backup!r}: where both move at once no single action is best; use Mean() or ByStrategies()"
        )
    if isinstance(rules.backup, ByStrategies) and not learns(rules.select):
        raise SearchError(
            f"backup={rules.backup!r} wants a rule that keeps strategies: RegretMatching(), Exp3(), Equilibrium()"
        )
    if isinstance(rules.select, Equilibrium) and not game.zero_sum:
        raise SearchError(
            f"select={rules.select!r} solves zero-sum games, and {game!r} is none: use RegretMatching() or Decoupled()"
        )


def check_parts(rule: Any) -> None:
    """Whether the options inside a selection rule are of the kinds that belong there."""
    inner = (score, at_node, prefer) if isinstance(rule, Widening) else (score, at_node)
    parts = {
        "fpu": (first_play,),
        "root_fpu": (first_play,),
        "schedule": (beta,),
        "source": (with_amaf_of,),
        "replies": (weigh_replies,),
        "q": (bounds_of,),
        "rule": inner,
    }
    for name, functions in parts.items():
        part = getattr(rule, name, None)
        if is_option(part) and name in rule._fields and not serves(*functions)(part):
            fitting = "a selection rule that gives scores" if name == "rule" else f"such as {rule._field_defaults[name]!r}"
            raise SearchError(f"{type(rule).__name__}({name}={part!r}): not an option for {name}, which is {fitting}")
        if isinstance(part, Gumbel):
            raise SearchError(f"{rule!r}: Gumbel() has its own way at the root and stands by itself: select={part!r}")
        if isinstance(part, BetweenBounds) and not part.low < part.high:
            raise SearchError(f"{part!r}: low must be below high")
        if is_option(part) and name == "rule":
            check_parts(part)


def final_of(game: Game | ObjectGame, final: Any, rules: Rules) -> FinalChoice:
    """How the action to play is chosen."""
    default: FinalChoice = ByGumbel() if isinstance(rules.select, Gumbel) else MostVisits()
    if learns(rules.select):
        default = ByTemperature(1.0)  # a strategy is to be drawn from
    chosen: FinalChoice = option(final, default, "final", is_a(FinalChoice))
    if isinstance(chosen, ByGumbel) and not isinstance(rules.select, Gumbel):
        raise SearchError(f"final={chosen!r} goes by what Gumbel() drew: use it with select=Gumbel(), or final=MostVisits()")
    if isinstance(chosen, ByLowerBound) and isinstance(game, SimultaneousGame):
        raise SearchError(f"final={chosen!r}: where both move at once no bounds are kept; use MostVisits() or ByTemperature()")
    return chosen


def heuristic_of(game: Game | ObjectGame, heuristic: Any, rules: Rules) -> Any:
    """What is thought of actions beforehand: an option, a Python function, or None."""
    rule = innermost(rules.select)
    if isinstance(game, SimultaneousGame) and heuristic is not None:
        raise SearchError(
            f"heuristic={heuristic!r}: where both move at once priors say what is thought of actions: use evaluate="
        )
    if isinstance(rule, Rave) and not game.actions_keep_meaning:
        raise SearchError(
            f"{rule!r} learns about an action from whenever it is played, but {game!r} says that its actions change their "
            "meaning (actions_keep_meaning = False): use UCT() or PUCT()"
        )
    if heuristic is None or is_function(heuristic):
        return heuristic
    chosen = option(heuristic, EvenGame(), "heuristic", serves(advise, advise_all))
    if isinstance(game, ObjectGame) and not isinstance(chosen, EvenGame):
        raise SearchError(f"heuristic={chosen!r}: a game of Python objects wants a Python function f(position), or EvenGame()")
    return chosen


def limits_of(game: Game | ObjectGame, depth: int | None, expand_after: int, ties: str) -> Limits:
    """How far the tree grows, and the units of the game's values."""
    low, high = game.value_range
    return Limits(
        depth=NO_DEPTH_LIMIT if depth is None else at_least_one(depth, "depth"),
        expand_after=at_least_one(expand_after, "expand_after"),
        scale=Scale(middle=(low + high) / 2.0, factor=2.0 / (high - low)),
        discount=float(game.discount),
        repetition=REPETITIONS.index(game.repetition),
        lots=one_of(ties, TIES, "ties") == SEED,
    )


def manner_of(
    game: Game | ObjectGame, rules: Rules, graph: bool, update: Any, ahead: Any, stale: Any, heuristic: Any, ties: str
) -> Manner:
    """How a graph is walked, as kernels want to know it."""
    backup = rules.backup
    update = option(update, Incremental(), "update", is_a((Idempotent, Incremental, CatchUp)))
    ahead = option(ahead, Stop() if graph else Continue(), "ahead", is_a((Stop, Continue)))
    if not graph and [type(option) for option in (update, ahead, stale)] != [Incremental, Continue, PathOnly]:
        raise SearchError("update, ahead and stale are for graphs: say graph=True as well")
    if isinstance(update, CatchUp) and not isinstance(stale, PathOnly):
        raise SearchError("CatchUp() keeps running means on its edges, which nothing else may touch: use stale=PathOnly()")
    if isinstance(update, CatchUp) and not isinstance(backup, Mean):
        raise SearchError("CatchUp() averages: use it with backup=Mean()")
    return Manner(
        update=update,
        stop=CONTINUE if isinstance(ahead, Continue) else ahead,
        stale=stale,
        opaque=isinstance(game, ObjectGame),
        heuristic=heuristic if is_option(heuristic) else NoHeuristic(),
        ordered=is_ordered(rules.select),
        in_order=one_of(ties, TIES, "ties") == LOWEST or isinstance(game, SimultaneousGame),  # pairs stand in a grid
        learner=rules.select if learns(rules.select) else Nothing(),
    )


def needs_of(
    game: Game | ObjectGame, rules: Rules, final: FinalChoice, graph: bool, prove: bool, manner: Manner, heuristic: Any
) -> Needs:
    """What is to be kept in memory beside nodes and edges."""
    if prove and isinstance(game, SimultaneousGame):
        raise SearchError(f"prove=True: in {game!r} both move at once, and a proof would be a strategy; leave it out")
    rewards = game.has_rewards if isinstance(game, ObjectGame) else bool(game.rule("has_rewards")(None))
    repeats = game.repetition != "nothing"
    places = isinstance(game, Game) and repeats and bool(game.rule("has_repetition_key")(None))
    # Whether a node's value may be made of several children's, or differ from that of the one that is chosen: see `prove.py`.
    mixes = game.value_width() > 1 or game.events > 0 or rewards or game.discount != 1.0
    return Needs(
        merge=graph,
        prove=prove,
        levels=prove and graph and repeats and (mixes or places),
        rewards=rewards,
        cuts=repeats,
        links=isinstance(manner.stale, (Parents, Ancestors)),
        lore=heuristic is not None or reads_lore(rules.select),
        hints=heuristic is not None,
        weights=isinstance(rules.backup, ByCertainty),
        strategies=learns(rules.select),
        squares=isinstance(final, ByLowerBound) or isinstance(innermost(rules.select), KataGoPUCT),
        plan=game.edge_actions if isinstance(rules.select, Gumbel) else 0,
        in_order=manner.in_order,
        places=places,
    )


def check_threads(threads: int, game: Game | ObjectGame, heuristic: Any, manner: Manner) -> int:
    """Whether these options bear several threads."""
    if at_least_one(threads, "threads") == 1:
        return 1
    if threads > MOST_THREADS:
        raise SearchError(f"threads={threads}: at most {MOST_THREADS:,}; more than the machine has cores is seldom of use")
    if isinstance(game, ObjectGame) or is_function(heuristic):
        raise SearchError(f"threads={threads}: where Python plays or advises there is one thread at a time; say threads=1")
    if not isinstance(manner.stale, PathOnly) or isinstance(manner.update, CatchUp):
        raise SearchError(
            f"threads={threads}: {manner.stale!r} and {manner.update!r} are not both for several threads; use "
            "stale=PathOnly() and update=Incremental() or Idempotent()"
        )
    return int(threads)


def settings_of(
    setting: Setting,
    needs: Needs,
    *,
    final: FinalChoice,
    noise: Dirichlet | None,
    virtual: VirtualLoss,
    ahead: Any,
    seed: int,
    depth: int | None,
    expand_after: int,
) -> dict[str, Any]:
    """All options as people write them; those for graphs are None on a tree."""
    on_graph = needs.merge
    return {
        "version": __version__,
        "game": repr(setting.game),
        **{name: describe(option) for name, option in setting.rules._asdict().items()},
        "heuristic": describe(setting.heuristic),
        "final": describe(final),
        "noise": describe(noise),
        "graph": on_graph,
        "update": describe(setting.manner.update) if on_graph else None,
        "ahead": describe(Stop() if ahead is None else ahead) if on_graph else None,
        "stale": describe(setting.manner.stale) if on_graph else None,
        "prove": needs.prove,
        "collect": describe(setting.collect) if on_graph else None,
        "virtual": None if is_option(setting.rules.evaluate) else describe(virtual),
        "ties": SEED if setting.limits.lots else LOWEST,
        "seed": seed,
        "memory": setting.memory,
        "depth": depth,
        "expand_after": expand_after,
        "threads": setting.threads,
    }


# --- memory and driver -----------------------------------------------------------------------------------------------------


def allocate(setting: Setting, needs: Needs, memory: int) -> Tree | Graph:
    """Reserve `memory` bytes, as a compact tree where one will do."""
    game, evaluate = setting.game, setting.rules.evaluate
    width = game.value_width()
    least = 16 * (1 + game.edge_actions) * trees.node_dtype(width).itemsize
    if needs.merge:
        least += 8 * graphs.FIRST_TABLE
    if memory < least:
        raise SearchError(f"memory={memory} bytes is too little for {game!r}: give it at least {least:,}")
    try:
        if is_compact(game, evaluate, needs):
            return trees.allocate(width, memory)
        one_by_one = is_option(evaluate) or isinstance(game, ObjectGame) or is_function(setting.heuristic)
        return graphs.allocate(width, memory, needs, Off() if one_by_one else setting.virtual)
    except MemoryError:
        raise SearchError(f"memory={memory:,} bytes cannot be reserved on this machine; ask for less") from None


def is_compact(game: Game | ObjectGame, evaluate: Any, needs: Needs) -> bool:
    """Whether a compact tree will do: no sharing, no proofs, no repetitions, no lore, no squares, no plan, edges in any
    order, nothing in Python."""
    in_kernel = isinstance(game, Game) and is_option(evaluate)
    beside = needs.squares or needs.weights or needs.plan or needs.in_order
    return in_kernel and not (needs.merge or needs.prove or needs.cuts or needs.lore or beside)


def clear(graph: Tree | Graph, memory: int) -> None:
    """Empty what `allocate` reserved, to be filled up to `memory` bytes."""
    if isinstance(graph, Tree):
        trees.clear(graph)
    else:
        graphs.clear(graph, memory)


def driver_at(setting: Setting, graph: Tree | Graph, position: Any, history: History, seed: int) -> Driver:
    """A driver for this tree or graph, with this position as its root's."""
    record = position.record() if isinstance(position, Position) else np.zeros(1, setting.game.record)
    several = setting.threads > 1
    kind: type[Driver] = ThreadedGraphDriver if several else GraphDriver
    if isinstance(setting.game, ObjectGame):
        kind = ObjectDriver
    elif isinstance(graph, Tree):
        kind = ThreadedTreeDriver if several else TreeDriver
    elif is_function(setting.heuristic):
        kind = CallableDriver
    elif not is_option(setting.rules.evaluate):
        kind = ThreadedBatchDriver if several else BatchDriver
    driver = kind(setting, graph, record, history.exhausted(), seed)
    if isinstance(driver, ObjectDriver):
        driver.root_object = position
    return driver
