"""A target with a fault, to test the runner with."""

WORDS = ["fault"]


def check(data: bytes) -> None:
    """Fails if it is told to."""
    assert b"fault" not in data
