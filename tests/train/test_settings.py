"""Settings: written with an explanation, read back, and refused where they make no sense."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import TrainingError
from anabranch.train.settings import LARGEST_SEED, SECTIONS, Settings, parse, read, text_of

FIELDS = [(section, each) for section, kind in SECTIONS.items() for each in fields(kind)]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def values_of(field):
    """Any value that a field may have."""
    limits = field.metadata
    if limits["among"]:
        return st.sampled_from(limits["among"])
    if isinstance(field.default, bool):
        return st.booleans()
    if isinstance(field.default, int):
        return st.integers(limits["least"], LARGEST_SEED if limits["most"] is None else limits["most"])
    if isinstance(field.default, float):
        return st.floats(limits["least"], limits["most"], allow_nan=False, allow_infinity=False)
    return TEXT


ALL = st.fixed_dictionaries({f"{section}.{field.name}": values_of(field) for section, field in FIELDS})


# --- what is written ---


@given(ALL, TEXT)
def test_what_is_written_is_read_back(values, name):
    settings = Settings().but(**values)
    top, again = parse(text_of(settings, {"game": name, "rules": "a", "version": "1"}))
    assert again == settings
    assert top == {"game": name, "rules": "a", "version": "1"}


def test_every_field_is_explained_where_it_is_written():
    lines = text_of(Settings(), {}).splitlines()
    for section, field in FIELDS:
        start = lines.index(f"[{section}]")
        line = next(line for line in lines[start:] if line.startswith(f"{field.name} = "))
        assert field.metadata["about"] and line.endswith(f"# {field.metadata['about']}")


def test_a_field_that_was_changed_says_what_is_usual():
    text = text_of(Settings().but(self_play_visits=7, self_play_graph=True), {})
    assert "visits = 7  # simulations for a move that is learnt from (usually 32)" in text
    assert "share a node (usually false)" in text


def test_defaults_keep_to_their_own_limits():
    defaults = {f"{section}.{field.name}": field.default for section, field in FIELDS}
    assert Settings().but(**defaults) == Settings()


def test_a_file_may_leave_out_what_is_as_usual():
    _, settings = parse("[learner]\nbatch = 64\nclip = 2\n")
    assert settings == Settings().but(learner_batch=64, learner_clip=2.0)


def test_fields_are_named_with_an_underscore_or_a_dot():
    assert Settings().but(self_play_visits=3) == Settings().but(**{"self_play.visits": 3})
    assert Settings().but(self_play_visits=3).self_play.visits == 3


# --- what is refused ---


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[lerner]\nbatch = 1", r"there is no section \[lerner\]; did you mean `learner`\?"),
        ("[zzz]", r"there is no section \[zzz\]; there are network, self_play"),
        ("[learner]\nbach = 1", r"\[learner\] has no field `bach`; did you mean `batch`\?"),
        ("[learner.more]\na = 1", r"\[learner\] has no field `more`"),
        ("visits = 3", r"`visits` is in no section"),
        ("learner = 3", r"`learner` is in no section; did you mean `\[learner\]`\?"),
        ("[[learner]]\nbatch = 1", r"`learner` is in no section"),
        ("[learner]\nbatch = 1.0", "learner.batch = 1.0: must be a whole number"),
        ("[learner]\nbatch = true", "learner.batch = True: must be a whole number"),
        ("[learner]\nclip = false", "learner.clip = False: must be a number"),
        ("[learner]\nclip = nan", "learner.clip = nan: must be a number"),
        ("[learner]\nclip = inf", "learner.clip = inf: must be a number"),
        ("[learner]\ndevice = 0", "learner.device = 0: must be text"),
        ("[learner]\nbatch = []", r"learner.batch = \[\]: must be a whole number"),
        ("[self_play]\ngraph = 1", "self_play.graph = 1: must be true or false"),
        ("[learner]\nbatch = 0", "learner.batch = 0: must be at least 1"),
        ("[gate]\nrefuse = 1", "gate.refuse = 1.0: must be at most 0"),
        ("[targets]\noutcome = 1.5", "targets.outcome = 1.5: must be from 0 to 1"),
        (f"[network]\nseed = {2**63}", "network.seed = 9223372036854775808: must be from 0 to"),
        ("[network]\nsize = 'huge'", "network.size = 'huge': must be one of auto, tiny, small, medium, large, flat"),
        ("[learner", "this is not TOML: Expected"),
        ("[learner]\nbatch = 1\nbatch = 2", "this is not TOML: Cannot overwrite a value"),
    ],
)
def test_files_that_make_no_sense(text, complaint):
    with pytest.raises(TrainingError, match=complaint):
        parse(text)


@pytest.mark.parametrize("number", ["9" * 400, "9" * 5000, "[" * 100_000], ids=["large", "very large", "nested"])
def test_numbers_that_are_too_large(number):
    with pytest.raises(TrainingError, match=r"learner.clip = inf: must be a number|this is not TOML"):
        parse(f"[learner]\nclip = {number}")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"self_play_visit": 3}, r"\[self_play\] has no field `visit`; did you mean `visits`\?"),
        ({"selfplay_visits": 3}, r"there is no setting `selfplay_visits`; did you mean `self_play.visits`\?"),
        ({"slf_play.visits": 3}, r"there is no section `slf_play`; did you mean `self_play`\?"),
        ({"learner.clip": float("nan")}, "learner.clip = nan: must be a number"),
        ({"run_disk": 5}, "run.disk = 5: must be text"),
    ],
)
def test_changes_that_make_no_sense(changes, complaint):
    with pytest.raises(TrainingError, match=complaint):
        Settings().but(**changes)


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode(errors="replace")))
def test_any_other_file_is_refused_or_read(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(content)
    try:
        _, settings = read(path)
    except TrainingError as error:
        assert str(path) in str(error)
    else:
        assert settings == Settings()


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "run.toml"
    with pytest.raises(TrainingError, match=r"run\.toml cannot be read: No such file"):
        read(path)
    path.write_text("[learner]\nbatch = 0")
    with pytest.raises(TrainingError, match=r"run\.toml: learner\.batch = 0"):
        read(path)


def test_text_that_is_not_unicode_is_refused():
    with pytest.raises(TrainingError, match="rename that file"):
        text_of(Settings().but(self_play_openings="caf\udce9"), {})
