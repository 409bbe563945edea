"""Files, directories and standard input."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Union

import pytest

from kubectl_spread.errors import SourceError
from kubectl_spread.sources import files
from tests.unreadable import needs_file_modes, unreadable


def described(path: Path, found: Iterator[Union[files.Input, SourceError]]) -> list[tuple[str, str]]:
    """Name and text of what was read, name and message of what was not, with names relative to a path."""
    prefix = f"{path}{os.sep}"
    return [
        (item.source.removeprefix(prefix), f"error: {item.message}")
        if isinstance(item, SourceError)
        else (item.source.name.removeprefix(prefix), item.source.text)
        for item in found
    ]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", ""),
        (b"a: 1\n", "a: 1\n"),
        (b"a: 1\r\nb: 2\r", "a: 1\r\nb: 2\r"),
        (b"\xef\xbb\xbfa: 1\n", "a: 1\n"),
        ("é 💥".encode(), "é 💥"),
    ],
)
def test_text_is_utf_8_without_its_byte_order_mark(raw: bytes, expected: str) -> None:
    """Line breaks stay as they are."""
    assert expected == files.decode_text("f", raw)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"\xff", "f:1:1: not UTF-8: byte 0xff"),
        (b"a: caf\xe9\n", "f:1:7: not UTF-8: byte 0xe9"),
        ("é: 💥\nüü ".encode() + b"\x80", "f:2:4: not UTF-8: byte 0x80"),
        (b"a: 1\r\nb: \xc3", "f:2:4: not UTF-8: byte 0xc3"),
        (b"\xed\xa0\x80", "f:1:1: not UTF-8: byte 0xed"),
        (b"\xef\xbb\xbfa\xff", "f:1:2: not UTF-8: byte 0xff"),
        (b"a: 1\n\x00", "f:2:1: not a text file: it holds a NUL byte"),
        ("é\0".encode(), "f:1:2: not a text file: it holds a NUL byte"),
        ("a: 1".encode("utf-16"), "f:1:1: the file is UTF-16, not UTF-8"),
        ("a: 1".encode("utf-32"), "f:1:1: the file is UTF-32, not UTF-8"),
        (b"\xfe\xff\x00a", "f:1:1: the file is UTF-16, not UTF-8"),
        (b"\x00\x00\xfe\xff\x00\x00\x00a", "f:1:1: the file is UTF-32, not UTF-8"),
        (b"\x7fELF\x02\x01\x01\x00", "f:1:8: not a text file: it holds a NUL byte"),
    ],
)
def test_what_is_no_text_has_the_place_of_its_first_byte(raw: bytes, expected: str) -> None:
    """The line, and the column in characters."""
    with pytest.raises(SourceError) as caught:
        files.decode_text("f", raw)

    assert expected == str(caught.value)


def test_a_missing_path_is_an_error_among_the_others(tmp_path: Path) -> None:
    """What comes after it is read."""
    good = tmp_path / "good.txt"
    good.write_text("a: 1\n")
    found = files.inputs((str(tmp_path / "none.yaml"), str(good)), recursive=False)

    assert [("none.yaml", "error: the path does not exist"), ("good.txt", "a: 1\n")] == described(tmp_path, found)


def test_standard_input_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is not that of a file."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfa: 1\n")))
    (given,) = files.inputs(("-",), recursive=False)
    assert isinstance(given, files.Input)

    assert ("<stdin>", "a: 1\n", True) == (given.source.name, given.source.text, given.named)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "b.yaml",
        "a.yml",
        "c.json",
        "d.txt",
        "README",
        "sub/e.yaml",
        "sub/deep/f.yaml",
        ".git/g.yaml",
        ".argocd/h.yaml",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "up").symlink_to(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("recursive", "expected"),
    [
        (False, ["a.yml", "b.yaml", "c.json"]),
        (True, [".argocd/h.yaml", "a.yml", "b.yaml", "c.json", "sub/deep/f.yaml", "sub/e.yaml"]),
    ],
)
def test_a_directory_is_its_manifests_in_the_order_of_their_names(
    tree: Path, recursive: bool, expected: list[str]
) -> None:
    """With what is below only where that is wanted; links to directories, and directories of tools, are left alone."""
    found = files.inputs((str(tree),), recursive=recursive)

    assert [(name.replace("/", os.sep), name) for name in expected] == described(tree, found)


def test_a_file_that_was_named_is_told_from_one_that_was_found(tree: Path) -> None:
    """Of the one its owner expects a manifest, of the other nobody does."""
    found = files.inputs((str(tree / "a.yml"), str(tree / "sub")), recursive=False)

    assert [True, False] == [given.named for given in found if isinstance(given, files.Input)]


def test_a_file_that_is_given_twice_is_read_once(tree: Path) -> None:
    """Its workloads would be placed twice; it counts as named where it was named anywhere."""
    paths = (str(tree / "sub"), str(tree / "sub" / ".." / "sub" / "e.yaml"), str(tree / "sub" / "e.yaml"))
    found = [given for given in files.inputs(paths, recursive=False) if isinstance(given, files.Input)]

    assert [(str(tree / "sub" / "e.yaml"), True)] == [(given.source.name, given.named) for given in found]


def test_a_broken_link_in_a_directory_is_set_aside(tmp_path: Path) -> None:
    """It looks like a manifest, and names no constraints: it is told, and does not fail the run."""
    (tmp_path / "a.yaml").symlink_to(tmp_path / "gone.yaml")
    found = files.inputs((str(tmp_path),), recursive=False)

    assert [("a.yaml", "error: the path does not exist")] == described(tmp_path, found)


def test_a_directory_named_like_a_manifest_is_no_manifest(tmp_path: Path) -> None:
    """It is a directory."""
    (tmp_path / "a.yaml").mkdir()

    assert [] == list(files.inputs((str(tmp_path),), recursive=False))


@needs_file_modes
@pytest.mark.parametrize("kind", ["file", "directory"])
def test_what_may_not_be_read_is_an_error(tmp_path: Path, kind: str) -> None:
    """In the words of the system."""
    locked = tmp_path / "locked.yaml"
    if kind == "file":
        locked.write_text("a: 1\n")
    else:
        locked.mkdir()
    with unreadable(locked):
        found = described(tmp_path, iter(list(files.inputs((str(locked),), recursive=False))))

    expected = "locked.yaml" if kind == "file" else str(locked).removeprefix(f"{tmp_path}{os.sep}")

    assert [(expected, "error: permission denied")] == found
