"""Files that commands write: what cannot be written is refused before anything is searched, and looking changes nothing."""

import os
import tempfile
from pathlib import Path

import pytest

from anabranch.cli.files import check_folder, check_outputs, check_replaced
from anabranch.errors import SearchError
from anabranch.search.searcher import Search

NOBODY = 65534
COMMANDS = {
    "search --svg": ("search", "tictactoe", "--svg"),
    "search --save": ("search", "tictactoe", "--save"),
    "graph --output": ("graph", "tictactoe", "--output"),
    "play --save": ("play", "go:size=5", "--save"),
    "review --svg": ("review", "game.sgf", "--svg"),
    "review --sgf": ("review", "game.sgf", "--sgf"),
}


@pytest.fixture
def no_search(monkeypatch):
    """Searching is an error."""

    def refuse(*arguments, **options):
        raise AssertionError("this should have been refused before the search")

    monkeypatch.setattr(Search, "run", refuse)
    monkeypatch.setattr(Search, "start", refuse)


@pytest.mark.parametrize("target", ["nowhere/a.svg", "file/a.svg", "folder.svg"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_cannot_be_written_is_refused_before_the_search(
    program, no_search, monkeypatch, tmp_path, command, target
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[5];B[cc];W[cb])")
    code, out, err = program(*COMMANDS[command], target)
    assert code == 2 and out == ""
    assert err.startswith(f"anabranch: {target} cannot be written: ") and len(err.splitlines()) == 1


def test_looking_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept, link = tmp_path / "kept.svg", tmp_path / "link.svg"
    kept.write_text("what was there")
    link.symlink_to(tmp_path / "elsewhere.svg")
    before = os.stat(kept).st_mtime_ns
    check_outputs(kept, None, tmp_path / "new.svg", link, Path("relative.svg"))
    check_replaced(tmp_path / "new.search")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.svg", "link.svg"]
    assert kept.read_text() == "what was there" and os.stat(kept).st_mtime_ns == before


@pytest.fixture
def unprivileged():
    """An open folder, and a process that may write to its own files only: root may write everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(folder, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, 0)
        yield Path(folder)
        if is_root:
            os.setresuid(0, 0, 0)
        os.chmod(folder, 0o700)


def test_folders_and_files_that_are_read_only_are_refused(unprivileged):
    (unprivileged / "file").write_text("")
    (unprivileged / "file").chmod(0o400)
    unprivileged.chmod(0o500)
    for check in (check_outputs, check_replaced, check_folder):
        with pytest.raises(SearchError, match=r"cannot be (written|made): Permission denied"):
            check(unprivileged / "new")
    with pytest.raises(SearchError, match="Permission denied"):
        check_outputs(unprivileged / "file")


def test_a_device_is_left_alone():
    check_outputs(Path(os.devnull))


def test_a_folder_for_records_is_made(tmp_path):
    check_folder(tmp_path / "new" / "below")
    assert list((tmp_path / "new" / "below").iterdir()) == []
