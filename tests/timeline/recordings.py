"""Recordings of a real control plane over time, turned into worlds, states and steps."""

from __future__ import annotations

import copy
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Controller
from kubectl_spread.engine import steps
from kubectl_spread.engine.controllers.job import has_failed, JobState
from kubectl_spread.engine.state import Deletion, NO_ORDINAL, P, PENDING, Stage, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Taint
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.workloads.workload import Workload, workload
from kubectl_spread.scheduler.profiles import profiles

Plain = dict[str, Any]
NAMESPACE = "app"
_FIRST_REVISION = 1  # the revision of a recorded pod without a workload
PATIENCE_S = 5.0  # the recordings waited for about two seconds without events
RESTARTED = "kubectl.kubernetes.io/restartedAt"


def read_folder(folder: Path) -> Iterator[Plain]:
    """Yield the scenarios of all recordings in a folder."""
    for path in sorted(folder.glob("*.ndjson*")):
        whole = path.read_bytes()
        yield from map(json.loads, (gzip.decompress(whole) if path.suffix == ".gz" else whole).splitlines())


def _annotation(owner: Workload, name: str) -> str:
    return str(((owner.template.get("metadata") or {}).get("annotations") or {}).get(name, ""))


def _is_never_ready(owner: Workload) -> bool:
    return _annotation(owner, "test.kubelet/ready") == "never"


def _never_ends(owner: Workload) -> bool:
    # A Job's pods have a finalizer, which stays because no pod of the recordings ever fails.
    return _annotation(owner, "test.kubelet/terminate") == "hold" or owner.kind == "Job"


class Scenario:
    """One recording: its world, and the steps as the engine's operations."""

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        cluster = cluster_of(map(_in_namespace, map(_prepared, plain["objects"])))
        volumes = {
            name: volume._replace(is_available=volume.is_available or volume.claim is None)
            for name, volume in cluster.storage.volumes.items()
        }
        cluster = cluster._replace(storage=cluster.storage._replace(volumes=volumes), namespaces={NAMESPACE: {}})
        self.world = World(
            cluster,
            profiles(plain.get("schedulerConfig")),
            is_never_ready=_is_never_ready,
            never_ends=_never_ends,
            patience_s=PATIENCE_S,
        )
        self._templates: dict[ObjectKey, Plain] = {}
        self._applied: dict[ObjectKey, Plain] = {}
        self._budgets: list[Plain] = []
        self._nodes = {item["metadata"]["name"]: item for item in plain["objects"] if item["kind"] == "Node"}
        self._restarts = 0
        self.steps = [tuple(self._ops(step)) for step in plain["steps"]]

    def _ops(self, step: Plain) -> Iterator[steps.Op]:
        for verb, what in step.items():
            for item in what if isinstance(what, list) and verb not in _LISTS else [what]:
                yield from getattr(self, f"_{verb}")(item)

    def _apply(self, manifest: Plain) -> Iterator[steps.Op]:
        manifest = _in_namespace(manifest)
        kind = manifest["kind"]
        if kind in ("PodDisruptionBudget", "Service"):
            self._budgets = [*self._budgets, manifest]
            found = cluster_of([*self._budgets])
            yield steps.ChangeFacts(self.world.cluster._replace(budgets=found.budgets, services=found.services))
            return
        key = _key(f"{kind}/{manifest['metadata']['name']}")
        stored = copy.deepcopy(manifest)
        kept = self._applied.get(key, {}).get("restarted")
        if kept:
            metadata = stored["spec"]["template"].setdefault("metadata", {})
            metadata.setdefault("annotations", {})[RESTARTED] = kept
        self._applied[key] = {"plain": stored, "restarted": kept}
        yield steps.Apply(Controller(workload(stored, kind, namespace=NAMESPACE), spec=stored["spec"]))

    def _scale(self, item: Plain) -> Iterator[steps.Op]:
        key = _key(f"{item['kind']}/{item['name']}")
        if key in self._applied:
            self._applied[key]["plain"]["spec"]["replicas"] = item["replicas"]
        yield steps.Scale(key, item["replicas"])

    def _restart(self, item: Plain) -> Iterator[steps.Op]:
        key = _key(f"{item['kind']}/{item['name']}")
        self._restarts += 1
        known = self._applied[key]
        known["restarted"] = f"restart {self._restarts}"
        stored = known["plain"] = copy.deepcopy(known["plain"])
        stored["spec"]["template"].setdefault("metadata", {}).setdefault("annotations", {})[RESTARTED] = known[
            "restarted"
        ]
        yield steps.Apply(Controller(workload(stored, item["kind"], namespace=NAMESPACE), spec=stored["spec"]))

    def _patch(self, item: Plain) -> Iterator[steps.Op]:
        if item["kind"] == "Node":
            self._nodes[item["name"]] = _merged(self._nodes[item["name"]], item["patch"])
            yield steps.ChangeNodes((read.node(self._nodes[item["name"]]),))
            return
        key = _key(f"{item['kind']}/{item['name']}")
        stored = _merged(self._applied[key]["plain"], item["patch"])
        self._applied[key]["plain"] = stored
        yield steps.Apply(Controller(workload(stored, item["kind"], namespace=NAMESPACE), spec=stored["spec"]))

    def _cordon(self, name: str) -> Iterator[steps.Op]:
        yield steps.Cordon((name,))

    def _uncordon(self, name: str) -> Iterator[steps.Op]:
        yield steps.Cordon((name,), is_cordoned=False)

    def _drain(self, names: Any) -> Iterator[steps.Op]:
        yield steps.Drain(_names(names))

    def _taint(self, item: Plain) -> Iterator[steps.Op]:
        taint = item["taint"]
        yield steps.TaintNodes((item["node"],), Taint(taint["key"], taint.get("value", ""), taint["effect"]))

    def _untaint(self, item: Plain) -> Iterator[steps.Op]:
        yield steps.Untaint((item["node"],), item["taint"]["key"], item["taint"].get("effect", ""))

    def _deleteNode(self, names: Any) -> Iterator[steps.Op]:  # noqa: N802
        yield steps.DeleteNodes(_names(names))

    def _addNodes(self, plain: list[Plain]) -> Iterator[steps.Op]:  # noqa: N802
        self._nodes.update((item["metadata"]["name"], item) for item in plain)
        yield steps.ChangeNodes(tuple(map(read.node, plain)))

    def _nodeDown(self, names: Any) -> Iterator[steps.Op]:  # noqa: N802
        yield steps.NodesDown(_names(names))

    def _nodeUp(self, names: Any) -> Iterator[steps.Op]:  # noqa: N802
        yield steps.NodesUp(_names(names))

    def _deletePods(self, item: Plain) -> Iterator[steps.Op]:  # noqa: N802
        yield steps.DeleteSome(_match(item), item.get("count", 0), bool(item.get("force")))

    def _patchPods(self, item: Plain) -> Iterator[steps.Op]:  # noqa: N802
        metadata = item["patch"].get("metadata") or {}
        cost = (metadata.get("annotations") or {}).get(read.DELETION_COST, "0")
        labels = tuple((metadata.get("labels") or {}).items())
        yield steps.PatchSome(_match(item), item.get("count", 0), labels, int(cost), bool(item.get("status")))

    def _delete(self, item: Plain) -> Iterator[steps.Op]:
        yield steps.Delete(_key(f"{item['kind']}/{item['name']}"))

    def _after(self, seconds: float) -> Iterator[steps.Op]:
        yield from ()


_LISTS = ("drain", "deleteNode", "addNodes", "nodeDown", "nodeUp")


def _prepared(plain: Plain) -> Plain:
    return plain


def _in_namespace(plain: Plain) -> Plain:
    return {**plain, "metadata": {"namespace": NAMESPACE, **plain["metadata"]}}


def _key(owner: str) -> ObjectKey:
    kind, _, name = owner.partition("/")
    return ObjectKey(kind, NAMESPACE, name)


def _names(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _match(item: Plain) -> steps.PodMatch:
    return steps.PodMatch(
        _key(item["owner"]), item.get("node", ""), tuple(item.get("ordinals", ())), bool(item.get("pending"))
    )


def _merged(one: Any, other: Any) -> Any:
    """A merge patch."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    found = {key: value for key, value in one.items() if other.get(key, "") is not None}
    for key, value in other.items():
        if value is not None:
            found[key] = _merged(one.get(key), value)
    return found


class Seen(NamedTuple):
    """A pod, as far as a recording tells it: owner, revision, ordinal, node, whether ready, terminating, nominated."""

    owner: str
    revision: int
    ordinal: Optional[int]
    node: Optional[str]
    is_ready: bool
    is_terminating: bool


def recorded(state: Plain) -> Counter[Seen]:
    """Return the pods of a recorded state."""
    return Counter(
        Seen(
            pod["owner"],
            pod.get("revision", 0),
            pod.get("ordinal", pod.get("index")),
            pod.get("node"),
            bool(pod.get("ready")),
            bool(pod.get("terminating")),
        )
        for pod in state["pods"]
    )


def told(world: World, state: State) -> Counter[Seen]:
    """Return the pods of a state in the words of the recordings; a failed Job takes the finalizers off its pods."""
    failed = [isinstance(own, JobState) and has_failed(world.specs[own.spec], own) for own in state.sets]
    return Counter(_told(world, pod) for pod in state.pods if pod.owner < 0 or not failed[pod.owner])


def _told(world: World, pod: P) -> Seen:
    if pod.owner < 0:
        owner = world.classes[pod.cls].owner
        text = f"Pod/{'' if owner is None else owner.name.rpartition('-')[0]}-*"
        return Seen(text, _FIRST_REVISION, None, _node(world, pod), pod.stage == Stage.READY, pod.end != Deletion.ALIVE)
    key = world.keys[pod.owner]
    ordinal = pod.ordinal if pod.ordinal != NO_ORDINAL and key.kind in ("StatefulSet", "Job") else None
    return Seen(
        f"{key.kind}/{key.name}",
        revision_number(world, pod.rev),
        ordinal,
        _node(world, pod),
        pod.stage == Stage.READY,
        pod.end != Deletion.ALIVE,
    )


def _node(world: World, pod: P) -> Optional[str]:
    return None if pod.node == PENDING else world.node_names[pod.node]


def revision_number(world: World, rev: int) -> int:
    """Return the number of a template in the order of first use."""
    owner = world.revisions[rev].owner
    return [item.at for item in world.revisions if item.owner == owner].index(rev) + 1


def without_ordinals(pods: Counter[Seen]) -> Counter[Seen]:
    """Return the pods as if those of one revision were interchangeable."""
    found: Counter[Seen] = Counter()
    for pod, count in pods.items():
        found[pod._replace(ordinal=None)] += count
    return found


def with_ordinals(world: World, state: State, target: Counter[Seen], start: State) -> Optional[State]:
    """Return the state with ordinals given to new pods as recorded; None where it is another one.

    Pods of one shape that were made in the same step, or that all waited at its start, got their ordinals in any order.
    """
    if told(world, state) == target:
        return state
    if without_ordinals(told(world, state)) != without_ordinals(target):
        return None
    wanted = target - told(world, state)
    waited = {(pod.owner, pod.rev, pod.ordinal) for pod in start.pods if pod.node == PENDING}
    pods = list(state.pods)
    surplus = told(world, state) - target
    for at, pod in enumerate(pods):
        seen = _told(world, pod)
        if not surplus[seen] or seen.ordinal is None:
            continue
        if not pod.is_new and (pod.owner, pod.rev, pod.ordinal) not in waited:
            return None
        other = next((item for item in wanted if wanted[item] and item._replace(ordinal=seen.ordinal) == seen), None)
        if other is None or other.ordinal is None:
            return None
        cls = world.cls_of(pod.rev, other.ordinal)
        if world.shape(cls) != world.shape(pod.cls):
            return None
        surplus[seen] -= 1
        wanted[other] -= 1
        pods[at] = pod._replace(ordinal=other.ordinal, cls=cls)
    return state._replace(pods=tuple(sorted(pods)))


def settled(state: State) -> State:
    """Return the state as the beginning of the next step: its pods are no longer new."""
    return state._replace(pods=tuple(sorted(pod._replace(is_new=False) for pod in state.pods)), todo=())
