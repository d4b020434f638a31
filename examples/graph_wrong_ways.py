"""Two ways to search a graph that go wrong, beside one that does not; plain Python, with nothing of the library.

Where paths join, a node has visits that its parent never asked for. Three programs differ only in what they make of them:

    Running     running means, as on a tree: every playout is averaged into the nodes it came through
    AllParents  the same, but a playout counts for every ancestor of the position it ended in
    Edges       visits are counted on edges, and a node is worth what its children are worth now, weighted by these

The first two situations are those of "Monte-Carlo Graph Search from First Principles"; that text gives most numbers, the
others (utilities, priors, how many visits of A and D) are chosen here to fit them. The third is a graph made at random whose
exact values are known. Explained in docs/algorithms/graph.md.
"""

import math
from dataclasses import dataclass, field

C = 1.0  # of PUCT; values are in [0, 1]


@dataclass(eq=False)
class Node:
    """A position; `utility` is what one playout that ends here finds."""

    name: str
    utility: float
    moves: list["Node"] = field(default_factory=list)
    priors: list[float] = field(default_factory=list)
    player: int = 1  # 1 wants values high, -1 low
    visits: int = 0  # N
    value: float = 0.0  # Q
    taken: list[int] = field(default_factory=list)  # visits of each move from here
    parents: set["Node"] = field(default_factory=set)  # those that have tried a move to here

    def __post_init__(self):
        self.taken = [0] * len(self.moves)
        self.priors = self.priors or [1 / len(self.moves) for _ in self.moves]

    def average(self, utility):
        """One more playout."""
        self.visits += 1
        self.value += (utility - self.value) / self.visits


class Running:
    """A tree's running means, on a graph."""

    def playout(self, root):
        """Go down by PUCT to a position that is new or has no moves, and average what is found there on the way up."""
        path = [root]
        while path[-1].visits and path[-1].moves:
            node = path[-1]
            move = self.choose(node)
            node.taken[move] += 1
            node.moves[move].parents.add(node)
            path.append(node.moves[move])
        self.back_up(path)

    def choose(self, node):
        """PUCT: Q + c P sqrt(sum of visits) / (1 + visits); a move not tried yet has the node's own Q."""
        counts = [self.count(node, move) for move in range(len(node.moves))]
        values = [child.value if tried else node.value for child, tried in zip(node.moves, node.taken, strict=True)]
        bonus = C * math.sqrt(sum(counts))
        return max(range(len(counts)), key=lambda i: node.player * values[i] + bonus * node.priors[i] / (1 + counts[i]))

    def count(self, node, move):
        """How often a move was tried: on a tree, the visits of its child."""
        return node.moves[move].visits if node.taken[move] else 0

    def back_up(self, path):
        """Every node of the path has one more sample."""
        for node in path:
            node.average(path[-1].utility)


class AllParents(Running):
    """A playout counts for all ancestors, whichever path it took."""

    def back_up(self, path):
        """Everything above the last node has one more sample."""
        above = {path[-1]}
        waiting = [path[-1]]
        while waiting:
            new = waiting.pop().parents - above
            above |= new
            waiting += new
        for node in above:
            node.average(path[-1].utility)


class Edges(Running):
    """N(n) = 1 + sum N(n, a),  Q(n) = (U(n) + sum N(n, a) Q(child)) / N(n)."""

    def count(self, node, move):
        """How often this node itself chose the move."""
        return node.taken[move]

    def back_up(self, path):
        """Look at the children again, from the last node up."""
        path[-1].average(path[-1].utility)
        for node in reversed(path[:-1]):
            node.visits = 1 + sum(node.taken)
            from_children = sum(n * child.value for n, child in zip(node.taken, node.moves, strict=True))
            node.value = (node.utility + from_children) / node.visits


METHODS = (Running(), AllParents(), Edges())


def a_child_that_rises(method):
    """A found that C is its best move. Then C gains by visits that come through B: what does A say?"""
    c, x, y = Node("C", 0.39), Node("X", 0.30), Node("Y", 0.29)
    a, b = Node("A", 0.38, [c, x, y], [0.6, 0.2, 0.2]), Node("B", 0.38, [c])
    run(method, a, 31)
    run(method, b, 41)
    yield f"A visited {a.taken[0]} + {a.taken[1] + a.taken[2]} times, C {c.visits} in all", c, a
    c.utility = 0.55  # a tactic was found below C
    run(method, b, 210)
    yield "C has had 210 visits from B", c, a
    before = list(a.taken)
    run(method, a, 30)
    to_c, to_others = a.taken[0] - before[0], sum(a.taken[1:]) - sum(before[1:])
    yield f"A has had 30: {to_c:2} to C, {to_others:2} to others", c, a


def run(method, node, playouts):
    """So many playouts from a node."""
    for _ in range(playouts):
        method.playout(node)


if __name__ == "__main__":
    for m in METHODS:
        for stage, c, a in a_child_that_rises(m):
            print(type(m).__name__, stage, f"{c.value:.3f} {a.value:.3f}")
        e, f = Node("E", 0.56), Node("F", 0.20)
        d, g = Node("D", 0.55, [e, f], [0.95, 0.05]), Node("G", 0.3, [f])
        run(m, g, 10)
        run(m, d, 72)
        print(d.value, d.taken, f.visits)
        run(m, g, 100)
        print(d.value, d.taken, f.visits)
