"""A review (`review.py`) as drawings: black's win rate move by move, and with a network the lead in points, with the moves that
lost most; and the board at a move with whose points are whose. Parts: `chart.py`."""

from collections.abc import Iterator, Sequence

from anabranch.chart import LETTER, SMALL, Field, document, safe, text, ticks
from anabranch.errors import SgfError
from anabranch.goengine.game_tree import BLACK, COLOURS, stones_of
from anabranch.goengine.review import Review, Reviewed
from anabranch.goengine.review_summary import lead_curve
from anabranch.goengine.turns import go_of

WIDTH, HEIGHT = 860, 420
LEADS = 200  # pixels for the lead below
LEAST_LEAD = 5.0  # points that its scale reaches to, at least
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 72, 48  # around the field
SHARE, OPACITY = "#222222", 0.75  # black's part of the field
EVEN, CURVE = "#c0392b", "#2a6fb0"
STONE = 5.0  # radius
STONES = ("#111111", "#ffffff")
LINE_HEIGHT = SMALL + 3
NEAR = STONE + 4  # from the middle of a stone to its label
TRIES = 12  # places above and below a stone that are tried for its label
SMALL_LETTER = LETTER * 0.88  # pixels

Box = tuple[float, float, float, float]  # left, top, right, bottom


def winrate_chart(review: Review, swings: int) -> str:
    """The drawing; so many moves are labelled."""
    curve = review.curve
    first, last = curve[0][0], max(curve[-1][0], curve[0][0] + 1)
    field = Field(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM, (first, last), (0.0, 1.0))
    worst = sorted(review.swings(swings), key=lambda move: move.turn.number)
    parts = [field.across(share, f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    parts += [field.up(number, f"{number:.0f}") for number in ticks(first, last, whole=True)]
    parts.append(field.area([(first, 0.0), *curve, (curve[-1][0], 0.0)], SHARE, "black", OPACITY))
    parts.append(field.line([(first, 0.5), (last, 0.5)], EVEN, "even", dashed=True))
    parts.append(field.line(curve, CURVE, "winrate"))
    parts += [_stone(field, move) for move in worst]
    parts += _labels(field, worst)
    height = HEIGHT + LEADS if review.has_points else HEIGHT
    if review.has_points:
        parts += _leads(review, (first, last), height)
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, height - 10, "moves", "middle"))
    head = title_of(review)
    heads = [
        text(LEFT, 24, head, bold=True),
        text(LEFT, 44, f"black's win rate; labelled: the moves that lost most; standard error {review.error:.1%}"),
    ]
    return document(max(WIDTH, LEFT + RIGHT + LETTER * len(head)), height, [*heads, *parts])


def board_picture(review: Review, number: int | None = None) -> str:
    """The board after a move, by default the last one reviewed: whose points are whose, and what was preferred to the move."""
    last = review.moves[-1].turn.number
    move = next((move for move in review.moves if move.turn.number == (last if number is None else number)), None)
    if move is None:
        raise SgfError(f"move {number} was not reviewed: there are moves {review.moves[0].turn.number} to {last}")
    owned = move.before.ownership if move.after.ownership is None else move.after.ownership
    choice, after = move.before.choice, move.turn.after
    marks = {}
    if choice is not None and not move.is_first_choice and choice < after.game.actions - 1 and choice not in stones_of(after):
        marks[choice] = "triangle"
    return go_of(after).svg(after.state, ownership=owned, marks=marks)


def _leads(review: Review, moves: tuple[int, int], height: float) -> list[str]:
    """Black's lead in points, below the win rates."""
    curve = lead_curve(review)
    most = max(LEAST_LEAD, *(abs(lead) for _, lead in curve))
    field = Field(LEFT, HEIGHT + SMALL, WIDTH - RIGHT, height - BOTTOM, moves, (-most, most))
    parts = [text(LEFT, HEIGHT, "black's lead in points")]
    parts += [field.across(lead, f"{lead:+g}" if lead else "0") for lead in ticks(-most, most) if abs(lead) <= most]
    parts += [field.up(number, f"{number:.0f}") for number in ticks(*moves, whole=True)]
    parts.append(field.area([(moves[0], 0.0), *curve, (curve[-1][0], 0.0)], SHARE, "lead", OPACITY))
    parts.append(field.line([(moves[0], 0.0), (moves[1], 0.0)], EVEN, "even", dashed=True))
    return [*parts, field.line(curve, CURVE, "points")]


def title_of(review: Review) -> str:
    """Who played, and how it ended as far as the record says."""
    tree = review.tree
    names = [
        f"{player.name or 'somebody'} {player.rank}".strip() + f" ({colour})"
        for player, colour in zip(tree.players, COLOURS, strict=True)
    ]
    named = any(player.name for player in tree.players)
    result = f", {tree.result}" if tree.result else ""
    return " ".join(f"{' - '.join(names) if named else 'black - white'}{result}".split())


def _stone(field: Field, move: Reviewed) -> str:
    x, y = field.x(move.turn.number), field.y(move.black_rates[1].winrate)
    before, after = move.rates
    who = COLOURS[move.turn.player]
    line = " ".join(move.before.line)
    tip = f"move {move.turn.number}, {who} {move.name}: {who}'s win rate {before:.0%} -> {after:.0%}"
    tip += f", standard error {move.error:.0%}"
    tip += "" if move.points_lost is None else f", {move.points_lost:.1f} points lost"
    tip += f"; preferred: {line}"
    style = f'fill="{STONES[move.turn.player]}" stroke="{CURVE}" stroke-width="2"'
    return f'<circle class="swing" cx="{x:.1f}" cy="{y:.1f}" r="{STONE:g}" {style}><title>{safe(tip)}</title></circle>'


def _labels(field: Field, moves: Sequence[Reviewed]) -> Iterator[str]:
    """The names of moves next to their stones, without overlaps."""
    taken = [_around(field.x(move.turn.number), field.y(move.black_rates[1].winrate)) for move in moves]
    for move in moves:
        words = f"{move.turn.number} {'B' if move.turn.player == BLACK else 'W'} {move.name} {_lost(move)}"
        wide = SMALL_LETTER * len(words)
        middle = min(max(field.x(move.turn.number), field.left + wide / 2), field.right - wide / 2)
        box = _free_box(field, middle, field.y(move.black_rates[1].winrate), wide, taken)
        taken.append(box)
        left, top, right, bottom = box
        back = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" rx="3"'
        yield (
            f'<g class="label"><rect {back} fill="#ffffff" fill-opacity="0.85"/>'
            f"{text(middle, bottom - 4, words, 'middle', small=True)}</g>"
        )


def _lost(move: Reviewed) -> str:
    return f"{-100 * move.loss:+.0f}%" if move.points_lost is None else f"{-move.points_lost:+.1f}"


def _free_box(field: Field, x: float, y: float, wide: float, taken: list[Box]) -> Box:
    """The nearest free box above or below a place, inside the field."""
    boxes = []
    for step in range(TRIES):
        for top in (y - NEAR - LINE_HEIGHT * (step + 1), y + NEAR + LINE_HEIGHT * step):
            if field.top <= top and top + LINE_HEIGHT <= field.bottom:
                boxes.append((x - wide / 2 - 2, top, x + wide / 2 + 2, top + LINE_HEIGHT))
    return next((box for box in boxes if not any(_overlap(box, other) for other in taken)), boxes[0])


def _around(x: float, y: float) -> Box:
    return (x - STONE, y - STONE, x + STONE, y + STONE)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
