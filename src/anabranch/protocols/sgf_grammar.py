"""SGF as text: nodes and their properties as they are written, and back. Nothing about Go is known here. Above: `sgf.py`.

A game is a list of nodes in the order of the file, each with its parent's place in that list (ROOT for none): a thousand
variations in one another are as flat as a thousand moves in a row, and nothing here calls itself. The standard is FF[4],
red-bean.com/sgf; what older and careless programs write is understood where its meaning is beyond doubt.
"""

import codecs
import re
from collections.abc import Iterable, Iterator

from anabranch.errors import SgfError

ROOT = -1  # the parent of a game's first node
END = -2  # instead of a parent: the game ends here, and this is no node
LINE = 79  # characters, unless a single property is longer

Properties = dict[str, list[str]]  # by name: values as they stand between brackets

BEGIN = re.compile(r"\(\s*;")
INSIDE = r"[^\\\]]*+(?:\\.[^\\\]]*+)*+"  # of brackets: a bracket that closes has a backslash before it
VALUE = re.compile(rf"\[({INSIDE})\]", re.DOTALL)
TOKEN = re.compile(rf"\s*+(?:([A-Za-z]++)((?:\s*+\[{INSIDE}\])++)|([;()]))", re.DOTALL)
VALUE_ALONE = re.compile(INSIDE, re.DOTALL)
NAME = re.compile(r"[A-Z]+")
WORD = re.compile(r"[A-Za-z]+")
BREAK = re.compile(r"\r\n|\n\r|\r")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
SPECIAL = re.compile(r"[\\\]]")
COLON = re.compile(r"((?:[^\\:]|\\.)*+):(.*)", re.DOTALL)
LOWER_CASE = str.maketrans("", "", "abcdefghijklmnopqrstuvwxyz")  # FF[3] allowed AddBlack for AB
BLANKS = str.maketrans("\t\v\f", "   ")

CHARSET = re.compile(rb"\bCA\s*\[\s*([\w.:-]{1,40})\s*\]")
ASCII = bytes(range(32, 127))
# Character sets in the narrow sense, as Python calls them. Its codecs for host names, escapes and the like do not replace what
# they cannot read, or take time that grows with the square of the text.
CHARACTER_SETS = re.compile(
    r"utf-8(-sig)?|ascii|iso8859-\d+|cp\d+|koi8-\w|kz1048|ptcp154|tis-620|mac-\w+|hp-roman8|"
    r"gb2312|gbk|gb18030|hz|big5\w*|euc_\w+|shift_\w+|johab|iso2022_\w+"
)
SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}  # what files that name the first hold in fact


# --- bytes to characters ------------------------------------------------------------------------------------------------------


def decoded(data: bytes) -> str:
    """The text of a file: in the character set that it names (CA), otherwise UTF-8 or, if it is not that, Latin-1. Bytes that
    the named set does not have become U+FFFD: a spoilt comment is no reason to lose the game."""
    named = None if data.startswith(codecs.BOM_UTF8) else CHARSET.search(data)
    codec = _codec(named[1].decode("ascii")) if named else None
    if codec:
        return data.decode(codec, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _codec(name: str) -> str | None:
    """Python's name of a character set, if it knows one that writes ASCII as it is."""
    try:
        found = codecs.lookup(name).name
        is_known = CHARACTER_SETS.fullmatch(found) and ASCII.decode(found) == ASCII.decode("ascii")
        return SUPERSETS.get(found, found) if is_known else None
    except (LookupError, UnicodeError):
        return None


# --- characters to nodes ------------------------------------------------------------------------------------------------------


def parsed(text: str) -> Iterator[tuple[int, Properties]]:
    """The nodes of all games in a text, each with the place of its parent; an END behind each game. What stands before, between
    and behind games is skipped; a mistake within one is an `SgfError` that names the line."""
    begin = BEGIN.search(text)
    while begin:
        position = begin.start()
        place = 0  # of the node that is being read
        node: Properties | None = None
        parent = last = ROOT
        branches: list[int] = []  # the nodes at which the open variations begin
        before = ""  # the last of ( ) ;
        while before != ")" or branches:
            token = TOKEN.match(text, position)
            if token is None:
                raise _unreadable(text, position)
            name, values, sign = token.groups()
            if name:
                if node is None:
                    raise _wrong(text, position, f"the property {name[:20]} stands outside of a node")
                node.setdefault(name.translate(LOWER_CASE) or name.upper(), []).extend(VALUE.findall(values))
            else:
                if node is not None:
                    yield parent, node
                    last, place, node = place, place + 1, None
                if sign == ";":
                    if before == ")":
                        raise _wrong(text, position, "a node stands behind a variation")
                    node, parent = {}, last
                elif before == "(":
                    raise _wrong(text, position, "a variation has no nodes")
                elif sign == "(":
                    branches.append(last)
                else:
                    last = branches.pop()
                before = sign
            position = token.end()
        yield END, {}
        begin = BEGIN.search(text, position)


def _unreadable(text: str, position: int) -> SgfError:
    rest = text[position:].lstrip()
    word = WORD.match(rest)
    if not rest:
        return SgfError("the text ends inside a game: a ) is missing")
    if word and rest[word.end() :].lstrip().startswith("["):
        return _wrong(text, position, f"the value of {word[0][:20]} has no ] at its end")
    if word:
        return _wrong(text, position, f"the property {word[0][:20]} has no value")
    if rest[0] == "[":
        return _wrong(text, position, "a value stands without its property")
    return _wrong(text, position, f"{rest[0]!r} is not SGF")


def _wrong(text: str, position: int, what: str) -> SgfError:
    begin = len(text) - len(text[position:].lstrip())
    return SgfError(f"line {text.count(chr(10), 0, begin) + 1}: {what}")


# --- nodes to characters ------------------------------------------------------------------------------------------------------


def written(nodes: Iterable[tuple[int, int, Properties]]) -> str:
    """A game as text: of each node its parent, the number of its children, and its properties. Nodes stand as in `parsed`: a
    node, then all that follows its first child, then all that follows its second ..."""
    return _lines(_pieces(nodes))


def _pieces(nodes: Iterable[tuple[int, int, Properties]]) -> Iterator[str]:
    children: list[int] = []
    branches: list[int] = []  # nodes with several children, of which one is open now
    yield "("
    for place, (parent, count, properties) in enumerate(nodes):
        if place and children[parent] > 1:
            if parent == place - 1:
                branches.append(parent)
            else:
                while branches[-1] != parent:
                    branches.pop()
                    yield ")"
                yield ")"
            yield "("
        own = [_property(name, values) for name, values in properties.items()]
        yield ";" + "".join(own[:1])
        yield from own[1:]
        children.append(count)
    yield ")" * (len(branches) + 1)


def _property(name: str, values: list[str]) -> str:
    if not NAME.fullmatch(name):
        raise SgfError(f"{name!r} is not the name of a property: those are capital letters")
    if not values:
        raise SgfError(f"the property {name} has no value; an empty one is ['']")
    for value in values:
        if not VALUE_ALONE.fullmatch(value):
            raise SgfError(f"the value {value!r} of {name} is not escaped: write a backslash before ] and \\")
    return name + "".join(f"[{value}]" for value in values)


def _lines(pieces: Iterable[str]) -> str:
    """The pieces in lines that are not too long; between pieces a line may break."""
    lines: list[str] = []
    line: list[str] = []
    length = 0
    for piece in pieces:
        if line and length + len(piece) > LINE:
            lines.append("".join(line))
            line, length = [], 0
        line.append(piece)
        length += len(piece)
    return "\n".join([*lines, "".join(line), ""])


# --- values -------------------------------------------------------------------------------------------------------------------


def plain(value: str) -> str:
    """The text that a value stands for."""
    value = BREAK.sub("\n", value).translate(BLANKS)
    return ESCAPE.sub(lambda escaped: "" if escaped[1] == "\n" else escaped[1], value) if "\\" in value else value


def plain_line(value: str) -> str:
    """The same for what is one line, as names are."""
    return plain(value).replace("\n", " ")


def escaped(text: str) -> str:
    """A text as a value."""
    return SPECIAL.sub(r"\\\g<0>", BREAK.sub("\n", text).translate(BLANKS))


def composed(first: str, second: str) -> str:
    """A value of two texts, such as a label at a point."""
    return ":".join(escaped(half).replace(":", "\\:") for half in (first, second))


def halves(value: str) -> tuple[str, str] | None:
    """Both values of which a value is composed, if it is."""
    found = COLON.fullmatch(value)
    return (found[1], found[2]) if found else None
