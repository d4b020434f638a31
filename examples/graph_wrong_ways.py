"""Two ways to search a graph that go wrong, beside one that does not; plain Python, with nothing of the library.

Where paths join, a node gets visits that its parent never asked for. Three programs differ only in what they make of them:

    Running     running means, as on a tree: a playout is averaged into every node that it came through
    AllParents  the same, but a playout counts for all ancestors of the position in which it ended
    Edges       visits are counted on edges, and a node is worth what its children are worth now, weighted by these

The first two situations are those of "Monte-Carlo Graph Search from First Principles". Its pictures are not used: the counts
are reconstructed from its text (A about 30 visits, almost all to C, which has about 40 from elsewhere; F 1 visit from D, 9
others, then 100 more), and utilities and priors are chosen such that the values come out as told there. The third part makes
graphs at random whose exact values are known. Explained in docs/algorithms/graph.md.
"""

import math
import random
from dataclasses import dataclass, field

C = 1.0  # of PUCT; values are in [0, 1]


@dataclass(eq=False)
class Node:
    """A position."""

    utility: float  # U: what a playout that ends here finds
    moves: list["Node"] = field(default_factory=list)
    priors: list[float] = field(default_factory=list)  # P of each move; by default all the same
    player: int = 1  # 1 wants values high, -1 low; 0 is luck, and takes its moves in turn
    visits: int = 0  # N
    value: float = 0.0  # Q
    parents: set["Node"] = field(default_factory=set)  # nodes from which a move to here was tried

    def __post_init__(self):
        self.taken = [0] * len(self.moves)  # visits of each edge
        self.priors = self.priors or [1 / len(self.moves) for _ in self.moves]

    def average(self, utility):
        """One more playout."""
        self.visits += 1
        self.value += (utility - self.value) / self.visits


class Running:
    """A tree's running means, on a graph."""

    def playout(self, root):
        """Go down to a position that is new or has no moves, then back up."""
        path = [root]
        while path[-1].visits and path[-1].moves:
            node = path[-1]
            move = self.choose(node)
            node.taken[move] += 1
            node.moves[move].parents.add(node)
            path.append(node.moves[move])
        self.back_up(path)

    def choose(self, node):
        """PUCT: the highest Q + c P sqrt(all visits) / (1 + visits); a move not tried yet counts with the node's own Q."""
        if node.player == 0:
            return node.taken.index(min(node.taken))
        counts = [self.count(node, move) for move in range(len(node.moves))]
        bonus = C * math.sqrt(sum(counts))

        def score(move):
            value = node.moves[move].value if node.taken[move] else node.value
            return node.player * value + bonus * node.priors[move] / (1 + counts[move])

        return max(range(len(counts)), key=score)

    def count(self, node, move):
        """How often a move was tried: on a tree that is its child's visits."""
        return node.moves[move].visits if node.taken[move] else 0

    def back_up(self, path):
        """One more sample for every node of the path."""
        for node in path:
            node.average(path[-1].utility)


class AllParents(Running):
    """A playout counts for all ancestors, whichever path it took."""

    def back_up(self, path):
        """One more sample for everything above the last node."""
        above, waiting = {path[-1]}, [path[-1]]
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
        """Look at the children again, from the bottom up."""
        path[-1].average(path[-1].utility)
        for node in reversed(path[:-1]):
            node.visits = 1 + sum(node.taken)
            below = sum(count * child.value for count, child in zip(node.taken, node.moves, strict=True))
            node.value = (node.utility + below) / node.visits


METHODS = [Running(), AllParents(), Edges()]


def run(method, node, playouts):
    """So many playouts from a node."""
    for _ in range(playouts):
        method.playout(node)


def a_child_that_rises(method):
    """C is A's best move, and gains by visits that come through B. What does A say of itself?"""
    c, x, y = Node(0.39), Node(0.25), Node(0.22)
    a, b = Node(0.38, [c, x, y], [0.8, 0.1, 0.1]), Node(0.38, [c])
    run(method, a, 31)  # the first one evaluates A itself
    run(method, b, 41)
    yield f"C has {a.taken[0]} visits from A, {b.taken[0]} from B", c.value, a.value
    c.utility = 0.52  # a tactic is found below C
    run(method, b, 1000)
    yield "1,000 more from B, which found a tactic", c.value, a.value
    before = a.taken[0]
    run(method, a, 20)
    yield "20 more of A", c.value, a.value
    yield "  of these to C", "", a.taken[0] - before


def a_child_that_is_popular(method):
    """E is D's best move; F, which D tried once, gets visits that come through G. What does D say of itself?"""
    e, f = Node(0.56), Node(0.20)
    d, g = Node(0.55, [e, f], [0.95, 0.05]), Node(0.25, [f])
    run(method, g, 10)
    run(method, d, 72)
    yield f"F has {d.taken[1]} visit from D, {g.taken[0]} from G", f.value, d.value
    run(method, g, 100)
    yield "100 more from G", f.value, d.value


def random_graph(seed, size=16, ends=6):
    """Ends of the game with a utility, and positions with moves to some of the eight made before; the last one is the root."""
    draw = random.Random(seed)
    nodes = [Node(draw.choice([0.0, 0.25, 0.5, 0.75, 1.0])) for _ in range(ends)]
    while len(nodes) < size:
        count = draw.randint(2, 5)
        nodes.append(Node(0.5, draw.sample(nodes[-8:], count), player=draw.choice([1, -1, 0])))
    return nodes[-1]


def exact(node):
    """What a position is worth."""
    if not node.moves:
        return node.utility
    values = [exact(child) for child in node.moves]
    return sum(values) / len(values) if node.player == 0 else max(values) if node.player == 1 else min(values)


def growing(method, seed):
    """The root's value after more and more playouts."""
    for playouts in (200, 2_000, 20_000):
        root = random_graph(seed)
        run(method, root, playouts)
        yield f"{playouts:,} playouts", exact(root), root.value


def survey(method, graphs=100, playouts=1_000):
    """In how many random graphs the most visited move is not a best one; where luck moves first there is nothing to choose."""
    wrong = 0
    for seed in range(graphs):
        root = random_graph(seed)
        run(method, root, playouts)
        chosen = root.moves[root.taken.index(max(root.taken))]
        wrong += root.player != 0 and abs(exact(chosen) - exact(root)) > 1e-9
    yield f"of {graphs} graphs, {playouts:,} playouts each", "", wrong


def table(title, truth, situation, *arguments):
    """One row a stage: the truth, and what each method says."""
    print(f"{title:<42}{truth:>6}" + "".join(f"{type(method).__name__:>12}" for method in METHODS))
    for row in zip(*(situation(method, *arguments) for method in METHODS), strict=True):
        known = [shown(row[-1][1]), *(shown(value) for _, _, value in row)]
        print(f"{row[0][0]:<42}{known[0]:>6}" + "".join(f"{value:>12}" for value in known[1:]))


def shown(value):
    """Values with three digits, counts without."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    table("1. Q(A), whose best move C rises", "Q(C)", a_child_that_rises)
    print()
    table("2. Q(D), whose bad move F is popular", "Q(F)", a_child_that_is_popular)
    print()
    table("3. Q(root) of a random graph", "exact", growing, 37)
    print()
    table("   of another one", "exact", growing, 107)
    print()
    table("   random graphs with a wrong choice", "", survey)
