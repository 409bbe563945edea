"""The answer of `rebalance`, for people and as JSON; the schema is schemas/rebalance-plan.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from shlex import quote

from kubectl_spread.advice.rebalance.plan import (
    ConstraintChange,
    Coverage,
    Eviction,
    EvictionPlan,
    Obstacle,
    ObstacleKind,
    Rebalance,
    Remedy,
    RemedyKind,
    Repair,
    RepairVerdict,
    RestartPlan,
    UnclearBudget,
)
from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.report.documents import form, origin, Plain, report_document, to_document
from kubectl_spread.report.table import hang_indent, paint, Style, table, wrap
from kubectl_spread.report.wording import (
    also_counted,
    name,
    names,
    pods_by_domain,
    resource,
    series,
    without_preemption,
)
from kubectl_spread.text.wording import count_noun, first_of, join_with_and, safe

_MOST_DOMAINS = 12
_MOST_NODES = 4
_MOST_PODS = 5  # that a sentence names
_MOST_EVICTIONS = 40
_UNTRIED = (  # obstacles with which not every remedy is tried
    ObstacleKind.CONTROLLER,
    ObstacleKind.ABSENT,
    ObstacleKind.UNKNOWN_CLAIMS,
    ObstacleKind.UNSETTLED,
    ObstacleKind.UNCOUNTED,
    ObstacleKind.NO_DOMAIN,
    ObstacleKind.TOO_MANY,
    ObstacleKind.GAVE_UP,
)
_PATIENCE = "10m"


def render(found: Rebalance, style: Style) -> str:
    """Return the answer; in short without the evidence."""
    blocks: list[list[str]] = []
    for item in found.repairs:
        parts = [list(lines) for is_detail, lines in _parts(item, style) if style.is_detailed or not is_detail]
        blocks += filter(None, parts) if style.is_detailed else [[line for lines in parts for line in lines]]
    if any(map(commands, found.repairs)):
        blocks.append(wrap("If a command fails, the rest do not run. Run rebalance again.", style))
    if found.is_cut_short:
        blocks.append(["A search was cut short; --effort thorough visits more states."])
    if found.notes:
        blocks.append(_wrapped(["Not simulated:", *(f"  {note}" for note in found.notes)], style))
    return "\n\n".join("\n".join(block) for block in blocks)


def _wrapped(lines: Iterable[str], style: Style) -> list[str]:
    """Return lines in the width of the style; an indented line goes on two columns further to the right."""
    return [
        part for line in lines for part in hang_indent([safe(line)], style.width, hanging="  " * line.startswith(" "))
    ]


def _parts(item: Repair, style: Style) -> Iterator[tuple[bool, Iterable[str]]]:
    """Yield the parts of the answer for workloads that are repaired together, each with whether it is a detail."""
    violations, most = [], None if style.is_detailed else _MOST_DOMAINS
    for change in item.before:
        status, counts = change.status, {domain.value: domain.before for domain in change.domains}
        also = also_counted(status.also_counted)
        violations.append(
            f"  {_whose(change, item)}{status.topology_key} ({status.when_unsatisfiable}): "
            f"{pods_by_domain(counts, most=most)}; skew {status.skew}, maxSkew {status.max_skew}{_min_domains(change)}"
            f"{'; ' * bool(also)}{also}"
        )
    yield (
        False,
        [
            f"{names(item.keys)}: {paint(verdict(item), 'good' if item.is_repaired else 'bad')}",
            *_wrapped(violations, style),
        ],
    )
    script = ["Commands:", *(f"  {style.command(line)}" for line in script_lines(commands(item)))]
    if item.verdict is RepairVerdict.EVICT and item.plan is not None:
        plan = item.plan
        if plan.evictions:
            shown = plan.evictions if style.is_detailed else plan.evictions[:_MOST_EVICTIONS]
            head, left = ("#", "POD", "NODE", "THE NEW POD GOES TO"), len(plan.evictions) - len(shown)
            lines = [*_wrapped([eviction_warning(plan)], style)]
            lines += table([head, *eviction_rows(shown)], style, indent="  ")
            yield False, [*lines, f"  and {count_noun(left, 'more eviction')}; --details lists all"] if left else lines
            yield False, _wrapped(reservations(plan), style)
            yield False, script
        for change in plan.changes:
            yield True, _change(change, item, style)
        yield plan.coverage.is_exact and bool(plan.evictions), _wrapped(certainty(plan, item), style)
        yield False, _wrapped(alternative(item), style)
    elif item.verdict is RepairVerdict.RESTART:
        last = item.restarts[-1]
        yield False, _wrapped([restart_warning(item)], style)
        yield False, script
        yield False, _wrapped(why_restart(item), style)
        for change in last.changes:
            yield True, _change(change, item, style)
        yield last.coverage.is_exact, _wrapped([_covered(last.coverage, (), "")], style)
    else:
        yield False, _wrapped(["Why:", *(f"  - {obstacle(line)}" for line in item.obstacles)], style)
        remedies = remedy_lines(item)
        if item.remedies:
            remedies = ["What would help, each simulated:", *(f"  - {style.command(line)}" for line in remedies)]
        yield False, _wrapped(remedies, style)


def verdict(item: Repair) -> str:
    """Return the result in a few words."""
    what = "it" if len(item.keys) == 1 else "them"
    if item.verdict is RepairVerdict.RESTART:
        return f"a rollout restart repairs {what}"
    if item.verdict is RepairVerdict.NO_PLAN or item.plan is None:
        is_open = any(obstacle.kind is ObstacleKind.GAVE_UP for obstacle in item.obstacles)
        return "no plan found in the time given" if is_open else "no plan"
    if not item.plan.evictions:
        return "repaired without an eviction, once the cluster settles"
    return f"{count_noun(len(item.plan.evictions), 'eviction')} repair{'s' * (len(item.plan.evictions) == 1)} {what}"


def _whose(change: ConstraintChange, item: Repair) -> str:
    return f"{change.owner.name}: " if len(item.keys) > 1 else ""


def reservations(plan: EvictionPlan) -> Iterator[str]:
    """Yield reservations about the plan: uncertain facts, and changes that must end before."""
    if plan.unsettled:
        yield (
            f"Wait first: a rollout or another change of {names(plan.unsettled)} is under way, and this plan begins "
            "when it is over."
        )
    doubts = [unclear_budget(item) for item in plan.unclear_budgets]
    doubts += [] if plan.has_all_budgets else ["These cluster facts may lack PodDisruptionBudgets."]
    if doubts:
        yield (
            f"{' '.join(doubts)} The commands ask the API server, which refuses an eviction that a budget does not "
            "allow."
        )
    if plan.autoscaled:
        yield (
            f"A HorizontalPodAutoscaler may change the replicas of {names(plan.autoscaled)} in the meantime. Make a "
            "new plan then."
        )


def eviction_warning(plan: EvictionPlan) -> str:
    """Return a warning with the number of pods that the plan deletes, and those that lose data."""
    number, losing, losses = len(plan.evictions), [item for item in plan.evictions if item.volatile], ""
    what = "1 running pod" if number == 1 else f"{number} running pods, one after the other"
    patience = "" if number == 1 else "Continue only once the new pod is ready. "
    if losing:
        volumes = series(sorted({volume for item in losing for volume in item.volatile}))
        more = f" and {len(losing) - _MOST_NODES} more" if len(losing) > _MOST_NODES else ""
        pods = series([item.pod for item in losing[:_MOST_NODES]])
        losses = f"The data of these pods in {volumes} (emptyDir or ephemeral) is lost: {pods}{more}."
    return f"This plan deletes {what}. Nothing was deleted yet. {patience}{losses}".rstrip()


def eviction_rows(evictions: Sequence[Eviction]) -> list[tuple[str, ...]]:
    """Return the number, the pod, its node and the nodes of the new pod of each eviction; of many, their domain."""
    rows: list[tuple[str, ...]] = []
    for at, item in enumerate(evictions, 1):
        nodes = series(item.nodes, "or")
        if len(item.nodes) > _MOST_NODES:
            places = {key: values for key, values in item.places.items() if key != HOSTNAME and values}
            smallest = min(places.items(), key=lambda place: (len(place[1]), place[0]), default=("", ()))[1]
            where = f" in {series(smallest[:_MOST_NODES], 'or')}" if places else ""
            nodes = f"one of {len(item.nodes)} nodes{where}"
        rows.append((str(at), item.pod, item.node, nodes))
    return rows


def _change(change: ConstraintChange, item: Repair, style: Style) -> list[str]:
    head = (f"{_whose(change, item)}{change.status.topology_key}", "before", "after")
    rows = [
        (domain.value or '""', str(domain.before), "" if domain.after is None else str(domain.after))
        for domain in change.domains
    ]
    after = "" if change.skew_after is None else f" before, {change.skew_after} after"
    sentence = f"  Skew {change.status.skew}{after}; maxSkew is {change.status.max_skew}{_min_domains(change)}."
    return [*table([head, *rows], style, indent="  "), *_wrapped([sentence], style)]


def certainty(plan: EvictionPlan, item: Repair) -> Iterator[str]:
    """Yield what was visited, and what holds."""
    yield _covered(plan.coverage, plan.evictions, "No other pod is moved.")
    if not plan.evictions:
        return
    smallest = "No shorter list of evictions is enough."
    if not plan.is_smallest:
        are = "is" if plan.at_least == 1 else "are"
        needed = f"At least {count_noun(plan.at_least, 'eviction')} {are} needed"
        smallest = f"{needed}; no list shorter than this one was found."
    parts = [f"{number} of {count_noun(item.wanted[key], 'pod')}" for key, number in plan.fewest_ready.items()]
    if len(parts) > 1:
        parts = [f"{part} of {key.name}" for part, key in zip(parts, plan.fewest_ready, strict=True)]
    stay = "stays" if list(plan.fewest_ready.values()) == [1] else "stay"
    yield f"{smallest} At least {series(parts)} {stay} ready on the way."


def alternative(item: Repair) -> Iterator[str]:
    """Yield what a rollout restart would do instead of evictions."""
    if item.restarts and item.plan is not None:
        yield f"Or: a rollout restart, which replaces all {count_noun(_restarted(item), 'pod')}."


def _restarted(item: Repair) -> int:
    return sum(restart.pods for restart in item.restarts)


def restart_warning(item: Repair) -> str:
    """Return a warning with the number of pods that the restarts replace, and whether they lose data."""
    number = _restarted(item)
    volumes = sorted({volume for restart in item.restarts for volume in restart.volatile})
    losses = f" The data of its pods in {series(volumes)} (emptyDir or ephemeral) is lost." if volumes else ""
    what = "the running pod" if number == 1 else f"all {number} running pods"
    return f"This plan replaces {what}. Nothing was replaced yet.{losses}"


def why_restart(item: Repair) -> Iterator[str]:
    """Yield why a rollout restart is better than evictions."""
    ready, pods = min(restart.fewest_ready for restart in item.restarts), count_noun(sum(item.wanted.values()), "pod")
    if item.plan is not None:
        number, left = len(item.plan.evictions), sum(item.plan.fewest_ready.values())
        yield (
            f"Why not evict: {count_noun(number, 'eviction')} would repair it, too, but leave only {left} of {pods} "
            f"ready on the way. The rollout creates new pods first: {ready} stay ready."
        )
        return
    why = "; ".join(map(obstacle, item.obstacles))
    yield f"Why not evict: {why}. The rollout keeps at least {ready} of {pods} ready."


def remedy_lines(item: Repair) -> list[str]:
    """Return what would help; a sentence if nothing does."""
    if item.remedies or any(obstacle.kind in _UNTRIED for obstacle in item.obstacles):
        return list(map(remedy, item.remedies))
    return ["No node to add, no cordon to remove and no weaker constraint was found that makes a plan possible."]


def obstacle(item: Obstacle) -> str:
    """Return why evictions do not repair the constraints."""
    kind = "" if item.owner is None else item.owner.kind
    text = _OBSTACLES[item.kind]
    if item.kind is ObstacleKind.CONTROLLER:
        text = _CONTROLLERS.get(kind, "{owner}: what a {kind} does after an eviction is not simulated")
    if item.kind is ObstacleKind.UNREACHABLE and item.pods:
        text += ": it also counts pods of {pods}, which this plan may not evict"
    others = first_of(item.pods, _MOST_PODS, lambda left: f"one of {left} others" if left > 1 else "another pod")
    are, its = ("is", "its") if len(item.pods) == 1 else ("are", "their")
    return text.format(
        kind=kind,
        owner=name(item.owner),
        key=series(item.topology_keys),
        pods=series(first_of(item.pods, _MOST_PODS, lambda left: count_noun(left, "other pod"))),
        any_pod=join_with_and(others, word="or"),
        are=are,
        its=its,
        message=item.message,
        why=f": {without_preemption(item.message)}" if item.message else _WHY.get(item.kind, ""),
        evictions=count_noun(item.number, "eviction"),
    )


_WHY = {
    ObstacleKind.UNCREATED: (", because its controller waits for another pod; `explain` says why that one is Pending")
}
_COUNTS_AS_FAILED = "{owner} counts an evicted pod as failed, so its pods are not evicted"
_CONTROLLERS = {
    "Pod": "{owner} has no controller: nothing would create it again",
    "Job": _COUNTS_AS_FAILED,
    "CronJob": _COUNTS_AS_FAILED,
}
_OBSTACLES = {
    ObstacleKind.CONTROLLER: "",
    ObstacleKind.ABSENT: (
        "{owner} is not in the cluster facts, which say how it replaces pods; add it to the snapshot, or get the "
        "right to list it"
    ),
    ObstacleKind.UNKNOWN_CLAIMS: (
        "the PersistentVolumeClaims of {pods} are not in the cluster facts: their volumes may keep the pods in their "
        "zones, and a new pod would then stay Pending; add PersistentVolumeClaims, PersistentVolumes and "
        "StorageClasses to the facts"
    ),
    ObstacleKind.UNSETTLED: (
        "{owner} is still changing: a rollout or another change under way replaces or removes running pods; wait until "
        "it is over"
    ),
    ObstacleKind.UNCOUNTED: (
        "the constraint on {key} counts only some pods of {owner}: {pods} {are} missed by its selector, so its counts "
        "say nothing about them"
    ),
    ObstacleKind.NO_DOMAIN: "no node that counts has the label {key}: every new pod would stay Pending",
    ObstacleKind.UNREACHABLE: "no distribution of these pods satisfies the constraint on {key} of {owner}",
    ObstacleKind.CONFLICT: (
        "no distribution of the pods of {owner} satisfies its constraints on {key} together: some domains have too few "
        "nodes for their share of the pods, so any pod that is evicted for one constraint violates another"
    ),
    ObstacleKind.PINNED: "{pods} {are} bound to one domain of {key} by {its} volumes, and cannot leave it",
    ObstacleKind.PENDING: "the pod that replaces {any_pod} would stay Pending{why}",
    ObstacleKind.UNCREATED: "the pod that replaces {any_pod} would not be created{why}",
    ObstacleKind.REFUSED: "the eviction of {any_pod} would be refused: {message}",
    ObstacleKind.DISPLACES: "the pod that replaces {any_pod} would take the place of another pod (preemption)",
    ObstacleKind.UNREADY: "the pod that replaces {any_pod} would not become ready, as no pod of its revision is",
    ObstacleKind.ENDLESS: "after the eviction of {any_pod} pods would be replaced again and again",
    ObstacleKind.RETURNS: "no eviction helps: new pods may go to nodes where they do not help",
    ObstacleKind.TOO_MANY: "a plan needs at least {evictions}, more than --max-moves allows",
    ObstacleKind.GAVE_UP: "the search ended before it had tried everything ({evictions} tried)",
}


def remedy(item: Remedy) -> str:
    """Return a change that makes a plan possible, with what follows from it."""
    where = "in every outcome" if item.is_exact else "in every outcome that was simulated"
    effect = "then the constraints hold without an eviction"
    if item.is_rollout:
        effect = f"this starts a rollout, which completes, and all constraints hold {where}"
    elif item.evictions:
        effect = f"then {count_noun(item.evictions, 'eviction')} would be enough {where}"
    counts = Counter(item.nodes)
    added = f"{count_noun(len(item.nodes), 'node')} like {item.like}"
    if "" not in counts:
        places = series(f"{count_noun(number, 'node')} in {place}" for place, number in counts.items())
        added = f"{places} ({item.topology_key}), like {item.like}"
    change = _REMEDIES[item.kind].format(
        added=added,
        nodes=series(item.nodes),
        arguments=" ".join(item.nodes),
        name=item.name,
        number=item.number,
        key=item.topology_key,
        owner=name(item.owner),
    )
    return f"{change}; {effect}"


_CONSTRAINT = "the constraint on {key} of {owner}"
_COUNTED = "so that nodes with taints that the pods do not tolerate no longer count"
_NEW_PODS = "only its new pods are counted"
_REMEDIES = {
    RemedyKind.ADD_NODES: "add {added}",
    RemedyKind.UNCORDON: "uncordon {nodes} (`kubectl uncordon {arguments}`)",
    RemedyKind.BUDGET: "let the disruption budget {name} allow one pod to be missing (maxUnavailable: {number})",
    RemedyKind.BY_REVISION: f"add matchLabelKeys: [pod-template-hash] to {_CONSTRAINT}, so that {_NEW_PODS}",
    RemedyKind.HONOR_BY_REVISION: (
        f"set nodeTaintsPolicy: Honor and matchLabelKeys: [pod-template-hash] in {_CONSTRAINT}, {_COUNTED}, and "
        f"{_NEW_PODS}"
    ),
    RemedyKind.HONOR_TAINTS: f"set nodeTaintsPolicy: Honor in {_CONSTRAINT}, {_COUNTED}",
    RemedyKind.MIN_DOMAINS: f"lower minDomains to {{number}} in {_CONSTRAINT}",
    RemedyKind.MIN_DOMAINS_BY_REVISION: (
        f"lower minDomains to {{number}} and add matchLabelKeys: [pod-template-hash] in {_CONSTRAINT}, so that "
        f"{_NEW_PODS}"
    ),
    RemedyKind.MAX_SKEW: "raise maxSkew of the constraint on {key} to {number} in {owner}",
    RemedyKind.SOFTEN: f"change {_CONSTRAINT} to ScheduleAnyway, which then guarantees nothing",
}


def unclear_budget(item: UnclearBudget) -> str:
    """Return why a budget may select the pods of a plan, although nothing shows that it does."""
    why = f"its selector is invalid ({safe(item.selector_error)})" if item.selector_error else "it could not be read"
    return f"PodDisruptionBudget {safe(item.namespace)}/{safe(item.name)} may cover these pods: {why}."


def _min_domains(change: ConstraintChange) -> str:
    if change.status.min_domains is None or len(change.domains) >= change.status.min_domains:
        return ""
    return f", with fewer than minDomains ({change.status.min_domains}) domains, so that the minimum is 0"


def _covered(coverage: Coverage, evictions: Sequence[Eviction], more: str) -> str:
    visited = f"({count_noun(coverage.states, 'state')} visited)"
    if coverage.is_exact:
        where = f" in all {coverage.outcomes:,} outcomes"
        if coverage.outcomes == 1:
            is_alike = any(len(item.nodes) > 1 for item in evictions)
            where = ", whichever of several equal nodes takes a pod" if is_alike else ", in the only possible outcome"
        return f"The constraints hold afterwards{where} {visited}. {more}".rstrip()
    every = f"all {coverage.outcomes:,} outcomes that were simulated"
    outcomes = "the only outcome that was simulated" if coverage.outcomes == 1 else every
    if coverage.is_in_motion:
        return (
            f"The constraints hold afterwards in {outcomes} {visited}. But these cluster facts are of a moment in "
            "which pods are created or deleted, so other outcomes are possible. Wait until this is over, and make a "
            "new plan."
        )
    if coverage.basis is Basis.NOT_SIMULATED:
        return f"The constraints hold afterwards in {outcomes} {visited}. What is not simulated can change this."
    return (
        f"The constraints hold afterwards in {every} {visited}. Not every state was visited, so other outcomes are "
        "possible."
    )


def commands(item: Repair) -> list[str]:
    """Return the commands of kubectl 1.36 for a POSIX shell that carry out the recommended plan; none is ever run."""
    if item.verdict is RepairVerdict.RESTART:
        return [command for restart in item.restarts for command in restart_commands(restart)]
    if item.plan is None:
        return []
    return [command for eviction in item.plan.evictions for command in eviction_commands(eviction, item.plan)]


def eviction_commands(eviction: Eviction, plan: EvictionPlan) -> Iterator[str]:
    """Yield the commands of kubectl 1.36 for an eviction; the last one waits until the new pod is ready.

    A pod that a budget may select is evicted, so that the API server asks the budget once more. Any other pod is
    deleted. kubectl 1.36 has no command for one eviction, so the request is sent to the pod's subresource.
    """
    name, key = eviction.pod, eviction.owner
    pod, namespace = quote(name), quote(key.namespace)
    if not eviction.asks_budgets:
        yield f"kubectl delete pod {pod} -n {namespace}"
    else:
        request: Plain = {"apiVersion": "policy/v1", "kind": "Eviction"}
        request["metadata"] = {"name": name, "namespace": key.namespace}
        gone = f"kubectl wait --for=delete {quote(f'pod/{name}')} -n {namespace} --timeout={_PATIENCE}"
        if eviction.uid and key.kind == "StatefulSet":  # A later pod of this name has another uid.
            request["deleteOptions"] = {"preconditions": {"uid": eviction.uid}}
            uid = f"kubectl get pod {pod} -n {namespace} --ignore-not-found -o 'jsonpath={{.metadata.uid}}'"
            gone = f'while [ "$({uid})" = {quote(eviction.uid)} ]; do sleep 1; done'
        text = quote(json.dumps(request, separators=(",", ":")))
        path = quote(f"/api/v1/namespaces/{key.namespace}/pods/{name}/eviction")
        yield f"echo {text} | kubectl create -f - --raw {path}"
        yield gone
    if key in plan.rolled_out:
        yield _until_rolled_out(key)
    else:  # Its rollout never ends: it is paused, on deletion, or has Pending pods.
        ready = quote(f"jsonpath={{.status.readyReplicas}}={plan.ready[key]}")
        yield f"kubectl wait --for={ready} {quote(resource(key))} -n {namespace} --timeout={_PATIENCE}"


def _until_rolled_out(key: ObjectKey) -> str:
    return f"kubectl rollout status {quote(resource(key))} -n {quote(key.namespace)} --timeout={_PATIENCE}"


def restart_commands(restart: RestartPlan) -> list[str]:
    """Return the commands of a rollout restart."""
    restarted = f"kubectl rollout restart {quote(resource(restart.key))} -n {quote(restart.key.namespace)}"
    return [restarted, _until_rolled_out(restart.key)]


def script_lines(lines: list[str]) -> list[str]:
    """Return the lines of a script in which no command runs after one that failed."""
    return [*(f"{line} &&" for line in lines[:-1]), *lines[-1:]]


def document(
    found: Rebalance,
    errors: Iterable[SourceError],
    unread: Iterable[Unread],
    *,
    is_interrupted: bool,
) -> Plain:
    """Return a RebalancePlan."""
    fields = "repaired=fine interrupted cutShort checked repairs notes"
    plan = to_document(found, fields, interrupted=is_interrupted, checked=len(found.checked))
    return report_document("RebalancePlan", plan, errors=errors, unread=unread)


_COVERAGE = "exact=coverage.exact outcomes=coverage.outcomes states=coverage.states"
form(
    Repair,
    "objects=keys verdict violated=before plan restarts obstacles remedies commands",
    commands=commands,
)
form(
    EvictionPlan,
    "evictions atLeast smallest fewestReady waitsFor=unsettled autoscaled budgetsKnown unclearBudgets "
    f"inMotion=coverage.in_motion constraints=changes {_COVERAGE}",
    evictions=lambda plan: [to_document(item, commands=list(eviction_commands(item, plan))) for item in plan.evictions],
    fewestReady=lambda plan: [{"object": key, "pods": number} for key, number in plan.fewest_ready.items()],
    budgetsKnown=lambda plan: plan.has_all_budgets and not plan.unclear_budgets,
)
form(UnclearBudget, "namespace name message", message=unclear_budget)
form(
    Eviction,
    "object=owner pod node landsOn=nodes landsIn=places budget? asksBudgets lostVolumes=volatile commands",
)
form(
    RestartPlan,
    f"object=key pods fewestReady lostVolumes=volatile constraints=changes commands {_COVERAGE}",
    commands=restart_commands,
)
form(
    ConstraintChange,
    "object=owner index=status.position origin topologyKey=status.topology_key maxSkew=status.max_skew "
    "whenUnsatisfiable=status.when_unsatisfiable minDomains=status.min_domains violated skew domains",
    origin=lambda change: origin(change.status),
    skew=lambda change: {"before": change.status.skew, "after": change.skew_after},
)
form(Obstacle, "reason=kind object=owner pods topologyKeys number message? text", text=obstacle)
form(
    Remedy,
    "change=kind object=owner topologyKey? nodes likeNode?=like budget?=name number index evictions rollout exact text",
    index=lambda remedy: remedy.position if remedy.is_rollout else None,
    text=remedy,
)
