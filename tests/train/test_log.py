"""The log: whole lines from many processes, whatever happens to them."""

import json
import math
import multiprocessing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import TrainingError
from anabranch.train.log import Log


def test_lines_come_back_by_kind_oldest_first(tmp_path):
    log = Log(tmp_path / "log.jsonl")
    assert log.read() == []
    log.add("step", loss=1.5)
    log.add("network", network="000000.onnx")
    log.add("step", loss=1.25)
    assert [line["loss"] for line in log.read("step")] == [1.5, 1.25]
    assert [line["what"] for line in log.read("step", "network")] == ["step", "network", "step"]
    assert len(log.read()) == 3 and log.read("other") == []


def test_each_look_reads_on_from_the_last_one(tmp_path):
    writer, reader = Log(tmp_path / "log.jsonl"), Log(tmp_path / "log.jsonl")
    for number in range(3):
        writer.add("step", number=number)
        assert [line["number"] for line in reader.read()] == list(range(number + 1))


def test_a_torn_line_is_left_out_and_the_next_one_is_not_lost(tmp_path):
    path = tmp_path / "log.jsonl"
    Log(path).add("step", number=1)
    whole = path.read_bytes()
    for end in range(1, len(whole) - 1):
        path.write_bytes(whole + whole[:end])
        reader = Log(path)
        assert len(reader.read()) == 1
        Log(path).add("step", number=2)
        assert [line["number"] for line in reader.read()] == [1, 2]
        assert [line["number"] for line in Log(path).read()] == [1, 2]


@given(st.binary(max_size=200))
def test_anything_else_in_the_file_is_left_out(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(content)
    Log(path).add("step", number=1)
    assert Log(path).read("step")[-1]["number"] == 1


def test_numbers_of_all_kinds_are_written_as_json_has_them(tmp_path):
    log = Log(tmp_path / "log.jsonl")
    log.add(
        "step",
        whole=np.int64(3),
        single=np.float32(0.5),
        small=1e-9,
        missing=math.nan,
        endless=-math.inf,
        many=np.array([1.0, math.nan]),
        inside={"share": np.float64(0.25), 2: [math.inf, (np.int32(1),)]},
        yes=np.bool_(True),
    )
    text = (tmp_path / "log.jsonl").read_text()
    assert "NaN" not in text and "Infinity" not in text
    line = json.loads(text)
    assert (line["whole"], line["single"], line["small"], line["yes"]) == (3, 0.5, 1e-9, True)
    assert (line["missing"], line["endless"], line["many"]) == (None, None, [1.0, None])
    assert line["inside"] == {"share": 0.25, "2": [None, [1]]}


def write_lines(path, worker):
    for number in range(50):
        Log(path).add("step", worker=worker, number=number, filling="x" * 500)


def test_many_processes_write_at_once(tmp_path):
    path = tmp_path / "log.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=write_lines, args=(path, worker)) for worker in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = Log(path).read()
    for worker in range(4):
        assert [line["number"] for line in lines if line["worker"] == worker] == list(range(50))


def test_a_log_that_cannot_be_written(tmp_path):
    with pytest.raises(TrainingError, match=r"log\.jsonl cannot be written: No such file"):
        Log(tmp_path / "nowhere" / "log.jsonl").add("step")
