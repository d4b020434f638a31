"""KataGo's parameters that mean something here, by KataGo's names: for `kata-set-param` and for `overrideSettings`.

A parameter reads and changes the engine's `Options`. Those of the search itself are fields of KataGo's selection rule
(`search/select/puct.py`), so they need a network. Above: `gtp_parameters.py`, `queries.py`.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from anabranch.errors import OptionError
from anabranch.goengine.searches import BEST, WIDEST, Options
from anabranch.presets import katago_options
from anabranch.search.select.base import ReducedFPU

MOST_VISITS = 10**15
LONGEST_TIME = 1e9  # seconds
RESIGN = 0.05  # win rate, once resigning is allowed again
WIDTH = "analysisWideRootNoise"
PROFILE = "humanSLProfile"
ROOT_TEMPERATURE = "rootPolicyTemperature"

# Fields of the rule, with KataGo's limits.
RULE_FIELDS = {
    "cpuctExploration": ("c", 0.0, 10.0),
    "cpuctExplorationLog": ("growth", 0.0, 10.0),
    "cpuctExplorationBase": ("base", 10.0, 100_000.0),
    "cpuctUtilityStdevPrior": ("usual", 0.001, 10.0),
    "cpuctUtilityStdevPriorWeight": ("weight", 0.0, 100.0),
    "cpuctUtilityStdevScale": ("scale", 0.0, 1.0),
    "fpuReductionMax": ("fpu", 0.0, 2.0),
    "rootFpuReductionMax": ("root_fpu", 0.0, 2.0),
}


UTILITY_FIELDS = {
    "winLossUtilityFactor": ("win", 1.0),
    "staticScoreUtilityFactor": ("static", 1.0),
    "dynamicScoreUtilityFactor": ("dynamic", 1.0),
}


class Parameter(NamedTuple):
    """A parameter."""

    get: Callable[[Options], Any]
    set: Callable[[Options, Any], Options]  # raises `OptionError`


def value_of(options: Options, name: str) -> Any:
    """The value of a parameter."""
    return PARAMETERS[name].get(options)


def with_value(options: Options, name: str, value: Any) -> Options:
    """The options with another value of a parameter; text is read as JSON has it."""
    return PARAMETERS[name].set(options, value)


def with_values(options: Options, values: dict[str, Any]) -> Options:
    """The same for several."""
    for name, value in values.items():
        options = with_value(options, name, value)
    return options


def number(name: str, value: Any, least: float, most: float) -> float:
    """A value as a number within limits."""
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not least <= found <= most:
        raise OptionError(f"{name} must be a number from {least:g} to {most:g}")
    return found


def _flag(name: str, value: Any) -> bool:
    words = {"true": True, "false": False}
    if isinstance(value, str):
        value = words.get(value.lower())
    if not isinstance(value, bool):
        raise OptionError(f"{name} must be true or false")
    return value


def _visits(name: str, value: Any) -> int:
    found = number(name, value, 1, MOST_VISITS)
    if found != int(found):
        raise OptionError(f"{name} must be a whole number")
    return int(found)


# --- the rule -----------------------------------------------------------------------------------------------------------------


def _rule_of(options: Options) -> Any:
    if options.net is None:
        return None
    rule = katago_options(options.net)["select"] if options.select == BEST else options.select
    return rule if options.exploration is None else rule._replace(c=options.exploration)


def _get_field(options: Options, field: str) -> float | None:
    found = getattr(_rule_of(options), field, None)
    return found.offset if isinstance(found, ReducedFPU) else found


def _set_field(options: Options, name: str, value: Any) -> Options:
    field, least, most = RULE_FIELDS[name]
    found, rule = number(name, value, least, most), _rule_of(options)
    if _get_field(options, field) is None:
        raise OptionError(f"{name} is a parameter of KataGo's selection rule, which needs a network: --net FILE")
    changed = ReducedFPU(found) if field.endswith("fpu") else found
    return replace(options, select=rule._replace(**{field: changed}), exploration=None)


def _rule_parameter(name: str) -> Parameter:
    return Parameter(
        lambda options: _get_field(options, RULE_FIELDS[name][0]), lambda options, value: _set_field(options, name, value)
    )


# --- what is played for -------------------------------------------------------------------------------------------------------


def _set_utility(options: Options, name: str, value: Any) -> Options:
    if options.net is None:
        raise OptionError(f"{name} needs a network: --net FILE")
    field, most = UTILITY_FIELDS[name]
    changed = options.utility._replace(**{field: number(name, value, 0.0, most)})
    if changed.most == 0.0:
        raise OptionError(f"{name}: at least one of {', '.join(UTILITY_FIELDS)} must be above 0")
    return replace(options, utility=changed)


def _utility_parameter(name: str) -> Parameter:
    return Parameter(
        lambda options: None if options.net is None else getattr(options.utility, UTILITY_FIELDS[name][0]),
        lambda options, value: _set_utility(options, name, value),
    )


def _set_root_temperature(options: Options, value: Any) -> Options:
    if options.net is None:
        raise OptionError(f"{ROOT_TEMPERATURE} needs a network: --net FILE")
    return replace(options, root_temperature=number(ROOT_TEMPERATURE, value, 0.01, 100.0))


# --- people -------------------------------------------------------------------------------------------------------------------


def _get_profile(options: Options) -> str:
    return options.human_profile


def _set_profile(options: Options, value: Any) -> Options:
    if options.human_net is None:
        raise OptionError(f"{PROFILE} needs a human-like network: --human-net FILE")
    profile = str(value)
    net = options.human_net.for_profile(profile) if profile else options.human_net
    return replace(options, human_net=net, human_profile=profile)


# --- the table ----------------------------------------------------------------------------------------------------------------


PARAMETERS: dict[str, Parameter] = {
    "maxVisits": Parameter(lambda o: o.visits or 0, lambda o, value: replace(o, visits=_visits("maxVisits", value))),
    "maxTime": Parameter(
        lambda o: o.seconds or 0, lambda o, value: replace(o, seconds=number("maxTime", value, 0.001, LONGEST_TIME))
    ),
    WIDTH: Parameter(lambda o: o.width, lambda o, value: replace(o, width=number(WIDTH, value, 0, WIDEST))),
    "ponderingEnabled": Parameter(lambda o: o.ponder, lambda o, value: replace(o, ponder=_flag("ponderingEnabled", value))),
    "allowResignation": Parameter(
        lambda o: o.resign > 0,
        lambda o, value: replace(o, resign=(o.resign or RESIGN) if _flag("allowResignation", value) else 0.0),
    ),
    **{name: _rule_parameter(name) for name in RULE_FIELDS},
    **{name: _utility_parameter(name) for name in UTILITY_FIELDS},
    ROOT_TEMPERATURE: Parameter(lambda o: None if o.net is None else o.root_temperature, _set_root_temperature),
    PROFILE: Parameter(_get_profile, _set_profile),
}
OF_SEARCH = (*RULE_FIELDS, *UTILITY_FIELDS, ROOT_TEMPERATURE, PROFILE)  # what a single request may set


def known(options: Options) -> dict[str, Any]:
    """All parameters that can be set, with their values."""
    values = {name: value_of(options, name) for name in PARAMETERS if name != PROFILE or options.human_net is not None}
    return {name: value for name, value in values.items() if value is not None}
