"""Draws docs/images/pyrat.svg: a small maze after some turns. `python docs/draw_pyrat.py`"""

from pathlib import Path

import numpy as np

from anabranch.games import PyRat
from anabranch.games.simultaneous import pick
from anabranch.jit import readable
from anabranch.jit.random import generator

TURNS = 12

np.seterr(over="ignore")  # machine integers wrap around
position, random = PyRat(preset="small", seed=3).start(), generator(1)
for _ in range(TURNS):
    position = position.play(position.move_of(int(pick(PyRat.policy, readable(position.record())[0], random))))
Path(__file__).with_name("images").joinpath("pyrat.svg").write_text(position.svg() + "\n")
