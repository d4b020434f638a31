"""JSON that is none: what Python's reader would take, and what its writer would write."""

import json

import pytest

from tests.protocols.asking import GOOD, Client, answer_to


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("request_", ['{{"id":"a","action":"query_version","extra":{}}}', '{{"id":"a","komi":{}}}'])
def test_numbers_that_json_does_not_have_are_refused(request_, number):
    assert answer_to(request_.format(number)) == {"error": f"Could not parse this as JSON: {number} is not a number"}


@pytest.mark.parametrize("depth", [500, 900, 950, 980, 1000, 100_000])
def test_what_is_nested_deeply_is_answered(depth):
    nested = '{"id":"a","action":"query_version","extra":' + "[" * depth + "]" * depth + "}"
    answer = answer_to(nested)
    assert answer.get("id") == "a" or "parse" in answer["error"]
    assert "Internal" not in answer.get("error", "")


@pytest.mark.parametrize("turns", [5, "x", [[1]], [{}], [None], ["1"]])
@pytest.mark.parametrize("action", ["terminate", "terminate_all"])
def test_turns_that_are_none_terminate_nothing(action, turns):
    answer = answer_to({"id": "a", "action": action, "terminateId": "b", "turnNumbers": turns})
    assert answer == {"error": "Must be an array of turns", "field": "turnNumbers", "id": "a"}


def test_half_a_character_comes_back_as_it_was_sent():
    for request in ('{"id":"\\ud800","action":"query_models"}', {**GOOD, "id": "\ud800", "maxVisits": 2}):
        assert answer_to(request)["id"] == "\ud800"


def test_a_number_of_four_thousand_digits_is_out_of_range():
    assert "from" in answer_to(json.dumps({**GOOD, "komi": 10**4000}))["error"]


class Deaf(Client):
    """Stops to listen."""

    def write(self, text):
        raise BrokenPipeError


def test_a_server_ends_when_nobody_listens_to_its_answers():
    client = Deaf(visits=10**12)
    client.send(GOOD, {"id": "v", "action": "query_version"}, GOOD)
    client._thread.join(60)
    assert not client._thread.is_alive()
