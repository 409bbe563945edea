"""Groups of workloads, one after another."""

from __future__ import annotations

from pathlib import Path

from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.run import Watch
from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.policy import GroupSpec, PLACED, Policy, Regime, with_places
from kubectl_spread.guarantee.verdict import ProofStatus
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.guarantee import guarantee_policy, GuaranteeRequest
from kubectl_spread.operations.simulate import SimulateRequest
from kubectl_spread.report.guarantee import render
from kubectl_spread.report.table import UNBROKEN

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%d}
spec:
  replicas: 3
  selector: {matchLabels: {app: web-%d}}
  template:
    metadata: {labels: {app: web-%d}}
    spec: {containers: [{name: main, image: x}]}
"""


class Ending(Watch):
    """A watch that ends the search when it is asked for the n-th time."""

    def __init__(self, asked: int) -> None:
        super().__init__()
        self.left = asked
        self.seen: list[int] = []
        self.subjects: dict[str, None] = {}

    def saw(self, states: int) -> bool:
        """Count the question."""
        self.left -= 1
        self.seen.append(states)
        self.subjects[self.subject] = None
        if self.left <= 0:
            self.stop()
        return super().saw(states)


def request(folder: Path, *, wants_recommendation: bool = False) -> GuaranteeRequest:
    """Return the request for three groups on three zones."""
    path = folder / "web.yaml"
    path.write_text("---\n".join(WEB % (at, at, at) for at in range(3)), encoding="utf-8")
    inputs = SimulateRequest(paths=(str(path),), source=ClusterSource(topology="zones=3,nodes=2"))
    rules = [texts.less_than("zone=1/2"), texts.survive("zone", "50%")]
    spec = GroupSpec(tuple(with_places(rules)), is_each=True)
    return GuaranteeRequest(Policy((spec,)), inputs, wants_recommendation=wants_recommendation)


def test_a_search_ends_wherever_it_is(tmp_path: Path) -> None:
    """What is known is kept: no question after the end, no other group, and nothing is proved that was not."""
    whole = Ending(10**9)
    full = guarantee_policy(request(tmp_path), whole)
    number = 10**9 - whole.left
    for asked in range(1, number, max(1, number // 12)):
        watch = Ending(asked)
        found = guarantee_policy(request(tmp_path), watch)

        assert found.is_interrupted
        assert watch.left > -10
        assert [*(result.workloads[0] for result, _ in found.groups), *found.skipped] == [
            result.workloads[0] for result, _ in full.groups
        ]
        for (part, _), (result, _) in zip(found.groups, full.groups, strict=False):
            for one, other in zip(part.results, result.results, strict=True):
                for verdict, expected in zip(one.rules, other.rules, strict=True):
                    is_open = expected.verdict is not ProofStatus.NOT_APPLICABLE
                    assert verdict.verdict in (expected.verdict, ProofStatus.UNDECIDED if is_open else None)
                    assert verdict.basis in (expected.basis, Basis.STATE_LIMIT if is_open else None)


def test_candidates_that_were_not_all_tried_are_no_recommendation(tmp_path: Path) -> None:
    whole = Ending(10**9)
    guarantee_policy(request(tmp_path), whole)
    first = guarantee_policy(request(tmp_path, wants_recommendation=True), Ending(1 + (10**9 - whole.left) // 3 + 4))

    assert [found for _, found in first.groups] == [None]
    assert "No recommendation for default/web-0: the search was interrupted." in render(
        "ha", first.groups, UNBROKEN, is_cut_off=True
    )


def test_the_progress_grows_over_all_groups_and_candidates(tmp_path: Path) -> None:
    """Each search counts from 0; the sum is shown, with the group."""
    watch = Ending(10**9)
    guarantee_policy(request(tmp_path, wants_recommendation=True), watch)

    assert watch.seen == sorted(watch.seen)
    assert list(watch.subjects)[:3] == [
        "default/web-0 (1 of 3)",
        "default/web-0 (1 of 3), recommendation",
        "default/web-1 (2 of 3)",
    ]


def test_many_groups_share_the_states(tmp_path: Path) -> None:
    """Up to 10 groups have the whole limit each, 20 groups half of it, and any number a tenth."""
    for number, limit in ((10, 400), (20, 200), (120, 40)):
        path = tmp_path / "web.yaml"
        text = WEB.replace("replicas: 3", "replicas: 9")
        path.write_text("---\n".join(text % (at, at, at) for at in range(number)), encoding="utf-8")
        inputs = SimulateRequest(paths=(str(path),), source=ClusterSource(topology="zones=3,nodes=3"))
        spec = GroupSpec((texts.min_domains("zone=2"), PLACED), is_each=True)
        asked = GuaranteeRequest(Policy((spec,), regimes=(Regime.ROLLOUTS,)), inputs, max_states=400)
        found = guarantee_policy(asked)
        states = [verdict.states for result, _ in found.groups for item in result.results for verdict in item.rules]

        assert max(states) == limit + 1
