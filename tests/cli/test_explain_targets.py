"""Several targets of one `explain`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

FACTS = str(Path(__file__).parent.parent.parent / "examples" / "shop" / "cluster.yaml")


def test_a_target_that_does_not_exist_does_not_hide_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["explain", "pod/nope", "pod/web-6d4f9c7b58-9pdlw", "-n", "shop", "--snapshot", FACTS])
    out, err = capsys.readouterr()

    assert code == 1
    assert out.startswith("Pod shop/web-6d4f9c7b58-9pdlw stays Pending: ")
    assert err == 'error: pods "nope" not found in namespace "shop" of the cluster facts\n'


def test_every_target_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["explain", "pod/nope", "pod/nor", "-n", "shop", "--snapshot", FACTS])
    out, err = capsys.readouterr()

    assert (code, out) == (1, "")
    assert ['pods "nope"', 'pods "nor"'] == [line.split(": ")[1].split(" not")[0] for line in err.splitlines()]
