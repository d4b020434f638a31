"""Numba's front end with less to do: the same results in less time.

Two thirds of a compilation is Numba's own Python, for every one of the hundreds of helpers that a kernel consists of. A profile
shows some functions that are called hundreds of thousands of times and always return the same; here they are made faster.
The generated code is not changed.

This patches Numba's internals, one function at a time: where a version of Numba lacks a function, that step is left as it is.
See also `lean.py`, the same for LLVM.
"""

import contextlib
import threading
import types as python_types
from typing import Any

from numba.core import event, ir, targetconfig
from numba.core.types import functions

_compiling = threading.local()


class faster:
    """While a kernel is compiled in this thread, signatures resolved for one helper are reused for the next."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = getattr(_compiling, "signatures", None)
        _compiling.signatures = {}

    def __exit__(self, *error: object) -> None:
        _compiling.signatures = self.before


# --- the flags of a compilation, which are part of the key of every overload that is looked up ----------------

_Config: Any = targetconfig.TargetConfig

if {"values", "__hash__", "__eq__"} <= vars(_Config).keys() and "_values" in getattr(_Config, "__slots__", ()):
    _config_equals = _Config.__eq__

    def _values(config: Any) -> dict[str, Any]:
        own = config._values
        return {name: own.get(name, option.default) for name, option in type(config).options.items()}

    def _hash(config: Any) -> int:
        return hash(type(config))

    def _equals(config: Any, other: object) -> Any:
        if config is other or (type(config) is type(other) and config._values == other._values):  # type: ignore[attr-defined]
            return True
        return _config_equals(config, other)

    _Config.values, _Config.__hash__, _Config.__eq__ = _values, _hash, _equals


# --- the variables of an instruction ------------------------------------------------------------------------------------------

if hasattr(ir.Inst, "_rec_list_vars"):
    _NO_VARIABLES = {ir.Loc, ir.Scope, str, int, float, bool, type(None)}

    def _list_variables(instruction: Any, value: Any) -> list[Any]:
        if isinstance(value, dict):
            parts: Any = value.values()
        elif isinstance(value, (list, tuple)):
            parts = value
        elif isinstance(value, ir.Inst):
            return value.list_vars()
        else:
            parts = (value,) if isinstance(value, ir.Var) else ()
        found = []
        for part in parts:
            kind = type(part)
            if kind is ir.Var:
                found.append(part)
            elif kind not in _NO_VARIABLES:
                found.extend(_list_variables(instruction, part))
        return found

    ir.Inst._rec_list_vars = _list_variables


# --- timers: every function that is compiled has one, and every event updates those of all its callers -----------

if hasattr(event, "install_timer"):
    _install_timer = event.install_timer

    def _install_timer_of_kernel(kind: str, callback: Any) -> Any:
        if getattr(_compiling, "signatures", None) is None:
            return _install_timer(kind, callback)
        return contextlib.nullcontext()

    event.install_timer = _install_timer_of_kernel


# --- signatures of operators and built-in functions, for which Numba tries dozens of templates every time -----

_Function: Any = functions.BaseFunction

if hasattr(_Function, "get_call_type") and hasattr(targetconfig, "ConfigStack"):
    _get_call_type = _Function.get_call_type

    def _get_call_type_once(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        known = getattr(_compiling, "signatures", None)
        is_built_in = not isinstance(getattr(function, "typing_key", None), python_types.FunctionType)
        if known is None or keywords or not is_built_in:  # helpers are compiled while they are resolved, and may recurse
            return _get_call_type(function, context, arguments, keywords)
        key = (id(function), id(context), tuple(arguments), targetconfig.ConfigStack.top_or_none())
        if key not in known:
            known[key] = _get_call_type(function, context, arguments, keywords), function  # kept alive: its id stays unique
        return known[key][0]

    _Function.get_call_type = _get_call_type_once
