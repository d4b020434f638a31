"""Options with behaviour are named tuples: their class picks the code, their fields are numbers at run time.

`coerce` gives every field the type that its class declares, so that `PUCT(c=2)` and `PUCT(c=1.5)` run the same kernel.
"""

from typing import Any, TypeVar, get_type_hints

Option = TypeVar("Option", bound=tuple[Any, ...])


def coerce(option: Option) -> Option:
    """The same option with each field as its annotation says (`float`, `int`, `bool`), nested options too."""
    hints = get_type_hints(type(option))
    fields = []
    for name, value in zip(option._fields, option, strict=True):  # type: ignore[attr-defined]
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            value = coerce(value)
        elif hints.get(name) in (int, float, bool):
            try:
                value = hints[name](value)
            except (TypeError, ValueError):
                wanted = {int: "a whole number", float: "a number", bool: "True or False"}[hints[name]]
                raise TypeError(f"{type(option).__name__}: {name} must be {wanted}, not {value!r}") from None
        fields.append(value)
    return type(option)(*fields)


def is_option(value: Any) -> bool:
    """Whether this is an option: an instance of a `NamedTuple` class."""
    return isinstance(value, tuple) and hasattr(value, "_fields")
