"""Rest of an ongoing rollout, simulated over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, OwnerKey
from kubectl_spread.objects.constraints import constraint_reader
from kubectl_spread.objects.constraints.uncounted import uncounted
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.workload import created_labels, revision_label, Workload
from kubectl_spread.records import NamedTuple
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.simulate.running.controllers import newest_hash, running_pods
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.results.answer import Outcome
from kubectl_spread.timeline.run import Limits, play

MOST_ROLLOUTS = 5  # Most rollouts that are simulated.
_LIMITS = Limits(max_states=2_000, samples=20, seconds=2.0)


class RolloutEnd(Enum):
    """Outcome of a rollout."""

    COMPLETES = "completes"
    MAY_GET_STUCK = "mayGetStuck"  # in some outcomes that were found, not in all
    GETS_STUCK = "getsStuck"


class UnderWay(NamedTuple):
    """An ongoing rollout; `pod` and `message` are of the pod that stays Pending if the rollout gets stuck."""

    key: OwnerKey
    end: RolloutEnd
    old: int
    pod: str = ""
    message: str = ""

    @property
    def is_stuck(self) -> bool:
        """Return whether the rollout gets stuck in some outcome or in all."""
        return self.end is not RolloutEnd.COMPLETES


def under_way(
    controllers: Iterable[tuple[OwnerKey, Controller]], cluster: Cluster, profiles: Mapping[str, Profile]
) -> Iterator[UnderWay]:
    """Simulate the rest of each ongoing rollout of Deployments and StatefulSets, up to a limit.

    Args:
        controllers: the workloads to consider.
        cluster: the cluster of the workloads.
        profiles: of the scheduler.
    """
    left, owned = MOST_ROLLOUTS, OwnedPods(cluster)
    for key, controller in controllers:
        old = _old_pods(key, controller, owned)
        if not old or not left:
            continue
        left -= 1
        answer = play(cluster, profiles, [steps.Apply(controller)], limits=_LIMITS)
        found = answer.last
        stuck = [outcome for outcome in found.outcomes if not _is_complete(outcome, key)]
        if not stuck:
            yield UnderWay(key, RolloutEnd.COMPLETES, len(old))
            continue
        end = RolloutEnd.GETS_STUCK if len(stuck) == len(found.outcomes) else RolloutEnd.MAY_GET_STUCK
        pending = next((pod for outcome in stuck for pod in outcome.pending if pod.owner == key), None)
        yield UnderWay(
            key, end, len(old), "" if pending is None else pending.name, "" if pending is None else pending.message
        )


def _is_complete(outcome: Outcome, key: OwnerKey) -> bool:
    state = outcome.workloads.get(key)
    return outcome.is_steady and state is not None and state.is_complete


def _old_pods(key: OwnerKey, controller: Controller, owned: OwnedPods) -> list[Pod]:
    """Return the running pods of an older revision, by label or else by the constraints that do not count them."""
    owner = controller.workload
    if not _rolls(key, controller):
        return []
    own = running_pods(owner, owned)
    newest = newest_hash(owner, own, owned.cluster)
    label, prefix = revision_label(owner), f"{owner.name}-" if key.kind == "StatefulSet" else ""
    values = {pod.uid: dict(pod.cls.labels).get(label, "").removeprefix(prefix) for pod in own}
    if newest and any(values.values()):
        return [pod for pod in own if values[pod.uid] != newest]
    return _not_counted(owner, own)


def _rolls(key: OwnerKey, controller: Controller) -> bool:
    """Return whether the controller replaces old pods automatically."""
    if key.kind not in ("Deployment", "StatefulSet") or controller.workload.is_foreign:
        return False
    strategy = (controller.spec.get("updateStrategy") or {}).get("type")
    return not controller.spec.get("paused") and strategy != "OnDelete"


def _not_counted(owner: Workload, own: list[Pod]) -> list[Pod]:
    """Return the running pods that a constraint of the template does not count."""
    labels = created_labels(owner)
    missed = (uncounted(item, own, labels) for item in constraint_reader.constraints(owner.template.get("spec") or {}))
    names = {name for found in missed if found is not None for name in found.pods}
    return [pod for pod in own if pod.name in names]
