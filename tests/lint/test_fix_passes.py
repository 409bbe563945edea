"""How often a text is read and checked again while its findings are fixed."""

from __future__ import annotations

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.fixing import apply_fixes
from kubectl_spread.text.source import SourceFile
from tests.lint.test_mutations import judged, read

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: web}
      containers: [{name: c, image: c}]
"""
ADDED = """\
          matchLabels: {app: web}
        nodeTaintsPolicy: Honor
        matchLabelKeys: [pod-template-hash]
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels:
            app: web
"""


class Counted:
    """A run of check that counts how often it reads a text, and how often it runs the rules."""

    def __init__(self) -> None:
        self.reads = self.runs = 0

    def read(self, source: SourceFile) -> Result:
        self.reads += 1
        return read(source)

    def judge(self, results: list[Result]) -> list[Finding]:
        self.runs += 1
        return [item for item in judged(results) if not item.rule.is_opinion]


def test_fixes_that_add_different_fields_at_one_place_are_made_in_one_pass() -> None:
    """Three fixes add lines at the end of a constraint: it is read once, and judged once before and once after."""
    run = Counted()
    outcome = apply_fixes([read(SourceFile("a", WEB))], run.judge, recheck=run.read, is_wanted=lambda _: True)

    assert ["SPR507", "SPR301", "SPR401"] == [item.rule.code for item in outcome.fixed]
    assert WEB.replace("          matchLabels: {app: web}\n", ADDED) == outcome.results[0].source.text
    assert (1, 2) == (run.reads, run.runs)
