"""Default constraints of the scheduler, and default values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint.finding import Fix, Knowledge, rule, RuleFinding, SAFE, SCHEDULER, Severity, UNSAFE
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import host_ports, node_values, terms
from kubectl_spread.lint.topology_keys import SUCCESSORS
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.constraints.constraint import (
    DO_NOT_SCHEDULE,
    HONOR,
    IGNORE,
    SCHEDULE_ANYWAY,
)
from kubectl_spread.objects.constraints.spread_args import FieldPlace, LocatedError
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import mappings, numbered_mappings, Plain
from kubectl_spread.objects.releases.version import default_release
from kubectl_spread.objects.selectors import HOSTNAME, REGION, ZONE
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS, SCALED_KINDS
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.edit import Append, Drop, Put
from kubectl_spread.text.wording import did_you_mean

_GROUP = "kubescheduler.config.k8s.io"
_STRICT = "v1"  # the only version that refuses unknown fields


def errors(manifest: Manifest, rule: spread_args.SpreadArgsRule) -> Iterator[LocatedError]:
    """Yield the errors of one rule in args that decode."""
    for plain, here, problems in _args(manifest):
        if not problems:
            yield from (error for broken, error in spread_args.errors(plain, here) if broken is rule)


def _args(manifest: Manifest) -> Iterator[tuple[Plain, FieldPlace, list[decode.Problem]]]:
    """Yield the args of each profile with their place, and why kube-scheduler cannot decode them."""
    group, _, version = manifest.api_version.partition("/")
    if group != _GROUP:
        return
    for index, profile in numbered_mappings(manifest.plain.get("profiles")):
        for at, item in numbered_mappings(profile.get("pluginConfig")):
            args = item.get("args")
            if item.get("name") == names.POD_TOPOLOGY_SPREAD and isinstance(args, dict):
                if version == "v1alpha2" and args.get("defaultConstraints"):
                    args = {**args, "defaultingType": spread_args.LIST}  # it has no such field
                problems = decode.problems(args, spread_args.SHAPE)
                refused = [item for item in problems if version == _STRICT or item.kind is decode.ProblemKind.TYPE]
                yield args, FieldPlace(("profiles", index, "pluginConfig", at, "args")), refused


def _has_built_in(minor: Optional[int]) -> bool:
    """Return whether the scheduler has built-in default constraints; an unknown version has them."""
    if minor is None:
        return True
    from kubectl_spread.objects.releases.behaviours import SYSTEM_DEFAULTS  # 4 ms

    return SYSTEM_DEFAULTS.of(default_release(minor))


@rule(
    "SPR214",
    "an empty list of constraints does not switch the defaults off",
    Severity.INFO,
    speaks_from=Knowledge.KNOWN,
)
def empty_list_not_opt_out(subject: Subject) -> Iterator[RuleFinding]:
    """Find lists that are written, and empty."""
    if subject.kind not in REPLICATED_KINDS or subject.is_single:
        return
    if subject.spec.get(FIELD) == [] and _has_built_in(subject.target.minor):
        yield RuleFinding(
            "an empty list does not switch the scheduler's default constraints off, so they still apply to the pods",
            subject.list_route,
            "remove the list; only a constraint replaces the defaults",
        )


@rule(
    "SPR507",
    "constraints over only zones or only nodes switch off the default spreading over the other",
    Severity.INFO,
    around=SCHEDULER,
    speaks_from=Knowledge.KNOWN,
    fixes=UNSAFE,
)
def drops_default_spread(subject: Subject) -> Iterator[RuleFinding]:
    """Find workloads with constraints over zones but not over nodes, or the other way round."""
    if not _has_defaults(subject) or subject.is_single:
        return
    own = subject.in_group
    keys = {SUCCESSORS.get(item.topology_key, item.topology_key) for item in subject.constraints}
    if not own or not keys <= {ZONE, HOSTNAME, REGION} or (ZONE in keys) == (HOSTNAME in keys):
        return
    missing = HOSTNAME if ZONE in keys else ZONE
    # Anti-affinity, or on a node a port, does for a key what a constraint would.
    is_apart = any(term.repels and term.topology_key == missing for term in terms(subject))
    is_apart |= missing == HOSTNAME and any(host_ports(subject))
    if is_apart or missing in subject.patched_keys or _is_moot(subject, missing):
        return
    route = subject.list_route
    is_node = missing == HOSTNAME
    what = "nodes by default, so pods of one zone may share a node"
    written = mappings(subject.spec.get(FIELD))[own[0].position]
    constraint = {
        "maxSkew": 1,
        "topologyKey": missing,
        "whenUnsatisfiable": SCHEDULE_ANYWAY,
        **{name: written[name] for name in ("labelSelector", "matchLabelKeys") if written.get(name)},
    }
    yield RuleFinding(
        "with these constraints the scheduler no longer spreads over "
        f"{what if is_node else 'zones by default, so all pods may end up in one zone'}",
        route,
        f"add a {SCHEDULE_ANYWAY} constraint over {missing}",
        fix=Fix(f"add a {SCHEDULE_ANYWAY} constraint over `{missing}`", (Append(route, constraint),)),
        key=True,
    )


def _has_defaults(subject: Subject) -> bool:
    """Return whether the pods would be spread by the built-in constraints if they had none.

    These select by the controller. Pods with another kind of controller count only if a Service selects them.
    """
    return (
        subject.kind in SCALED_KINDS
        and not subject.refusals
        and not subject.is_owned
        and subject.spec.get("schedulerName") in (None, "", "default-scheduler")
        and not subject.spec.get("nodeName")
        and _has_built_in(subject.target.minor)
        and not any(args for manifest in subject.project.of_kind(*SCHEDULER) for args in _args(manifest))
        and (subject.facts is None or subject.facts.configured_defaults(subject.workload) is None)  # SPR910
    )


def _is_moot(subject: Subject, key: str) -> bool:
    """Return whether spreading over a key would change nothing."""
    if subject.facts is not None and key not in subject.facts.node_keys:
        return True
    most = subject.replicas.maximum
    if key == HOSTNAME and most is not None:
        for item in subject.hard:
            if item.topology_key == ZONE and item.max_skew == 1 and most <= max(2, item.min_domains or 1):
                return True
    values = node_values(subject, key)
    return values is not None and len(values) < 2


@rule("SPR604", "a field has its default value", Severity.INFO, is_opinion=True, fixes=SAFE)
def redundant_default(subject: Subject) -> Iterator[RuleFinding]:
    """Find fields whose value is their default, except refused fields (SPR107)."""
    for constraint in subject.constraints:
        for name, value, default in (
            ("minDomains", constraint.min_domains if constraint.is_hard else None, 1),
            ("nodeAffinityPolicy", constraint.node_affinity_policy, HONOR),
            ("nodeTaintsPolicy", constraint.node_taints_policy, IGNORE),
        ):
            if value == default:
                route = subject.route(constraint, name)
                yield RuleFinding(
                    f"`{name}: {value}` is the default",
                    route,
                    f"remove {name}",
                    fix=Fix(f"remove {name}", (Drop(route),), is_safe=True),
                    key=True,
                )


@rule("SPR801", "a default constraint has a `labelSelector`", kinds=SCHEDULER, fixes=SAFE)
def default_has_selector(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find selectors of default constraints."""
    for error in errors(manifest, spread_args.SpreadArgsRule.DEFAULT_HAS_SELECTOR):
        fix = Fix("remove labelSelector", (Drop(error.route),), is_safe=True)
        yield RuleFinding(error.message, error.route, "remove labelSelector", fix=fix, key=True)


@rule(
    "SPR802",
    "default constraints are set with `defaultingType: System`",
    kinds=SCHEDULER,
    fixes=UNSAFE,
)
def system_with_constraints(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find lists that System forbids."""
    for error in errors(manifest, spread_args.SpreadArgsRule.SYSTEM_WITH_CONSTRAINTS):
        fix = Fix("write defaultingType: List", (Put(error.route, spread_args.LIST),))
        yield RuleFinding(error.message, error.route, "write defaultingType: List", fix=fix)


@rule("SPR803", "a default constraint is DoNotSchedule", Severity.WARNING, kinds=SCHEDULER)
def hard_default(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints in lists that count; not where System forbids the list (SPR802)."""
    for args, here, problems in _args(manifest):
        if problems or args.get("defaultingType") != spread_args.LIST:
            continue
        for index, constraint in enumerate(args.get("defaultConstraints") or ()):
            if (constraint or {}).get("whenUnsatisfiable") == DO_NOT_SCHEDULE:
                route = here.child("defaultConstraints", index, "whenUnsatisfiable").route
                yield RuleFinding(
                    "pods without constraints of their own may stay Pending because of this default. "
                    "cluster-autoscaler does not know it, so it adds no node for them",
                    route,
                    "use ScheduleAnyway",
                )


@rule("SPR804", "kube-scheduler does not start with its default constraints", kinds=SCHEDULER)
def default_invalid(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find what does not decode, and what is not valid."""
    for _, here, problems in _args(manifest):
        for problem in problems:
            message = f"decoding args for plugin {names.POD_TOPOLOGY_SPREAD}: {problem.message}"
            is_key = problem.kind is decode.ProblemKind.UNKNOWN
            known = spread_args.SHAPE.fields if len(problem.route) == 1 else decode.TOPOLOGY_SPREAD_CONSTRAINT.fields
            hint = did_you_mean(problem.route[-1], known) if is_key else ""
            yield RuleFinding(message, (*here.route, *problem.route), hint, key=is_key)
    for error in errors(manifest, spread_args.SpreadArgsRule.DEFAULT_INVALID):
        is_item = isinstance(error.route[-1], int)  # the later of two
        yield RuleFinding(error.message, (*error.route, "topologyKey") if is_item else error.route)


@rule(
    "SPR910",
    "constraints switch off defaults that the scheduler is configured with",
    Severity.INFO,
    needs_facts=True,
)
def defaults_differ(subject: Subject) -> Iterator[RuleFinding]:
    """Find workloads whose constraints leave out a key of the configured defaults."""
    if not subject.constraints or subject.kind == "DaemonSet":
        return
    own = {constraint.topology_key for constraint in subject.constraints}
    defaults = subject.cluster.configured_defaults(subject.workload) or ()
    lost = [item for item in defaults if item.topology_key not in own]
    if lost:
        listed = ", ".join(
            f"`{item.topology_key}` (maxSkew {item.max_skew}, {item.when_unsatisfiable})" for item in lost
        )
        yield RuleFinding(
            "the pods have constraints of their own, so these defaults of the scheduler no longer spread them: "
            f"{listed}",
            subject.list_route,
            "add a constraint over the key, if the pods should be spread over it",
            key=True,
        )
