"""Options with behaviour are named tuples: their class picks the code, their fields are numbers at run time.

`coerce` gives every field the type that its class declares, so that `PUCT(c=2)` and `PUCT(c=1.5)` run the same kernel, and
refuses what cannot be meant: a class may say `ranges = {"c": (0.0, math.inf)}`, without an annotation, beside its fields.
"""

from typing import Any, TypeVar, get_type_hints

from anabranch.errors import OptionError

Option = TypeVar("Option", bound=tuple[Any, ...])
WORDS = {int: "a whole number", float: "a number", bool: "True or False"}


def is_option(value: Any) -> bool:
    """Whether this is an option: an instance of a `NamedTuple` class."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def coerce(option: Option) -> Option:
    """The same option with each field as its annotation says (`float`, `int`, `bool`) and in range, nested options too."""
    kind: Any = type(option)
    hints, ranges = get_type_hints(kind), getattr(kind, "ranges", {})
    fields = []
    for name, value in zip(kind._fields, option, strict=True):
        who = f"{kind.__name__}: {name}"
        value = _as_declared(value, hints.get(name), kind._field_defaults.get(name), who)
        if name in ranges and not ranges[name][0] <= value <= ranges[name][1]:
            raise OptionError(f"{who}={value} must be from {ranges[name][0]} to {ranges[name][1]}")
        fields.append(value)
    return kind(*fields)


def _as_declared(value: Any, hint: Any, default: Any, who: str) -> Any:
    if is_option(value):
        return coerce(value)
    if is_option(default):
        example = f"{type(default).__name__}({', '.join(f'{field}=...' for field in default._fields)})"
        raise OptionError(f"{who} must be an option such as {example}, not {getattr(value, '__name__', value)!r}")
    if hint not in WORDS:
        return value
    try:
        changed = hint(value)
    except (TypeError, ValueError):
        changed = None
    if changed is None or (hint is int and changed != value):
        raise OptionError(f"{who} must be {WORDS[hint]}, not {value!r}")
    return changed
