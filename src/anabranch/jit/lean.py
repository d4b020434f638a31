"""Compiling a kernel in half the time: helpers are linked and optimised once, as part of the kernel.

Numba prepares every function that a kernel calls to be called by itself: it links in the callees, optimises the whole and emits
machine code, level after level. Ours are only ever called from kernels. So while a kernel is being compiled, every other
function is left as it comes from the front end, and the kernel links in each of them once.

What a helper needs of Python at run time (its environment, which `print` needs) is handed over with the kernel, too.

This patches Numba's internals (`CPUCodeLibrary`). Where a version of Numba lacks these methods, nothing is changed and
compiling takes longer.
"""

import threading
from collections.abc import Iterator
from typing import Any

from llvmlite.binding import Linkage
from numba.core import codegen
from numba.core.environment import lookup_environment

_compiling = threading.local()
_library: Any = getattr(codegen, "CPUCodeLibrary", None)
_machine: Any = getattr(codegen, "JITCPUCodegen", None)
_ENVIRONMENT = "_ZN08NumbaEnv"  # how Numba names the pointers to them
_steps = ("finalize", "_optimize_functions", "_finalize_final_module")
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


def _with_callees(libraries: Any, seen: set[Any]) -> Iterator[Any]:
    """These libraries and what helpers among them call, each once."""
    for library in libraries:
        if library not in seen:
            seen.add(library)
            yield library
            if hasattr(library, "_is_unlinked_helper"):
                yield from _with_callees(library._linking_libraries, seen)


if all(hasattr(_library, step) for step in _steps) and hasattr(_machine, "set_env"):
    _finalize, _finalize_module, _set_env = _library.finalize, _library._finalize_final_module, _machine.set_env

    def _finalize_helper_or_kernel(library: Any) -> None:
        if _is_helper(library):
            library._finalized = library._is_unlinked_helper = True
            return
        linked = list(_with_callees(library._linking_libraries, set()))
        helpers = [each for each in linked if hasattr(each, "_is_unlinked_helper")]
        own = {function.name for function in library._final_module.functions if not function.is_declaration}
        for each in helpers:
            library._reload_init.update(each._reload_init)
            library._final_module.link_in(each._final_module, preserve=True)
        for function in library._final_module.functions if helpers else ():
            if function.name not in own and not function.is_declaration:
                function.linkage = Linkage.linkonce_odr  # so that it is dropped once it is inlined everywhere
        library._linking_libraries = [each for each in linked if not hasattr(each, "_is_unlinked_helper")]
        _finalize(library)

    def _optimize_definitions(library: Any, module: Any) -> None:
        """Simplify functions one by one, before they are linked; Numba tries that with mere declarations, too."""
        module.data_layout = library._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = library._codegen._function_pass_manager()
                passes.run(function, builder)

    def _finalize_module_of_kernel(library: Any) -> None:
        _finalize_module(library)
        _hand_over_environments(library)

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

    _library.finalize, _library._finalize_final_module = _finalize_helper_or_kernel, _finalize_module_of_kernel
    _library._optimize_functions = _optimize_definitions
    _machine.set_env = _set_env_of_kernel
