"""Compiling a kernel in half the time: helpers are optimised once, as part of the kernel.

Numba prepares every function that a kernel calls to be called by itself: it optimises it together with its callees, and emits
machine code, level after level. Ours are only ever called from kernels, which link them in and optimise the whole again. So
while a kernel is being compiled, everything else is left as it comes from the front end.

What a helper needs of Python at run time (its environment, which `print` needs) is handed over with the kernel, too.

This patches Numba's internals (`CPUCodeLibrary`). Where a version of Numba lacks these methods, nothing is changed and
compiling takes longer.
"""

import threading
from typing import Any

from numba.core import codegen
from numba.core.environment import lookup_environment

_compiling = threading.local()
_library: Any = getattr(codegen, "CPUCodeLibrary", None)
_machine: Any = getattr(codegen, "JITCPUCodegen", None)
_ENVIRONMENT = "_ZN08NumbaEnv"  # how Numba names the pointers to them
_steps = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "_verify_declare_only_symbols")
_kept: dict[str, Any] = {}  # environments that machine code points to


class only:
    """Within this context, in this thread, finalise only the kernel of this name."""

    __slots__ = ("before", "kernel")

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel

    def __enter__(self) -> None:
        self.before = getattr(_compiling, "kernel", None)
        _compiling.kernel = self.kernel

    def __exit__(self, *error: object) -> None:
        _compiling.kernel = self.before


def _is_helper(library: Any) -> bool:
    kernel = getattr(_compiling, "kernel", None)
    return kernel is not None and library.name != kernel


if all(hasattr(_library, step) for step in _steps) and hasattr(_machine, "set_env"):
    _optimize, _finalize, _set_env = _library._optimize_final_module, _library._finalize_final_module, _machine.set_env

    def _optimize_kernel(library: Any) -> None:
        if not _is_helper(library):
            _optimize(library)

    def _finalize_kernel(library: Any) -> None:
        if not _is_helper(library):
            _finalize(library)
            _hand_over_environments(library)
            return
        library._finalize_dynamic_globals()
        library._verify_declare_only_symbols()
        library._finalized = True

    def _hand_over_environments(library: Any) -> None:
        """Register the environments of the helpers in a kernel. Without them, `print` hangs while it holds the GIL."""
        for variable in library._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                _set_env_of_kernel(library.codegen, variable.name, environment)
                _kept[variable.name] = environment

    def _set_env_of_kernel(machine: Any, name: str, environment: Any) -> None:
        if machine._engine.get_global_value_address(name):  # a helper's is set once its kernel defines the variable
            _set_env(machine, name, environment)

    _library._optimize_final_module = _optimize_kernel
    _library._finalize_final_module = _finalize_kernel
    _machine.set_env = _set_env_of_kernel
