"""Command lines with a mistake: one message that is true for the command, and the exit code of --help."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kubectl_spread.cli import main

SHOP = Path("examples/shop").resolve()


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Run a command; return its exit code and the first line of standard error."""
    code = main.run(list(words))
    return code, capsys.readouterr().err.partition("\n")[0]


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e300", "31536001"])
@pytest.mark.parametrize(
    ("command", "option"), [("status", "--interval"), ("exporter", "--interval"), ("exporter", "--max-age")]
)
def test_a_time_that_cannot_be_waited_for_is_refused(
    command: str, option: str, seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """nan and inf are numbers for Python; no clock can wait for them."""
    code, message = said(capsys, command, option, seconds)
    why = f"{seconds} is not a number of seconds up to 31,536,000, a year"
    assert (code, message) == (2, f"error: invalid value for '{option}': {why}")


@pytest.mark.parametrize(
    ("command", "option", "what"),
    [("exporter", "--interval", "number of seconds"), ("rebalance", "--max-moves", "integer")],
)
def test_what_is_no_number_is_refused_without_words_of_the_parser(
    command: str, option: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, command, option, "abc") == (
        2,
        f"error: invalid value for '{option}': 'abc' is not a valid {what}",
    )


def test_the_exporter_names_only_its_own_options(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads no snapshots, so the message without a cluster does not send users to --snapshot."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    why = f"no cluster is configured: {tmp_path}/.kube/config does not exist"
    assert said(capsys, "exporter") == (3, f"error: {why}. Use --kubeconfig or --server")
    assert said(capsys, "status") == (3, f"error: {why}. Use --kubeconfig, --snapshot or --topology")


@pytest.mark.parametrize("again", ["out.json", "./out.json", "link.json"])
def test_two_formats_do_not_share_a_file(
    again: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second format would replace the first without a word."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.json").symlink_to("out.json")
    code, message = said(capsys, "check", str(SHOP / "web.yaml"), "-o", "json=out.json", "-o", f"sarif={again}")
    assert (code, message) == (2, f"error: two formats would go to {again}: json and sarif")
    assert not (tmp_path / "out.json").exists()


def test_two_formats_may_go_to_the_null_device(capsys: pytest.CaptureFixture[str]) -> None:
    """A device keeps nothing that could be replaced."""
    words = ("check", str(SHOP / "web.yaml"), "-o", "json=/dev/null", "-o", "sarif=/dev/null")
    assert said(capsys, *words) == (0, "")


@pytest.mark.parametrize(
    ("word", "hint"), [("chekc", ": did you mean `check`?"), ("Status", ": did you mean `status`?"), ("zzz", "")]
)
def test_a_mistyped_command_names_the_one_that_was_meant(
    word: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As git does; a word that is like no command gets no guess."""
    assert said(capsys, word) == (2, f"error: no such command '{word}'{hint}")


def test_a_missing_workload_has_exit_code_1_in_guarantee(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command that looks for a workload has this code, as the input itself could be read."""
    facts = ("--snapshot", str(SHOP / "cluster.yaml"), "-n", "shop", "--at-most", "zone=1/2")
    missing = 'error: deployments.apps "nope" not found in namespace "shop" of the cluster facts'
    assert said(capsys, "guarantee", "deploy/nope", *facts) == (1, missing)


@pytest.mark.parametrize(
    ("target", "name"),
    [("pod/web-7d9f8-4xk2p", 'pods "web-7d9f8-4xk2p"'), ("rs/web-7d9f8", 'replicasets.apps "web-7d9f8"')],
)
@pytest.mark.parametrize("command", ["status", "check", "rebalance", "guarantee"])
def test_an_object_of_a_workload_is_not_called_missing(
    command: str, target: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """These commands answer for whole workloads, so the message names the one to ask about."""
    rules = ("--max-count", "zone=1") if command == "guarantee" else ()
    words = (command, target, "--snapshot", str(SHOP / "running.yaml"), "-n", "shop", *rules)
    message = f"error: {name} belongs to Deployment shop/web: name deployment/web instead"
    assert said(capsys, *words) == (1, message)


@pytest.mark.parametrize(
    "words", [("rule", "SPR"), ("demo",), ("--help",), ("check", "--no-config", "-R", str(SHOP)), ("nope", "--help")]
)
def test_a_reader_that_goes_early_ends_the_program_as_sigpipe_would(words: tuple[str, ...]) -> None:
    """Exit code 1 would mean findings. kubectl and git end with 141, too, and none of them prints a message."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "kubectl_spread", *words], stdout=writing, stderr=subprocess.PIPE, text=True
        )
    finally:
        os.close(writing)
    expected = (2, "error: no such command 'nope'\n") if "nope" in words else (141, "")
    assert (done.returncode, done.stderr[: len(expected[1]) or None]) == expected


@pytest.mark.parametrize("name", ["A B", "Shop", "shop/web", "..", "shop-", "-shop", "a" * 64, "shöp", "shop.web"])
@pytest.mark.parametrize(
    "words",
    [
        ("check", "-n"), ("status", "-n"), ("explain", "pod/a", "--namespace"), ("simulate", "-n"), ("guarantee", "-n"),
        ("rebalance", "-n"), ("exporter", "-n"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_name_that_no_namespace_can_have_is_refused(
    words: tuple[str, ...], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, message = said(capsys, *words, name)
    why = "a name has at most 63 lower-case letters, digits and '-', and begins and ends with a letter or digit"
    option = "'-n' / '--namespace'"
    assert (code, message) == (2, f"error: invalid value for {option}: {name!r} cannot be a namespace: {why}")


@pytest.mark.parametrize(
    ("glob", "why"),
    [("[", "a set without an end: `]` is missing"), ("a/[z-a]", "a set whose range runs backwards: z-a")],
)
def test_a_glob_whose_set_is_wrong_is_refused(glob: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = said(capsys, "check", str(SHOP / "web.yaml"), "--exclude", glob)
    assert (code, message) == (2, f"error: invalid value for '--exclude': {glob!r} is not a glob: {why}")
