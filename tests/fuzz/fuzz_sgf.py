"""Records: any bytes are read or refused; what was read is written, read again, and then the same; its positions are played."""

import contextlib

from anabranch.errors import SgfError
from anabranch.goengine.review import turns_of
from anabranch.protocols import sgf

TEXT = """
(; ;B[ ;W[ ] ) AB[ AW[ AE[ PL[ C[ LB[ TR[ SQ[ MA[ CR[ SZ[ KM[ RU[ HA[ PB[ BR[ RE[ CA[ GM[1] FF[3] AP[foxwq] AddBlack
aa ee tt aa:cc 5:7 19 650 6.5 gb2312 big5 UTF-8 Chinese japanese koSIMPLEscoreAREAtaxNONEsui1whbN-1fpok1 \\] \\:
"""
WORDS = [*TEXT.split(), "\\\n"]
MOST_PLAYED = 3  # variations of a record


def check(data: bytes) -> None:
    """Read, write, read, write; the second time nothing changes."""
    with contextlib.suppress(SgfError):
        for tree in sgf.read_all(data):
            text = sgf.write(tree)
            again = sgf.read(text)
            assert sgf.write(again) == text, "a record that was written is read as another"
            assert [_plain(node) for node in again.nodes()] == [_plain(node) for node in tree.nodes()]
            assert repr(again.game) == repr(tree.game)
            _play(tree)


def _plain(node: sgf.Node) -> tuple[object, ...]:
    return node.action, node.colour, node.comment, node.stones, node.to_play, node.marks, len(node.children)


def _play(tree: sgf.GameTree) -> None:
    ends = [node for node in tree.nodes() if not node.children]
    for node in ends[:MOST_PLAYED]:
        with contextlib.suppress(SgfError):
            str(tree.position(node))
    with contextlib.suppress(SgfError):
        turns_of(tree)
