"""Single games: openings, seats, clocks, referees, forfeits."""

import re
import time

import pytest

from anabranch.arena.gtp_client import GtpRefusal
from anabranch.arena.match import Match
from anabranch.arena.openings import read_lines
from anabranch.arena.players import PolicyPlayer, seconds_for
from anabranch.arena.playing import Participants, play_game
from anabranch.arena.referee import Referee, by_returns
from anabranch.errors import ArenaError
from anabranch.games import ConnectFour, Go, Nim, TicTacToe
from tests.arena.fakes import command, heard, player
from tests.conftest import needs, when_compiled

GO5 = "go:size=5,komi=2.5"


@pytest.fixture
def participants():
    with Participants(timeout=30.0) as one:
        yield one


def played(match, number, participants):
    return play_game(match, number, participants)[0]


# --- seats, openings, seeds -------------------------------------------------------------------------------------------


def test_players_change_seats_and_pairs_begin_alike(participants):
    match = Match("a: random", "b: random", game="connectfour", opening_plies=4)
    games = [played(match, number, participants) for number in range(8)]
    assert [game.black for game in games] == [0, 1] * 4
    openings = [" ".join(game.moves.split()[:4]) for game in games]
    assert openings[::2] == openings[1::2] and len(set(openings)) > 1
    assert len({game.moves for game in games}) == 8


def test_a_number_says_all_about_a_game(participants):
    match = Match("uct visits=20", "random", game="tictactoe")
    with Participants() as other:
        assert [played(match, n, participants).moves for n in (4, 5)] == [played(match, n, other).moves for n in (5, 4)][::-1]
    others = Match("uct visits=20", "random", game="tictactoe", seed=1)
    assert played(others, 4, participants).moves != played(match, 4, participants).moves


def test_a_score_is_the_first_players_whoever_moves_first(participants):
    match = Match("uct visits=200", "random", game="nim", opening_plies=0)
    for number in range(6):
        game = played(match, number, participants)
        assert game.score == (1.0 if (game.result == "1-0") == (game.black == 0) else 0.0)
    assert game.ending == "played out" and game.referee == "rules" and not game.forfeit


RAT = "pyrat:width=5,height=3,cheese=3,walls=0,mud=0,max_turns=12"


def test_both_players_are_asked_where_they_move_at_once(participants):
    match = Match("decoupled visits=30 graph", "greedy", game=RAT, opening_plies=1)
    games = [played(match, number, participants) for number in range(4)]
    assert [game.black for game in games] == [0, 1, 0, 1]
    assert all(not game.forfeit and game.referee == "rules" for game in games)
    assert all(re.fullmatch(r"(\w+/\w+ ?)+", game.moves) and len(game.moves.split()) == game.plies for game in games)
    assert games[0].moves.split()[0] == games[1].moves.split()[0]  # a pair begins alike
    assert len({game.moves for game in games}) > 2


def test_a_policy_plays_for_its_own_seat(participants):
    """Greedy takes the only cheese beside it, whichever seat it has; the random player seldom finds it."""
    match = Match("greedy", "random", game="pyrat:width=5,height=5,cheese=5,walls=0,mud=0,max_turns=30", opening_plies=0)
    assert sum(played(match, number, participants).score for number in range(20)) >= 17


def test_who_plays_what_is_not_legal_has_lost_also_where_both_move_at_once(participants, monkeypatch):
    monkeypatch.setattr(PolicyPlayer, "_own", lambda self, position, seat: 7 if self.spec.policy is None else 0)
    for number in range(2):
        game = played(Match("greedy", "random", game=RAT, opening_plies=0), number, participants)
        assert game.score == 1.0 and game.ending == "illegal move" and "action 7 is out of range" in game.reason


def test_random_openings_do_not_end_a_game_and_do_not_pass():
    match = Match("random", "random", game="tictactoe", opening_plies=7)
    positions = [match.opening(number) for number in range(0, 80, 2)]
    assert all(not position.is_over and len(position.moves) == 7 for position in positions)
    go = Match("random", "random", game="go:size=2", opening_plies=3)
    assert all(4 not in go.opening(number).moves[:2] for number in range(0, 40, 2))
    with pytest.raises(ArenaError, match="was over within 12 random moves"):
        Match("random", "random", game="tictactoe", opening_plies=12).table  # noqa: B018


def test_events_of_chance_are_no_plies_of_an_opening(participants):
    match = Match("random", "random", game="pig", opening_plies=3)
    position = match.opening(0)
    assert len(position.moves) > 3
    assert "roll" in played(match, 0, participants).moves


def test_openings_come_from_a_file_line_by_line_and_again_from_its_start(tmp_path, participants):
    file = tmp_path / "openings.txt"
    file.write_text("# centre\nd, d\n\nd c d  # another\n")
    lines = tuple(map(tuple, read_lines(file, ConnectFour())))
    match = Match("random", "random", game="connectfour", openings=lines)
    begins = [played(match, number, participants).moves[:5] for number in range(6)]
    assert [begin[:3] for begin in begins] == ["d d", "d d", "d c", "d c", "d d", "d d"]
    assert begins[2] == begins[3] == "d c d"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d x9", "line 1: move 2: 'x9' is not a move"),
        ("# none\n", "contains no openings"),
        ("a b a b a b a", "line 1: the game is over"),
    ],
)
def test_openings_that_cannot_be_played_are_told_by_line(tmp_path, text, message):
    (tmp_path / "o.txt").write_text(text)
    with pytest.raises(ArenaError, match=message):
        read_lines(tmp_path / "o.txt", ConnectFour())
    with pytest.raises(ArenaError, match="cannot be read: No such file"):
        read_lines(tmp_path / "none.txt", ConnectFour())


# --- terms ------------------------------------------------------------------------------------------------------------

BAD = [
    ({"game": "trinim"}, "a match is between two, and TriNim"),
    ({"game": "nimm"}, "did you mean nim"),
    ({"referee": "gnugo"}, "the referee 'gnugo' is for Go"),
    ({"referee": "me"}, "there is no referee 'me'; choose from rules, area, gnugo, playouts"),
    ({"first": "uct"}, "how long may 'uct' search a move"),
    ({"visits": 0}, "visits=0: must be 1 or more"),
    ({"cap": 0}, "cap=0: must be 1 or more"),
    ({"seconds": -1.0}, "seconds=-1.0: must be above 0"),
    ({"opening_plies": -1}, "opening_plies=-1"),
    ({"second": "sh", "game": GO5, "seconds": 0.5}, "GTP tells programs whole seconds"),
]


@pytest.mark.parametrize(("terms", "message"), BAD)
def test_terms_that_make_no_sense_are_refused(terms, message):
    with pytest.raises(Exception, match=message):
        Match(**{"first": "random", "second": "random", "game": "nim", **terms}).table  # noqa: B018


def test_the_same_match_has_one_key_however_it_is_written():
    match = Match("a: uct visits=10", "random", game=GO5)
    same = Match("uct:visits=10", "b: random", game=GO5, referee="area", cap=75, opening_plies=2)
    assert match.key == same.key and match.names == ("a", "random") and same.names == ("uct visits=10", "b")
    assert Match("uct visits=11", "random", game=GO5).key != match.key
    assert Match.from_dict(match.to_dict()) == match
    assert Match("random", "random", game="nim").names == ("random (1)", "random (2)")


def test_a_game_that_is_too_long_is_a_draw_and_in_go_is_judged_as_it_stands(participants):
    short = played(Match("random", "random", game="connectfour", cap=5), 0, participants)
    assert (short.score, short.ending, short.plies, short.result) == (0.5, "cap", 5, "1/2-1/2")
    assert short.referee == "the limit on plies" and not short.forfeit
    go = played(Match("random", "random", game=GO5, cap=9), 0, participants)
    assert go.ending == "cap" and go.plies == 9 and go.referee == "area"
    assert "after 9 plies the board is judged as it stands" in go.reason
    assert Match("random", "random", game="go:size=(3,5)").table.cap == 45


# --- clocks -----------------------------------------------------------------------------------------------------------


def test_time_for_a_move_is_a_share_of_what_is_left_and_never_all_of_it():
    """A search may stop some milliseconds late."""
    for game, moves in ((Nim(), 20), (ConnectFour(), 20), (Go(9), 45), (Go(19), 150)):
        for seconds in (1.0, 60.0):
            left = seconds
            for _ in range(moves):
                share = seconds_for(game.start(), left)
                assert 0 < share < left / 10
                left -= share + 0.001
            assert 0 < left < 0.4 * seconds  # it is there to be used


def test_a_move_gets_some_time_however_little_is_left():
    assert seconds_for(Nim().start(), 0.02) == 0.002
    assert seconds_for(Nim().start(), 0.002) == 0.001


def test_a_search_uses_its_clock_and_does_not_overstep_it(participants):
    match = Match("uct", "uct", game="connectfour", seconds=1.5, opening_plies=0)
    games = (played(match, number, participants) for number in range(3))
    game = next((game for game in games if game.ending != "time"), None)  # a busy machine may take a player's time away
    assert game is not None and game.ending == "played out" and game.plies > 7
    assert all(0.25 < seconds < 1.5 for seconds in game.seconds)


class Slow:
    """A clock that goes as it is told."""

    def __init__(self, monkeypatch, step):
        self.now, self.step = 0.0, step
        monkeypatch.setattr(time, "perf_counter", self)

    def __call__(self):
        self.now += self.step
        return self.now


def test_whoever_uses_up_the_time_has_lost(monkeypatch, participants):
    match = Match("random", "random", game="connectfour", seconds=1.0, opening_plies=0)
    Slow(monkeypatch, 0.3)
    game = played(match, 0, participants)
    assert (game.ending, game.score, game.result, game.plies) == ("time", 0.0, "0-1", 6)
    assert "of 1 s" in game.reason and game.forfeit


# --- forfeits ---------------------------------------------------------------------------------------------------------

FAILURES = {
    "dead": ("crash", "died with exit code 1 at `protocol_version`"),
    "dies": ("crash", "died with exit code 3 at `genmove black`"),
    "mute": ("silence", "did not answer `protocol_version` within 2.5 s"),
    "hangs": ("silence", "did not answer `genmove black` within 0.5 s"),
    "babbles": ("nonsense", "answered `genmove black` with 'I like Go very much'"),
    "floods": ("nonsense", "answered `genmove black` with 'blah blah"),
    "nonsense": ("nonsense", "answered `genmove black` with 'Z99', which is not a move"),
    "refuses": ("nonsense", "refuses `genmove black`: 'I do not feel like it'"),
    "illegal": ("illegal move", "A1 is not legal here: there is a stone"),
}


@pytest.mark.parametrize("mode", FAILURES)
def test_a_program_that_fails_has_lost_and_the_next_game_is_played(mode, tmp_path, participants):
    match = Match(player(mode, tmp_path), "playout", game=GO5, opening_plies=0)
    ending, reason = FAILURES[mode]
    if ending == "silence":
        participants.timeout = 0.5
    for number in (0, 2):
        game = played(match, number, participants)
        assert (game.score, game.ending, game.result) == (0.0, ending, "W+F") and game.forfeit
        assert reason in game.reason and game.referee == "the arena"
    assert played(match, 1, participants).result == "B+F"
    if mode in ("dead", "dies"):
        assert game.details in ("cannot load the network", "out of ideas")


def test_after_a_failure_the_match_goes_on_with_a_fresh_program(tmp_path, participants):
    match = Match(player("dies once", tmp_path), "playout", game=GO5, opening_plies=0)
    assert played(match, 0, participants).ending == "crash"
    assert played(match, 1, participants).ending == "played out"
    assert heard(tmp_path).count("protocol_version") == 2
    played(match, 2, participants)
    assert heard(tmp_path).count("protocol_version") == 2  # the same one goes on


def test_a_program_with_its_seed_in_the_command_begins_every_game_anew(tmp_path, participants):
    match = Match(player("polite", tmp_path) + " {seed}", "playout", game=GO5)
    for number in (0, 1):
        assert not played(match, number, participants).forfeit
        (fake,) = [one for one in participants.players(match) if hasattr(one, "client")]
        assert fake.client.command[-1] == str(match.seed_of(number, 0))
    assert heard(tmp_path).count("protocol_version") == 2


def test_a_hanging_program_with_a_clock_loses_on_time(tmp_path, participants, monkeypatch):
    monkeypatch.setattr("anabranch.arena.gtp_player.GRACE", 0.2)
    match = Match(player("hangs", tmp_path), "playout", game=GO5, seconds=1.0)
    began = time.monotonic()
    game = played(match, 0, participants)
    assert game.ending == "time" and game.result == "W+T" and time.monotonic() - began < 4.0


def test_a_program_that_answers_too_late_loses_on_time(tmp_path, participants):
    game = played(Match(player("slow", tmp_path), "playout", game=GO5, seconds=1.0), 0, participants)
    assert game.ending == "time" and "of 1 s" in game.reason


def test_resigning_is_losing_and_no_forfeit(tmp_path, participants):
    game = played(Match("playout", player("resigns", tmp_path), game=GO5, opening_plies=0), 0, participants)
    assert (game.score, game.ending, game.result, game.referee) == (1.0, "resignation", "B+R", "the opponent")
    assert not game.forfeit and game.plies == 1


def test_a_program_that_does_not_play_on_this_board_has_lost(tmp_path, participants):
    game = played(Match(player("large only", tmp_path), "random", game=GO5), 0, participants)
    assert game.forfeit and game.score == 0.0 and "refuses `boardsize 5`: 'unacceptable size'" in game.reason


def test_what_a_player_raises_is_kept_in_a_limited_length_and_printable(monkeypatch, participants):
    monkeypatch.setattr(participants, "players", lambda match: [Broken(ValueError("\x1b[31mno\n" * 100_000))] * 2)
    game = played(Match("random", "random", game="nim"), 0, participants)
    assert game.ending == "crash" and len(game.reason) <= 500 and game.reason.isprintable()
    assert len(game.details) < 40 * 201 and all(line.isprintable() for line in game.details.splitlines())


def test_a_program_is_told_board_komi_seed_time_and_moves(tmp_path, participants):
    match = Match("playout", player("polite", tmp_path), game="go:size=7,komi=5.5,handicap=2", seconds=60, opening_plies=2)
    game = played(match, 0, participants)
    told = heard(tmp_path)
    assert told[4:9] == ["boardsize 7", "clear_board", "komi 7.5", "play black C3", "play black E5"]
    assert told[9] == f"set_random_seed {match.seed_of(0, 1)}" and told[10] == "time_settings 60 0 0"
    first, second = game.moves.split()[:2]
    assert [line.split()[1:] for line in told[11:13]] == [["white", first], ["black", second]]
    assert told[13].startswith("time_left white ") or told[13].startswith("play white ")


class Broken:
    """A player that raises."""

    def __init__(self, error):
        self.error = error

    def begin(self, *_):
        pass

    def choose(self, *_):
        raise self.error

    def close(self):
        pass


def test_a_player_that_crashes_has_lost_and_a_rule_that_raises_ends_the_match(monkeypatch, participants):
    from anabranch.errors import RuleError

    match = Match("random", "random", game="nim")
    monkeypatch.setattr(participants, "players", lambda match: [Broken(ZeroDivisionError("by zero"))] * 2)
    game = played(match, 0, participants)
    assert game.ending == "crash" and game.reason == "ZeroDivisionError: by zero" and "choose" in game.details
    monkeypatch.setattr(participants, "players", lambda match: [Broken(RuleError("rule `play` of Nim, line 3"))] * 2)
    with pytest.raises(ArenaError, match="game 0: rule `play` of Nim"):
        played(match, 0, participants)


# --- referees ---------------------------------------------------------------------------------------------------------

# Black has the left three columns, white the right two, and the white stone on A1 is dead.
WITH_DEAD = ["C1", "D1", "C2", "D2", "C3", "D3", "C4", "D4", "C5", "D5", "B3", "A1", "pass", "pass"]


def test_the_area_counts_as_it_stands_and_playouts_find_what_is_dead():
    position = Go(5, komi=0.5).position(WITH_DEAD)
    assert Referee("area", 5.0).judge(position) == (0.0, "W+5.5", "area")
    assert Referee("playouts", 5.0).judge(position) == (1.0, "B+4.5", "playouts")
    assert Referee("rules", 5.0).judge(position).by == "rules"
    even = Go(5, komi=0).position(["pass", "pass"])
    assert Referee("area", 5.0).judge(even) == (0.5, "0", "area")


def test_gnugo_takes_dead_stones_off():
    needs("gnugo")
    referee = Referee("gnugo", 20.0)
    assert referee.judge(Go(5, komi=0.5).position(WITH_DEAD)) == (1.0, "B+4.5", "GNU Go 3.8")
    assert referee.judge(Go(7, komi=0.5, handicap=2).position(["pass", "pass"])).points == 1.0
    referee.close()


class Recording:
    """A client that writes down what it is asked, and refuses the third move."""

    version, what, timeout = "0", "gnugo", 10.0

    def __init__(self):
        self.asked = []

    def ask(self, command, timeout=None):
        self.asked.append(command)
        if command == "play black C2" and self.asked.count(command) == 1:
            raise GtpRefusal("refusal", "gnugo refuses `play black C2`")
        return "B+4.5" if command == "final_score" else ""

    def close(self):
        pass


def test_where_gnugo_refuses_a_move_it_is_shown_the_stones():
    referee = Referee("gnugo", 5.0)
    referee.client = Recording()
    assert referee.judge(Go(5, komi=0.5).position(WITH_DEAD)).by == "GNU Go 0"
    after = referee.client.asked[referee.client.asked.index("play black C2") + 1 :]
    assert after[:3] == ["boardsize 5", "clear_board", "komi 0.5"]
    assert len(after) == 3 + 12 + 1 and after[-1] == "final_score"


def test_if_gnugo_fails_the_area_decides_and_the_verdict_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("anabranch.arena.referee.gnugo_command", lambda game: command("polite", tmp_path))
    judged = Referee("gnugo", 5.0).judge(Go(5, komi=0.5).position(WITH_DEAD))
    assert judged.result == "W+5.5" and judged.by.startswith("area, since ") and "refuses `final_score`" in judged.by


def test_a_referee_that_is_not_there_is_missed_before_the_match(monkeypatch):
    monkeypatch.setattr("anabranch.arena.notation.find_program", lambda name: None)
    with pytest.raises(ArenaError, match="needs the program gnugo"):
        Match("random", "random", game=GO5, referee="gnugo").table  # noqa: B018


def test_players_know_that_what_stands_there_counts_where_the_area_decides():
    japanese = Match("random", "random", game="go:size=5,rules=japanese", referee="area").table
    assert (japanese.game.rules.dead, japanese.game.rules.scoring) == ("none", "area")
    assert Match("random", "random", game="go:size=5").table.game.rules.dead == "none"
    assert Match("random", "random", game="go:size=5", referee="rules").table.game.rules.dead == "agreed"
    assert Match("random", "random", game="go:size=5,rules=japanese").table.referee == "rules"


def test_other_games_are_decided_by_what_they_pay():
    won = TicTacToe().position(["a1", "b1", "a2", "b2", "a3"])
    assert by_returns(won) == (1.0, "1-0", "rules")
    drawn = TicTacToe().position(["a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3"])
    assert by_returns(drawn).points == 0.5


@when_compiled
@pytest.mark.parametrize("referee", ["area", "gnugo"])
def test_a_match_with_gnugo_is_played_without_illegal_moves(referee, participants):
    needs("gnugo")
    gnugo = "gnugo --mode gtp --level 1 --chinese-rules --positional-superko"
    match = Match("uct visits=60", gnugo, game="go:size=5,komi=0.5", referee=referee)
    games = [played(match, number, participants) for number in range(6)]
    assert not any(game.forfeit for game in games), [game.reason for game in games]
    judges = {game.referee for game in games if game.ending == "played out"}
    assert judges == {"area" if referee == "area" else "GNU Go 3.8"}
    assert len({game.moves for game in games}) == 6


def test_random_boards_are_the_same_within_a_pair_only():
    match = Match("random", "random", "pyrat:preset=5x5", random_boards=True)
    first, again, other = (match.opening(number).state["cheese"].tolist() for number in (0, 1, 2))
    assert first == again != other
    own = Match("random", "random", "pyrat:preset=5x5")
    assert own.opening(0).state["left"] == 5 and own.key != match.key and "random_boards" not in own.key


@pytest.mark.parametrize("game, openings", [("tictactoe", ()), ("pyrat:preset=5x5", (("up/up",),))])
def test_random_boards_are_refused_where_there_is_only_one(game, openings):
    with pytest.raises(ArenaError, match="random_boards: "):
        Match("random", "random", game, openings=openings, random_boards=True).table  # noqa: B018
