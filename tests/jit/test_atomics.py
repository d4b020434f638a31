"""Atomic operations on record fields: as plain twins say, and without lost updates between threads."""

import threading

import numpy as np
import pytest

from anabranch.jit import kernel
from anabranch.jit.atomics import add, compare_and_swap, load, store

NODE = np.dtype([("visits", "i4"), ("lock", "u1"), ("wide", "i8"), ("value", "f8")], align=True)


@kernel
def try_all(nodes):
    before = add(nodes, 1, "visits", 5)
    won = compare_and_swap(nodes, 1, "lock", 0, 1)
    lost = compare_and_swap(nodes, 1, "lock", 0, 2)
    store(nodes, 1, "wide", 77)
    return before, won, lost, load(nodes, 1, "wide"), load(nodes, 1, "lock")


@kernel
def count_up(nodes, times):
    for _ in range(times):
        add(nodes, 0, "visits", 1)


@kernel
def count_under_a_lock(nodes, times):
    for _ in range(times):
        while not compare_and_swap(nodes, 0, "lock", 0, 1):
            pass
        nodes[0].wide += 1
        store(nodes, 0, "lock", 0)


@kernel
def wait_for(nodes):
    waited = 0
    while load(nodes, 0, "lock") == 0:
        waited += 1
    return waited


@pytest.mark.parametrize("run", [try_all, try_all.plain], ids=["compiled", "plain"])
def test_each_operation_does_what_it_says(run):
    nodes = np.zeros(2, NODE)
    nodes["visits"] = 10
    assert run(nodes) == (10, True, False, 77, 1)
    assert list(nodes["visits"]) == [10, 15]
    assert list(nodes["wide"]) == [0, 77]


@pytest.mark.when_compiled
@pytest.mark.parametrize(("work", "field"), [(count_up, "visits"), (count_under_a_lock, "wide")])
def test_no_update_is_lost_between_threads(work, field):
    nodes = np.zeros(1, NODE)
    work(nodes, 1)
    threads = [threading.Thread(target=work, args=(nodes, 200_000)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert nodes[field][0] == 400_001


@pytest.mark.when_compiled
def test_a_waiting_loop_sees_what_another_thread_stores():
    nodes = np.zeros(1, NODE)
    nodes["lock"] = 1
    wait_for(nodes)
    nodes["lock"] = 0
    waiter = threading.Thread(target=wait_for, args=(nodes,), daemon=True)
    waiter.start()
    nodes["lock"] = 1
    waiter.join(timeout=5)
    assert not waiter.is_alive()
