"""Volumes keep pods in their zones: answers that depend on it are not decided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from tests.guarantee.test_gaps import by_zone, Plain, pods_of

WEB = {"matchLabels": {"app": "web"}}


def with_volumes(replicas: int, max_skew: int) -> Plain:
    """Return a StatefulSet whose pods have a volume each."""
    found = pods_of("web", "StatefulSet", replicas=replicas, **by_zone(WEB, maxSkew=max_skew))
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    found["spec"] |= {"serviceName": "web", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]}
    return found


def verdicts(item: Plain, rules: tuple[str, ...], *, path: Path, output: pytest.CaptureFixture[str]) -> Plain:
    """Return the verdicts by kind of rule, one for each regime."""
    path.write_text(json.dumps(item))
    run(["guarantee", "-f", str(path), "--topology", "zones=3,nodes=2", *rules, "-o", "json"])
    (group,) = json.loads(output.readouterr().out)["groups"]
    found: Plain = {}
    for regime in group["regimes"]:
        for rule in regime["rules"]:
            found.setdefault(rule["rule"]["kind"], {})[regime["regime"]] = rule["verdict"]
    return found


def test_lost_pods_may_stay_pending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pod cannot leave the zone of its volume; counts are limited all the same."""
    rules = ("--at-most", "zone=2/3", "--survive", "zone", "--keep", "1")
    plain = pods_of("web", "StatefulSet", **by_zone(WEB, maxSkew=2))
    free = verdicts(plain, rules, path=tmp_path / "free.json", output=capsys)
    found = verdicts(with_volumes(3, 2), rules, path=tmp_path / "web.json", output=capsys)

    assert (free["survive"]["disruptions"], found["survive"]["disruptions"]) == ("proved", "proved")
    assert (free["replaced"]["disruptions"], found["replaced"]["disruptions"]) == ("proved", "undecided")
    assert found["replaced"]["restarts"] == "notApplicable"  # nothing is lost
    assert set(found["placed"].values()) <= {"undecided", "notApplicable"}
    assert {regime: found["maxShare"][regime] for regime in ("creation", "restarts")} == {
        "creation": "proved",
        "restarts": "proved",
    }


def test_a_violation_at_creation_needs_no_pod_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The volumes are created where the pods go first."""
    found = verdicts(with_volumes(4, 3), ("--at-most", "zone=1/2"), path=tmp_path / "web.json", output=capsys)

    assert found["maxShare"]["creation"] == "refuted"


def test_a_violation_by_restarts_is_not_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Deleting a pod of one zone does not move it to another."""
    rules = ("--min-domains", "zone=3")
    plain = pods_of("web", "StatefulSet", replicas=5, **by_zone(WEB, maxSkew=2))
    free = verdicts(plain, rules, path=tmp_path / "free.json", output=capsys)
    found = verdicts(with_volumes(5, 2), rules, path=tmp_path / "web.json", output=capsys)

    assert (free["minDomains"]["creation"], free["minDomains"]["restarts"]) == ("proved", "refuted")
    assert (found["minDomains"]["creation"], found["minDomains"]["restarts"]) == ("proved", "undecided")
