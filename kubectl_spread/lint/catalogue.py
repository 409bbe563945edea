"""The rules, by code."""

from __future__ import annotations

from collections.abc import Container

from kubectl_spread.lint.finding import RuleMeta
from kubectl_spread.lint.finding import Safety
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.finding import Target

CLUSTER_AUTOSCALER, KARPENTER = "cluster-autoscaler", "karpenter"
NONE, SAFE, UNSAFE = frozenset[Safety](), frozenset({Safety.SAFE}), frozenset({Safety.UNSAFE})
EITHER = SAFE | UNSAFE


def _rule(
    code: str,
    name: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    is_opinion: bool = False,
    fixes: frozenset[Safety] = NONE,
) -> tuple[str, RuleMeta]:
    return code, RuleMeta(code, name, severity, summary, is_opinion=is_opinion, fixes=fixes)


def _about_workloads(
    code: str,
    name: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    needs: tuple[str, ...] = (),
    one_of: tuple[str, ...] = (),
    is_opinion: bool = False,
    needs_facts: bool = False,
    needs_constraints: bool = True,
    around: tuple[str, ...] = (),
    autoscalers: tuple[str, ...] = (),
    needs_whole: bool = False,
    fixes: frozenset[Safety] = NONE,
) -> tuple[str, RuleMeta]:
    """A rule that has a module of its name in `lint/rules`, with `check(subject, project)`."""
    words = frozenset(("topologySpreadConstraints", *needs) if needs_constraints else needs)
    meta = RuleMeta(code, name, severity, summary, Target.WORKLOAD, words, frozenset(one_of), is_opinion, needs_facts)
    beside = meta._replace(around=frozenset(around), autoscalers=frozenset(autoscalers))
    return code, beside._replace(needs_whole=needs_whole, fixes=fixes)


def _about_others(
    code: str,
    name: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    kinds: tuple[str, ...],
    is_opinion: bool = False,
    needs_facts: bool = False,
    fixes: frozenset[Safety] = NONE,
) -> tuple[str, RuleMeta]:
    """A rule about objects around workloads; its module has `check(manifest, project)`."""
    meta = RuleMeta(code, name, severity, summary, Target.AROUND, frozenset(kinds))
    return code, meta._replace(is_opinion=is_opinion, needs_facts=needs_facts, fixes=fixes)


_SCHEDULER = ("KubeSchedulerConfiguration",)

# Names that rules had before 0.1.0, and their present ones.
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

RULES: dict[str, RuleMeta] = dict(
    (
        _rule("SPR001", "yaml-syntax", "a document is not YAML"),
        _rule("SPR002", "template-skipped", "a template that names constraints was not checked", Severity.INFO),
        _rule("SPR003", "duplicate-key", "a mapping has a key twice"),
        _rule("SPR004", "separator-text", "text stands beside a document separator", fixes=SAFE),
        _rule("SPR005", "unused-suppression", "a suppression suppresses nothing", Severity.WARNING, fixes=SAFE),
        _rule("SPR006", "unmapped-podspec", "constraints in an unknown kind were checked in part", Severity.INFO),
        _rule("SPR101", "max-skew-not-positive", "maxSkew is missing, zero or negative", fixes=UNSAFE),
        _rule("SPR102", "topology-key-missing", "topologyKey is missing or empty"),
        _rule("SPR103", "when-unsatisfiable-missing", "whenUnsatisfiable is missing; it has no default", fixes=UNSAFE),
        _rule(
            "SPR104",
            "when-unsatisfiable-invalid",
            "whenUnsatisfiable is neither DoNotSchedule nor ScheduleAnyway",
            fixes=SAFE,
        ),
        _rule("SPR105", "duplicate-constraint", "two constraints share topologyKey and whenUnsatisfiable"),
        _rule("SPR106", "min-domains-not-positive", "minDomains is zero or negative", fixes=SAFE),
        _rule("SPR107", "min-domains-on-soft", "minDomains without DoNotSchedule", fixes=SAFE),
        _rule("SPR108", "inclusion-policy-invalid", "a node inclusion policy is neither Honor nor Ignore", fixes=SAFE),
        _rule("SPR109", "match-keys-without-selector", "matchLabelKeys without labelSelector", fixes=UNSAFE),
        _rule("SPR110", "match-key-in-selector", "a key is in both matchLabelKeys and labelSelector", fixes=SAFE),
        _rule("SPR111", "match-key-syntax", "a matchLabelKeys entry is not a label key"),
        _rule("SPR112", "label-selector-invalid", "labelSelector does not parse", fixes=SAFE),
        _rule("SPR113", "wrong-scalar-type", "a value has the wrong type, so the object cannot be decoded", fixes=SAFE),
        _rule("SPR114", "unknown-field", "a constraint has a field that does not exist", fixes=SAFE),
        _rule(
            "SPR115", "misplaced-constraints", "topologySpreadConstraints stands where nothing reads it", fixes=UNSAFE
        ),
        _about_workloads(
            "SPR201",
            "selector-missing",
            "a constraint without labelSelector counts no pods",
            needs_whole=True,
            fixes=EITHER,
        ),
        _about_workloads("SPR202", "selector-empty", "an empty labelSelector counts no pods", fixes=UNSAFE),
        _about_workloads(
            "SPR203",
            "selector-misses-own-pods",
            "a constraint does not select the pods it stands in",
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR204", "max-skew-never-binds", "maxSkew is as large as the number of pods", Severity.WARNING
        ),
        _about_workloads(
            "SPR205",
            "single-replica",
            "constraints on a workload of one replica spread nothing",
            Severity.INFO,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR206",
            "daemonset",
            "constraints on a DaemonSet spread nothing",
            Severity.WARNING,
            needs=("DaemonSet",),
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR207",
            "single-allowed-domain",
            "the pods may run in one domain only",
            Severity.WARNING,
            one_of=("nodeSelector", "affinity"),
        ),
        _about_workloads(
            "SPR208",
            "per-pod-match-key",
            "matchLabelKeys has a label that is different on every pod",
            needs=("matchLabelKeys",),
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR209",
            "match-key-absent",
            "matchLabelKeys has a label that the pods do not have",
            Severity.WARNING,
            needs=("matchLabelKeys",),
            needs_whole=True,
            fixes=EITHER,
        ),
        _about_workloads(
            "SPR210", "node-name-set", "nodeName is set, so no scheduler sees the pod", needs=("nodeName",)
        ),
        _about_workloads(
            "SPR211",
            "soft-shadowed-by-hard",
            "a ScheduleAnyway constraint prefers among domains that a DoNotSchedule one leaves equal",
            Severity.INFO,
            needs=("DoNotSchedule", "ScheduleAnyway"),
        ),
        _about_workloads(
            "SPR212",
            "anti-affinity-redundant",
            "pod anti-affinity over the same key leaves a constraint nothing to do",
            Severity.INFO,
            needs=("affinity",),
        ),
        _about_workloads(
            "SPR213",
            "cross-namespace-group",
            "a constraint selects pods that are in another namespace only",
            Severity.INFO,
            is_opinion=True,
        ),
        _about_workloads(
            "SPR214",
            "empty-list-not-opt-out",
            "an empty list of constraints does not switch the defaults off",
            Severity.INFO,
            needs_whole=True,
        ),
        _about_workloads(
            "SPR215",
            "volatile-selector-label",
            "a selector spells out a label that changes with the next release",
            Severity.WARNING,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR216",
            "impossible-topology-key",
            "topologyKey cannot be the key of a label",
        ),
        _about_workloads(
            "SPR301",
            "tainted-nodes-counted",
            "cordoned and tainted nodes count as domains without pods",
            Severity.WARNING,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR302",
            "unknown-well-known-key",
            "topologyKey is a misspelt label of Kubernetes",
            one_of=("topologySpreadConstraints", "affinity"),
            needs_constraints=False,
            fixes=frozenset({Safety.SAFE, Safety.UNSAFE}),
        ),
        _about_workloads(
            "SPR303",
            "min-domains-above-replicas",
            "minDomains is more than the number of pods",
            Severity.INFO,
            needs=("minDomains",),
        ),
        _about_workloads(
            "SPR304",
            "hard-zone-and-hostname",
            "zone and hostname are both DoNotSchedule with maxSkew 1",
            Severity.WARNING,
            needs=("DoNotSchedule", "topology.kubernetes.io/zone", "kubernetes.io/hostname"),
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR305",
            "affinity-contradiction",
            "required pod affinity pulls together what a constraint holds apart",
            needs=("affinity",),
        ),
        _about_workloads(
            "SPR306",
            "anti-affinity-cap",
            "an autoscaler may ask for more replicas than anti-affinity has domains for",
            Severity.WARNING,
            needs=("affinity",),
            needs_facts=True,
            needs_constraints=False,
        ),
        _about_workloads(
            "SPR307",
            "affinity-ignored",
            "nodeAffinityPolicy Ignore counts domains that the pod may not use",
            needs=("nodeAffinityPolicy",),
            fixes=SAFE,
        ),
        _about_workloads(
            "SPR308",
            "zonal-volume-lock",
            "a hard zone constraint holds pods to a spread that their volumes cannot follow",
            Severity.WARNING,
            needs=("StatefulSet", "volumeClaimTemplates"),
            around=("StorageClass",),
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR309",
            "immediate-binding",
            "the zone of the volumes is chosen before the pods are scheduled",
            Severity.WARNING,
            one_of=("volumes", "volumeClaimTemplates"),
            around=("StorageClass",),
        ),
        _about_workloads(
            "SPR310",
            "host-port-cap",
            "a port of the node allows one pod on each node",
            Severity.INFO,
            needs=("containers",),
            is_opinion=True,
        ),
        _about_workloads(
            "SPR311",
            "not-one-per-node",
            "a comment promises one pod per node, the constraint does not",
            Severity.INFO,
            is_opinion=True,
        ),
        _about_workloads(
            "SPR312",
            "min-domains-out-of-reach",
            "node affinity allows fewer domains than minDomains",
            needs=("minDomains",),
        ),
        _about_workloads(
            "SPR313",
            "even-split-over-capacity-types",
            "a hard constraint asks for as many pods on demand as on spot",
            Severity.INFO,
            is_opinion=True,
        ),
        _about_workloads(
            "SPR401",
            "missing-revision-key",
            "a rolling update counts the pods of the old revision",
            Severity.WARNING,
            needs=("DoNotSchedule",),
            one_of=("Deployment", "Rollout"),
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR402",
            "rollout-deadlock",
            "no old pod may go first, and anti-affinity leaves the new one no domain",
            Severity.WARNING,
            needs=("Deployment", "affinity"),
            needs_constraints=False,
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR403",
            "wrong-hash-label",
            "a Rollout's pods have another hash label than a Deployment's",
            Severity.WARNING,
            needs=("Rollout", "matchLabelKeys"),
            fixes=SAFE,
        ),
        _about_workloads(
            "SPR404",
            "revision-key-on-statefulset",
            "a revision key lets updated pods pile up midway, where an update replaces them in place",
            Severity.INFO,
            needs=("matchLabelKeys",),
            one_of=("StatefulSet", "Deployment", "Rollout"),
            is_opinion=True,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR501",
            "inconsistent-group",
            "workloads that are counted together have different constraints",
            Severity.WARNING,
            needs_whole=True,
        ),
        _about_workloads(
            "SPR502",
            "selector-too-broad",
            "a constraint counts the pods of other workloads",
            Severity.WARNING,
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _about_others(
            "SPR503",
            "pdb-blocks-eviction",
            "a PodDisruptionBudget lets no pod be evicted",
            Severity.WARNING,
            kinds=("PodDisruptionBudget",),
        ),
        _about_others(
            "SPR504",
            "pdb-smaller-than-domain",
            "a PodDisruptionBudget lets fewer pods go than a zone holds",
            Severity.INFO,
            kinds=("PodDisruptionBudget",),
            is_opinion=True,
            needs_facts=True,
        ),
        _about_others(
            "SPR505",
            "hpa-min-below-domains",
            "an autoscaler goes below the domains that a constraint asks for",
            Severity.INFO,
            kinds=("HorizontalPodAutoscaler", "ScaledObject"),
            is_opinion=True,
        ),
        _about_workloads(
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
        _about_workloads(
            "SPR507",
            "drops-default-spread",
            "constraining zones or nodes alone ends the built-in spreading over the other",
            Severity.INFO,
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR508",
            "serial-job",
            "constraints on a Job that runs one pod at a time",
            Severity.INFO,
            one_of=("Job", "CronJob"),
            fixes=UNSAFE,
        ),
        _about_others(
            "SPR509",
            "traffic-without-spread",
            "a Service keeps traffic in the zone, and its pods are not spread over zones",
            Severity.INFO,
            kinds=("Service",),
            is_opinion=True,
        ),
        _about_workloads(
            "SPR510",
            "preferred-affinity-fights",
            "preferred node affinity outweighs constraints that are all soft",
            Severity.INFO,
            needs=("affinity",),
            is_opinion=True,
        ),
        _about_workloads("SPR601", "field-unknown-to-version", "a field is newer than the cluster"),
        _about_workloads("SPR602", "deprecated-key", "topologyKey is a deprecated label", Severity.WARNING, fixes=SAFE),
        _about_workloads("SPR603", "private-key", "topologyKey has no prefix", Severity.INFO, is_opinion=True),
        _about_workloads(
            "SPR604",
            "redundant-default",
            "a field says what holds without it",
            Severity.INFO,
            is_opinion=True,
            fixes=SAFE,
        ),
        _about_workloads(
            "SPR605",
            "selector-differs-from-workload",
            "a constraint selects by other labels than its workload",
            Severity.INFO,
            needs=("selector",),
            is_opinion=True,
        ),
        _about_workloads(
            "SPR606", "merge-key-clash", "two constraints share topologyKey, and merge into one", Severity.INFO
        ),
        _rule("SPR607", "suppression-without-reason", "a suppression has no reason", Severity.INFO, is_opinion=True),
        _about_workloads(
            "SPR701",
            "hard-zone-without-min-domains",
            "one zone or node satisfies a hard constraint, so no autoscaler adds another",
            Severity.WARNING,
            is_opinion=True,
            autoscalers=(CLUSTER_AUTOSCALER, KARPENTER),
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR702",
            "karpenter-key",
            "Karpenter gives no node the label of topologyKey",
            Severity.WARNING,
            is_opinion=True,
            around=("NodePool",),
            autoscalers=(KARPENTER,),
        ),
        _about_workloads(
            "SPR703",
            "karpenter-soft-is-hard",
            "Karpenter adds nodes for a preference",
            Severity.INFO,
            is_opinion=True,
            autoscalers=(KARPENTER,),
        ),
        _about_workloads(
            "SPR704",
            "autoscaler-adds-single-nodes",
            "cluster-autoscaler adds one node at a time for a hard zone constraint",
            Severity.INFO,
            is_opinion=True,
            autoscalers=(CLUSTER_AUTOSCALER,),
        ),
        _about_workloads(
            "SPR705",
            "not-restored-by-descheduler",
            "the descheduler does not restore what the constraint asks for",
            Severity.INFO,
            is_opinion=True,
        ),
        _about_others(
            "SPR801", "default-has-selector", "a default constraint has a labelSelector", kinds=_SCHEDULER, fixes=SAFE
        ),
        _about_others(
            "SPR802",
            "system-with-constraints",
            "default constraints beside defaultingType System",
            kinds=_SCHEDULER,
            fixes=UNSAFE,
        ),
        _about_others(
            "SPR803", "hard-default", "a default constraint is DoNotSchedule", Severity.WARNING, kinds=_SCHEDULER
        ),
        _about_others(
            "SPR804", "default-invalid", "kube-scheduler does not start with a default constraint", kinds=_SCHEDULER
        ),
        _about_workloads(
            "SPR901",
            "key-absent-everywhere",
            "no node that the pods may use has a hard topologyKey",
            needs_facts=True,
        ),
        _about_workloads(
            "SPR902",
            "key-absent-somewhere",
            "some nodes that the pods may use lack a topologyKey",
            Severity.WARNING,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR903",
            "unreachable-domain",
            "a hard constraint counts a domain where no node takes the pod",
            needs_facts=True,
            fixes=UNSAFE,
        ),
        _about_workloads(
            "SPR904",
            "too-few-domains",
            "fewer domains than minDomains, and too few for the replicas",
            needs=("minDomains",),
            needs_facts=True,
        ),
        _about_workloads(
            "SPR905",
            "single-eligible-domain",
            "a hard constraint has one domain only, so it refuses nothing",
            Severity.WARNING,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR906",
            "replicas-exceed-anti-affinity",
            "more replicas than anti-affinity has domains for",
            needs=("affinity",),
            needs_facts=True,
            needs_constraints=False,
        ),
        _about_workloads(
            "SPR907",
            "combined-unsatisfiable",
            "no placement of the replicas meets all constraints together",
            needs_facts=True,
        ),
        _about_workloads(
            "SPR908",
            "running-skew-exceeded",
            "running pods are further apart than maxSkew",
            Severity.INFO,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR909",
            "field-unknown-to-server",
            "a field is newer than the API server, which drops it",
            needs_facts=True,
        ),
        _about_workloads(
            "SPR910",
            "defaults-differ",
            "constraints switch off defaults that the scheduler is configured with",
            Severity.INFO,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR911",
            "shared-hostname",
            "nodes share a hostname, so a hard constraint takes them for one",
            Severity.WARNING,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR912",
            "counts-foreign-pods",
            "a hard constraint counts running pods of other workloads, unevenly spread",
            Severity.WARNING,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR913",
            "soft-spread-lost",
            "pods end up further apart than a ScheduleAnyway constraint asks for",
            Severity.INFO,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR914",
            "scale-down-skew",
            "fewer replicas leave running pods further apart than maxSkew",
            Severity.INFO,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR915",
            "autoscaler-beyond-room",
            "an autoscaler may ask for more pods than the constraints let in",
            Severity.WARNING,
            needs_facts=True,
        ),
        _about_workloads(
            "SPR916",
            "volumes-exclude-domain",
            "a hard constraint counts domains where a claim's StorageClass makes no volume",
            Severity.WARNING,
            needs_facts=True,
            around=("StorageClass",),
        ),
        _about_workloads(
            "SPR917",
            "partly-counted",
            "the selector matches only some of the workload's running pods",
            Severity.WARNING,
            needs_facts=True,
        ),
    )
)

_AUTOSCALERS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})


def kinds_around(codes: Container[str]) -> frozenset[str]:
    """The kinds of objects, workloads apart, that rules of these codes look at; every rule may ask for replicas."""
    rules = [rule for code, rule in RULES.items() if code in codes]
    return _AUTOSCALERS.union(*(rule.needs if rule.target is Target.AROUND else rule.around for rule in rules))
