"""The command around the language server; `tests/lsp` has the server."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kubectl_spread.cli.main import run


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["pygls", "pygls.lsp.server", "lsprotocol"])
def test_without_the_extra_it_says_how_to_install_it(missing: str) -> None:
    """Or with pygls 1, which has no such module."""
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from kubectl_spread.cli.main import run; sys.exit(run(['lsp']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, input="")

    assert (2, "", "error: the language server needs pygls 2: pip install 'kubectl-spread[lsp]'\n") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )


@pytest.mark.slow
def test_a_module_of_ours_that_is_missing_is_a_bug() -> None:
    code = (
        "import sys; sys.modules['kubectl_spread.lsp'] = None;"
        "from kubectl_spread.cli.main import run; sys.exit(run(['lsp']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, input="")

    assert 70 == done.returncode
    assert "this is a bug in kubectl spread" in done.stderr


def test_a_rule_that_does_not_exist_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run(["lsp", "--ignore", "SPR99"])
    assert "error: no rule is called `SPR99`" in capsys.readouterr().err


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_closed_streams_are_wrong_usage(
    stream: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, stream, None)

        assert 2 == run(["lsp"])

    assert "standard input and output must be open" in capsys.readouterr().err
