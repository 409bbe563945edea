"""Which files a glob names."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.text.glob import glob_error, Globs, matches


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("web.yaml", "web.yaml", True),
        ("/", "web.yaml", False),
        ("./", "web.yaml", False),
        ("", "web.yaml", False),
        ("web.yaml", "deploy/web.yaml", True),
        ("web.yaml", "deploy/web.yaml.bak", False),
        ("vendor", "a/vendor/b/web.yaml", True),
        ("vendor/", "a/vendor/b/web.yaml", True),
        ("vendor", "a/vendors/web.yaml", False),
        ("/vendor", "a/vendor/web.yaml", False),
        ("./vendor", "vendor/web.yaml", True),
        ("deploy/web.yaml", "a/deploy/web.yaml", False),
        ("deploy/*", "deploy/web.yaml", True),
        ("deploy/*", "deploy/a/web.yaml", True),
        ("deploy/*.yaml", "deploy/a/web.yaml", False),
        ("charts/**", "charts/a/b/web.yaml", True),
        ("charts/**", "charts", False),
        ("**/gen/*.yaml", "gen/web.yaml", True),
        ("**/gen/*.yaml", "a/b/gen/web.yaml", True),
        ("a/**/web.yaml", "a/web.yaml", True),
        ("a/**/web.yaml", "a/b/c/web.yaml", True),
        ("a/**/web.yaml", "ab/web.yaml", False),
        ("*.y?ml", "a.yaml", True),
        ("*.y?ml", "a.yml", False),
        ("web-[a-c].yaml", "web-b.yaml", True),
        ("web-[!a-c].yaml", "web-b.yaml", False),
        ("web-[!a-c].yaml", "web-d.yaml", True),
        ("a[/]b", "a/b", False),
        ("web-[", "web-[", True),
        ("[]", "[]", True),
        ("[]]", "]", True),
        ("a.b", "axb", False),
        ("(a|b)", "a", False),
        ("[a\\]", "\\", True),
        ("[z-a]", "b", False),
        ("web-*", "web-1", True),
        ("web-*", "my-web-1", False),
        ("WEB", "web", False),
        ("**", "a/b", True),
    ],
)
def test_a_glob_names_files_and_what_is_below_directories(pattern: str, name: str, *, expected: bool) -> None:
    assert expected == matches(pattern, name)


def test_globs_start_at_their_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the run begins."""
    globs = Globs(str(tmp_path), ("deploy/*.yaml",))
    (tmp_path / "deploy").mkdir()
    monkeypatch.chdir(tmp_path / "deploy")

    assert globs.match("web.yaml")
    assert globs.match(str(tmp_path / "deploy" / "web.yaml"))
    assert not globs.match("deploy/web.yaml")
    assert not globs.match("../web.yaml")


def test_no_globs_match_nothing() -> None:
    assert not Globs("/", ()).match("web.yaml")


def test_many_stars_match_nothing() -> None:
    assert not matches("/".join(["**"] * 30) + "/x", "/".join("ab" * 100))


@pytest.mark.parametrize("pattern", ["[]", "[]]", "[!]]", "a[[]b", "[a-c]/[!x-z]*", "**/*.yaml", ""])
def test_a_glob_with_complete_sets_has_no_error(pattern: str) -> None:
    assert "" == glob_error(pattern)
