"""Every way to a violation, replayed event by event from the JSON report.

Controllers are written once more, from the descriptions of Kubernetes: a Deployment's two ReplicaSets and the pods that
they delete, a StatefulSet's ordinals, drains and lost domains. The filters are those of the slow scheduler in
`tests.naive`. Nothing of `kubectl_spread` is used.
"""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Optional

from tests.naive import config, objects, schedule_one
from tests.naive.framework import CycleState, Handle
from tests.naive.nodeinfo import NodeInfo, PodInfo

Plain = dict[str, Any]
HOSTNAME = "kubernetes.io/hostname"


class ImpossibleError(Exception):
    """An event that no controller, scheduler or user can cause."""


def require(is_met: bool, why: str) -> None:
    if not is_met:
        raise ImpossibleError(why)


class Pod:
    """A pod on a node, or one that waits; ordinal: -1 without one."""

    def __init__(self, owner: str, *, ordinal: int = -1, is_new: bool = False, node: str = "") -> None:
        self.owner, self.ordinal, self.is_new, self.node = owner, ordinal, is_new, node


class Workload:
    """A Deployment with the sizes of its old and new ReplicaSet, or a StatefulSet with its update."""

    def __init__(self, plain: Plain, *, exists: bool = True) -> None:
        self.plain, self.spec = plain, plain["spec"]
        self.name, self.kind = plain["metadata"]["name"], plain["kind"]
        self.wanted = self.spec.get("replicas", 1) if exists else 0
        self.old, self.new = self.wanted, 0
        self.is_rolling = self.is_deleted = False
        self.pending_old: set[int] = set()  # ordinals of Pending pods that a StatefulSet's rollout found
        self.start = (self.spec.get("ordinals") or {}).get("start", 0)
        self.is_stateful = self.kind == "StatefulSet"
        self.is_ordered = self.is_stateful and self.spec.get("podManagementPolicy") != "Parallel"
        update = self.spec.get("updateStrategy") or {}
        self.partition = (update.get("rollingUpdate") or {}).get("partition") or 0
        self.is_on_delete = update.get("type") == "OnDelete"

    @property
    def fenceposts(self) -> tuple[int, int]:
        """Return maxSurge, rounded up, and maxUnavailable, rounded down; not both are 0."""
        rolling = (self.spec.get("strategy") or {}).get("rollingUpdate") or {}
        surge = _absolute(rolling.get("maxSurge", "25%"), self.wanted, math.ceil)
        unavailable = _absolute(rolling.get("maxUnavailable", "25%"), self.wanted, math.floor)
        return surge, min(self.wanted, unavailable if surge or unavailable else 1)

    def pod(self, item: Pod) -> Plain:
        """Return a pod as an API object."""
        template = self.spec["template"]
        labels = dict((template.get("metadata") or {}).get("labels") or {})
        name, revision = f"{self.name}-{id(item)}", "new" if item.is_new else "old"
        if self.is_stateful:
            name = f"{self.name}-{item.ordinal}"
            labels |= {"controller-revision-hash": f"{self.name}-{revision}", "apps.kubernetes.io/pod-index": name[-1]}
            labels["statefulset.kubernetes.io/pod-name"] = name
        elif self.kind == "Deployment":
            labels["pod-template-hash"] = revision
        namespace = self.plain["metadata"].get("namespace", "default")
        spec = {**_with_merged_keys(template["spec"], labels), **({"nodeName": item.node} if item.node else {})}
        spec.pop("volumes", None)
        return {
            "apiVersion": "v1", "kind": "Pod", "spec": spec, "status": {"phase": "Pending"},
            "metadata": {"name": name, "namespace": namespace, "uid": str(id(item)), "labels": labels},
        }  # fmt: skip


def _with_merged_keys(spec: Plain, labels: dict[str, str]) -> Plain:
    """Return a pod spec whose anti-affinity has matchLabelKeys in its selectors, as the API server stores it."""
    made: Plain = copy.deepcopy(spec)
    anti = (made.get("affinity") or {}).get("podAntiAffinity") or {}
    for term in anti.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        more = [{"key": key, "operator": "In", "values": [labels[key]]} for key in term.get("matchLabelKeys") or ()]
        selector = term["labelSelector"]
        term["labelSelector"] = {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *more]}
    return made


def _copied(model: Workload, name: str) -> Workload:
    """Return a new shard: names and labels that end in the number of the model get that of the new one."""
    plain: Plain = json.loads(json.dumps(model.plain).replace(model.name, name))
    old, new = model.name.rpartition("-")[2], name.rpartition("-")[2]
    for labels in (plain["spec"]["selector"]["matchLabels"], plain["spec"]["template"]["metadata"]["labels"]):
        labels |= {key: new for key, value in labels.items() if value == old}
    return Workload(plain, exists=False)


def _absolute(value: Any, wanted: int, rounded: Any) -> int:
    if isinstance(value, str):
        return int(rounded(Fraction(int(value.rstrip("%")) * wanted, 100)))
    return int(value)


class World:
    """Nodes, workloads and the pods that have a node."""

    def __init__(self, workloads: Iterable[Plain], nodes: Iterable[Plain], judged: Iterable[str]) -> None:
        self.workloads = {item["metadata"]["name"]: Workload(item) for item in workloads}
        self.nodes = {item["metadata"]["name"]: item for item in nodes}
        self.pods: list[Pod] = []
        self.judged = set(judged)
        self.closed: set[str] = set()
        self.is_loss = False

    # The scheduler.

    def hosts(self, pod: Pod) -> set[str]:
        """Return the nodes that pass the filters."""
        handle = Handle([], (1, 36))
        handle.node_infos = [NodeInfo(self._node(name)) for name in self.nodes]
        for other in self.pods:
            info = PodInfo(objects.admit(self.workloads[other.owner].pod(other)))
            node = handle.node_info(other.node)
            assert node is not None
            node.add_pod(info)
        framework = config.new_profiles({}, handle)[config.DEFAULT_SCHEDULER_NAME]
        plain = objects.admit(self.workloads[pod.owner].pod(pod))
        return {item.name for item in schedule_one.find_nodes_that_fit_pod(framework, CycleState(), plain).feasible}

    def _node(self, name: str) -> Plain:
        node = self.nodes[name]
        if name not in self.closed:
            return node
        spec = dict(node.get("spec") or {})
        key = "node.kubernetes.io/unreachable" if self.is_loss else "node.kubernetes.io/unschedulable"
        effects = ("NoSchedule", "NoExecute") if self.is_loss else ("NoSchedule",)
        spec["taints"] = [*(spec.get("taints") or ()), *({"key": key, "effect": effect} for effect in effects)]
        spec["unschedulable"] = not self.is_loss
        return {**node, "spec": spec}

    # Controllers.

    def of(self, workload: Workload, is_new: Optional[bool] = None) -> list[Pod]:
        return [pod for pod in self.pods if pod.owner == workload.name and is_new in (None, pod.is_new)]

    def waiting(self, workload: Workload) -> list[Pod]:
        """Return the pods that exist and wait for a node, each kind once."""
        if not workload.is_stateful:
            sizes = ((False, workload.old), (True, workload.new))
            return [Pod(workload.name, is_new=new) for new, size in sizes if len(self.of(workload, new)) < size]
        there = {pod.ordinal: pod for pod in self.of(workload)}
        missing = [number for number in self._ordinals(workload) if number not in there]
        if workload.is_ordered and missing:
            is_unready = any(pod.ordinal < missing[0] and self._is_dead(pod) for pod in there.values())
            missing = [] if is_unready else missing[:1]
        return [
            Pod(workload.name, ordinal=at, is_new=at not in workload.pending_old and self._is_updated(workload, at))
            for at in missing
        ]

    def _is_dead(self, pod: Pod) -> bool:
        return self.is_loss and pod.node in self.closed

    @staticmethod
    def _ordinals(workload: Workload) -> range:
        return range(workload.start, workload.start + workload.wanted)

    @staticmethod
    def _is_updated(workload: Workload, ordinal: int) -> bool:
        """Return whether a pod that is created now is of the new revision."""
        return workload.is_rolling and (workload.is_on_delete or ordinal >= workload.start + workload.partition)

    def condemned(self, workload: Workload) -> list[Pod]:
        """Return the pods whose ordinals are out of range, or whose workload was deleted."""
        if workload.is_deleted:
            return self.of(workload)
        out = [pod for pod in self.of(workload) if workload.is_stateful and pod.ordinal not in self._ordinals(workload)]
        return sorted(out, key=lambda pod: pod.ordinal)

    def outdated(self, workload: Workload) -> Optional[int]:
        """Return the ordinal that a StatefulSet's rollout deletes next; None if it waits or is over."""
        if not workload.is_rolling or workload.is_on_delete:
            return None
        there = {pod.ordinal: pod for pod in self.of(workload)}
        is_blocked = bool(self.waiting(workload) or self.condemned(workload))
        if workload.is_ordered and is_blocked:
            return None
        for number in reversed(self._ordinals(workload)[workload.partition :]):
            if number in workload.pending_old:
                return number
            if number not in there:
                return None
            if not there[number].is_new:
                return number
        return None

    def least_old(self, workload: Workload) -> int:
        """Return the fewest pods that a Deployment leaves to its old ReplicaSet."""
        return max(0, workload.wanted - workload.fenceposts[1] - len(self.of(workload, True)))

    def has_work(self, workload: Workload) -> bool:
        """Return whether the controllers of a workload, or its rollout, do something more."""
        if self.condemned(workload) and not (workload.is_ordered and workload.wanted and self.waiting(workload)):
            return True
        if workload.is_stateful:
            return self.outdated(workload) is not None or self._is_updated_fully(workload)
        if not workload.is_rolling:
            return False
        return (
            len(self.of(workload, False)) > workload.old
            or self.least_old(workload) < workload.old
            or self._is_rolled_out(workload)
        )

    def _is_updated_fully(self, workload: Workload) -> bool:
        pods = [pod for pod in self.of(workload) if pod.ordinal in self._ordinals(workload)]
        return workload.is_rolling and len(pods) == workload.wanted and all(pod.is_new for pod in pods)

    def _is_rolled_out(self, workload: Workload) -> bool:
        return not workload.old and not self.of(workload, False) and workload.new == len(self.of(workload, True))

    def is_settled(self) -> bool:
        """Return whether nothing happens by itself."""
        if any(self.hosts(pod) for item in self.workloads.values() for pod in self.waiting(item)):
            return False
        if self.closed:
            return not any(pod.node in self.closed for pod in self.pods)
        return not any(self.has_work(item) for item in self.workloads.values())

    # Events.

    def first_impossible(self, events: Iterable[Plain]) -> str:
        """Let events happen until one cannot; return why, or an empty text."""
        for at, event in enumerate(events, 1):
            try:
                getattr(self, f"_{event['kind']}")(event)
            except ImpossibleError as error:
                return f"event {at}, {event}: {error}"
        return ""

    def _workload(self, event: Plain) -> Workload:
        return self.workloads[event["object"]["name"]]

    def _placed(self, event: Plain) -> None:
        workload = self._workload(event)
        for pod in self.waiting(workload):
            if (pod.ordinal, pod.is_new) == (_ordinal(event), event["newRevision"]):
                require(event["node"] in self.hosts(pod), f"the filters refuse {event['node']}")
                pod.node = event["node"]
                workload.pending_old.discard(pod.ordinal)
                self.pods.append(pod)
                return
        raise ImpossibleError("no such pod waits")

    def _take(self, event: Plain) -> Pod:
        """Remove the pod of an event."""
        for pod in self.of(self._workload(event), event["newRevision"]):
            if pod.node == event["node"] and (_ordinal(event) == pod.ordinal or not self._workload(event).is_stateful):
                self.pods.remove(pod)
                return pod
        raise ImpossibleError("no such pod runs there")

    def _restarted(self, event: Plain) -> None:
        require(self._workload(event).wanted > 0, "the workload was deleted")
        self._take(event)

    def _evicted(self, event: Plain) -> None:
        require(event["node"] in self.closed, "the node is neither drained nor lost")
        self._take(event)

    def _rolled(self, event: Plain) -> None:
        workload = self._workload(event)
        require(not workload.is_rolling and workload.wanted > 0, "a rollout is under way, or there are no pods")
        workload.is_rolling = True
        if workload.is_stateful:
            workload.is_rolling = False  # These pods exist already.
            workload.pending_old = {pod.ordinal for pod in self.waiting(workload)}
            workload.is_rolling = True
            return
        require((workload.fenceposts[0] == 0) == (event["kept"] is not None), "the first step depends on maxSurge")
        if event["kept"] is not None:
            self._shrunk(event)
        self._grow(workload)

    def _shrunk(self, event: Plain) -> None:
        workload = self._workload(event)
        require(workload.is_rolling, "no rollout is under way")
        require(self.least_old(workload) <= event["kept"] < workload.old, "too few pods would be available")
        workload.old = event["kept"]
        self._grow(workload)

    @staticmethod
    def _grow(workload: Workload) -> None:
        room = workload.wanted + workload.fenceposts[0] - workload.old - workload.new
        workload.new = min(workload.wanted, workload.new + max(0, room))

    def _removed(self, event: Plain) -> None:
        workload = self._workload(event)
        condemned = self.condemned(workload)
        if not workload.is_stateful and not condemned:
            nodes = event["nodes"] or [event["node"]]
            require(len(nodes) == len(self.of(workload, False)) - workload.old, "another number of pods is too many")
            self._delete(workload, nodes, self.of(workload, False))
            return
        if not workload.is_stateful or (condemned and _ordinal(event) in {pod.ordinal for pod in condemned}):
            if workload.is_ordered and workload.wanted:
                require(condemned[-1].ordinal == _ordinal(event), "a pod with a higher ordinal goes first")
                require(not self.waiting(workload), "a pod waits, so that none is deleted")
            self._take(event)
            return
        require(self.outdated(workload) == _ordinal(event), "another pod is next")
        if event["node"] is None:
            workload.pending_old.remove(_ordinal(event))
        else:
            self._take(event)

    def _delete(self, workload: Workload, nodes: list[str], candidates: list[Pod]) -> None:
        """Delete pods of a ReplicaSet: those on nodes with the most pods of the Deployment go first."""
        rank = Counter(pod.node for pod in self.of(workload))
        ranks = sorted((rank[pod.node] for pod in candidates), reverse=True)
        require(sorted((rank[node] for node in nodes), reverse=True) == ranks[: len(nodes)], "others rank higher")
        for node in nodes:
            found = [pod for pod in candidates if pod.node == node and pod in self.pods]
            require(bool(found), f"no pod is left on {node}")
            self.pods.remove(found[0])

    def _finished(self, event: Plain) -> None:
        workload = self._workload(event)
        is_over = self._is_updated_fully(workload) if workload.is_stateful else self._is_rolled_out(workload)
        require(workload.is_rolling and is_over, "the rollout is not over")
        workload.is_rolling, workload.old, workload.new = False, workload.wanted, 0
        for pod in self.of(workload):
            pod.is_new = False

    def _scaled(self, event: Plain) -> None:
        workload = self._workload(event)
        require(workload.is_stateful or not workload.is_rolling, "a rollout is under way")
        workload.wanted = workload.old = event["number"]
        surplus = 0 if workload.is_stateful else max(0, len(self.of(workload)) - workload.wanted)
        require(len(event["nodes"]) == surplus, "another number of pods is too many")
        self._delete(workload, event["nodes"], self.of(workload))

    def _created(self, event: Plain) -> None:
        name = event["object"]["name"]
        if name not in self.workloads:
            self.workloads[name] = _copied(self.workloads[sorted(self.workloads)[-1]], name)
            self.judged.add(name)
        workload = self.workloads[name]
        require(not workload.wanted and not self.of(workload), "the workload exists")
        workload.wanted = workload.old = workload.spec.get("replicas", 1)
        workload.is_deleted = False

    def _deleted(self, event: Plain) -> None:
        workload = self._workload(event)
        require(workload.wanted > 0, "the workload does not exist")
        workload.wanted = workload.old = workload.new = 0
        workload.is_deleted = True

    def _disrupted(self, event: Plain) -> None:
        is_whole = not any(
            self.waiting(item) or self.condemned(item) or (item.is_rolling and self.has_work(item))
            for item in self.workloads.values()
        )
        require(not self.closed and is_whole, "not every pod is placed")
        self.is_loss = event["lost"]
        key = event["topologyKey"] if event["lost"] else None
        labels = {name: (node["metadata"].get("labels") or {}).get(key) for name, node in self.nodes.items()}
        self.closed = {name for name in self.nodes if (labels[name] if key else name) in event["domains"]}

    def _returned(self, event: Plain) -> None:
        require(bool(self.closed), f"{event['domains']} was never away")
        self.closed, self.is_loss = set(), False

    # Rules.

    def counted(self) -> list[Pod]:
        """Return the judged pods that run."""
        return [
            pod
            for pod in self.pods
            if pod.owner in self.judged and not self.workloads[pod.owner].is_deleted and not self._is_dead(pod)
        ]

    def counts(self, key: str) -> Counter[str]:
        """Return the judged pods by domain."""
        labels = {name: (node["metadata"].get("labels") or {}).get(key) for name, node in self.nodes.items()}
        return Counter(labels[pod.node] for pod in self.counted() if labels[pod.node] is not None)

    def broken(self, rule: Plain, witness: Plain) -> Iterator[str]:
        """Yield what is wrong with the end of a way."""
        for key, told in witness["counts"].items():
            counts = self.counts(key)
            if {value: number for value, number in told.items() if number} != dict(counts):
                yield f"counts by {key} are {dict(counts)}, not {told}"
        if witness["settled"] != self.is_settled():
            yield "the end is said to be settled" if witness["settled"] else "the end is settled"
        if not self.is_violated(rule):
            yield "the rule is not violated"

    def is_violated(self, rule: Plain) -> bool:
        judged = [self.workloads[name] for name in self.judged if name in self.workloads]
        waits = any(self.waiting(item) for item in judged)
        wanted = sum(item.wanted for item in judged)
        if rule["kind"] == "placed":
            return not self.closed and waits and self.is_settled()
        counts = self.counts(rule["topologyKey"])
        if rule["kind"] == "separate":
            return any(self._shares_a_domain(item, rule["topologyKey"]) for item in judged)
        if rule["kind"] in ("maxShare", "maxCount"):
            amount = rule["amount"]
            pods = max(wanted, len(self.counted()))
            share = Fraction(int(amount.rstrip("%")), 100) if amount.endswith("%") else Fraction(amount)
            limit = share if "/" not in amount and not amount.endswith("%") else share * pods
            fullest = max(counts.values())
            return fullest >= limit if rule.get("strict") else fullest > limit
        is_whole = not waits and not any(item.is_rolling and self.has_work(item) for item in judged)
        if rule["kind"] == "minDomains":
            return is_whole and len(counts) < int(rule["amount"])
        if rule["kind"] == "replaced":
            return bool(self.closed) and self.is_loss and waits and self.is_settled()
        lost = sum(number for _, number in counts.most_common(rule["lost"]))
        return not self.closed and is_whole and len(self.counted()) - lost < _kept(rule["amount"], wanted)

    def _shares_a_domain(self, workload: Workload, key: str) -> bool:
        labels = {name: (node["metadata"].get("labels") or {}).get(key) for name, node in self.nodes.items()}
        own = Counter(labels[pod.node] for pod in self.counted() if pod.owner == workload.name and labels[pod.node])
        return max(own.values(), default=0) > 1


def _ordinal(event: Plain) -> int:
    return -1 if event["ordinal"] is None else int(event["ordinal"])


def _kept(amount: str, wanted: int) -> int:
    if amount == "quorum":
        return wanted // 2 + 1
    if amount.endswith("%"):
        return math.ceil(Fraction(int(amount.rstrip("%")) * wanted, 100))
    return int(amount)


def witnesses(group: Plain) -> Iterator[tuple[str, Plain, Plain]]:
    """Yield each way of a group once: where it is, the rule and the way."""
    seen: list[Plain] = []
    for regime in group["regimes"]:
        for verdict in regime["rules"]:
            for when, item in (("while pods move", verdict), ("once settled", verdict["settled"])):
                if item["witness"] is not None and item["witness"] not in seen:
                    seen.append(item["witness"])
                    yield f"{regime['regime']}, {verdict['rule']['text']}, {when}", verdict["rule"], item["witness"]


def recommended(group: Plain, workload: Plain) -> Iterator[tuple[Plain, Plain]]:
    """Yield each candidate and option of a recommendation as a group of its ways, with the workload as it would be."""
    found = group["recommendation"]
    selector = workload["spec"]["selector"]
    for item in [*found["attempts"], *found["options"]]:
        plain = copy.deepcopy(workload)
        constraints = [
            {**{name: value for name, value in hard.items() if value}, "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": selector}
            for hard in item["constraints"]
        ]  # fmt: skip
        plain["spec"]["template"]["spec"]["topologySpreadConstraints"] = constraints
        regimes = item.get("regimes") or [{"regime": item["regime"], "rules": [item["verdict"]]}]
        yield {**group, "regimes": regimes}, plain


def replayed(
    group: Plain, workloads: Iterable[Plain], nodes: Iterable[Plain], running: Iterable[Plain] = ()
) -> tuple[int, list[str]]:
    """Replay all ways of a group in a report; return their number, and what is impossible in them.

    running: pods of StatefulSets, with which a way may begin.
    """
    found: list[str] = []
    items, number = list(workloads), 0
    for where, rule, witness in witnesses(group):
        number += 1
        world = World(items, nodes, [key["name"] for key in group["workloads"]])
        for pod in running if witness["fromRunning"] else ():
            owner, _, ordinal = pod["metadata"]["name"].rpartition("-")
            world.pods.append(Pod(owner, ordinal=int(ordinal), node=pod["spec"]["nodeName"]))
        problem = world.first_impossible(witness["events"])
        if problem:
            found.append(f"{where}: {problem}")
            continue
        found += [f"{where}: {text}" for text in world.broken(rule, witness)]
        settled = "once settled" in where
        if settled and rule["kind"] in ("maxShare", "maxCount", "separate") and not witness["settled"]:
            found.append(f"{where}: the end is not settled")
    return number, found
