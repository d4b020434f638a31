"""Every error that Anabranch raises on purpose.

    AnabranchError
      GameError            a game cannot be found, or breaks its contract
        UnknownGame        no game of that name (names the nearest ones)
        RuleError          a rule does not compile, or raises: which rule, which line, why
          KernelError      a rule raised inside a kernel, in the middle of its work
      IllegalMove          the action is not legal in this position
      OptionError          an option has a field of the wrong type or out of range
      SearchError          a search was asked for something it cannot do
        EvaluatorError     the evaluator raised, or gave what cannot be used
          NetworkError     a network cannot be read, does not fit the game, or gave what cannot be used
      SgfError             a game record is broken, or is not of a game that can be played here
      ArenaError           a match cannot be played, or its file cannot be used
      TrainingError        a run of training cannot be begun or continued, or its folder is damaged
      OutputError          standard output cannot be written
      MissingExtra         a package is not installed (names the extra that brings it)

Messages say what is wrong and what to do about it; the program prints them without a traceback.
"""


class AnabranchError(Exception):
    """The base of all of them."""


class GameError(AnabranchError):
    """A game cannot be found, or breaks its contract."""


class UnknownGame(GameError):
    """No game of that name."""


class RuleError(GameError):
    """A rule or an option's function does not compile, or raises."""


class KernelError(RuleError):
    """A rule or an option's function raised inside a kernel, which leaves its work half done."""


class IllegalMove(AnabranchError, ValueError):
    """The action is not legal in this position."""


class OptionError(AnabranchError, ValueError):
    """An option has a field of the wrong type or out of range."""


class SearchError(AnabranchError, ValueError):
    """A search was asked for something it cannot do."""


class EvaluatorError(SearchError):
    """An evaluator raised, or answered with something that cannot be used."""


class NetworkError(EvaluatorError):
    """A network cannot be read, does not fit the game, or gave outputs that cannot be used."""


class SgfError(AnabranchError, ValueError):
    """A game record cannot be read, written or played."""


class ArenaError(AnabranchError, ValueError):
    """A match cannot be played as it was asked for, or its file cannot be used."""


class TrainingError(AnabranchError, ValueError):
    """A run of training cannot be begun or continued, or something in its folder is damaged."""


class OutputError(AnabranchError, OSError):
    """Standard output cannot be written."""


class MissingExtra(AnabranchError, ImportError):
    """A package that comes with an extra is not installed."""
