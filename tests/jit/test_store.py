"""Files that only their owner can have written: folders that are refused, and every way in which writing can fail."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from anabranch.jit import store

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")

STRANGER = 54321
REMEDY = "set ANABRANCH_CACHE to a folder of your own"


@pytest.fixture(autouse=True)
def nothing_remembered():
    store._prepared.cache_clear()
    yield
    store._prepared.cache_clear()


@pytest.fixture
def chosen(tmp_path, monkeypatch):
    """The folder that ANABRANCH_CACHE names; it is not made yet."""
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "some" / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "some" / "cache"


@pytest.fixture
def stranger(monkeypatch):
    """Folders and files that seem to belong to somebody else, from their next look on."""
    theirs: set[Path] = set()
    real = {"lstat": os.lstat, "fstat": os.fstat}

    def look(name, what):
        found = real[name](what)
        if any(os.path.samestat(found, real["lstat"](path)) for path in theirs):
            return os.stat_result((*found[:4], STRANGER, *found[5:]))
        return found

    for name in real:
        monkeypatch.setattr(store.os, name, lambda what, name=name: look(name, what))
    return theirs.add


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_was_written_is_read_and_nobody_else_can_read_it(chosen):
    where = store.folder()
    assert where == (chosen / "kernels", None)
    assert store.write(where.path / "a", b"content") is None
    assert store.read(where.path / "a") == b"content"
    assert [mode(path) for path in (chosen.parent, chosen, where.path, where.path / "a")] == [0o700, 0o700, 0o700, 0o600]


def test_modes_do_not_depend_on_the_umask(chosen):
    before = os.umask(0)
    try:
        assert store.write(store.folder().path / "a", b"content") is None
    finally:
        os.umask(before)
    assert mode(chosen) == 0o700 and mode(chosen / "kernels" / "a") == 0o600


@pytest.mark.parametrize("permissions", [0o777, 0o770, 0o702, 0o720])
@pytest.mark.parametrize("which", ["some", "some/cache", "some/cache/kernels"])
def test_a_folder_that_others_can_write_to_is_refused(chosen, tmp_path, which, permissions, monkeypatch):
    monkeypatch.setattr(store, "_is_private", lambda group: False)
    (chosen / "kernels").mkdir(parents=True)
    (tmp_path / which).chmod(permissions)
    problem = store.folder().problem
    assert (
        problem
        == f"the cache is not used: others can write to {tmp_path / which}; run chmod go-w {tmp_path / which}, or {REMEDY}"
    )
    (tmp_path / which).chmod(permissions & ~0o022)
    store._prepared.cache_clear()
    assert store.folder().problem is None, "the remedy does not help"


def test_nothing_is_made_below_a_folder_that_is_refused(chosen):
    chosen.parent.mkdir()
    chosen.parent.chmod(0o777)
    assert "others can write" in store.folder().problem
    assert not list(chosen.parent.iterdir())


def test_a_sticky_folder_is_safe_above_our_own_but_not_for_the_files(chosen):
    (chosen / "kernels").mkdir(parents=True)
    chosen.chmod(0o1777)
    assert store.folder().problem is None
    (chosen / "kernels").chmod(0o1777)
    store._prepared.cache_clear()
    assert "others can write" in store.folder().problem


def test_the_private_group_of_the_user_may_write_above_the_cache_but_not_to_it(chosen, monkeypatch):
    monkeypatch.setattr(store, "_is_private", lambda group: True)
    chosen.mkdir(parents=True)
    chosen.parent.chmod(0o775)
    assert store.folder().problem is None
    chosen.chmod(0o775)
    store._prepared.cache_clear()
    assert "others can write" in store.folder().problem


@pytest.mark.parametrize("which", ["some", "some/cache", "some/cache/kernels"])
def test_a_folder_of_another_user_is_refused(chosen, tmp_path, which, stranger):
    (chosen / "kernels").mkdir(parents=True)
    stranger(tmp_path / which)
    assert store.folder().problem == f"the cache is not used: {tmp_path / which} belongs to another user; {REMEDY}"


def test_above_the_home_folder_nobody_looks(chosen, tmp_path, stranger):
    stranger(tmp_path.parent)
    assert store.folder().problem is None


def test_outside_the_home_folder_all_are_looked_at(chosen, tmp_path, stranger, monkeypatch):
    monkeypatch.setenv("HOME", "/nonexistent")
    stranger(tmp_path.parent)
    assert "belongs to another user" in store.folder().problem


def test_a_link_is_looked_at_where_it_leads(chosen, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    chosen.parent.mkdir()
    chosen.symlink_to(tmp_path / "open")
    assert f"others can write to {tmp_path / 'open'};" in store.folder().problem


def test_a_file_of_another_user_is_as_good_as_missing(chosen, stranger):
    path = store.folder().path / "a"
    store.write(path, b"content")
    stranger(path)
    assert store.read(path) is None


@pytest.mark.parametrize("permissions", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_to_is_as_good_as_missing(chosen, permissions):
    path = store.folder().path / "a"
    store.write(path, b"content")
    path.chmod(permissions)
    assert store.read(path) is None


def test_a_file_of_root_is_trusted(chosen, monkeypatch):
    path = store.folder().path / "a"
    store.write(path, b"content")
    if os.geteuid():
        pytest.skip("needs root, to own a file")
    monkeypatch.setattr(store.os, "geteuid", lambda: STRANGER)
    assert store.read(path) == b"content"


@pytest.mark.parametrize("chosen_text, reason", [
    ("~nosuchuser/x", "no cache folder: there is no home folder for ~nosuchuser/x"),
    ("{tmp}/file", "no cache folder: {tmp}/file: Not a directory"),
    ("{tmp}/file/below", "no cache folder: {tmp}/file"),
    ("{tmp}/loop", "no cache folder: {tmp}/loop"),
    ("{tmp}/" + 300 * "x", "File name too long"),
    ("/proc/no/such/place", "no cache folder: /proc/no: No such file or directory"),
])  # fmt: skip
def test_a_folder_that_cannot_be_is_one_line_with_the_remedy(tmp_path, monkeypatch, chosen_text, reason):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setenv("ANABRANCH_CACHE", chosen_text.format(tmp=tmp_path))
    problem = store.folder().problem
    assert reason.format(tmp=tmp_path) in problem and problem.endswith(f"; {REMEDY}") and "\n" not in problem


def test_an_empty_variable_means_the_cache_folder_of_the_user(chosen, monkeypatch, tmp_path):
    monkeypatch.setenv("ANABRANCH_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(store, "user_cache_dir", lambda name, appauthor: str(tmp_path / "xdg" / name))
    assert store.folder() == (tmp_path / "xdg" / "anabranch" / "kernels", None)


def test_a_relative_path_stays_where_it_was_after_a_change_of_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ANABRANCH_CACHE", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert store.folder() == (tmp_path / "here" / "kernels", None)
    monkeypatch.chdir("/")
    assert store.folder().path == tmp_path / "here" / "kernels"


@pytest.mark.parametrize("found", ["~/.cache/anabranch", None])
def test_without_a_home_folder_one_line_says_so(monkeypatch, found):
    def cache_folder(name, appauthor):
        if found is None:
            raise RuntimeError("could not determine the home directory")
        return found

    monkeypatch.delenv("ANABRANCH_CACHE", raising=False)
    monkeypatch.setattr(store, "user_cache_dir", cache_folder)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it does if nobody knows the user
    assert store.folder().problem == f"no cache folder: there is no home folder for this user; {REMEDY}"


@pytest.mark.parametrize("number, text", [
    (errno.ENOSPC, "{where}: No space left on device; make room there, or " + REMEDY),
    (errno.EROFS, "the cache folder {where} is read-only; " + REMEDY),
    (errno.EACCES, "the cache folder {where} is read-only; " + REMEDY),
    (errno.EIO, "{where}: Input/output error; " + REMEDY),
])  # fmt: skip
@pytest.mark.parametrize("step", ["open", "replace"])
def test_what_cannot_be_written_is_one_line_and_leaves_nothing(chosen, monkeypatch, number, text, step):
    where = store.folder().path
    store.write(where / "a", b"before")

    def fails(*arguments):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(store.os, step, fails)
        assert store.write(where / "a", b"after") == text.format(where=where)
    assert store.read(where / "a") == b"before" and len(list(where.iterdir())) == 1


def test_a_file_that_cannot_grow_to_its_size_is_one_line_and_leaves_nothing(chosen):
    script = (
        "import resource; from anabranch.jit import store\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "print(store.write(store.folder().path / 'a', bytes(100_000)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout == f"{chosen}/kernels: File too large; {REMEDY}\n", run.stderr
    assert not list((chosen / "kernels").iterdir())


def test_an_interrupt_while_writing_leaves_nothing(chosen, monkeypatch):
    where = store.folder().path

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.write(where / "a", b"content")
    assert not list(where.iterdir())


def test_writers_at_the_same_time_leave_one_whole_file(chosen):
    path = store.folder().path / "a"
    contents = [bytes([letter]) * 200_000 for letter in b"abcd"]
    seen, problems = set(), []

    def write_often(content):
        for _ in range(25):
            problems.append(store.write(path, content))
            seen.add(store.read(path))

    writers = [threading.Thread(target=write_often, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert set(problems) == {None} and seen <= set(contents) and list(path.parent.iterdir()) == [path]


def test_a_claim_waits_for_the_one_before_and_leaves_nothing(chosen):
    path = store.folder().path / "a"
    first = store.claim(path)
    waiter = threading.Thread(target=lambda: store.release(path, store.claim(path)))
    waiter.start()
    waiter.join(0.2)
    assert waiter.is_alive()
    store.release(path, first)
    waiter.join(10)
    assert not waiter.is_alive() and not list(path.parent.iterdir())


def test_a_claim_that_is_never_released_is_not_waited_for_for_ever(chosen, monkeypatch):
    path = store.folder().path / "a"
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    first = store.claim(path)
    assert store.claim(path) is None
    store.release(path, first)


def test_nothing_is_claimed_through_a_link_or_where_nothing_can_be_written(chosen, tmp_path):
    path = store.folder().path / "a"
    path.with_name("a.lock").symlink_to(tmp_path / "elsewhere")
    assert store.claim(path) is None and not (tmp_path / "elsewhere").exists()
    assert store.claim(path.parent / "missing" / "a") is None


def test_a_folder_in_the_place_of_a_file_is_one_line(chosen):
    path = store.folder().path / "a"
    path.mkdir()
    assert store.read(path) is None
    assert store.write(path, b"content") == f"{path.parent}: Is a directory; {REMEDY}"
    assert list(path.parent.iterdir()) == [path]
