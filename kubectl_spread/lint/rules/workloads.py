"""Workloads whose constraints spread nothing, or differ within a group."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Knowledge, Label, RuleFinding, Severity
from kubectl_spread.lint.group import fields_to_compare, first_difference
from kubectl_spread.lint.rule import rule, UNSAFE
from kubectl_spread.lint.workload import FIELD, is_live, Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH, REPLICATED_KINDS


@rule("SPR205", "constraints on a workload with one replica spread nothing", Severity.INFO, fixes=UNSAFE)
def single_replica(subject: Subject) -> Iterator[RuleFinding]:
    """Find workloads all of whose constraints count a single pod."""
    count = subject.replicas
    if (subject.has_pod and subject.kind not in REPLICATED_KINDS) or count.maximum != 1 or not subject.constraints:
        return
    if all(_is_about_it_alone(subject, constraint) for constraint in subject.constraints):
        where = list(count.origins)
        if subject.has_pod and not where:
            where.append(subject.place(("spec", "replicas")))
        is_fixed = subject.has_pod and not count.autoscaler and not subject.is_overlaid
        yield RuleFinding(
            "there is only 1 replica, so the constraints spread nothing",
            (*subject.holder, FIELD),
            f"remove {FIELD}",
            () if count.autoscaler else tuple(Label(place, "the number of replicas") for place in where),
            fix=fix_builders.without_constraints(subject) if is_fixed else None,
            key=True,
        )


def _is_about_it_alone(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether no pod of another workload can be counted."""
    if not subject.has_pod:
        return subject.names_itself(constraint)
    if not subject.is_in_its_group(constraint) or subject.group_size(constraint) != 1:
        return False
    if subject.kind == "Deployment" and POD_TEMPLATE_HASH in constraint.match_label_keys:
        return True
    asked = {item.key for item in subject.selector(constraint).requirements or () if item.operator == "In"}
    return bool(subject.own_labels) and subject.own_labels.keys() <= asked


@rule(
    "SPR206",
    "constraints on a DaemonSet spread nothing",
    Severity.WARNING,
    needs=("DaemonSet",),
    fixes=UNSAFE,
)
def daemonset(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints whose pods are tied to a node each."""
    if subject.constraints:
        yield RuleFinding(
            "each pod of a DaemonSet is tied to one node, so the constraints have no effect",
            subject.list_route,
            f"remove {FIELD}",
            fix=fix_builders.without_constraints(subject),
            key=True,
        )


@rule("SPR210", "`nodeName` is set, so the scheduler never sees the pod", needs=("nodeName",))
def node_name_set(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints on pods that bypass the scheduler."""
    is_bound = subject.kind == "Pod" and is_live(subject.manifest)  # the scheduler may have written it
    if subject.constraints and subject.spec.get("nodeName") and not is_bound:
        yield RuleFinding(
            f"nodeName bypasses the scheduler, so all pods go to node `{subject.spec['nodeName']}`, whatever the "
            "constraints say",
            (*subject.spec_route, "nodeName"),
            "remove nodeName; nodeSelector or node affinity lets the scheduler choose",
        )


@rule(
    "SPR501",
    "workloads that are counted together have different constraints",
    Severity.WARNING,
    speaks_from=Knowledge.KNOWN,
    around=("NodePool",),
)
def inconsistent_group(subject: Subject) -> Iterator[RuleFinding]:
    """Find the first constraint that differs from an earlier workload's constraint over the same pods."""
    for constraint in subject.in_group:
        group = subject.neighbours(constraint)
        for other in group.twins(subject, constraint):
            # The constraint with the same action if there is one.
            twin = other.constraints.get(constraint.when_unsatisfiable)
            ours = [item for item in subject.constraints if item.topology_key == constraint.topology_key]
            if twin is None and len(other.constraints) == len(ours) == 1:
                (twin,) = other.constraints.values()
            found = None if twin is None else first_difference(constraint, twin)
            if found is not None and twin is not None:
                name, value = found
                what = f"{name} {dict(fields_to_compare(twin))[name]} in {other.subject.title}"
                there = Label(other.subject.place(other.subject.route(twin, name)), what)
                either = ". Karpenter takes either number for all of them, which may differ from round to round"
                either = either if name == "minDomains" and subject.has_karpenter else ""
                yield RuleFinding(
                    f"the same pods are counted with {there.text}, here with {name} {value}{either}",
                    subject.route(constraint, name),
                    "give all workloads of a group the same constraints, or each a selector of its own",
                    (there,),
                )
                return


@rule(
    "SPR508",
    "constraints on a Job that runs one pod at a time spread nothing",
    Severity.INFO,
    one_of=("Job", "CronJob"),
    fixes=UNSAFE,
)
def serial_job(subject: Subject) -> Iterator[RuleFinding]:
    """Find constraints on Jobs that are alone and serial."""
    spec = subject.controller
    # No two Jobs of this manifest may run side by side.
    is_alone = bool(fields(subject.manifest.plain, "metadata").get("name"))
    if subject.kind == "CronJob":
        is_alone = spec.get("concurrencyPolicy") in ("Forbid", "Replace")
        spec = fields(spec, "jobTemplate", "spec")
    parallelism, completions = spec.get("parallelism"), spec.get("completions")
    at_once = 1 if parallelism is None else int(parallelism)
    if completions is not None:
        at_once = min(at_once, int(completions))
    if not is_alone or at_once != 1 or not subject.constraints:
        return
    for constraint in subject.constraints:
        matching = subject.matching(subject.selector(constraint))
        if any(other.workload.key != subject.workload.key for other in matching):
            return
    yield RuleFinding(
        f"this {subject.kind} runs one pod at a time, so the constraints spread nothing",
        subject.list_route,
        f"remove {FIELD}, or raise parallelism",
        fix=fix_builders.without_constraints(subject),
        key=True,
    )
