"""Self-play with DeepMind's mctx on pgx's Connect Four, one core: the CPU time of moves in many games at once.

    python mctx_self_play.py NETWORK.npz BATCH MOVES

Needs `pip install mctx pgx` in the Python that runs it; they are no dependencies of the project. NETWORK.npz has the weights
of a residual network of `anabranch.nets.model`, and planes with the outputs that PyTorch computes from them: those must be the
same here. After every line of its input it plays so many moves in each of BATCH games, in one compiled call, and answers with a
line of JSON. Compilation is not counted. A game that ends is followed by a new one in its place.
"""

import json
import os
import sys
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pgx

SIMULATIONS, CONSIDERED = 32, 16
MOST_APART = 1e-3  # between outputs here and in PyTorch
BATCH_NORM_EPSILON = 1e-5
LOWEST = jnp.finfo(jnp.float32).min


# --- the network --------------------------------------------------------------------------------------------------------------


def folded(weights, convolution, norm):
    """A convolution, height x width x in x out, with its normalisation folded in, and its bias."""
    scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + BATCH_NORM_EPSILON)
    kernel = weights[f"{convolution}.weight"].transpose(2, 3, 1, 0) * scale
    return jnp.asarray(kernel), jnp.asarray(weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale)


def dense(weights, name):
    """A fully connected layer, or a convolution of single points: in x out, and its bias."""
    matrix = weights[f"{name}.weight"]
    return jnp.asarray(matrix.reshape(matrix.shape[0], -1).T), jnp.asarray(weights[f"{name}.bias"])


def layers_of(weights):
    """All layers, in order."""
    numbers = sorted({int(name.split(".")[1]) for name in weights if name.startswith("blocks.")})
    return {
        "stem": folded(weights, "stem.0", "stem.1"),
        "blocks": [
            {
                "first": folded(weights, f"blocks.{i}.first.0", f"blocks.{i}.first.1"),
                "second": folded(weights, f"blocks.{i}.second.0", f"blocks.{i}.second.1"),
                "pooled": dense(weights, f"blocks.{i}.bias.1") if f"blocks.{i}.bias.1.weight" in weights else None,
            }
            for i in numbers
        ],
        "policy": [dense(weights, name) for name in ("policy.own", "policy.all")],
        "value": [dense(weights, name) for name in ("value.0.0", "value.1", "value.3")],
    }


def convolved(x, layer):
    """A 3x3 convolution of (n, height, width, channels)."""
    kernel, bias = layer
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias


def times(x, layer):
    """A fully connected layer over the last axis."""
    return x @ layer[0] + layer[1]


def pooled(x):
    """Mean and maximum of each channel over the board."""
    return jnp.concatenate([x.mean((1, 2)), x.max((1, 2))], axis=1)


def network(layers, planes):
    """Logits and values of planes (n, height, width, channels)."""
    x = jax.nn.relu(convolved(planes, layers["stem"]))
    for block in layers["blocks"]:
        inner = convolved(x, block["first"])
        if block["pooled"] is not None:
            inner = inner + times(pooled(x), block["pooled"])[:, None, None, :]
        x = jax.nn.relu(x + convolved(jax.nn.relu(inner), block["second"]))
    own, everything = layers["policy"]
    by_channel = jax.nn.relu(times(x, own)).transpose(0, 3, 1, 2)
    logits = times(by_channel.reshape(len(x), -1), everything)
    board, hidden, last = layers["value"]
    value = jnp.tanh(times(jax.nn.relu(times(pooled(jax.nn.relu(times(x, board))), hidden)), last))
    return logits, value[:, 0]


def check(layers, stored):
    """Raise if the outputs differ from those that PyTorch computed."""
    found = jax.jit(network)(layers, jnp.asarray(stored["planes"].transpose(0, 2, 3, 1)))
    for name, ours in zip(("policy", "value"), found, strict=True):
        apart = float(np.abs(np.asarray(ours) - stored[name].reshape(ours.shape)).max())
        if not apart <= MOST_APART:
            raise SystemExit(f"the network computes another {name} here, apart by {apart:.2g}")


# --- the loop -----------------------------------------------------------------------------------------------------------------


def evaluate(layers, state):
    """Logits of legal actions and the value of each state."""
    stones = state.observation.astype(jnp.float32)
    turn = jnp.broadcast_to((state._step_count % 2)[:, None, None, None], (*stones.shape[:3], 1)).astype(jnp.float32)
    logits, value = network(layers, jnp.concatenate([stones, turn], axis=3))
    return jnp.where(state.legal_action_mask, logits, LOWEST), value


def moves_of(layers, batch, moves):
    """A function that plays so many moves in each game: (state, key) to the next state and what is learnt of the moves."""
    game = pgx.make("connect_four")
    start = jax.vmap(game.init)

    def simulate(parameters, key, action, state):
        mover = state.current_player
        state = jax.vmap(game.step)(state, action)
        logits, value = evaluate(layers, state)
        output = mctx.RecurrentFnOutput(
            reward=state.rewards[jnp.arange(batch), mover],
            discount=jnp.where(state.terminated, 0.0, -1.0),
            prior_logits=logits,
            value=jnp.where(state.terminated, 0.0, value),
        )
        return output, state

    def move(state, key):
        of_search, of_game = jax.random.split(key)
        logits, value = evaluate(layers, state)
        found = mctx.gumbel_muzero_policy(
            params=(),  # weights that are constants are faster
            rng_key=of_search,
            root=mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state),
            recurrent_fn=simulate,
            num_simulations=SIMULATIONS,
            invalid_actions=~state.legal_action_mask,
            max_num_considered_actions=CONSIDERED,
        )
        following = jax.vmap(game.step)(state, found.action)
        learnt = {
            "planes": state.observation,
            "policy": found.action_weights,
            "prior": jax.nn.softmax(logits),
            "value": found.search_tree.summary().value,
            "reward": following.rewards[jnp.arange(batch), state.current_player],
            "over": following.terminated,
        }
        fresh = start(jax.random.split(of_game, batch))

        def or_fresh(new, old):
            return jnp.where(following.terminated.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        return jax.tree.map(or_fresh, fresh, following), learnt

    def play(state, key):
        return jax.lax.scan(move, state, jax.random.split(key, moves))

    state = jax.jit(start)(jax.random.split(jax.random.PRNGKey(0), batch))
    return jax.jit(play).lower(state, jax.random.PRNGKey(1)).compile(), state


def main():
    """Play whenever a line comes."""
    path, batch, moves = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    stored = dict(np.load(path))
    layers = layers_of(stored)
    check(layers, stored)
    play, state = moves_of(layers, batch, moves)
    for number, _ in enumerate(sys.stdin):
        began = time.process_time()
        state, learnt = jax.block_until_ready(play(state, jax.random.PRNGKey(2 + number)))
        seconds = time.process_time() - began
        over = int(np.asarray(learnt["over"]).sum())
        facts = {"positions": batch * moves, "cpu_seconds": seconds, "games": over}
        print(json.dumps(facts | {"mctx": mctx.__version__, "pgx": pgx.__version__, "jax": jax.__version__}), flush=True)


if __name__ == "__main__":
    main()
