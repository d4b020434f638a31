"""The games. `game.py` is the contract, `rules.py` says what each rule means, and each game has its own module.

    from anabranch.games import ConnectFour, Hex

A game's class is imported when it is first used; `registry.py` finds it.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    if name[:1].isupper():
        from anabranch.games import registry

        found = registry.find(name)
        if found is not None and found.__name__ == name:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from anabranch.games import registry

    return sorted(game.__name__ for name in registry.names() if (game := registry.find(name)) is not None)
