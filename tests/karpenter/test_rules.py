"""Rules about constraints say what Karpenter does, if NodePools are in the run or among the facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.objects.selectors import ZONE
from tests.karpenter.test_answers import Asked, deployment, GENERAL, owned
from tests.karpenter.worlds import need, node, Plain, pool, terms


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(tmp_path, capsys)


def renamed(plain: Plain, name: str) -> Plain:
    plain["metadata"]["name"] = name
    return plain


def in_two_zones(**constraint: Any) -> Plain:
    web = deployment(**constraint)
    web["spec"]["template"]["spec"]["affinity"] = terms(("zone-a", "zone-b"))
    return web


CASES = [
    (
        "SPR307",
        [in_two_zones(nodeAffinityPolicy="Ignore")],
        "Karpenter does not count them, so it may add nodes that kube-scheduler does not use",
    ),
    (
        "SPR501",
        [deployment(minDomains=2), renamed(deployment(minDomains=3), "canary")],
        "Karpenter takes either number for all of them, which may differ from round to round",
    ),
    (
        "SPR602",
        [deployment(topologyKey="failure-domain.beta.kubernetes.io/zone")],
        "Karpenter adds no node for them: for it, the label has no domain",
    ),
]


@pytest.mark.parametrize(("code", "manifests", "says"), CASES)
def test_a_rule_says_what_karpenter_does(asked: Asked, code: str, manifests: list[Plain], says: str) -> None:
    facts = asked.write("facts.json", owned("c1", "zone-c"), GENERAL)
    bare = asked.write("bare.json", owned("c1", "zone-c"))
    web = asked.write("web.json", *manifests)
    beside = asked.write("all.json", *manifests, GENERAL)
    only = ["--select", code]

    assert says in asked.text("check", beside, *only)
    assert says in asked.text("check", web, "--snapshot", facts, *only)
    for named in ([web], [web, "--snapshot", bare]):
        text = asked.text("check", *named, *only)
        assert code in text
        assert "Karpenter" not in text


@pytest.mark.parametrize(("key", "is_reported"), [("example.com/rack", False), ("example.com/shelf", True)])
def test_a_label_that_new_nodes_have_is_not_absent(asked: Asked, key: str, is_reported: bool) -> None:
    """No node has it today; the pool gives it to its nodes."""
    racks = pool("racks", need(ZONE, "zone-a"), need("example.com/rack", "r1", "r2"))
    facts = asked.write("facts.json", node("a1", "zone-a"), owned("a2", "zone-a", "racks"), racks)
    web = asked.write("web.json", deployment(2, topologyKey=key))

    assert is_reported == ("SPR901" in asked.text("check", web, "--snapshot", facts))
