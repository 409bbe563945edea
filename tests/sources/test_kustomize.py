"""Directories that kustomize renders, with programs that stand in for kubectl and kustomize."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.errors import SourceError
from kubectl_spread.sources.files import Input
from kubectl_spread.sources.kustomize import render_directories

Install = Callable[[str, str], None]

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a shell script into an otherwise empty PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    return put


def only(directory: str) -> Input:
    (given,) = render_directories([directory])
    assert isinstance(given, Input)
    return given


def refused(directory: str) -> str:
    (error,) = render_directories([directory])
    assert isinstance(error, SourceError)
    return str(error)


@pytest.mark.parametrize("field", ["generators", "transformers", "resources"])
def test_a_kustomization_that_names_itself_is_read_once(install: Install, tmp_path: Path, field: str) -> None:
    """kustomize says what is wrong with it; here it prints nothing."""
    install("kustomize", "true")
    (tmp_path / "kustomization.yaml").write_text(f"{field}: [kustomization.yaml, .]\n")

    assert not only(str(tmp_path)).source.text


def test_kubectl_renders_a_directory(install: Install) -> None:
    """Also where kustomize is installed, too; it is never taken for an option."""
    install("kubectl", 'echo "# kubectl $*"')
    install("kustomize", "exit 1")
    given = only("overlay/")

    assert ("overlay/ (kustomize)", "# kubectl kustomize -- overlay/\n") == (given.source.name, given.source.text)
    assert given.named


def test_kustomize_renders_where_there_is_no_kubectl(install: Install) -> None:
    install("kustomize", 'echo "# kustomize $*"')

    assert "# kustomize build -- overlay\n" == only("overlay").source.text


def test_without_either_nothing_is_rendered(install: Install) -> None:
    assert "overlay (kustomize): neither kubectl nor kustomize is installed, and -k needs one of them" == refused(
        "overlay"
    )


def test_what_it_complains_of_is_told(install: Install) -> None:
    """The end of it, on one line."""
    install("kubectl", "for n in 1 2 3 4 5; do echo; echo line $n >&2; done; echo 'error: no such file' >&2; exit 3")

    assert (
        "overlay (kustomize): kubectl kustomize failed with exit code 3: "
        "line 2; line 3; line 4; line 5; error: no such file" == refused("overlay")
    )


def test_a_failure_that_kubectl_logs_is_told_without_the_head_of_the_log(install: Install) -> None:
    """That head is a time and a line of kubectl's own source."""
    logged = r'''E1121 17:19:32.167850    3589 run.go:72] "command failed" err="no \"x\" here"'''
    install("kubectl", f"echo '{logged}' >&2; exit 1")

    assert 'overlay (kustomize): kubectl kustomize failed with exit code 1: no "x" here' == refused("overlay")


def test_a_program_that_fails_in_silence(install: Install) -> None:
    install("kustomize", "exit 1")

    assert refused("overlay").endswith("kustomize build failed with exit code 1: it gave no reason")


def test_a_program_that_takes_too_long_is_stopped(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("kubectl", "while :; do :; done")
    monkeypatch.setattr("kubectl_spread.sources.kustomize.TIMEOUT_S", 0.2)

    assert "overlay (kustomize): kubectl kustomize took longer than 0.2 s" == refused("overlay")


def test_a_program_that_does_not_start(install: Install, tmp_path: Path) -> None:
    install("kubectl", "")
    (tmp_path / "bin" / "kubectl").write_text("#!/no/such/interpreter\n")

    assert refused("overlay").startswith("overlay (kustomize): kubectl kustomize does not start: no such file")


def test_what_is_no_text_is_refused(install: Install) -> None:
    install("kubectl", "printf '\\377'")

    assert "overlay (kustomize):1:1: not UTF-8: byte 0xff" == refused("overlay")


def test_check_tells_where_in_the_rendered_stream(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside files, and one directory that fails hides nothing of the other."""
    install("kubectl", f"[ $3 = bad ] && exit 1\necho '{DEPLOYMENT}'")
    code = run(["check", "-k", "bad", "-k", "overlay/", "-o", "concise", "--select", "SPR101"])
    out, err = capsys.readouterr()

    assert 3 == code
    assert out.startswith("overlay/ (kustomize):7:45: error SPR101 spec.template.spec.topologySpreadConstraints[0].")
    assert "error: bad (kustomize): kubectl kustomize failed with exit code 1" in err


def test_explain_renders_too(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("kubectl", f"echo '{DEPLOYMENT.replace('maxSkew: 0', 'maxSkew: 1')}'")
    run(["explain", "-k", "overlay", "--topology", "zones=1,nodes=1"])

    assert capsys.readouterr().out.startswith("A new pod of Deployment default/web ")


def test_what_is_rendered_is_not_written_to(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no such file; what would be fixed can be shown."""
    install("kubectl", f"echo '{DEPLOYMENT}'")

    assert 2 == run(["check", "-k", "overlay", "--fix"])
    assert "what kustomize renders cannot be fixed in place: see --diff" in capsys.readouterr().err
    assert 1 == run(["check", "-k", "overlay", "--diff", "--unsafe-fixes"])
    assert "overlay (kustomize)" in capsys.readouterr().out
