"""A misspelt field is one finding: what is missing for it is not reported again."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from kubectl_spread.cli.main import run

WEB = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchExpressions:
          - key: app
            operator: In
            values: [web]
        minDomains: 2
        nodeAffinityPolicy: Honor
        nodeTaintsPolicy: Honor
        matchLabelKeys: [controller-revision-hash]
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels: {app: web}
      containers: [{name: c, image: c}]
"""
FIELDS = (
    "maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", "minDomains", "nodeAffinityPolicy",
    "nodeTaintsPolicy", "matchLabelKeys", "matchExpressions", "operator", "values", "key",
)  # fmt: skip


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `check` on a text: its findings as JSON."""

    def checked(text: str) -> list[dict[str, Any]]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
        run(["check", "-", "-o", "json"])
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
        return found

    return checked


def upper(field: str) -> str:
    return field[0].upper() + field[1:]


def test_the_manifest_has_no_fault(check: Any) -> None:
    assert [] == check(WEB)


MISSPELT = [
    (field, wrong) for field in FIELDS for wrong in (upper(field), field.lower(), field.upper()) if wrong != field
]


@pytest.mark.parametrize(("field", "wrong"), MISSPELT)
def test_a_field_of_another_case_is_one_finding(check: Any, field: str, wrong: str) -> None:
    (found,) = check(WEB.replace(f" {field}:", f" {wrong}:", 1))

    assert "SPR114" == found["code"]
    assert f"did you mean `{field}`?" == found["hint"]
    assert found["message"].endswith(f'{wrong}". Without strict decoding it is dropped, with a warning from 1.27 on')


def test_match_labels_of_another_case_is_one_finding(check: Any) -> None:
    """And no empty selector."""
    (found,) = check(WEB.replace(" matchLabels: {app: web}\n      c", " MatchLabels: {app: web}\n      c"))

    assert ("SPR114", "did you mean `matchLabels`?") == (found["code"], found["hint"])


@pytest.mark.parametrize(
    "name",
    [
        "TopologySpreadConstraints",
        "topologyspreadconstraints",
        "topologySpreadConstraint",
        "TopologySpreadConstraint",
        "TOPOLOGYSPREADCONSTRAINTS",
    ],
)
def test_the_list_s_own_name_is_one_finding(check: Any, name: str) -> None:
    (found,) = check(WEB.replace("topologySpreadConstraints", name))

    assert ("SPR115", "did you mean `topologySpreadConstraints`?") == (found["code"], found["hint"])
    assert found["message"].endswith(
        f'spec.template.spec.{name}". Without strict decoding it is dropped, with a warning from 1.27 on'
    )


def test_what_the_field_means_is_checked(check: Any) -> None:
    """A fault of its own is told beside the misspelling, at the field's mapping."""
    found = check(WEB.replace(" maxSkew: 1", " MaxSkew: 0", 1))

    assert ["SPR114", "SPR101"] == [item["code"] for item in found]


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (("maxSkew: 1", "MaxSkew: one"), {"SPR114", "SPR101"}),  # does not fit maxSkew: it is missing
        (("maxSkew: 1", "maxSkew: 0\n        MaxSkew: 1"), {"SPR114", "SPR101"}),  # both are written
        (("maxSkew: 1", "colour: 1"), {"SPR114", "SPR101"}),  # no field is near
    ],
)
def test_a_field_that_nothing_can_be_meant_by_is_left_out(check: Any, change: tuple[str, str], codes: set[str]) -> None:
    assert codes == {item["code"] for item in check(WEB.replace(*change, 1))}


def test_what_the_server_refuses_is_not_placed(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """It has no maxSkew, whatever is meant."""
    file = tmp_path / "web.yaml"
    file.write_text(WEB.replace(" maxSkew: 1", " MaxSkew: 1", 1))

    assert 1 == run(["check", str(file), "--topology", "zones=3"])
    assert "1 finding, 1 workload rejected" in capsys.readouterr().err
