"""Writes `mctx_trees.json`: search trees of DeepMind's mctx on a small game, which `test_mctx.py` builds again.

    pip install mctx && python tests/data/make_mctx_trees.py

The game is a walk: place p and action a lead to the place (5 p + a + 1) mod 997, and tables drawn from a seed say what each
place pays, is worth and thinks of its actions. mctx breaks ties by noise and computes in single precision: each tree is
searched with several keys, in both precisions, and only kept if it is the same every time.
"""

import functools
import json
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import numpy as np

PLACES, ACTIONS = 997, 5
KEYS = (0, 1, 2)
Q_TRANSFORMS = {
    "siblings": (mctx.qtransform_by_parent_and_siblings, {}),
    "bounds": (mctx.qtransform_by_min_max, {"min_value": -2.0, "max_value": 1.5}),
}


def tables(seed: int, dtype: Any) -> dict[str, Any]:
    """What each place thinks of its actions (logits), is worth to who moves there, and pays to who went there."""
    random = np.random.default_rng(seed)
    drawn = {
        "logits": random.normal(size=(PLACES, ACTIONS)),
        "values": random.uniform(-1.0, 1.0, PLACES),
        "rewards": random.uniform(-0.5, 0.5, PLACES),
    }
    return {name: jnp.asarray(numbers, dtype) for name, numbers in drawn.items()}


def search(case: dict[str, Any], dtype: Any, key: Any) -> Any:
    """mctx's answer for a case."""
    table = tables(case["seed"], dtype)

    def follow(parameters, random, action, place):
        place = (ACTIONS * place + action + 1) % PLACES
        return mctx.RecurrentFnOutput(
            reward=case["rewards"] * table["rewards"][place],
            discount=jnp.full(place.shape, case["discount"], dtype),
            prior_logits=table["logits"][place],
            value=table["values"][place],
        ), place

    start = jnp.zeros(1, jnp.int32)
    common = {
        "params": (),
        "rng_key": key,
        "root": mctx.RootFnOutput(prior_logits=table["logits"][start], value=table["values"][start], embedding=start),
        "recurrent_fn": follow,
        "num_simulations": case["simulations"],
        "invalid_actions": jnp.asarray([[action not in case["legal"] for action in range(ACTIONS)]], dtype),
    }
    if case["rule"] == "muzero":
        transform, options = Q_TRANSFORMS[case["q"]]
        return mctx.muzero_policy(
            **common,
            dirichlet_fraction=0.0,
            pb_c_init=case["c"],
            pb_c_base=case["base"],
            qtransform=lambda tree, node: transform(tree, node, **options),
        )
    options = {name: case[name] for name in ("value_scale", "maxvisit_init", "rescale_values", "use_mixed_value")}
    return mctx.gumbel_muzero_policy(
        **common,
        gumbel_scale=0.0,
        max_num_considered_actions=case["considered"],
        qtransform=lambda tree, node: mctx.qtransform_completed_by_mix_value(tree, node, **options),
    )


def read(output: Any) -> dict[str, Any]:
    """Visits of the actions at each node, by the actions that lead there; the target; and, if it is not drawn, the action."""
    tree = output.search_tree
    children, visits = np.asarray(tree.children_index[0]), np.asarray(tree.children_visits[0])
    nodes = {}
    paths = [("", 0)]
    for path, number in paths:
        if visits[number].any():
            nodes[path] = visits[number].tolist()
        paths += [(path + str(action), int(child)) for action, child in enumerate(children[number]) if child >= 0]
    target = [round(float(share), 6) for share in output.action_weights[0]]
    return {"nodes": nodes, "target": target, "best": int(output.action[0])}


def cases() -> list[dict[str, Any]]:
    """What is searched. (Where mctx stretches Q at the root it counts illegal actions in, so all are legal there.)"""
    games = [(discount, rewards) for discount in (1.0, 0.9, -1.0) for rewards in (0.0, 1.0)]
    everywhere, some = list(range(ACTIONS)), [0, 2, 3]
    found: list[dict[str, Any]] = []
    for number, (discount, rewards) in enumerate(games):
        game = {"discount": discount, "rewards": rewards, "legal": everywhere}
        for q in Q_TRANSFORMS:
            muzero = {"rule": "muzero", "q": q, "c": 1.25, "base": 19652.0, "simulations": 48}
            found.append({**game, **muzero})
            found.append({**game, **muzero, "c": 0.4, "base": 30.0, "simulations": 30, "legal": some})
        gumbel = {"rule": "gumbel", "considered": 16, "simulations": 40, "value_scale": 0.1, "maxvisit_init": 50.0}
        found.append({**game, **gumbel, "rescale_values": True, "use_mixed_value": True})
        few = {"considered": 3, "simulations": 33, "legal": [0, 2, 3, 4]}
        found.append({**game, **gumbel, "rescale_values": False, "use_mixed_value": True, **few})
        changed = {"value_scale": 0.5, "maxvisit_init": 10.0, "simulations": 7 + 5 * number}
        found.append({**game, **gumbel, "rescale_values": True, "use_mixed_value": False, **changed})
        found.append({**game, **gumbel, "rescale_values": False, "use_mixed_value": True, "considered": 1, "simulations": 9})
    return found


def settled(case: dict[str, Any], seed: int) -> dict[str, Any]:
    """The case with the first seed from here on whose tree depends on neither noise nor precision, and that tree."""
    while True:
        case = {**case, "seed": seed}
        runs = [jax.jit(functools.partial(search, case, dtype)) for dtype in (jnp.float32, jnp.float64)]
        answers = [read(run(jax.random.PRNGKey(key))) for run in runs for key in KEYS]
        if all(answer["nodes"] == answers[0]["nodes"] for answer in answers):
            if case["rule"] == "muzero":
                del answers[-1]["best"]  # which is drawn
            return {**case, **answers[-1]}
        seed += 1000


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    trees = [settled(case, seed) for seed, case in enumerate(cases())]
    lines = ",\n".join(json.dumps(tree) for tree in trees)
    pathlib.Path(__file__).with_name("mctx_trees.json").write_text(f"[\n{lines}\n]\n")
