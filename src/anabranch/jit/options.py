"""Options with behaviour are named tuples: their class selects the code, their fields are numbers at run time.

`coerce` gives every field the type that its class declares, so that `PUCT(c=2)` and `PUCT(c=1.5)` run the same kernel, and
rejects invalid values: a field declared as `Share` is a number from 0 to 1.
"""

from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

from anabranch.errors import OptionError

Option = TypeVar("Option", bound=tuple[Any, ...])
LARGEST = 2**31 - 1  # of whole numbers
LARGEST_FLOAT = 1e30  # of other numbers: scores are products of a few of them, and infinite ones could not be compared
WORDS = {int: "a whole number", float: "a number", bool: "True or False"}


class Range(NamedTuple):
    """The range of a field's values, as an annotation."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.high == LARGEST:
            return f"{self.low:g} or more"
        return f"{self.low:g} or more, at most {self.high:g}" if self.high > LARGEST else f"from {self.low:g} to {self.high:g}"


NonNegative = Annotated[float, Range(0.0, LARGEST_FLOAT)]
Positive = Annotated[float, Range(1e-9, LARGEST_FLOAT)]
Share = Annotated[float, Range(0.0, 1.0)]
Count = Annotated[int, Range(1, LARGEST)]
Whole = Annotated[int, Range(0, LARGEST)]


def is_option(value: Any) -> bool:
    """Whether this is an option: an instance of a `NamedTuple` class."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def coerce(option: Option) -> Option:
    """The same option with each field as its annotation says (`float`, `int`, `bool`) and in range, nested options too."""
    kind: Any = type(option)
    hints = get_type_hints(kind, include_extras=True)
    fields = []
    for name, value in zip(kind._fields, option, strict=True):
        who = f"{kind.__name__}: {name}"
        hint = hints.get(name)
        limits = getattr(hint, "__metadata__", ())
        value = _as_declared(value, getattr(hint, "__origin__", hint), kind._field_defaults.get(name), who)
        if limits and not limits[0].low <= value <= limits[0].high:
            raise OptionError(f"{who}={value} must be {limits[0]}")
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
    if changed is None or (hint in (int, bool) and changed != value):
        raise OptionError(f"{who} must be {WORDS[hint]}, not {value!r}")
    return changed
