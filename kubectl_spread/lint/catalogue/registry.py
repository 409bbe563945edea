"""The table of all rules: code, name, summary, severity, condition, gate, and superseded rules."""

from __future__ import annotations

from collections.abc import Container
from typing import Optional, TYPE_CHECKING

from kubectl_spread.lint.catalogue import gates
from kubectl_spread.lint.finding import RuleMeta, RuleTarget, Safety, Severity

if TYPE_CHECKING:
    from kubectl_spread.lint.catalogue.gates import Gate

CLUSTER_AUTOSCALER, KARPENTER = "cluster-autoscaler", "karpenter"
NONE, SAFE, UNSAFE = frozenset[Safety](), frozenset({Safety.SAFE}), frozenset({Safety.UNSAFE})
EITHER = SAFE | UNSAFE


def _text_rule(
    code: str,
    name: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    is_opinion: bool = False,
    fixes: frozenset[Safety] = NONE,
    supersedes: tuple[str, ...] = (),
) -> RuleMeta:
    """Describe a rule about the text, or about what the API server refuses; its page is in `pages`."""
    meta = RuleMeta(code, name, severity, summary, is_opinion=is_opinion, fixes=fixes)
    return meta._replace(supersedes=frozenset(supersedes))


def _workload_rule(
    code: str,
    name: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    needs: tuple[str, ...] = (),
    one_of: tuple[str, ...] = (),
    gate: Optional[Gate] = None,
    is_opinion: bool = False,
    needs_facts: bool = False,
    needs_constraints: bool = True,
    around: tuple[str, ...] = (),
    autoscalers: tuple[str, ...] = (),
    needs_whole: bool = False,
    fixes: frozenset[Safety] = NONE,
) -> RuleMeta:
    """Describe a rule whose module in `lint/rules` has `check(subject, project)`."""
    return RuleMeta(
        code,
        name,
        severity,
        summary,
        RuleTarget.WORKLOAD,
        needs=frozenset(("topologySpreadConstraints", *needs) if needs_constraints else needs),
        one_of=frozenset(one_of),
        is_opinion=is_opinion,
        needs_facts=needs_facts,
        around=frozenset(around),
        autoscalers=frozenset(autoscalers),
        needs_whole=needs_whole,
        fixes=fixes,
        gate=gate,
    )


def _object_rule(
    code: str,
    name: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    kinds: tuple[str, ...],
    is_opinion: bool = False,
    needs_facts: bool = False,
    fixes: frozenset[Safety] = NONE,
) -> RuleMeta:
    """Describe a rule about objects around workloads, whose module has `check(manifest, project)`."""
    meta = RuleMeta(code, name, severity, summary, RuleTarget.AROUND, frozenset(kinds))
    return meta._replace(is_opinion=is_opinion, needs_facts=needs_facts, fixes=fixes)


_SCHEDULER = ("KubeSchedulerConfiguration",)

# Old names of rules, and their present ones.
RENAMED = {
    "ca-one-at-a-time": "autoscaler-adds-single-nodes",
    "capacity-type-halves": "even-split-over-capacity-types",
    "counts-others": "counts-foreign-pods",
    "descheduler-gap": "not-restored-by-descheduler",
    "double-hard": "hard-zone-and-hostname",
    "field-too-new": "field-unknown-to-version",
    "group-inconsistent": "inconsistent-group",
    "job-serial": "serial-job",
    "key-pinned": "single-allowed-domain",
    "live-skew": "running-skew-exceeded",
    "pdb-vs-domain": "pdb-smaller-than-domain",
    "server-too-old": "field-unknown-to-server",
    "soft-shadowed": "soft-shadowed-by-hard",
}

RULES: dict[str, RuleMeta] = {
    rule.code: rule
    for rule in (
        _text_rule("SPR001", "yaml-syntax", "a document is not valid YAML"),
        _text_rule("SPR002", "template-skipped", "a template that contains constraints was not checked", Severity.INFO),
        _text_rule("SPR003", "duplicate-key", "a mapping has the same key twice"),
        _text_rule("SPR004", "separator-text", "there is text on the line of a document separator", fixes=SAFE),
        _text_rule("SPR005", "unused-suppression", "a suppression has no effect", Severity.WARNING, fixes=SAFE),
        _text_rule(
            "SPR006", "unmapped-podspec", "constraints in an unknown kind were checked only in part", Severity.INFO
        ),
        _text_rule("SPR101", "max-skew-not-positive", "`maxSkew` is missing, zero or negative", fixes=UNSAFE),
        _text_rule("SPR102", "topology-key-missing", "`topologyKey` is missing or empty"),
        _text_rule("SPR103", "when-unsatisfiable-missing", "`whenUnsatisfiable` is missing", fixes=UNSAFE),
        _text_rule(
            "SPR104",
            "when-unsatisfiable-invalid",
            "`whenUnsatisfiable` is neither DoNotSchedule nor ScheduleAnyway",
            fixes=SAFE,
        ),
        _text_rule(
            "SPR105", "duplicate-constraint", "two constraints have the same `topologyKey` and `whenUnsatisfiable`"
        ),
        _text_rule("SPR106", "min-domains-not-positive", "`minDomains` is zero or negative", fixes=SAFE),
        _text_rule("SPR107", "min-domains-on-soft", "`minDomains` is set without DoNotSchedule", fixes=SAFE),
        _text_rule(
            "SPR108", "inclusion-policy-invalid", "a node inclusion policy is neither Honor nor Ignore", fixes=SAFE
        ),
        _text_rule(
            "SPR109", "match-keys-without-selector", "`matchLabelKeys` is set without `labelSelector`", fixes=UNSAFE
        ),
        _text_rule(
            "SPR110",
            "match-key-in-selector",
            "a key is in both `matchLabelKeys` and `labelSelector`",
            fixes=SAFE,
            supersedes=(
                "SPR203",
                "SPR215",
                "SPR605",
            ),
        ),
        _text_rule("SPR111", "match-key-syntax", "an entry of `matchLabelKeys` is not a label key"),
        _text_rule(
            "SPR112",
            "label-selector-invalid",
            "`labelSelector` is not valid",
            fixes=SAFE,
            supersedes=(
                "SPR203",
                "SPR605",
            ),
        ),
        _text_rule(
            "SPR113", "wrong-scalar-type", "a value has the wrong type, so the object cannot be decoded", fixes=SAFE
        ),
        _text_rule("SPR114", "unknown-field", "a constraint has a field that does not exist", fixes=SAFE),
        _text_rule(
            "SPR115",
            "misplaced-constraints",
            "`topologySpreadConstraints` is in a place where it has no effect",
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR201",
            "selector-missing",
            "a constraint without `labelSelector` counts no pods",
            needs_whole=True,
            fixes=EITHER,
            gate=gates.has_no_selector,
        ),
        _workload_rule(
            "SPR202",
            "selector-empty",
            "a constraint with an empty `labelSelector` counts no pods",
            fixes=UNSAFE,
            gate=gates.selects_everything,
        ),
        _workload_rule(
            "SPR203",
            "selector-misses-own-pods",
            "a constraint does not select the workload's own pods",
            needs_whole=True,
            fixes=UNSAFE,
            gate=gates.misses_own_pods,
        ),
        _workload_rule(
            "SPR204",
            "max-skew-never-binds",
            "`maxSkew` is so large that the constraint never refuses a node",
            Severity.WARNING,
            gate=gates.allows_skew,
        ),
        _workload_rule(
            "SPR205",
            "single-replica",
            "constraints on a workload with one replica spread nothing",
            Severity.INFO,
            fixes=UNSAFE,
            gate=gates.is_single,
        ),
        _workload_rule(
            "SPR206",
            "daemonset",
            "constraints on a DaemonSet spread nothing",
            Severity.WARNING,
            needs=("DaemonSet",),
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR207",
            "single-allowed-domain",
            "the pods can run in only one domain",
            Severity.WARNING,
            one_of=("nodeSelector", "affinity"),
        ),
        _workload_rule(
            "SPR208",
            "per-pod-match-key",
            "`matchLabelKeys` contains a label that is different on every pod",
            needs=("matchLabelKeys",),
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR209",
            "match-key-absent",
            "`matchLabelKeys` contains a label that the pods do not have",
            Severity.WARNING,
            needs=("matchLabelKeys",),
            needs_whole=True,
            fixes=EITHER,
        ),
        _workload_rule(
            "SPR210", "node-name-set", "`nodeName` is set, so the scheduler never sees the pod", needs=("nodeName",)
        ),
        _workload_rule(
            "SPR211",
            "soft-shadowed-by-hard",
            "a ScheduleAnyway constraint has no effect next to a DoNotSchedule one",
            Severity.INFO,
            needs=("DoNotSchedule", "ScheduleAnyway"),
        ),
        _workload_rule(
            "SPR212",
            "anti-affinity-redundant",
            "a constraint has no effect next to pod anti-affinity over the same key",
            Severity.INFO,
            needs=("affinity",),
        ),
        _workload_rule(
            "SPR213",
            "cross-namespace-group",
            "a constraint selects pods that are only in other namespaces",
            Severity.INFO,
            is_opinion=True,
        ),
        _workload_rule(
            "SPR214",
            "empty-list-not-opt-out",
            "an empty list of constraints does not switch the defaults off",
            Severity.INFO,
            needs_whole=True,
            gate=gates.has_no_constraints,
        ),
        _workload_rule(
            "SPR215",
            "volatile-selector-label",
            "a selector contains a label value that changes with the next release",
            Severity.WARNING,
            fixes=UNSAFE,
            gate=gates.selects_volatile,
        ),
        _workload_rule(
            "SPR216",
            "impossible-topology-key",
            "`topologyKey` cannot be a label key",
            gate=gates.has_unusual_key,
        ),
        _workload_rule(
            "SPR301",
            "tainted-nodes-counted",
            "cordoned and tainted nodes count as empty domains",
            Severity.WARNING,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR302",
            "unknown-well-known-key",
            "`topologyKey` is a misspelt label of Kubernetes",
            one_of=("topologySpreadConstraints", "affinity"),
            needs_constraints=False,
            fixes=frozenset({Safety.SAFE, Safety.UNSAFE}),
            gate=gates.names_unusual_key,
        ),
        _workload_rule(
            "SPR303",
            "min-domains-above-replicas",
            "`minDomains` is more than the number of pods",
            Severity.INFO,
            needs=("minDomains",),
        ),
        _workload_rule(
            "SPR304",
            "hard-zone-and-hostname",
            "zone and hostname are both DoNotSchedule with `maxSkew` 1",
            Severity.WARNING,
            needs=("DoNotSchedule", "topology.kubernetes.io/zone", "kubernetes.io/hostname"),
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR305",
            "affinity-contradiction",
            "required pod affinity contradicts a constraint over the same key",
            needs=("affinity",),
        ),
        _workload_rule(
            "SPR306",
            "anti-affinity-cap",
            "anti-affinity allows fewer pods than an autoscaler may ask for",
            Severity.WARNING,
            needs=("affinity",),
            needs_facts=True,
            needs_constraints=False,
        ),
        _workload_rule(
            "SPR307",
            "affinity-ignored",
            "`nodeAffinityPolicy: Ignore` counts domains that the pod cannot use",
            needs=("nodeAffinityPolicy",),
            fixes=SAFE,
        ),
        _workload_rule(
            "SPR308",
            "zonal-volume-lock",
            "pods with zonal volumes may not come back under a hard zone constraint",
            Severity.WARNING,
            needs=("StatefulSet", "volumeClaimTemplates"),
            around=("StorageClass",),
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR309",
            "immediate-binding",
            "the zone of a volume is chosen before its pod is scheduled",
            Severity.WARNING,
            one_of=("volumes", "volumeClaimTemplates"),
            around=("StorageClass",),
        ),
        _workload_rule(
            "SPR310",
            "host-port-cap",
            "a host port allows only one pod on each node",
            Severity.INFO,
            needs=("containers",),
            is_opinion=True,
        ),
        _workload_rule(
            "SPR311",
            "not-one-per-node",
            "a comment promises one pod per node, but the constraint does not ensure it",
            Severity.INFO,
            is_opinion=True,
        ),
        _workload_rule(
            "SPR312",
            "min-domains-out-of-reach",
            "node affinity allows fewer domains than `minDomains`",
            needs=("minDomains",),
        ),
        _workload_rule(
            "SPR313",
            "even-split-over-capacity-types",
            "a hard constraint asks for as many on-demand as spot pods",
            Severity.INFO,
            is_opinion=True,
        ),
        _workload_rule(
            "SPR401",
            "missing-revision-key",
            "old pods count during a rolling update",
            Severity.WARNING,
            needs=("DoNotSchedule",),
            one_of=("Deployment", "Rollout"),
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR402",
            "rollout-deadlock",
            "a rolling update may never finish because of anti-affinity",
            Severity.WARNING,
            needs=("Deployment", "affinity"),
            needs_constraints=False,
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR403",
            "wrong-hash-label",
            "an Argo Rollout's pods do not have the label `pod-template-hash`",
            Severity.WARNING,
            needs=("Rollout", "matchLabelKeys"),
            fixes=SAFE,
        ),
        _workload_rule(
            "SPR404",
            "revision-key-on-statefulset",
            "a revision key is used where an update replaces pods in place",
            Severity.INFO,
            needs=("matchLabelKeys",),
            one_of=("StatefulSet", "Deployment", "Rollout"),
            is_opinion=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR501",
            "inconsistent-group",
            "workloads that are counted together have different constraints",
            Severity.WARNING,
            needs_whole=True,
            gate=gates.is_among_others,
        ),
        _workload_rule(
            "SPR502",
            "selector-too-broad",
            "a constraint counts the pods of other workloads",
            Severity.WARNING,
            needs_whole=True,
            fixes=UNSAFE,
            gate=gates.is_among_others,
        ),
        _object_rule(
            "SPR503",
            "pdb-blocks-eviction",
            "a PodDisruptionBudget allows no eviction",
            Severity.WARNING,
            kinds=("PodDisruptionBudget",),
        ),
        _object_rule(
            "SPR504",
            "pdb-smaller-than-domain",
            "a PodDisruptionBudget allows fewer evictions than a zone has pods",
            Severity.INFO,
            kinds=("PodDisruptionBudget",),
            is_opinion=True,
            needs_facts=True,
        ),
        _object_rule(
            "SPR505",
            "hpa-min-below-domains",
            "an autoscaler's minimum is below `minDomains`",
            Severity.INFO,
            kinds=("HorizontalPodAutoscaler", "ScaledObject"),
            is_opinion=True,
        ),
        _workload_rule(
            "SPR506",
            "no-spread",
            "nothing spreads the replicas behind a Service",
            Severity.INFO,
            is_opinion=True,
            needs_constraints=False,
            around=("Service",),
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR507",
            "drops-default-spread",
            "constraints over only zones or only nodes switch off the default spreading over the other",
            Severity.INFO,
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR508",
            "serial-job",
            "constraints on a Job that runs one pod at a time spread nothing",
            Severity.INFO,
            one_of=("Job", "CronJob"),
            fixes=UNSAFE,
        ),
        _object_rule(
            "SPR509",
            "traffic-without-spread",
            "a Service keeps traffic in the zone, but its pods are not spread over zones",
            Severity.INFO,
            kinds=("Service",),
            is_opinion=True,
        ),
        _workload_rule(
            "SPR510",
            "preferred-affinity-fights",
            "preferred node affinity may outweigh constraints that are all ScheduleAnyway",
            Severity.INFO,
            needs=("affinity",),
            is_opinion=True,
        ),
        _workload_rule(
            "SPR601",
            "field-unknown-to-version",
            "a field is newer than the target version of Kubernetes",
            gate=gates.knows_version,
        ),
        _workload_rule(
            "SPR602",
            "deprecated-key",
            "`topologyKey` is a deprecated label",
            Severity.WARNING,
            fixes=SAFE,
            gate=gates.has_unusual_key,
        ),
        _workload_rule("SPR603", "private-key", "`topologyKey` has no prefix", Severity.INFO, is_opinion=True),
        _workload_rule(
            "SPR604",
            "redundant-default",
            "a field has its default value",
            Severity.INFO,
            is_opinion=True,
            fixes=SAFE,
        ),
        _workload_rule(
            "SPR605",
            "selector-differs-from-workload",
            "a constraint selects by other labels than its workload",
            Severity.INFO,
            needs=("selector",),
            is_opinion=True,
        ),
        _workload_rule(
            "SPR606",
            "merge-key-clash",
            "two constraints have the same `topologyKey`, and tools may merge them into one",
            Severity.INFO,
            gate=gates.repeats_key,
        ),
        _text_rule(
            "SPR607", "suppression-without-reason", "a suppression has no reason", Severity.INFO, is_opinion=True
        ),
        _workload_rule(
            "SPR701",
            "hard-zone-without-min-domains",
            "one zone or node satisfies a hard constraint, so no autoscaler adds another",
            Severity.WARNING,
            is_opinion=True,
            autoscalers=(CLUSTER_AUTOSCALER, KARPENTER),
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR702",
            "karpenter-key",
            "Karpenter gives no node the label of `topologyKey`",
            Severity.WARNING,
            is_opinion=True,
            around=("NodePool",),
            autoscalers=(KARPENTER,),
        ),
        _workload_rule(
            "SPR703",
            "karpenter-soft-is-hard",
            "Karpenter adds nodes for a ScheduleAnyway constraint",
            Severity.INFO,
            is_opinion=True,
            autoscalers=(KARPENTER,),
        ),
        _workload_rule(
            "SPR704",
            "autoscaler-adds-single-nodes",
            "cluster-autoscaler adds one node at a time for a hard zone constraint",
            Severity.INFO,
            is_opinion=True,
            autoscalers=(CLUSTER_AUTOSCALER,),
        ),
        _workload_rule(
            "SPR705",
            "not-restored-by-descheduler",
            "the descheduler does not restore the spread that a constraint asks for",
            Severity.INFO,
            is_opinion=True,
        ),
        _object_rule(
            "SPR801", "default-has-selector", "a default constraint has a `labelSelector`", kinds=_SCHEDULER, fixes=SAFE
        ),
        _object_rule(
            "SPR802",
            "system-with-constraints",
            "default constraints are set with `defaultingType: System`",
            kinds=_SCHEDULER,
            fixes=UNSAFE,
        ),
        _object_rule(
            "SPR803", "hard-default", "a default constraint is DoNotSchedule", Severity.WARNING, kinds=_SCHEDULER
        ),
        _object_rule(
            "SPR804", "default-invalid", "kube-scheduler does not start with its default constraints", kinds=_SCHEDULER
        ),
        _workload_rule(
            "SPR901",
            "key-absent-everywhere",
            "no node that the pods may use has the label of a hard constraint",
            needs_facts=True,
        ),
        _workload_rule(
            "SPR902",
            "key-absent-somewhere",
            "some nodes that the pods may use lack the label of a constraint",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR903",
            "unreachable-domain",
            "a hard constraint counts a domain in which no node can run the pod",
            needs_facts=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR904",
            "too-few-domains",
            "there are fewer domains than `minDomains`, and too few for the replicas",
            needs=("minDomains",),
            needs_facts=True,
        ),
        _workload_rule(
            "SPR905",
            "single-eligible-domain",
            "a hard constraint has only one domain, so it refuses nothing",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR906",
            "replicas-exceed-anti-affinity",
            "anti-affinity allows fewer pods than there are replicas",
            needs=("affinity",),
            needs_facts=True,
            needs_constraints=False,
        ),
        _workload_rule(
            "SPR907",
            "combined-unsatisfiable",
            "no placement of the replicas satisfies all constraints together",
            needs_facts=True,
        ),
        _workload_rule(
            "SPR908",
            "running-skew-exceeded",
            "running pods violate `maxSkew`",
            Severity.INFO,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR909",
            "field-unknown-to-server",
            "a field is newer than the API server, which drops it",
            needs_facts=True,
        ),
        _workload_rule(
            "SPR910",
            "defaults-differ",
            "constraints switch off defaults that the scheduler is configured with",
            Severity.INFO,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR911",
            "shared-hostname",
            "nodes share a hostname, so a hard constraint counts them as one node",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR912",
            "counts-foreign-pods",
            "a hard constraint counts running pods of other workloads, which are unevenly spread",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR913",
            "soft-spread-lost",
            "pods end up less even than a ScheduleAnyway constraint asks for",
            Severity.INFO,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR914",
            "scale-down-skew",
            "scaling down leaves running pods beyond `maxSkew`",
            Severity.INFO,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR915",
            "autoscaler-beyond-room",
            "an autoscaler may ask for more pods than the constraints allow",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR916",
            "volumes-exclude-domain",
            "a hard constraint counts domains in which a volume cannot be created",
            Severity.WARNING,
            needs_facts=True,
            around=("StorageClass",),
        ),
        _workload_rule(
            "SPR917",
            "partly-counted",
            "the selector matches only some of the workload's running pods",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR918",
            "policy-refuted",
            "the constraints do not keep a policy of the configuration",
            Severity.ERROR,
            needs_facts=True,
            needs_constraints=False,
        ),
    )
}

_AUTOSCALERS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})


def kinds_around(codes: Container[str]) -> frozenset[str]:
    """Return the kinds of objects, workloads apart, that rules of these codes read.

    Autoscalers are always among them, as every rule may ask for the number of replicas.
    """
    rules = [rule for code, rule in RULES.items() if code in codes]
    return _AUTOSCALERS.union(*(rule.needs if rule.target is RuleTarget.AROUND else rule.around for rule in rules))


def superseded_rules(refusals: frozenset[str]) -> frozenset[str]:
    """Return the codes of the rules that stay silent about a workload which the API server refuses with `refusals`."""
    return frozenset[str]().union(*(RULES[code].supersedes for code in refusals))
