"""Players as text, which people type, files hold and databases keep.

    uct visits=1000 c=0.5 policy=MoGo                     a search: its selection rule, then options
    puct visits=800 net=four.onnx batch=16                a search with a network
    search visits=1000 select=UCT(c=0.5) evaluate=Rollout(policy=MoGo(self_atari=0.95)) graph
    playout policy=MoGo                                   a default policy alone, without search
    random                                                any legal move
    greedy                                                a policy that the game has given this name (PyRat)
    gnugo --mode gtp --level 1                            a program that speaks GTP, for Go
    strong: puct visits=2000                              any of them with a name of its own

Options stand behind the kind, divided by blanks or commas (`uct:visits=1000,c=0.5` is the same as `uct visits=1000 c=0.5`).
They are those of `Search`, and those that it takes in objects one by one (`update`, `depth` ...); how long to search a move
(`visits`, `total`, `seconds`); `reuse` (True: the tree is kept from move to move); `net`, a network's file, and `batch`, the
positions that it sees at once; and, for short, the fields of the selection rule and of the evaluator. `graph` alone means
`graph=True`. Values are Python literals and options by name, `MoGo` being short for `MoGo()`: all that `anabranch` exports, and
what the game's own module has. Nothing is evaluated: the text is read by `ast`, and names are looked up. Next: `players.py`,
which makes players of it.
"""

import ast
import difflib
import inspect
import math
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import anabranch
from anabranch.engines import best_options
from anabranch.errors import AnabranchError, ArenaError
from anabranch.games.game import Game
from anabranch.games.go import Go
from anabranch.games.playout import pick
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.jit.options import coerce, is_option
from anabranch.nets.network import Network
from anabranch.search.checks import is_function, serves
from anabranch.search.configure import default_rule, selects
from anabranch.search.evaluate.rollout import Rollout
from anabranch.search.graph_options import GROUPED, grouped
from anabranch.search.searcher import Search
from anabranch.search.select.base import chooses_pairs

LABEL = re.compile(r"[^\W_][\w .,+*/=()%-]*")
LABELLED = re.compile(rf"(?P<label>{LABEL.pattern}?):\s+(?P<rest>.+)", re.DOTALL)
KIND = re.compile(r"(?P<kind>[A-Za-z_]\w*)(?:\s*[:,]\s*|\s+|$)(?P<rest>.*)", re.DOTALL)
NAME = re.compile(r"[A-Za-z_]\w*")
LONGEST = 4_000  # characters
SEARCH, BEST, PLAYOUT, RANDOM = "search", "best", "playout", "random"
LIMITS = ("visits", "total", "seconds")
FILES = ("net",)  # options that are paths, and nothing else
NOT_GIVEN = ("self", "game", "seed")  # of Search: the match has them
WORDS = {"true": True, "false": False, "none": None, "inf": math.inf}
USUAL_PLACE = "/usr/games"  # where Debian keeps games, on not everybody's PATH


@dataclass(frozen=True)
class Spec:
    """What a player is, read and checked, but not alive yet."""

    text: str  # in its plain form, without a label: the player's identity
    label: str  # how tables call it


@dataclass(frozen=True)
class SearchSpec(Spec):
    """A search of ours."""

    options: dict[str, Any] = field(default_factory=dict)  # of `Search`
    limits: dict[str, float] = field(default_factory=dict)  # of each move, as `Search.run` takes them; may be empty
    reuse: bool = True


@dataclass(frozen=True)
class PolicySpec(Spec):
    """A default policy, played as it is; None: any legal move."""

    policy: Any = None


@dataclass(frozen=True)
class ProgramSpec(Spec):
    """A program that speaks GTP."""

    command: tuple[str, ...] = ()


def parse(text: str, game: Game) -> Spec:
    """The player that is written like this, for this game."""
    if len(text) > LONGEST:
        raise ArenaError(f"a player is written in at most {LONGEST:,} characters, not {len(text):,}")
    text = text.strip()
    kinds = _kinds(game)
    label = LABELLED.fullmatch(text)
    if label and (label["label"].lower() not in kinds or _is_player(label["rest"], kinds)):
        return replace(parse(label["rest"], game), label=label["label"])
    word = KIND.fullmatch(text)
    if word and word["kind"].lower() in kinds:
        kind = word["kind"].lower()
        try:
            return kinds[kind](kind, split(word["rest"]), game)
        except AnabranchError as error:
            raise ArenaError(f"{text!r}: {error}") from None
    return _program(text, game, kinds)


def without_label(text: str) -> str:
    """A player's text without its name, as far as the text alone can tell."""
    label = LABELLED.fullmatch(text.strip())
    return " ".join((label["rest"] if label else text).split())


def _is_player(text: str, kinds: Iterable[str]) -> bool:
    """Whether this begins like a player, and is not merely the options of one."""
    word = KIND.fullmatch(text)
    return bool(word and word["kind"].lower() in kinds) or find_program(text.split()[0]) is not None


# --- text -------------------------------------------------------------------------------------------------------------


def split(text: str) -> list[str]:
    """Words at blanks and commas that stand outside of brackets and quotes; blanks around "=" do not count."""
    words, depth, quote = [""], 0, ""
    for letter in re.sub(r"\s*=\s*", "=", text):
        if quote or letter in "'\"":
            quote = "" if letter == quote else quote or letter
        depth += (letter in "([") - (letter in ")]") if not quote else 0
        if letter in " \t\r\n," and depth == 0 and not quote:
            words.append("")
        else:
            words[-1] += letter
    if depth or quote:
        raise ArenaError(f"{text!r} has a bracket or a quote without its other half")
    return [word for word in words if word]


def pairs(words: Iterable[str], names: Mapping[str, Any]) -> dict[str, Any]:
    """Options from "key=value" and "key"."""
    options: dict[str, Any] = {}
    for word in words:
        key, equals, written = word.partition("=")
        if not NAME.fullmatch(key):
            raise ArenaError(f"{word!r} is no option; write key=value")
        if key in options:
            raise ArenaError(f"`{key}` is given twice")
        if key in FILES:
            options[key] = written.strip("'\"")
        else:
            options[key] = value_of(written, names) if equals else True
    return options


def value_of(written: str, names: Mapping[str, Any]) -> Any:
    """A literal, an option by name, or, if it is neither in form, the text itself (512MB)."""
    try:
        tree = ast.parse(written, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return written
    return _evaluated(tree, names, written)


def _evaluated(node: ast.expr, names: Mapping[str, Any], written: str) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_evaluated(part, names, written) for part in parts)
        case ast.Name(id=name):
            if name.lower() in WORDS:
                return WORDS[name.lower()]
            found = _find(name, names)
            return made(found, [], {}) if isinstance(found, type) else found
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords) if all(pair.arg for pair in keywords):
            kind = _find(name, names)
            if not isinstance(kind, type):
                raise ArenaError(f"`{name}` takes no arguments")
            given = {str(pair.arg): _evaluated(pair.value, names, written) for pair in keywords}
            return made(kind, [_evaluated(argument, names, written) for argument in arguments], given)
    raise ArenaError(f"{written!r} is no value; write a number, a text, or an option such as UCT(c=0.5)")


def _find(name: str, names: Mapping[str, Any]) -> Any:
    if name not in names:
        near = [known for known in names if known.lower() == name.lower()] or difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? There are" if near else "there are"
        raise ArenaError(f"there is no option `{name}`; {hint} {', '.join(sorted(names))}")
    return names[name]


def made(kind: Any, arguments: list[Any], given: dict[str, Any]) -> Any:
    """An option of this class, its fields checked."""
    for key in given:
        if key not in kind._fields:
            raise ArenaError(f"{kind.__name__} has no field `{key}`{_near(key, kind._fields)}")
    try:
        return coerce(kind(*arguments, **given))
    except TypeError:
        raise ArenaError(f"{kind.__name__} takes {', '.join(kind._fields) or 'nothing'}") from None


def _near(word: str, known: Iterable[str]) -> str:
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}? It has {', '.join(known)}" if near else f"; it has {', '.join(known) or 'none'}"


# --- names ------------------------------------------------------------------------------------------------------------


def names_for(game: Game) -> dict[str, Any]:
    """What may be named: option classes of anabranch; option classes, options and functions of the game's own module."""
    public = {name: getattr(anabranch, name) for name in anabranch.__all__}
    found = {name: value for name, value in public.items() if _is_option_class(value)}
    for module in _modules_of(type(game)):
        for name, value in vars(sys.modules[module]).items():
            own = isinstance(value, FunctionType) and value.__module__ == module and not module.startswith("anabranch.")
            if not name.startswith("_") and (_is_option_class(value) or is_option(value) or own):
                found[name] = value
    return found


def _modules_of(kind: type) -> list[str]:
    """The module that a game's class is in, and the package around that, if it is the game's own."""
    package, _, _ = kind.__module__.rpartition(".")
    around = [package] if package.startswith("anabranch.games.") else []
    return [name for name in [*around, kind.__module__] if name in sys.modules]


def _is_option_class(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, tuple) and hasattr(value, "_fields")


# --- kinds of players -------------------------------------------------------------------------------------------------

Maker = Callable[[str, list[str], Game], Spec]


def _kinds(game: Game) -> dict[str, Maker]:
    """Kinds of players by name; every selection rule for such games is one, and every policy that the game has given a name."""
    at_once = isinstance(game, SimultaneousGame)

    def fits(option: Any) -> bool:
        return selects(option) and chooses_pairs(option) == at_once

    named = names_for(game).items()
    rules = [name.lower() for name, kind in named if _is_option_class(kind) and _serves_by_default(fits, kind)]
    searches = dict.fromkeys([SEARCH, BEST, *rules], _search)
    return {**searches, **dict.fromkeys(game.named_policies, _policy), PLAYOUT: _policy, RANDOM: _policy}


def _serves_by_default(test: Callable[[Any], bool], kind: Any) -> bool:
    return len(kind._fields) == len(kind._field_defaults) and test(kind())


def _search(kind: str, words: list[str], game: Game) -> Spec:
    names = names_for(game)
    given = pairs(words, names)
    limits = {name: given.pop(name) for name in LIMITS if name in given}
    reuse = given.pop("reuse", True)
    if not isinstance(reuse, bool):
        raise ArenaError(f"reuse={reuse!r}: say True or False")
    if "net" in given:
        given["evaluate"] = _network(given, game)
    if kind == BEST:
        given = {**best_options(game), **given}
    elif kind != SEARCH:
        if "select" in given:
            raise ArenaError(f"`select` is given by `{kind}` already; write search in its place")
        given["select"] = next(option() for name, option in names.items() if name.lower() == kind)
    options = _routed(given, game)
    Search(game, **options)  # raises what is wrong with them
    _check(limits)
    plain = " ".join([kind, *words])
    return SearchSpec(plain, plain, options, limits, reuse)


def _network(given: dict[str, Any], game: Game) -> Network:
    """The network that `net` and `batch` say, which are taken out of what is given."""
    if "evaluate" in given:
        raise ArenaError("`net` says what leaves are worth, and so does `evaluate`: leave one of them out")
    file, batch = given.pop("net"), given.pop("batch", 16)
    if not file:
        raise ArenaError("`net` wants the path of an .onnx file: net=four.onnx")
    return Network(file, batch=batch, game=game)


def _routed(given: dict[str, Any], game: Game) -> dict[str, Any]:
    """Options of `Search`; fields of the selection rule and of the evaluator are put into these."""
    own = [name for name in (*inspect.signature(Search.__init__).parameters, *GROUPED) if name not in NOT_GIVEN]
    options = {key: value for key, value in given.items() if key in own}
    evaluate = options.get("evaluate", Rollout())
    parts = {"select": options.get("select", default_rule(game, evaluate)), "evaluate": evaluate}
    fields = {role: part._fields if is_option(part) else () for role, part in parts.items()}
    for key in given.keys() - options.keys():
        homes = [role for role in parts if key in fields[role]]
        if not homes:
            known = [*own, *LIMITS, "reuse", *fields["select"], *fields["evaluate"]]
            raise ArenaError(f"a search has no option `{key}`{_near(key, known)}")
        if len(homes) > 1:
            raise ArenaError(f"`{key}` is a field of {' and of '.join(homes)}; write it inside one of them")
        parts[homes[0]] = made(type(parts[homes[0]]), [], {**parts[homes[0]]._asdict(), key: given[key]})
        options[homes[0]] = parts[homes[0]]
    evaluate = options.get("evaluate", Rollout())
    if not is_option(evaluate) and not is_function(evaluate):
        raise ArenaError(f"evaluate={evaluate!r}: give an evaluator such as Rollout, or a function of the game's module")
    if isinstance(evaluate, Rollout) and evaluate.policy is not None:
        _check_policy(evaluate.policy)
    return grouped(options)


def _check(limits: Mapping[str, Any]) -> None:
    for name, value in limits.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not value > 0 or (name != "seconds" and value != int(value)):
            raise ArenaError(f"{name}={value!r}: must be a {'' if name == 'seconds' else 'whole '}number above 0")


def _policy(kind: str, words: list[str], game: Game) -> Spec:
    given = pairs(words, names_for(game))
    if kind != PLAYOUT and given:
        raise ArenaError(f"`{kind}` takes no options")
    for key in given:
        if key != "policy":
            raise ArenaError(f"`{PLAYOUT}` has no option `{key}`; it has policy")
    policy = None if kind == RANDOM else game.named_policies.get(kind) or given.get("policy", game.policy)
    if policy is not None:
        _check_policy(policy)
    plain = " ".join([kind, *words])
    return PolicySpec(plain, plain, policy)


def _check_policy(policy: Any) -> None:
    if not is_option(policy) or not serves(pick)(policy):
        raise ArenaError(f"policy={policy!r}: not a default policy, such as RandomPolicy")


def _program(text: str, game: Game, kinds: Iterable[str]) -> Spec:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ArenaError(f"{text!r}: {error}") from None
    if not words:
        raise ArenaError(f"a player is empty; write one of {', '.join(sorted(kinds))}, or a program with its arguments")
    found = find_program(words[0])
    if found is None:
        near = difflib.get_close_matches(words[0].partition(":")[0].lower(), kinds, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        known = ", ".join(sorted(kinds))
        raise ArenaError(f"{words[0]!r} is no kind of player ({known}) and no program on this machine{hint}")
    if not isinstance(game, Go):
        raise ArenaError(f"{words[0]!r} is a program, and programs play Go, over GTP; the game is {game!r}")
    plain = " ".join(text.split())
    return ProgramSpec(plain, plain, (found, *words[1:]))


def find_program(name: str) -> str | None:
    """Where a program is."""
    return shutil.which(name) or shutil.which(name, path=USUAL_PLACE)
