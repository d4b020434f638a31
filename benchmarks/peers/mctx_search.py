"""DeepMind's mctx on pgx's Connect Four, one core: the CPU time of one batch of searches, as a line of JSON.

    python mctx_search.py muzero|gumbel BATCH SIMULATIONS REPETITIONS

Needs `pip install mctx pgx` in the Python that runs it; they are no dependencies of the project. The evaluator steps the true
environment and knows nothing: uniform priors over legal actions, value 0. Compilation is not counted.
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
import pgx

POLICIES = {"muzero": mctx.muzero_policy, "gumbel": mctx.gumbel_muzero_policy}


def measure(policy: str, batch: int, simulations: int, repetitions: int) -> dict[str, object]:
    """CPU seconds of each repetition."""
    game = pgx.make("connect_four")
    lowest = jnp.finfo(jnp.float32).min

    def logits(state):
        return jnp.where(state.legal_action_mask, 0.0, lowest)

    def step(parameters, key, action, state):
        mover = state.current_player
        state = jax.vmap(game.step)(state, action)
        return mctx.RecurrentFnOutput(
            reward=state.rewards[jnp.arange(batch), mover],
            discount=jnp.where(state.terminated, 0.0, -1.0),
            prior_logits=logits(state),
            value=jnp.zeros(batch),
        ), state

    def search(key, state):
        root = mctx.RootFnOutput(prior_logits=logits(state), value=jnp.zeros(batch), embedding=state)
        return POLICIES[policy](
            params=(),
            rng_key=key,
            root=root,
            recurrent_fn=step,
            num_simulations=simulations,
            invalid_actions=~state.legal_action_mask,
        ).action

    state = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.PRNGKey(0), batch))
    compiled = jax.jit(search).lower(jax.random.PRNGKey(1), state).compile()
    compiled(jax.random.PRNGKey(2), state).block_until_ready()
    seconds = []
    for number in range(repetitions):
        began = time.process_time()
        compiled(jax.random.PRNGKey(100 + number), state).block_until_ready()
        seconds.append(time.process_time() - began)
    return {"cpu_seconds": seconds, "mctx": mctx.__version__, "jax": jax.__version__}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], *map(int, sys.argv[2:5]))))
