"""The contract of a game: a NumPy dtype, a handful of rules, a few facts.

Subclass `Game`, declare the facts as class attributes and write the rules with `@rule`. Defining the class registers its
rules under a tag in the record's dtype, so that kernels find them. An instance holds the data of one variant
(`Hex(size=7)`) and makes positions. Next: `rules.py` for what each rule means, `position.py` for positions.
"""

import difflib
import inspect
import traceback
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from anabranch.errors import GameError, IllegalMove, RuleError
from anabranch.games import rules
from anabranch.games.playout import RandomPolicy
from anabranch.games.position import Position
from anabranch.games.refuse import refuse_answers, refuse_fields, refuse_parameters, refuse_replaced, refuse_unmarked
from anabranch.games.rules import REPETITIONS
from anabranch.games.symmetry import Symmetries, identity
from anabranch.jit import helper, readable
from anabranch.jit.dispatch import PAD_PREFIX, TAG_PREFIX

REQUIRED = ("setup", "to_play", "is_legal", "play", "is_over", "returns")
OPTIONAL = (
    "key", "repetition_key", "may_repeat", "keeps_meaning", "chance", "legal_actions", "random_action", "heuristic",
    "action_limit", "encode",
)  # fmt: skip
LAST_IS_OPTIONAL = ("play", "returns")  # rules whose last argument may be left out


if TYPE_CHECKING:
    rule = staticmethod  # so that type checkers do not take `state` for `self`
else:

    class rule(staticmethod):
        """Marks a function of a `Game` class as one of its rules: plain Python that is also compiled."""


class Game:
    """A game's rules and facts; an instance makes positions."""

    players: ClassVar[int] = 2
    player_names: ClassVar[tuple[str, ...]] = ()  # the players' names: ("black", "white"); by default their numbers
    actions: int  # actions are 0 .. actions-1
    events: ClassVar[int] = 0  # chance events are 0 .. events-1; 0: there are none
    state: ClassVar[np.dtype]  # one position
    zero_sum: ClassVar[bool | None] = None  # None: yes for two players, no otherwise
    value_range: tuple[float, float] = (-1.0, 1.0)  # of player 0's total return; of each player's, if not zero-sum
    discount: ClassVar[float] = 1.0  # the factor on a return per action
    repetition: str = "nothing"  # what a repeated position means: "draw", "loss", "forbidden"
    repetition_count: int = 2  # the occurrence at which it means that: the second or the third
    actions_keep_meaning: ClassVar[bool] = True  # whether an action has a similar effect now and a few moves later: see Rave
    planes: tuple[int, int, int] | None = None  # channels, height, width of what rule `encode` writes; None: see `encoding.py`
    policy: ClassVar[Any] = RandomPolicy()  # the default policy of playouts, unless `Rollout` has another
    draws_boards: bool = False  # whether `start_on` gives another board for each number
    named_policies: ClassVar[dict[str, Any]] = {}  # policies that are arena players under these names

    record: ClassVar[np.dtype]  # `state`, aligned, with the tag that ties it to this class
    tag: ClassVar[str]
    position_class: ClassVar[type[Position]] = Position
    _required: ClassVar[tuple[str, ...]] = REQUIRED
    _means: ClassVar[dict[str, str]] = {name: name for name in REQUIRED + OPTIONAL}  # a rule's name in classes: in `rules`
    _rules: ClassVar[dict[str, Callable[..., Any]]] = {}
    _tags: ClassVar[set[str]] = set()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_unmarked(cls)
        cls._rules = cls._rules | _own_rules(cls)
        missing = [name for name in cls._required if name not in cls._rules]
        if not missing:
            _check_facts(cls)
            refuse_answers(cls)
            refuse_replaced(cls)
            cls.tag = _new_tag(cls.__name__)
            cls.record = _tagged(cls.state, cls.tag)
            cls._register(TAG_PREFIX + cls.tag)
        elif cls._rules:
            raise GameError(f"{cls.__name__} lacks the rule{'s' * (len(missing) > 1)} {', '.join(missing)}")

    def __init__(self, **fields: Any) -> None:
        """`fields`: instance data, written into the record before `setup` runs."""
        if not hasattr(type(self), "record"):
            raise GameError(f"{type(self).__name__} has no rules yet; write them with @anabranch.rule")
        self.fields = fields

    # --- positions ---

    def start(self) -> Position:
        """The starting position."""
        return self._placed(self.fields)

    def start_on(self, board: int | None) -> Position:
        """The starting position of another board, drawn by this number, where the game draws its boards at random (PyRat);
        None: of its own."""
        return self.start() if board is None else self._placed(self.fields_of(board))

    def _placed(self, fields: dict[str, Any]) -> Position:
        """The starting position with this instance data."""
        pool = readable(np.zeros(1, self.record))
        for name, value in fields.items():
            pool[name][0] = value
        self.ask("setup", pool[0])
        for name, value in fields.items():
            if (pool[name][0] != value).any() if np.ndim(value) else pool[name][0] != value:
                raise GameError(f"{self!r}: rule `setup` changes `{name}`, which was given; leave that field as it comes")
        return self.position_class(self, pool)

    def fields_of(self, board: int) -> dict[str, Any]:
        """Instance data of another board of this game, drawn by its number; by default all boards are the same. A board may
        differ in nothing that this instance declares, such as `planes` and `value_range`: networks and searches serve all."""
        return self.fields

    def position(self, actions: Iterable[int | str] = ()) -> Position:
        """The position after these actions, given as numbers or names."""
        position = self.start()
        for ply, action in enumerate(actions, start=1):
            try:
                position = position.play(action)
            except IllegalMove as error:
                raise IllegalMove(f"move {ply}: {error}") from None
        return position

    # --- players, actions and their names ---

    def player_name(self, player: int) -> str:
        """The name of this player."""
        return self.player_names[player] if self.player_names else f"player {player}"

    def name_of(self, action: int) -> str:
        """The name of this action."""
        return str(action)

    def event_name(self, event: int) -> str:
        """The name of this chance event."""
        return str(event)

    def action(self, name: str) -> int:
        """The action of this name; its number is accepted as well."""
        return self._number(name, "move", [self.name_of(action) for action in range(self.actions)])

    def event(self, name: str) -> int:
        """The chance event of this name; its number is accepted as well."""
        return self._number(name, "chance event", [self.event_name(event) for event in range(self.events)])

    def _number(self, name: str, kind: str, names: list[str]) -> int:
        wanted = name.strip().lower()
        for number, candidate in enumerate(names):
            if candidate.lower() == wanted:
                return number
        if wanted.isdecimal() and int(wanted) < len(names):
            return int(wanted)
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.3) or names[:3]
        raise IllegalMove(f"{name!r} is not a {kind} of {self!r}; {kind}s look like {', '.join(near)}")

    @property
    def edge_actions(self) -> int:
        """One more than the largest number that an edge of a search may have: that of an action (or of a pair of them, where
        both players move at once: `simultaneous.py`), or of a chance event."""
        return max(self.actions, self.events)

    @property
    def policy_shape(self) -> tuple[int, ...]:
        """The shape of an evaluator's priors for one position."""
        return (self.actions,)

    def edge_name(self, number: int) -> str:
        """The name of the action with this number."""
        return self.name_of(number)

    def would_repeat(self, position: Position, action: int) -> bool:
        """Whether an action leads to a position that may not occur again."""
        return position.after(action).repeats

    def why_illegal(self, state: Any, action: int) -> str:
        """Why an action that the rule `is_legal` rejects is illegal, if there is more to say than that."""
        return ""

    # --- what networks see ---

    def symmetries(self) -> Symmetries:
        """The symmetries of a position, the identity first; see `symmetry.py`. By default only the identity."""
        _, height, width = self.planes or (0, 0, 0)
        return Symmetries(identity(height, width), np.arange(self.actions)[None])

    # --- what the end says beside who has won: only training asks, of a position where rule `is_over` says yes ---

    def final_ownership(self, position: Position) -> np.ndarray | None:
        """Who owns each point of the planes: 1 for player 0, -1 for player 1, 0 for nobody; shape (height * width,). By default
        None: points have no owners."""
        return None

    def final_score(self, position: Position) -> float | None:
        """By how many points player 0 is ahead. By default None: points are not counted."""
        return None

    # --- names, text and drawings ---

    def text(self, state: Any) -> str:
        """The position as text."""
        return "\n".join(f"{name}: {state[name]}" for name in self.state.names or ())

    def svg(self, state: Any) -> str:
        """The position as a drawing."""
        from anabranch.games.board import text_svg

        return text_svg(self.text(state))

    # --- the rules, as plain Python ---

    @classmethod
    def rule(cls, name: str) -> Callable[..., Any]:
        """A rule of this game as a plain function, or its default if the class does not define it."""
        generic = getattr(rules, name).generic
        found = generic.find(iter([TAG_PREFIX + cls.tag]))
        if found is None:
            raise GameError(f"{cls.__name__} has no rule `{name}`")
        return found

    def ask(self, name: str, state: Any, *arguments: Any) -> Any:
        """The result of a rule in plain Python; errors name the rule and the line."""
        function = self.rule(name)
        try:
            with np.errstate(over="ignore"):  # machine integers wrap around silently; so do compiled ones
                return function(state, *arguments)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
            line, source = (frames[0].lineno, frames[0].line) if frames else (0, "")
            who = f"rule `{name}` of {type(self).__name__}, line {line}"
            raise RuleError(f"{who}: {type(error).__name__}: {error}\n    {source}") from error

    @classmethod
    def _register(cls, key: str) -> None:
        """Register the class's rules and facts as the implementations for its tag."""
        for name, function in cls._rules.items():
            wants = _parameters(getattr(rules, cls._means[name]).generic.declaration)
            if _parameters(function) < wants:
                function = _with_one_more(function, wants)
            getattr(rules, cls._means[name]).register(key)(function)
        rules.players.register(key)(_constant(cls.players))
        rules.value_width.register(key)(_constant(cls.value_width()))
        rules.has_rewards.register(key)(_constant(_takes_all(cls, "play")))
        rules.at_once.register(key)(_constant(False))
        rules.has_chance.register(key)(_constant(cls.events > 0))
        rules.has_random_returns.register(key)(_constant(_takes_all(cls, "returns")))
        rules.has_repetition_key.register(key)(_constant("repetition_key" in cls._rules))
        if "action_limit" not in cls._rules:
            rules.action_limit.register(key)(_constant(cls.actions))

    @classmethod
    def value_width(cls) -> int:
        """How many numbers a value has; see `rules.value_width`."""
        return 1 if cls.players == 1 or (cls.players == 2 and cls.zero_sum) else cls.players

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.fields.items() if np.ndim(value) == 0)
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.start().data == other.start().data)

    def __hash__(self) -> int:
        return hash((type(self), self.start().data))


def _own_rules(cls: type[Game]) -> dict[str, Callable[..., Any]]:
    found = {}
    for name, value in vars(cls).items():
        if isinstance(value, rule):
            if name not in cls._means:
                near = difflib.get_close_matches(name, cls._means, n=1)
                raise GameError(f"{cls.__name__}: there is no rule `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
            function = value.__func__
            parameters = list(inspect.signature(getattr(rules, cls._means[name]).generic.declaration).parameters)
            allowed = [parameters[:-1], parameters] if name in LAST_IS_OPTIONAL else [parameters]
            refuse_parameters(cls, name, function, allowed)
            found[name] = function
    return found


def _parameters(function: Callable[..., Any]) -> int:
    return len(inspect.signature(function).parameters)


def _check_facts(cls: type[Game]) -> None:
    if not isinstance(getattr(cls, "state", None), np.dtype) or not cls.state.names:
        raise GameError(f'{cls.__name__}: `state` must be a structured dtype, such as np.dtype([("turn", "i1")])')
    refuse_fields(cls)
    if not isinstance(getattr(cls, "actions", None), (int, property)):
        raise GameError(f"{cls.__name__}: `actions` must say how many actions there are")
    if cls.players < 1:
        raise GameError(f"{cls.__name__}: `players` must be 1 or more, not {cls.players}")
    if cls.player_names and len(cls.player_names) != cls.players:
        raise GameError(f"{cls.__name__}: `player_names` has {len(cls.player_names)} names for {cls.players} players")
    if cls.zero_sum is None:
        cls.zero_sum = cls.players == 2
    if cls.repetition not in REPETITIONS:
        raise GameError(f"{cls.__name__}: `repetition` must be one of {', '.join(REPETITIONS)}, not {cls.repetition!r}")
    if cls.repetition_count not in (2, 3):
        raise GameError(f"{cls.__name__}: `repetition_count` must be 2 or 3, not {cls.repetition_count!r}")
    if isinstance(cls.value_range, tuple) and not cls.value_range[0] < cls.value_range[1]:
        raise GameError(f"{cls.__name__}: `value_range` must be (low, high) with low < high, not {cls.value_range}")
    if not 0.0 < cls.discount <= 1.0:
        raise GameError(f"{cls.__name__}: `discount` must be above 0 and at most 1, not {cls.discount}")
    if ("encode" in cls._rules) != (cls.planes is not None):
        raise GameError(
            f"{cls.__name__}: a game that networks can see has both a rule `encode` and the shape of what it writes, "
            "`planes = channels, height, width`"
        )
    if ("chance" in cls._rules) != (cls.events > 0):
        raise GameError(f"{cls.__name__}: a game with chance has both a rule `chance` and a number of `events`")


def _new_tag(name: str) -> str:
    """The class's name; a class defined again (in a notebook, say) gets a number, so that kernels can distinguish them."""
    tag, count = name, 1
    while tag in Game._tags:
        count += 1
        tag = f"{name}#{count}"
    Game._tags.add(tag)
    return tag


def _tagged(state: np.dtype, tag: str) -> np.dtype:
    """The same fields, aligned, and a zero-length one that names the game and pads the record to a multiple of a u8. Padding
    between fields becomes fields too, since NumPy does not copy padding, and keys hash the whole record."""
    assert state.names and state.fields
    own: list[Any] = [(name, state.fields[name][0]) for name in state.names]
    aligned = np.dtype([*own, (TAG_PREFIX + tag, "u8", (0,))], align=True)
    assert aligned.names and aligned.fields
    fields: list[Any] = []
    end = 0
    for name in aligned.names:
        dtype, offset = aligned.fields[name][:2]
        if offset > end:
            fields.append((f"{PAD_PREFIX}{end}", "u1", (offset - end,)))
        fields.append((name, dtype))
        end = offset + dtype.itemsize
    return np.dtype(fields, align=True)


def _takes_all(cls: type[Game], name: str) -> bool:
    """Whether a rule takes its last argument as well."""
    return _parameters(cls._rules[name]) == _parameters(getattr(rules, cls._means[name]).generic.declaration)


def _constant(value: Any) -> Callable[..., Any]:
    return lambda state: value


def _with_one_more(function: Callable[..., Any], wants: int) -> Callable[..., Any]:
    """Wrap a rule that leaves out its last argument, so that kernels can call it with one."""
    fewer = helper(function)

    def of_three(state, second, unused):
        fewer(state, second)

    def of_four(state, second, third, unused):
        fewer(state, second, third)

    return of_three if wants == 3 else of_four
