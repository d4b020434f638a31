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
`graph=True`. Values are Python literals and options by name (`option_names.py`), `MoGo` being short for `MoGo()`.
Next: `players.py`, which makes players of it.
"""

import difflib
import inspect
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anabranch.errors import AnabranchError, ArenaError
from anabranch.games.game import Game
from anabranch.games.go import Go
from anabranch.games.playout import pick
from anabranch.jit.options import is_option
from anabranch.nets.evaluator import NetworkEvaluator
from anabranch.nets.files import open_network
from anabranch.nets.trained import trained_file
from anabranch.option_names import make_option, option_names, parse_value, short_names, suggestion
from anabranch.presets import best_options, network_options
from anabranch.search.checks import is_function, serves
from anabranch.search.configure import default_rule
from anabranch.search.evaluate.rollout import Rollout
from anabranch.search.graph_options import GROUPED, grouped
from anabranch.search.searcher import Search

LABEL = re.compile(r"[^\W_][\w .,+*/=()%-]*")
LABELLED = re.compile(rf"(?P<label>{LABEL.pattern}?):\s+(?P<rest>.+)", re.DOTALL)
KIND = re.compile(r"(?P<kind>[A-Za-z_]\w*)(?:\s*[:,]\s*|\s+|$)(?P<rest>.*)", re.DOTALL)
NAME = re.compile(r"[A-Za-z_]\w*")
LONGEST = 4_000  # characters
SEARCH, BEST, PLAYOUT, RANDOM = "search", "best", "playout", "random"
LIMITS = ("visits", "total", "seconds")
FILES = ("net",)  # options that are paths, and nothing else
NOT_GIVEN = ("self", "game", "seed")  # of Search: the match has them
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
        raise ArenaError(f"the description of a player may have at most {LONGEST:,} characters, not {len(text):,}")
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
        raise ArenaError(f"{text!r} has an unmatched bracket or quote")
    return [word for word in words if word]


def pairs(words: Iterable[str], names: Mapping[str, Any]) -> dict[str, Any]:
    """Options from "key=value" and "key"."""
    options: dict[str, Any] = {}
    for word in words:
        key, equals, written = word.partition("=")
        if not NAME.fullmatch(key):
            raise ArenaError(f"{word!r} is not an option; write key=value")
        if key in options:
            raise ArenaError(f"`{key}` is given twice")
        if key in FILES:
            options[key] = written.strip("'\"")
        else:
            options[key] = parse_value(written, names) if equals else True
    return options


# --- kinds of players -------------------------------------------------------------------------------------------------

Maker = Callable[[str, list[str], Game], Spec]


def _kinds(game: Game) -> dict[str, Maker]:
    """Kinds of players by name; every selection rule for such games is one, and every policy that the game has given a name."""
    searches = dict.fromkeys([SEARCH, BEST, *short_names("select", game)], _search)
    return {**searches, **dict.fromkeys(game.named_policies, _policy), PLAYOUT: _policy, RANDOM: _policy}


def _search(kind: str, words: list[str], game: Game) -> Spec:
    given = pairs(words, option_names(game))
    limits = {name: given.pop(name) for name in LIMITS if name in given}
    reuse = given.pop("reuse", True)
    if not isinstance(reuse, bool):
        raise ArenaError(f"reuse={reuse!r}: must be True or False")
    file = trained_file(game) if kind == BEST and not {"net", "evaluate"} & given.keys() else None
    if file is not None:
        given["net"] = str(file)
    preset = best_options(game, networks=False)
    if "net" in given:
        preset = network_options(_network(given, game), game)
        given["evaluate"] = preset["evaluate"]
    if kind == BEST:
        given = {**preset, **given}
    elif kind != SEARCH:
        if "select" in given:
            raise ArenaError(f"`{kind}` already names the selection rule; write `search` instead to give `select`")
        given["select"] = short_names("select", game)[kind]()
    options = _routed(given, game)
    Search(game, **options)  # raises what is wrong with them
    _check(limits)
    plain = " ".join([kind, *words])
    return SearchSpec(plain, plain, options, limits, reuse)


def _network(given: dict[str, Any], game: Game) -> NetworkEvaluator:
    """The network that `net` and `batch` say, which are taken out of what is given."""
    if "evaluate" in given:
        raise ArenaError("`net` and `evaluate` both name an evaluator; leave one of them out")
    file, batch = given.pop("net"), given.pop("batch", None)
    if not file:
        raise ArenaError("`net` needs the path of an .onnx file or of a KataGo network: net=four.onnx")
    return open_network(file, game, batch)


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
            raise ArenaError(f"a search has no option `{key}`{suggestion(key, known)}")
        if len(homes) > 1:
            raise ArenaError(f"`{key}` is a field of {' and of '.join(homes)}; write it inside one of them")
        parts[homes[0]] = make_option(type(parts[homes[0]]), [], {**parts[homes[0]]._asdict(), key: given[key]})
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
    given = pairs(words, option_names(game))
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
        raise ArenaError(
            f"the description of a player is empty; write one of {', '.join(sorted(kinds))}, or a program with its arguments"
        )
    found = find_program(words[0])
    if found is None:
        near = difflib.get_close_matches(words[0].partition(":")[0].lower(), kinds, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        known = ", ".join(sorted(kinds))
        raise ArenaError(f"{words[0]!r} is neither a kind of player ({known}) nor a program on this machine{hint}")
    if not isinstance(game, Go):
        raise ArenaError(f"{words[0]!r} is a program, and programs play only Go, over GTP; the game is {game!r}")
    plain = " ".join(text.split())
    return ProgramSpec(plain, plain, (found, *words[1:]))


def find_program(name: str) -> str | None:
    """Where a program is."""
    return shutil.which(name) or shutil.which(name, path=USUAL_PLACE)
