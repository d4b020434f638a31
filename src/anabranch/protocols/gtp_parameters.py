"""Parameters over GTP, as KataGo has them: kata-get-param, kata-set-param, kata-get-params, kata-set-params, kata-list-params;
and kata-benchmark, which searches with them."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anabranch.errors import AnabranchError
from anabranch.goengine.searches import Options, new_search
from anabranch.goengine.turns import with_turn
from anabranch.protocols import parameters
from anabranch.protocols.gtp_words import SYNTAX, Arguments, Refused, command, written

if TYPE_CHECKING:
    from anabranch.protocols.gtp import Session


@command("kata-list-params")
def kata_list_params(session: "Session", arguments: Arguments) -> str:
    """Parameters that are known."""
    return " ".join(parameters.known(session.engine.options))


@command("kata-get-param")
def kata_get_param(session: "Session", arguments: Arguments) -> str:
    """A parameter's value."""
    values = parameters.known(session.engine.options)
    value = values[_known(arguments.word("parameter"), values)]
    return written(value) if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)


@command("kata-get-params")
def kata_get_params(session: "Session", arguments: Arguments) -> str:
    """All parameters and their values as JSON."""
    return json.dumps(parameters.known(session.engine.options))


@command("kata-set-param")
def kata_set_param(session: "Session", arguments: Arguments) -> str:
    """Another value of a parameter."""
    name = arguments.word("parameter")
    _set(session, {name: arguments.word("value") if arguments or name != parameters.PROFILE else ""})
    return ""


@command("kata-set-params")
def kata_set_params(session: "Session", arguments: Arguments) -> str:
    """Other values of several parameters, as a JSON object; all of them or, if one is wrong, none."""
    try:
        values = json.loads(arguments.rest)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise Refused(f"{SYNTAX}: parameters are a JSON object")
    _set(session, values)
    return ""


@command("kata-benchmark")
def kata_benchmark(session: "Session", arguments: Arguments) -> str:
    """Search the position with so many visits, and say how long that took."""
    visits = arguments.integer("visits", least=1)
    engine = session.engine
    engine.stop()
    engine.warm()
    search = new_search(engine.game, engine.options, engine.options.seed)
    search.on_progress = lambda result: session.is_interrupted
    position = with_turn(engine.position, engine.position.to_play)
    stats = search.run(position, visits=visits).stats
    return f"{stats.simulations} visits in {stats.seconds:.3f} s, {stats.speed:.1f} visits a second"


def _set(session: "Session", values: dict[str, Any]) -> None:
    """Set parameters; a search that was made with others is dropped."""
    engine = session.engine
    try:
        there_are = parameters.known(engine.options)
        options = parameters.with_values(engine.options, {_known(name, there_are): value for name, value in values.items()})
    except Refused:
        raise
    except AnabranchError as error:
        raise Refused(f"{SYNTAX}: {error}") from None
    searches_otherwise = _of_search(options) != _of_search(engine.options)
    engine.options = options
    if searches_otherwise:
        engine.forget()


def _of_search(options: Options) -> Options:
    """What decides how the engine's search works, without limits and habits."""
    return replace(options, visits=None, seconds=None, width=0.0, ponder=False, resign=0.0, human_net=None, human_profile="")


def _known(name: str, there_are: dict[str, Any]) -> str:
    """The name of a parameter that there is."""
    if name not in there_are:
        raise Refused(f"{SYNTAX}: there is no parameter {name[:20]!r}; known ones are {', '.join(there_are)}")
    return name
