"""From options to what a search runs on: rules, limits and needs, then memory, then a driver.

The first half reads the options of `Search` (`checks.py` checks each by itself; here, whether they go together) and tells
them again as `Result.settings`; the second half decides between tree and graph and picks the driver.
Above: `searcher.py`. Below: `drivers/base.py` and `drivers/python.py`, the drivers; `memory/tree.py` and `memory/graph.py`, the
two layouts in memory.
"""

from typing import Any

from anabranch._version import __version__
from anabranch.errors import SearchError
from anabranch.games.advice import advise
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.rules import REPETITIONS
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.jit.options import is_option
from anabranch.search.backup.certainty import ByCertainty
from anabranch.search.backup.graph_update import CONTINUE, Continue, Incremental, Stop, after_visit, has_enough, keeps_means
from anabranch.search.backup.operators import Mean, carry
from anabranch.search.backup.propagate import PathOnly, follows_links
from anabranch.search.checks import at_least_one, describe, is_function, one_of, option, serves
from anabranch.search.drivers.base import Setting
from anabranch.search.evaluate.heuristic import EvenGame, NoHeuristic, advise_all
from anabranch.search.evaluate.rollout import Rollout
from anabranch.search.evaluate.rollout import evaluate as evaluate_state
from anabranch.search.loops.graph import GraphRules
from anabranch.search.loops.steps import Rules
from anabranch.search.loops.tree_threads import BUNDLE
from anabranch.search.memory.graph import Needs
from anabranch.search.memory.layout import MOST_PENDING
from anabranch.search.results.final import ByGumbel, ByTemperature, Dirichlet, FinalChoice, MostVisits, choose, wants_errors
from anabranch.search.select.base import at_node, first_play, prefer, score
from anabranch.search.select.gumbel import Gumbel
from anabranch.search.select.limits import Limits, Scale
from anabranch.search.select.muzero import BetweenBounds, bounds_of
from anabranch.search.select.pruning import Widening, inner_rule, is_ordered, reads_amaf
from anabranch.search.select.puct import PUCT, KataGoPUCT
from anabranch.search.select.rave import Rave, beta, with_amaf_of
from anabranch.search.select.uct import UCT
from anabranch.search.simultaneous.decoupled import Decoupled, weigh_replies
from anabranch.search.simultaneous.equilibrium import Equilibrium
from anabranch.search.simultaneous.grid import chooses_pairs
from anabranch.search.simultaneous.strategies import ByStrategies, Nothing, learns

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
    learner = rules.select if learns(rules.select) else setting.graph_rules.learner
    return setting._replace(rules=rules, graph_rules=setting.graph_rules._replace(learner=learner))


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
    chosen: FinalChoice = option(final, default, "final", serves(choose))
    if isinstance(chosen, ByGumbel) and not isinstance(rules.select, Gumbel):
        raise SearchError(f"final={chosen!r} goes by what Gumbel() drew: use it with select=Gumbel(), or final=MostVisits()")
    if wants_errors(chosen) and isinstance(game, SimultaneousGame):
        raise SearchError(f"final={chosen!r}: where both move at once no bounds are kept; use MostVisits() or ByTemperature()")
    return chosen


def heuristic_of(game: Game | ObjectGame, heuristic: Any, rules: Rules) -> Any:
    """What is thought of actions beforehand: an option, a Python function, or None."""
    rule = inner_rule(rules.select)
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


def graph_rules_of(
    game: Game | ObjectGame, rules: Rules, graph: bool, update: Any, ahead: Any, stale: Any, heuristic: Any, ties: str
) -> GraphRules:
    """How a graph is walked, as kernels want to know it."""
    backup = rules.backup
    update = option(update, Incremental(), "update", serves(after_visit))
    ahead = option(ahead, Stop() if graph else Continue(), "ahead", serves(has_enough))
    if not graph and [type(option) for option in (update, ahead, stale)] != [Incremental, Continue, PathOnly]:
        raise SearchError("update, ahead and stale are for graphs: say graph=True as well")
    if keeps_means(update) and not isinstance(stale, PathOnly):
        raise SearchError(
            f"{type(update).__name__}() keeps running means on edges, which nothing else may touch: use stale=PathOnly()"
        )
    if keeps_means(update) and not isinstance(backup, Mean):
        raise SearchError(f"{type(update).__name__}() averages: use it with backup=Mean()")
    return GraphRules(
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
    game: Game | ObjectGame, rules: Rules, final: FinalChoice, graph: bool, prove: bool, graph_rules: GraphRules, heuristic: Any
) -> Needs:
    """What is to be kept in memory beside nodes and edges."""
    if prove and isinstance(game, SimultaneousGame):
        raise SearchError(f"prove=True: in {game!r} both move at once, and a proof would be a strategy; leave it out")
    rewards = game.has_rewards if isinstance(game, ObjectGame) else bool(game.rule("has_rewards")(None))
    repeats = game.repetition != "nothing"
    places = isinstance(game, Game) and repeats and bool(game.rule("has_repetition_key")(None))
    # Whether a node's value may be made of several children's, or differ from that of the one that is chosen: see
    # `backup/bounds.py`.
    mixes = game.value_width() > 1 or game.events > 0 or rewards or game.discount != 1.0
    return Needs(
        merge=graph,
        prove=prove,
        levels=prove and graph and repeats and (mixes or places),
        rewards=rewards,
        cuts=repeats,
        links=follows_links(graph_rules.stale),
        amaf=heuristic is not None or reads_amaf(rules.select),
        hints=heuristic is not None,
        weights=isinstance(rules.backup, ByCertainty),
        strategies=learns(rules.select),
        squares=wants_errors(final) or isinstance(inner_rule(rules.select), KataGoPUCT),
        plan=game.edge_actions if isinstance(rules.select, Gumbel) else 0,
        in_order=graph_rules.in_order,
        repetition_keys=places,
    )


def check_threads(threads: int, game: Game | ObjectGame, heuristic: Any, graph_rules: GraphRules) -> int:
    """Whether these options bear several threads."""
    if at_least_one(threads, "threads") == 1:
        return 1
    if threads > MOST_THREADS:
        raise SearchError(f"threads={threads}: at most {MOST_THREADS:,}; more than the machine has cores is seldom of use")
    if isinstance(game, ObjectGame) or is_function(heuristic):
        raise SearchError(f"threads={threads}: where Python plays or advises there is one thread at a time; say threads=1")
    if not isinstance(graph_rules.stale, PathOnly):
        raise SearchError(
            f"threads={threads}: {graph_rules.stale!r} changes nodes beside a simulation's path, where other threads may be at "
            "work; use stale=PathOnly()"
        )
    if keeps_means(graph_rules.update):
        raise SearchError(
            f"threads={threads}: {graph_rules.update!r} compares edges with children that other threads change; use "
            "update=Incremental() or Idempotent()"
        )
    return int(threads)


def settings_of(
    setting: Setting,
    needs: Needs,
    *,
    final: FinalChoice,
    noise: Dirichlet | None,
    virtual: Any,
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
        "update": describe(setting.graph_rules.update) if on_graph else None,
        "ahead": describe(Stop() if ahead is None else ahead) if on_graph else None,
        "stale": describe(setting.graph_rules.stale) if on_graph else None,
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


selects = serves(score, at_node, prefer)  # whether an option is a selection rule


def check_plan(select: Any, visits: int | None, total: int | None) -> None:
    """A rule that plans ahead must know how many simulations there will be."""
    if isinstance(select, Gumbel) and visits is None and total is None:
        raise SearchError(
            "Gumbel() halves the actions by a plan and must know how many simulations there will be: give visits= or total= "
            "(seconds= may end it before), or search with MuZero() or PUCT()"
        )
