"""Recorded errors of Karpenter are understood by `explain --message`."""

from __future__ import annotations

import json
import re

import pytest

from kubectl_spread.cli.main import run
from tests.karpenter import replay

OTHERS = (
    "one or more instance types with compatible reserved offerings are available, but could not be reserved",
    "minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type])",
    "key kubernetes.io/arch, kubernetes.io/arch DoesNotExist not in kubernetes.io/arch In [arm64]",
    "checking host port usage, pod hostport conflicts with existing hostport configuration (pod-hostport-port=80)",
)


def recorded() -> list[str]:
    """One text for each beginning of a recorded text."""
    found: dict[str, str] = {}
    for plain in replay.plains(replay.RECORDINGS):
        for outcome in plain["expected"]["outcomes"]:
            for errors in (outcome.get("podErrors") or {}).values():
                for text in errors:
                    found.setdefault(re.sub(r"[\\[(=\"].*", "", text)[:40], text)
    return [*found.values(), *OTHERS]


@pytest.mark.parametrize("text", recorded())
def test_a_text_has_a_meaning_of_its_own(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not only repeated, with or without the words of the event."""
    for words in (text, f"Failed to schedule pod, {text}"):
        assert 0 == run(["explain", "--message", words, "-o", "json"])
        messages = json.loads(capsys.readouterr().out)["messages"]

        assert {"karpenter"} == {message["component"] for message in messages}
        assert "karpenterFailed" not in {message["form"] for message in messages}
