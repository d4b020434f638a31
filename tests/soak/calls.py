"""All public calls of a search, as steps of a script: each gives what to do, or None if it is not to be done here."""

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.games.objects import ObjectGame
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from anabranch.search.memory.layout import POSITIONS
from tests.soak.catalogue import Drawn, chance, number, one_of
from tests.soak.checks import facts_of, has_root, is_large, state_of
from tests.soak.faults import Opinion, full_disk
from tests.soak.script import Call, Line, Trial, Wrong, none_of

VISITS = [1, 2, 10, 50, 300] if COMPILED else [1, 2, 5, 20]
SECONDS = 0.03


def limits(trial: Trial) -> dict[str, Any]:
    """How long to search."""
    kind = number(trial.random, 0, 5)
    if kind == 0 and trial.timed and not isinstance(trial.options.get("select"), ab.select.Gumbel):
        return {"seconds": SECONDS}
    if kind == 1 and trial.visits is not None:
        return {"total": trial.visits + one_of(trial.random, VISITS)}
    return {"visits": one_of(trial.random, VISITS)}


def run(trial: Trial) -> Call | None:
    how = limits(trial)
    line = Line(trial.root(), trial.line.before)
    if trial.told:
        return ask_and_tell(trial)
    if trial.is_over(line.position):
        line = trial.line
    return Call(f"run({text_of(how)})", lambda: trial.search.run(**how), line)


def run_with_action(trial: Trial) -> Call | None:
    position = trial.root()
    move = trial.some_move(position)
    if move is None or trial.told or trial.is_over(position):
        return None
    how = limits(trial)
    return Call(
        f"run({text_of(how)}, action={move})",
        lambda: trial.search.run(**how, action=move),
        Line(position, trial.line.before),
    )


def run_with_actions(trial: Trial) -> Call | None:
    position = trial.root()
    if trial.told or trial.is_over(position) or isinstance(trial.game, ab.SimultaneousGame):
        return None
    moves = {trial.some_move(position) for _ in range(3)}
    player = trial.game.to_play(position) if isinstance(trial.game, ObjectGame) else position.to_play
    if None in moves or player == ab.CHANCE:
        return None
    how, actions = limits(trial), sorted(moves)
    return Call(
        f"run({text_of(how)}, actions={actions})",
        lambda: trial.search.run(**how, actions=actions),
        Line(position, trial.line.before),
    )


def run_elsewhere(trial: Trial) -> Call | None:
    position, how = trial.some_position(), limits(trial)
    if trial.told or trial.is_over(position):
        return None
    how = {name: limit for name, limit in how.items() if name != "total"} or {"visits": 2}
    same = facts_of(position) == facts_of(trial.line.position) and not isinstance(trial.game, ObjectGame)
    line = trial.line if same else Line(position)
    return Call(f"run({position!r}, {text_of(how)})", lambda: trial.search.run(position, **how), line)


def start_and_stop(trial: Trial) -> Call | None:
    line = Line(trial.root(), trial.line.before)
    if trial.told or trial.is_over(line.position):
        return None
    how, waits = limits(trial), chance(trial.random, 0.5) or not trial.timed
    calls = [trial.search.result, lambda: trial.search.advance(0), trial.search.back, lambda: trial.search.run(visits=1)]
    intruder = one_of(trial.random, calls)

    def make() -> Any:
        trial.search.start(**how)
        try:
            intruder()
        except ab.errors.SearchError as error:
            if "in the background" not in str(error):
                raise
        else:
            raise Wrong("a call was let in while a search ran in the background")
        return trial.search.wait() if waits else trial.search.stop()

    return Call(f"start({text_of(how)}), then {'wait' if waits else 'stop'}", make, line)


def ask_and_tell(trial: Trial) -> Call | None:
    evaluator = trial.options.get("evaluate")
    position = trial.root()
    if isinstance(trial.game, ObjectGame) or trial.options.get("heuristic") is not None or trial.is_over(position):
        return None
    if not trial.told and not isinstance(evaluator, Opinion):
        if trial.search.rooted.driver is not None or chance(trial.random, 0.8):
            return None
        trial.told = True
    count, takes_back = number(trial.random, 1, 12), chance(trial.random, 0.2)
    opinion = Opinion(trial.game)

    def make() -> None:
        leaves = trial.search.ask(count)
        if takes_back:
            return trial.search.tell(leaves)
        if len(leaves):
            try:
                trial.search.tell(leaves, None, np.full(len(leaves), np.nan))
            except ab.errors.EvaluatorError:
                pass
            else:
                raise Wrong("values that are no numbers were taken")
        return trial.search.tell(leaves, *(opinion(leaves.states) if len(leaves) else (None, [])))

    return Call(f"ask({count}), then {'take back' if takes_back else 'tell'}", make, Line(position, trial.line.before))


def advance(trial: Trial) -> Call | None:
    position = trial.line.position
    if position is None:
        return None
    move = trial.some_move(position)
    if move is None:
        return None
    following = trial.played(position, move)
    if chance(trial.random, 0.6) and trial.is_over(following):
        return None  # so that games are long
    keeps = ["statistics"] * 6 + ["nothing"] + ["evaluations"] * isinstance(trial.options.get("evaluate"), Opinion)
    keep = one_of(trial.random, keeps)
    line = Line(following, (*trial.line.before, position))
    return Call(f"advance({move}, keep={keep!r})", lambda: trial.search.advance(move, keep=keep), line, leaves_all=True)


def advance_illegally(trial: Trial) -> Call | None:
    def make() -> None:
        try:
            trial.search.advance(one_of(trial.random, [-1, 10**6, 2**70]))
        except ab.AnabranchError:
            return
        raise Wrong("an illegal action was played")

    return Call("advance by an action that there is not", make, trial.line, leaves_all=True)


def back(trial: Trial) -> Call | None:
    before = trial.line.before
    line = Line(before[-1], before[:-1]) if before else trial.line
    return Call("back()", lambda: trial.search.back(), line, leaves_all=True)


def look(trial: Trial) -> Call | None:
    return Call("result()", lambda: none_of(trial.search.result()), trial.line, leaves_all=True)


def view(trial: Trial) -> Call | None:
    def make() -> None:
        view = trial.search.graph
        assert view.to_json() and view.to_dot(8) and view.svg(8)

    if has_root(trial.search) and is_large(trial.search):
        return None
    return Call("graph", make, trial.line, leaves_all=True)


def sweep(trial: Trial) -> Call | None:
    return Call("sweep()", lambda: none_of(trial.search.sweep()), trial.line)


def staleness(trial: Trial) -> Call | None:
    def make() -> None:
        found = trial.search.staleness()
        assert 0.0 <= found.mean <= found.largest < np.inf

    return Call("staleness()", make, trial.line, leaves_all=True)


def save(trial: Trial) -> Call | None:
    def make() -> None:
        trial.saved = None  # if this is interrupted, nobody knows
        trial.search.save(trial.folder / "search")

    def then() -> None:
        trial.saved, trial.saved_position = state_of(trial.search), trial.search.position
        if not trial.told:
            check_copy(trial)

    if has_root(trial.search) and is_large(trial.search):
        return None
    return Call("save()", make, trial.line, leaves_all=True, then=then)


def check_copy(trial: Trial) -> None:
    """What was saved is what is loaded, and with one thread the search goes on alike; but where memory is full, batches that a
    slice of time ends may make room sooner, and positions that neither the root nor the game so far leads to are not loaded."""
    other = loaded(trial)
    alone = trial.options.get("threads", 1) == 1 and not isinstance(trial.options.get("stale"), ab.graphs.Sweeping)
    alone = alone and other.rooted.graph.used[POSITIONS] == trial.search.rooted.graph.used[POSITIONS]
    if alone and chance(trial.random, 0.3):
        found = [search.run(visits=VISITS[2]) for search in (other, trial.search)]
        alike = state_of(other) == state_of(trial.search) and found[0].best == found[1].best
        if not alike and not any(result.memory_full for result in found):
            raise Wrong("a search that was loaded goes on differently")


def loaded(trial: Trial) -> ab.Search:
    """Another search with what the file holds."""
    other = ab.Search(trial.drawn.game, **grouped(trial.options))
    other.load(trial.folder / "search")
    if state_of(other) != trial.saved:
        raise Wrong("what is loaded is not what was saved")
    return other


def save_on_full_disk(trial: Trial) -> Call | None:
    def make() -> None:
        try:
            with full_disk():
                trial.search.save(trial.folder / "search")
        except ab.errors.SearchError as error:
            if "cannot be written" not in str(error):
                raise
        else:
            raise Wrong("a file was written where there was no room for it")

    def then() -> None:
        if trial.saved is not None and not trial.told:
            loaded(trial)

    return Call("save() on a full disk", make, trial.line, leaves_all=True, then=then)


def load(trial: Trial) -> Call | None:
    if trial.saved is None or trial.told:
        return None

    def then() -> None:
        if state_of(trial.search) != trial.saved:
            raise Wrong("what is loaded is not what was saved")

    call = Call("load()", lambda: trial.search.load(trial.folder / "search"), Line(trial.saved_position), leaves_all=True)
    call.may_be, call.then = [trial.saved], then
    return call


def load_damaged(trial: Trial) -> Call | None:
    if trial.saved is None:
        return None
    whole = (trial.folder / "search").read_bytes()
    size = number(trial.random, 0, len(whole) - 1)

    def make() -> None:
        (trial.folder / "damaged").write_bytes(whole[:size])
        try:
            trial.search.load(trial.folder / "damaged")
        except ab.errors.SearchError:
            return
        raise Wrong("a file that was cut short was loaded")

    return Call(f"load() of a file cut to {size} bytes", make, trial.line, leaves_all=True)


def text_of(how: dict[str, Any]) -> str:
    return ", ".join(f"{name}={limit}" for name, limit in how.items())


CALLS: list[Callable[[Trial], Call | None]] = [
    *[run] * 6,
    *[advance] * 5,
    *[back] * 3,
    *[ask_and_tell] * 2,
    *[run_elsewhere] * 2,
    *[start_and_stop] * 2,
    *[save] * 2,
    run_with_action,
    run_with_actions,
    advance_illegally,
    look,
    view,
    sweep,
    staleness,
    save_on_full_disk,
    load,
    load_damaged,
]


def soak(drawn: Drawn, random: np.random.Generator, told: Callable[[str], None] = none_of) -> Trial:
    """Play a script with this search; `told` hears of every call."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(drawn, random, Path(folder), told)
        try:
            trial.play(CALLS)
        except BaseException as error:
            error.add_note("\n".join([str(drawn), *trial.script]))
            raise
    if threading.active_count() > 1:
        raise Wrong(f"threads are left: {threading.enumerate()}")
    return trial
