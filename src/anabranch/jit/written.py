"""Helpers generated as source, as in `dataclasses`: for what Numba cannot loop over, such as the fields of a tuple.

`written_out` makes a helper from lines of source; `replacing` is a tuple's `_replace` for kernels.
"""

import linecache
from collections.abc import Callable, Iterable
from typing import Any

from anabranch.jit.dispatch import helper


def written_out(name: str, parameters: str, doc: str, lines: Iterable[str], names: dict[str, Any]) -> Callable[..., Any]:
    """A helper whose body is these lines; `names` are the names they use. Tracebacks show its source."""
    source = "\n".join([f"def {name}({parameters}):", f'    """{doc}"""', *(f"    {line}" for line in lines), ""])
    file = f"<written out: {name}({parameters})>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"__name__": __name__, **names}
    exec(compile(source, file, "exec"), namespace)
    return helper(namespace[name])


def replacing(kind: Any, *names: str) -> Callable[..., Any]:
    """A helper f(original, *values): a tuple of this kind with these fields replaced by the values, in that order."""
    assert set(names) <= set(kind._fields)
    given = [f"{field}={field if field in names else f'original.{field}'}" for field in kind._fields]
    return written_out(
        f"replace_in_{kind.__name__.lower()}",
        ", ".join(["original", *names]),
        f"A {kind.__name__} with other {', '.join(names)}.",
        [f"return {kind.__name__}({', '.join(given)})"],
        {kind.__name__: kind},
    )
