"""Changes of a pod's own requirements: affinity, node selector, tolerations, host ports, priority, requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_spread.advice.actions import EndPods, PREEMPTED, SetRollout
from kubectl_spread.advice.change import Change, Damage, ids_of, Ladder, Proposal, Rank
from kubectl_spread.advice.moves.nodes import idle_taints, is_of_system
from kubectl_spread.advice.moves.pods import (
    deleting_first,
    first_pod_to_delete,
    is_stuck_for_room,
    ONE_MISSING,
    victims_first,
)
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.recreate import PREFERRED, REQUIRED
from kubectl_spread.advice.target import drop, END, Op, put_op, test
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.lint.topology_keys import intended_key
from kubectl_spread.objects import resources
from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE, plain_constraint
from kubectl_spread.objects.reading.plain import fields, mappings, Plain, strings
from kubectl_spread.objects.resources import CPU, MEMORY
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.preemption import post_filter
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import nearest, spelling_of

_MOST_TAINTS = 5


def propose(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Propose to loosen or correct the pod's rules about nodes and other pods."""
    refusing = {item.plugin for item in problem.explanation.requirements}
    if names.INTER_POD_AFFINITY in refusing:
        yield from _pods(problem, "podAntiAffinity")
        yield from _pods(problem, "podAffinity")
    if (
        names.NODE_AFFINITY in refusing and problem.owner.kind != "DaemonSet"
    ):  # The controller of a DaemonSet pins its pods.
        yield from _node_selector(problem)
        yield from _node_affinity(problem)
    if names.TAINT_TOLERATION in refusing:
        yield from _tolerations(problem)


def _pods(problem: PendingPodProblem, field: str) -> Iterator[Proposal]:
    rules = fields(problem.spec, "affinity", field)
    terms = mappings(rules.get(REQUIRED))
    for at, term in enumerate(terms):
        if field == "podAntiAffinity":
            yield from _of_revision(problem, at, term)
            yield from _spread(problem, rules, at, term)
        key = term.get("topologyKey") or ""
        given = {name: value for name, value in term.items() if value is not None}
        what, lost = "anti-affinity", f"pods may share one value of {key}"
        if field == "podAffinity":
            what, lost = "affinity", f"pods may run in another value of {key} than the pods that they need"
        path, weighted = ("affinity", field, PREFERRED), {"weight": 100, "podAffinityTerm": given}
        change = Change(
            f"make the required pod {what} on {key} a preferred one",
            [*_dropped(field, rules, at), _appended(path, weighted, there=bool(rules.get(PREFERRED)))],
            family=f"preferred {field}",
            rank=Rank.SOFT_AFFINITY,
            weight=at,
            gives_up=f"the rule becomes a preference: {lost}",
        )
        yield _deleting_first(problem, change)


def _deleting_first(problem: PendingPodProblem, change: Change) -> Ladder:
    """Return a change of a rule between pods, and the same with a rollout that first deletes pods with the old rule."""
    steps = [change]
    if is_stuck_for_room(problem, change) and problem.running:
        steps += deleting_first(problem, change, tuple(victims_first("ReplicaSet", problem.running)[:1]))
    return Ladder(len(steps), lambda at: steps[at])


def _dropped(field: str, rules: Plain, at: int) -> list[Op]:
    """Return the operations that remove a required term, and the list with its last one."""
    path, terms = ("affinity", field, REQUIRED), mappings(rules.get(REQUIRED))
    return [
        test((*path, at, "topologyKey"), terms[at].get("topologyKey") or ""),
        drop(path if len(terms) == 1 else (*path, at)),
    ]


def _appended(path: Route, value: Any, *, there: bool) -> Op:
    """Return the operation that appends to a list, which it makes if it is not there."""
    return put_op((*path, END), value) if there else put_op(path, [value])


def _spread(problem: PendingPodProblem, rules: Plain, at: int, term: Plain) -> Iterator[Proposal]:
    """Spread the pods evenly in place of an anti-affinity against themselves, which allows one per domain."""
    own, field = problem.pod.cls.pod_anti_affinity, "topologySpreadConstraints"
    key = term.get("topologyKey") or ""
    taken = {(item.topology_key, item.when_unsatisfiable) for item in problem.pod.cls.constraints}
    is_against_itself = (
        at < len(own) and own[at].selector.matches(problem.pod.labels) and problem.pod.namespace in own[at].namespaces
    )
    if not is_against_itself or (key, DO_NOT_SCHEDULE) in taken:
        return
    constraint = plain_constraint(key, DO_NOT_SCHEDULE, term.get("labelSelector"))
    there = bool(problem.spec.get(field))
    yield _deleting_first(
        problem,
        Change(
            f"replace the required pod anti-affinity on {key} by a constraint with maxSkew 1, which allows several "
            "pods per domain",
            [*_dropped("podAntiAffinity", rules, at), _appended((field,), constraint, there=there)],
            family="spread podAntiAffinity",
            rank=Rank.SPREAD_AFFINITY,
            weight=at,
            gives_up=f"pods may share one value of {key}, if all values have as many",
        ),
    )


def _of_revision(problem: PendingPodProblem, at: int, term: Plain) -> Iterator[Proposal]:
    """Limit anti-affinity to pods of the same revision, so that a rollout has room for both revisions.

    Running pods of the old revision may still repel all others. Then the first rollout must delete one of them first.
    """
    label = problem.revision_label
    keys = list(term.get("matchLabelKeys") or ())
    if not label or label in keys:
        return
    own = problem.pod.labels.get(label)
    old = [
        group
        for group in problem.running_groups.values()
        if group.namespace == problem.pod.namespace and problem.is_own(dict(group.labels))
    ]
    if all(dict(group.labels).get(label, own) == own for group in old):
        return
    path = ("affinity", "podAntiAffinity", REQUIRED, at)
    ops = (test((*path, "topologyKey"), term.get("topologyKey")), put_op((*path, "matchLabelKeys"), [*keys, label]))
    title = f"add matchLabelKeys: [{label}] to the pod anti-affinity on {term.get('topologyKey')}"
    gives_up = f"an old and a new pod may share one {term.get('topologyKey')} while a rollout lasts"
    yield Change(title, ops, "matchLabelKeys", Rank.REVISION, gives_up=gives_up)
    for deleted in first_pod_to_delete(problem):
        title = f"{title}, and maxSurge: 0 with maxUnavailable: 1 until no pod has the old rule"
        actions = (*ops, SetRollout((deleted,)))
        gives_up = f"{gives_up}; {ONE_MISSING}"
        yield Change(title, actions, "matchLabelKeys", Rank.ROLLOUT, weight=1, gives_up=gives_up)


def _node_selector(problem: PendingPodProblem) -> Iterator[Proposal]:
    selector = fields(problem.spec, "nodeSelector")
    relaxes = ids_of(problem, plugin=names.NODE_AFFINITY)
    for key, value in selector.items():
        path = ("nodeSelector", key)
        removed = [test(path, value), drop(path)]
        meant_key, meant_value = _meant(problem, key, value or "")
        if (meant_key, meant_value) != (key, value):
            ops = [*removed, put_op(("nodeSelector", meant_key), meant_value)]
            written = value if meant_key == key else f"{key}: {value}"
            title = f"write nodeSelector {meant_key}: {meant_value} instead of {written}, which no node has"
            yield Change(title, ops, family="nodeSelector", rank=Rank.MISTAKE, relaxes=relaxes)
        yield Change(
            f"remove {key}: {value} from nodeSelector",
            removed,
            family="nodeSelector",
            rank=Rank.NODE_SELECTOR,
            relaxes=relaxes if len(selector) == 1 else (),
            gives_up=f"the pods may run on nodes without {key}={value}",
        )


def _meant(problem: PendingPodProblem, key: str, value: str) -> tuple[str, str]:
    """Return the existing label that a misspelt one probably means; the same label if none is similar."""
    values = problem.values(key)
    if not values:
        known = {label for node in problem.cluster.nodes for label in node.labels}
        other = spelling_of(key, known) or intended_key(key)
        values = problem.values(other)
        if not values:
            return key, value
        key = other
    near = value if value in values else spelling_of(value, values)
    if not near and key != HOSTNAME:  # Nodes come and go, and their names are alike.
        near = nearest(value, sorted(values), cutoff=0.6)
    return key, near or value


def _node_affinity(problem: PendingPodProblem) -> Iterator[Proposal]:
    rules = fields(problem.spec, "affinity", "nodeAffinity")
    if not rules.get(REQUIRED):
        return
    path = ("affinity", "nodeAffinity", REQUIRED)
    terms = mappings(fields(rules[REQUIRED]).get("nodeSelectorTerms"))
    for at, term in enumerate(terms):
        written = mappings(term.get("matchExpressions"))
        for number, expression in enumerate(written):
            where = (*path, "nodeSelectorTerms", at, "matchExpressions", number)
            yield from _corrected(problem, where, expression)
            if len(written) > 1:
                key = expression.get("key")
                yield Change(
                    f"remove the condition on {key} from the required node affinity",
                    [test((*where, "key"), key), drop(where)],
                    family="nodeAffinity",
                    rank=Rank.NODE_SELECTOR,
                    gives_up=f"the pods may run on nodes that the condition on {key} leaves out",
                )
    weighted = [*mappings(rules.get(PREFERRED)), *({"weight": 100, "preference": term} for term in terms)]
    yield Change(
        "make the required node affinity a preferred one",
        [drop(path), put_op((*path[:-1], PREFERRED), weighted)],
        family="nodeAffinity",
        rank=Rank.PREFERRED_NODES,
        gives_up="the pods may run on every node",
    )
    yield Change(
        "remove the required node affinity",
        [drop(path)],
        family="nodeAffinity",
        rank=Rank.NODE_SELECTOR,
        weight=1,
        gives_up="the pods may run on every node",
    )


def _corrected(problem: PendingPodProblem, where: Route, expression: Plain) -> Iterator[Proposal]:
    """Correct a node affinity condition whose label no node has but some nodes have in another spelling."""
    key, values = expression.get("key") or "", strings(expression.get("values"))
    if expression.get("operator") not in ("In", "Exists"):
        return
    found = [_meant(problem, key, value) for value in values or ("",)]
    meant_key = found[0][0]
    meant_values = list(dict.fromkeys(value for _, value in found)) if values else []
    if (meant_key, meant_values) == (key, list(values)):
        return
    corrected = {**expression, "key": meant_key, **({"values": meant_values} if values else {})}
    ops = [test((*where, "key"), key), put_op((*where, "key"), meant_key)]
    if values:
        ops.append(put_op((*where, "values"), meant_values))
    written, now = (
        f"{item.get('key')} in ({', '.join(strings(item.get('values')))})" if any(values) else str(item.get("key"))
        for item in (expression, corrected)
    )
    title = f"write node affinity {now} instead of {written}, which no node has"
    relaxes = ids_of(problem, plugin=names.NODE_AFFINITY)
    yield Change(title, ops, family="nodeAffinity", rank=Rank.MISTAKE, relaxes=relaxes)


def _tolerations(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Let the pod tolerate taints of nodes; taints of unfit nodes come last."""
    untolerated = problem.columns.untolerated_taints(problem.pod.cls.tolerations)
    taints = [taint for taint in dict.fromkeys(untolerated) if taint is not None and not is_of_system(taint)]
    there, idle = bool(mappings(problem.spec.get("tolerations"))), idle_taints(problem)
    for taint in taints[:_MOST_TAINTS]:
        rank = Rank.IDLE_NODES if taint in idle else Rank.TOLERATION
        if taint.key.startswith("node-role.kubernetes.io/"):
            rank = Rank.RISKY_TOLERATION
        # It is appended to the existing ones, because not all of their fields may be known.
        value: Plain = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
        toleration = {"key": taint.key, **value, "effect": taint.effect}
        yield Change(
            f"tolerate the taint {taint}",
            [_appended(("tolerations",), toleration, there=there)],
            family="tolerations",
            rank=rank,
            gives_up=f"the pods may run on nodes that {taint} keeps free of them",
        )


def propose_host_ports(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Remove the host ports; a Service reaches the pods by their container ports."""
    refused = ids_of(problem, kind=RequirementKind.PORT)
    if not refused or not problem.is_template_known or problem.spec.get("hostNetwork"):
        return
    ports: list[int] = []
    ops: list[Op] = []
    for field in ("containers", "initContainers"):
        for at, container in enumerate(mappings(problem.spec.get(field))):
            for number, port in enumerate(mappings(container.get("ports"))):
                if port.get("hostPort"):
                    path = (field, at, "ports", number, "hostPort")
                    ports.append(int(port["hostPort"]))
                    ops += [test(path, port["hostPort"]), drop(path)]
    if ports:
        listed = ", ".join(map(str, dict.fromkeys(ports)))
        yield Change(
            f"drop {'hostPort' if len(ports) == 1 else 'hostPorts'} {listed}, so that a node takes more than one of "
            "these pods",
            ops,
            family="hostPort",
            rank=Rank.HOST_PORT,
            relaxes=refused,
            gives_up=f"the pods no longer answer at port {listed} of their nodes: reach them through a Service",
        )


_NODE_AGENT = "system-node-critical"


def propose_priority(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Let a DaemonSet's pods preempt the pods that fill their nodes."""
    full = (RequirementKind.RESOURCE, RequirementKind.PODS, RequirementKind.PORT)
    if problem.owner.kind != "DaemonSet" or not any(item.kind in full for item in problem.explanation.requirements):
        return
    classes = problem.cluster.priority_classes
    own = [  # The cluster's own classes above the pod's, the lowest first; then the one of node agents.
        (item.value, name)
        for name, item in classes.items()
        if not name.startswith("system-")
        and item.value > problem.pod.cls.priority
        and item.preemption_policy != "Never"
    ]
    own.sort(key=lambda item: item[0])
    for value, name in (*own, (classes[_NODE_AGENT].value, _NODE_AGENT)):
        pod = problem.pod._replace(cls=problem.pod.cls._replace(priority=value, preemption_policy=""))
        scheduler = Scheduler(problem.columns.copy_for_cluster(problem.cluster), problem.profiles)
        filtered = scheduler.filter(pod)
        victims = () if filtered.feasible.any() else post_filter(pod, filtered, scheduler).victims
        if not victims:
            continue
        lost = [pod.name for pod in victims if pod.owner is None]
        listed = ", ".join(f"{pod.name} on {pod.node_name}" for pod in victims)
        kills = f"kills pod{'s' if len(lost) > 1 else ''} {', '.join(lost)}, which nothing creates again; "
        yield Change(
            f"give the pods priorityClassName: {name}, so that the scheduler makes room for them on full nodes",
            (put_op(("priorityClassName",), name), EndPods(victims, PREEMPTED)),
            "priority",
            Rank.PRIORITY,
            gives_up=f"{kills if lost else ''}pods of a lower priority are evicted for them: {listed}",
            damage=Damage.KILLS if lost else Damage.EVICTS,
        )
        return


_MEBI = 1024 * 1024
_LEAST_PART = 4  # no request is lowered to less than a quarter


def propose_requests(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Lower the largest container's request of a lacking resource, if the containers are known."""
    for requirement in problem.explanation.requirements if problem.is_template_known else ():
        if requirement.kind is RequirementKind.RESOURCE and requirement.key in (CPU, MEMORY):
            yield from _lowered(problem, requirement)


def _lowered(problem: PendingPodProblem, requirement: Requirement) -> Iterator[Proposal]:
    resource = requirement.key
    requests, containers = [], mappings(problem.spec.get("containers"))  # in milli-CPU or bytes
    for at, container in enumerate(containers):
        written = fields(container, "resources", "requests").get(resource)
        if written is not None:
            thousandths = resources.parse(written)
            requests.append(((resources.milli if resource == CPU else resources.whole_units)(thousandths), at))
    if not requests:
        return
    request, at = max(requests)
    free = problem.columns.free(resource)
    least = request // _LEAST_PART
    rest = dict(problem.pod.cls.requests).get(resource, 0) - request
    room = free[~requirement.allowed] - rest
    # Rounded down to values that people write: 10 milli-CPU or 1 MiB
    unit = 10 if resource == CPU else _MEBI
    shares = {int(amount) // parts for amount in set(room.tolist()) for parts in range(1, 5)}
    amounts = {share if resource == CPU and share < unit else share // unit * unit for share in shares}
    steps = sorted((amount for amount in amounts if least <= amount < request and amount > 0), reverse=True)
    path = ("containers", at, "resources", "requests", resource)
    name = containers[at].get("name")

    def step(number: int) -> Change:
        text = _text(steps[number], resource)
        return Change(
            f"lower the {resource} request of container {name} to {text}",
            [test(("containers", at, "name"), name), put_op(path, text)],
            family=f"{resource} request",
            rank=Rank.REQUESTS,
            relaxes={requirement.id},
            gives_up=f"the container is guaranteed {text} of {resource} instead of {_text(request, resource)}",
        )

    if steps:
        yield Ladder(len(steps), step)


def _text(amount: int, resource: str) -> str:
    return f"{amount}m" if resource == CPU else resources.amount(resource, amount // _MEBI * _MEBI)
