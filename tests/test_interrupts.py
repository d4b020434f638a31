"""Signals that wait: in a block that holds them, but not while other people's code runs."""

import os
import signal
import threading
import time
import weakref

import pytest

from anabranch.interrupts import beside, check, held, is_working, nothing_to_lose, policy, released


class Alarm(Exception):
    """What the handler raises."""


@pytest.fixture(autouse=True)
def came():
    """The signals whose handler ran; it raises each time."""
    numbers = []

    def handle(number, frame):
        numbers.append(number)
        raise Alarm

    before = {number: signal.signal(number, handle) for number in (signal.SIGUSR1, signal.SIGUSR2)}
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_waits_for_the_end_of_the_block(came):
    steps = []
    with pytest.raises(Alarm), held():
        signal.raise_signal(signal.SIGUSR1)
        steps.append("after the signal")
        assert not came
    assert steps and came == [signal.SIGUSR1]


def test_it_does_not_wait_while_other_peoples_code_runs(came):
    with held():
        with pytest.raises(Alarm), released():
            signal.raise_signal(signal.SIGUSR1)
        assert came == [signal.SIGUSR1]


def test_what_waits_comes_when_other_peoples_code_begins(came):
    with held():
        signal.raise_signal(signal.SIGUSR1)
        with pytest.raises(Alarm), released():
            raise AssertionError("it has come before")
    assert came == [signal.SIGUSR1]


def test_blocks_within_blocks(came):
    with held():
        with pytest.raises(Alarm), released(), held():
            signal.raise_signal(signal.SIGUSR1)
            assert not came
        assert came == [signal.SIGUSR1]
        signal.raise_signal(signal.SIGUSR2)
        assert came == [signal.SIGUSR1]
        with pytest.raises(Alarm), released():
            pass


def test_a_signal_is_not_lost_if_the_block_raises(came):
    with pytest.raises(Alarm) as found, held():
        signal.raise_signal(signal.SIGUSR1)
        raise ValueError
    assert isinstance(found.value.__context__, ValueError)


def test_handlers_are_as_they_were_afterwards():
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    for error in (None, ValueError):
        try:
            with held():
                with released():
                    pass
                if error:
                    raise error
        except ValueError:
            pass
    assert {number: signal.getsignal(number) for number in signal.valid_signals()} == before


def test_ctrl_c_can_be_asked_first():
    asked = []
    with held(lambda: not asked.append(1)):
        os.kill(os.getpid(), signal.SIGINT)
    assert asked
    with pytest.raises(KeyboardInterrupt), held(lambda: False):
        os.kill(os.getpid(), signal.SIGINT)


def test_other_threads_have_nothing_to_do_with_it():
    results = []

    def work():
        with held(), released():
            results.append(signal.getsignal(signal.SIGINT))

    with held():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(results) == 1


# --- what takes long and must not be interrupted ---


def test_a_signal_ends_the_waiting_and_not_the_work():
    may_end, has_ended = threading.Event(), threading.Event()

    def work():
        os.kill(os.getpid(), signal.SIGINT)
        may_end.wait()
        has_ended.set()

    with pytest.raises(KeyboardInterrupt):
        beside(work)
    assert is_working() and not has_ended.is_set()
    may_end.set()
    assert has_ended.wait(60)


def test_what_is_done_beside_gives_and_raises_what_it_would_here():
    assert beside(lambda: 3) == 3
    with pytest.raises(ValueError, match="no"):
        beside(lambda: (_ for _ in ()).throw(ValueError("no")))


def test_while_a_change_is_under_way_it_is_waited_for():
    asked = []
    with held(lambda: not asked.append(1)):
        assert beside(lambda: os.kill(os.getpid(), signal.SIGINT)) is None
        for _ in range(1000):  # the handler runs when this thread goes on
            pass
        assert asked
    with pytest.raises(KeyboardInterrupt), held(lambda: True), nothing_to_lose():
        beside(lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(60)))


# --- the program's policy ---


def test_an_interrupt_that_is_dropped_in_a_callback_comes_again():
    class Thing:
        """Something that can be referred to."""

    def callback(reference):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):  # it is raised in here, where nobody can catch it
            pass

    with policy() as signals, pytest.raises(KeyboardInterrupt):
        thing = Thing()
        reference = weakref.ref(thing, callback)
        del thing
        threading.Event().wait(60)
        assert reference is None  # it did not come
    assert signals.came == signal.SIGINT


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_every_signal_that_wants_an_end_is_an_interrupt(name, request):
    number = getattr(signal, name)
    here = signal.getsignal(number)
    request.addfinalizer(lambda: signal.signal(number, here))
    before = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
    signal.signal(number, before)  # whoever started the tests may have it ignored, as nohup does
    with policy() as signals:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert signals.came == number
    assert signal.getsignal(number) == before


def test_what_ended_a_search_ends_what_comes_after_it():
    with policy():
        check()
        with held(lambda: True):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            check()
    check()
