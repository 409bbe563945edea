"""What is known of every rule without running it: code, name, summary, where it applies, its gate, what it replaces."""

from __future__ import annotations

from collections.abc import Container
from typing import Optional
from typing import TYPE_CHECKING

from kubectl_spread.lint import gates
from kubectl_spread.lint.finding import RuleMeta
from kubectl_spread.lint.finding import Safety
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.finding import Target

if TYPE_CHECKING:
    from kubectl_spread.lint.gates import Gate

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
        Target.WORKLOAD,
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
    meta = RuleMeta(code, name, severity, summary, Target.AROUND, frozenset(kinds))
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
        _text_rule("SPR001", "yaml-syntax", "a document is not YAML"),
        _text_rule("SPR002", "template-skipped", "a template that names constraints was not checked", Severity.INFO),
        _text_rule("SPR003", "duplicate-key", "a mapping has a key twice"),
        _text_rule("SPR004", "separator-text", "text stands beside a document separator", fixes=SAFE),
        _text_rule("SPR005", "unused-suppression", "a suppression suppresses nothing", Severity.WARNING, fixes=SAFE),
        _text_rule("SPR006", "unmapped-podspec", "constraints in an unknown kind were checked in part", Severity.INFO),
        _text_rule("SPR101", "max-skew-not-positive", "maxSkew is missing, zero or negative", fixes=UNSAFE),
        _text_rule("SPR102", "topology-key-missing", "topologyKey is missing or empty"),
        _text_rule(
            "SPR103", "when-unsatisfiable-missing", "whenUnsatisfiable is missing; it has no default", fixes=UNSAFE
        ),
        _text_rule(
            "SPR104",
            "when-unsatisfiable-invalid",
            "whenUnsatisfiable is neither DoNotSchedule nor ScheduleAnyway",
            fixes=SAFE,
        ),
        _text_rule("SPR105", "duplicate-constraint", "two constraints share topologyKey and whenUnsatisfiable"),
        _text_rule("SPR106", "min-domains-not-positive", "minDomains is zero or negative", fixes=SAFE),
        _text_rule("SPR107", "min-domains-on-soft", "minDomains without DoNotSchedule", fixes=SAFE),
        _text_rule(
            "SPR108", "inclusion-policy-invalid", "a node inclusion policy is neither Honor nor Ignore", fixes=SAFE
        ),
        _text_rule("SPR109", "match-keys-without-selector", "matchLabelKeys without labelSelector", fixes=UNSAFE),
        _text_rule(
            "SPR110",
            "match-key-in-selector",
            "a key is in both matchLabelKeys and labelSelector",
            fixes=SAFE,
            supersedes=(
                "SPR203",
                "SPR215",
                "SPR605",
            ),
        ),
        _text_rule("SPR111", "match-key-syntax", "a matchLabelKeys entry is not a label key"),
        _text_rule(
            "SPR112",
            "label-selector-invalid",
            "labelSelector does not parse",
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
            "SPR115", "misplaced-constraints", "topologySpreadConstraints stands where nothing reads it", fixes=UNSAFE
        ),
        _workload_rule(
            "SPR201",
            "selector-missing",
            "a constraint without labelSelector counts no pods",
            needs_whole=True,
            fixes=EITHER,
            gate=gates.has_no_selector,
        ),
        _workload_rule(
            "SPR202",
            "selector-empty",
            "an empty labelSelector counts no pods",
            fixes=UNSAFE,
            gate=gates.selects_everything,
        ),
        _workload_rule(
            "SPR203",
            "selector-misses-own-pods",
            "a constraint does not select the pods it stands in",
            needs_whole=True,
            fixes=UNSAFE,
            gate=gates.misses_own_pods,
        ),
        _workload_rule(
            "SPR204",
            "max-skew-never-binds",
            "maxSkew is as large as the number of pods",
            Severity.WARNING,
            gate=gates.allows_skew,
        ),
        _workload_rule(
            "SPR205",
            "single-replica",
            "constraints on a workload of one replica spread nothing",
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
            "the pods may run in one domain only",
            Severity.WARNING,
            one_of=("nodeSelector", "affinity"),
        ),
        _workload_rule(
            "SPR208",
            "per-pod-match-key",
            "matchLabelKeys has a label that is different on every pod",
            needs=("matchLabelKeys",),
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR209",
            "match-key-absent",
            "matchLabelKeys has a label that the pods do not have",
            Severity.WARNING,
            needs=("matchLabelKeys",),
            needs_whole=True,
            fixes=EITHER,
        ),
        _workload_rule("SPR210", "node-name-set", "nodeName is set, so no scheduler sees the pod", needs=("nodeName",)),
        _workload_rule(
            "SPR211",
            "soft-shadowed-by-hard",
            "a ScheduleAnyway constraint prefers among domains that a DoNotSchedule one leaves equal",
            Severity.INFO,
            needs=("DoNotSchedule", "ScheduleAnyway"),
        ),
        _workload_rule(
            "SPR212",
            "anti-affinity-redundant",
            "pod anti-affinity over the same key leaves a constraint nothing to do",
            Severity.INFO,
            needs=("affinity",),
        ),
        _workload_rule(
            "SPR213",
            "cross-namespace-group",
            "a constraint selects pods that are in another namespace only",
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
            "a selector spells out a label that changes with the next release",
            Severity.WARNING,
            fixes=UNSAFE,
            gate=gates.selects_volatile,
        ),
        _workload_rule(
            "SPR216",
            "impossible-topology-key",
            "topologyKey cannot be the key of a label",
            gate=gates.has_unusual_key,
        ),
        _workload_rule(
            "SPR301",
            "tainted-nodes-counted",
            "cordoned and tainted nodes count as domains without pods",
            Severity.WARNING,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR302",
            "unknown-well-known-key",
            "topologyKey is a misspelt label of Kubernetes",
            one_of=("topologySpreadConstraints", "affinity"),
            needs_constraints=False,
            fixes=frozenset({Safety.SAFE, Safety.UNSAFE}),
            gate=gates.names_unusual_key,
        ),
        _workload_rule(
            "SPR303",
            "min-domains-above-replicas",
            "minDomains is more than the number of pods",
            Severity.INFO,
            needs=("minDomains",),
        ),
        _workload_rule(
            "SPR304",
            "hard-zone-and-hostname",
            "zone and hostname are both DoNotSchedule with maxSkew 1",
            Severity.WARNING,
            needs=("DoNotSchedule", "topology.kubernetes.io/zone", "kubernetes.io/hostname"),
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR305",
            "affinity-contradiction",
            "required pod affinity pulls together what a constraint holds apart",
            needs=("affinity",),
        ),
        _workload_rule(
            "SPR306",
            "anti-affinity-cap",
            "an autoscaler may ask for more replicas than anti-affinity has domains for",
            Severity.WARNING,
            needs=("affinity",),
            needs_facts=True,
            needs_constraints=False,
        ),
        _workload_rule(
            "SPR307",
            "affinity-ignored",
            "nodeAffinityPolicy Ignore counts domains that the pod may not use",
            needs=("nodeAffinityPolicy",),
            fixes=SAFE,
        ),
        _workload_rule(
            "SPR308",
            "zonal-volume-lock",
            "a hard zone constraint holds pods to a spread that their volumes cannot follow",
            Severity.WARNING,
            needs=("StatefulSet", "volumeClaimTemplates"),
            around=("StorageClass",),
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR309",
            "immediate-binding",
            "the zone of the volumes is chosen before the pods are scheduled",
            Severity.WARNING,
            one_of=("volumes", "volumeClaimTemplates"),
            around=("StorageClass",),
        ),
        _workload_rule(
            "SPR310",
            "host-port-cap",
            "a port of the node allows one pod on each node",
            Severity.INFO,
            needs=("containers",),
            is_opinion=True,
        ),
        _workload_rule(
            "SPR311",
            "not-one-per-node",
            "a comment promises one pod per node, the constraint does not",
            Severity.INFO,
            is_opinion=True,
        ),
        _workload_rule(
            "SPR312",
            "min-domains-out-of-reach",
            "node affinity allows fewer domains than minDomains",
            needs=("minDomains",),
        ),
        _workload_rule(
            "SPR313",
            "even-split-over-capacity-types",
            "a hard constraint asks for as many pods on demand as on spot",
            Severity.INFO,
            is_opinion=True,
        ),
        _workload_rule(
            "SPR401",
            "missing-revision-key",
            "a rolling update counts the pods of the old revision",
            Severity.WARNING,
            needs=("DoNotSchedule",),
            one_of=("Deployment", "Rollout"),
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR402",
            "rollout-deadlock",
            "no old pod may go first, and anti-affinity leaves the new one no domain",
            Severity.WARNING,
            needs=("Deployment", "affinity"),
            needs_constraints=False,
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR403",
            "wrong-hash-label",
            "a Rollout's pods have another hash label than a Deployment's",
            Severity.WARNING,
            needs=("Rollout", "matchLabelKeys"),
            fixes=SAFE,
        ),
        _workload_rule(
            "SPR404",
            "revision-key-on-statefulset",
            "a revision key lets updated pods pile up midway, where an update replaces them in place",
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
            "a PodDisruptionBudget lets no pod be evicted",
            Severity.WARNING,
            kinds=("PodDisruptionBudget",),
        ),
        _object_rule(
            "SPR504",
            "pdb-smaller-than-domain",
            "a PodDisruptionBudget lets fewer pods go than a zone holds",
            Severity.INFO,
            kinds=("PodDisruptionBudget",),
            is_opinion=True,
            needs_facts=True,
        ),
        _object_rule(
            "SPR505",
            "hpa-min-below-domains",
            "an autoscaler goes below the domains that a constraint asks for",
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
            "constraining zones or nodes alone ends the built-in spreading over the other",
            Severity.INFO,
            needs_whole=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR508",
            "serial-job",
            "constraints on a Job that runs one pod at a time",
            Severity.INFO,
            one_of=("Job", "CronJob"),
            fixes=UNSAFE,
        ),
        _object_rule(
            "SPR509",
            "traffic-without-spread",
            "a Service keeps traffic in the zone, and its pods are not spread over zones",
            Severity.INFO,
            kinds=("Service",),
            is_opinion=True,
        ),
        _workload_rule(
            "SPR510",
            "preferred-affinity-fights",
            "preferred node affinity outweighs constraints that are all soft",
            Severity.INFO,
            needs=("affinity",),
            is_opinion=True,
        ),
        _workload_rule(
            "SPR601",
            "field-unknown-to-version",
            "a field is newer than the cluster",
            gate=gates.knows_version,
        ),
        _workload_rule(
            "SPR602",
            "deprecated-key",
            "topologyKey is a deprecated label",
            Severity.WARNING,
            fixes=SAFE,
            gate=gates.has_unusual_key,
        ),
        _workload_rule("SPR603", "private-key", "topologyKey has no prefix", Severity.INFO, is_opinion=True),
        _workload_rule(
            "SPR604",
            "redundant-default",
            "a field says what holds without it",
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
            "two constraints share topologyKey, and merge into one",
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
            "Karpenter gives no node the label of topologyKey",
            Severity.WARNING,
            is_opinion=True,
            around=("NodePool",),
            autoscalers=(KARPENTER,),
        ),
        _workload_rule(
            "SPR703",
            "karpenter-soft-is-hard",
            "Karpenter adds nodes for a preference",
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
            "the descheduler does not restore what the constraint asks for",
            Severity.INFO,
            is_opinion=True,
        ),
        _object_rule(
            "SPR801", "default-has-selector", "a default constraint has a labelSelector", kinds=_SCHEDULER, fixes=SAFE
        ),
        _object_rule(
            "SPR802",
            "system-with-constraints",
            "default constraints beside defaultingType System",
            kinds=_SCHEDULER,
            fixes=UNSAFE,
        ),
        _object_rule(
            "SPR803", "hard-default", "a default constraint is DoNotSchedule", Severity.WARNING, kinds=_SCHEDULER
        ),
        _object_rule(
            "SPR804", "default-invalid", "kube-scheduler does not start with a default constraint", kinds=_SCHEDULER
        ),
        _workload_rule(
            "SPR901",
            "key-absent-everywhere",
            "no node that the pods may use has a hard topologyKey",
            needs_facts=True,
        ),
        _workload_rule(
            "SPR902",
            "key-absent-somewhere",
            "some nodes that the pods may use lack a topologyKey",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR903",
            "unreachable-domain",
            "a hard constraint counts a domain where no node takes the pod",
            needs_facts=True,
            fixes=UNSAFE,
        ),
        _workload_rule(
            "SPR904",
            "too-few-domains",
            "fewer domains than minDomains, and too few for the replicas",
            needs=("minDomains",),
            needs_facts=True,
        ),
        _workload_rule(
            "SPR905",
            "single-eligible-domain",
            "a hard constraint has one domain only, so it refuses nothing",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR906",
            "replicas-exceed-anti-affinity",
            "more replicas than anti-affinity has domains for",
            needs=("affinity",),
            needs_facts=True,
            needs_constraints=False,
        ),
        _workload_rule(
            "SPR907",
            "combined-unsatisfiable",
            "no placement of the replicas meets all constraints together",
            needs_facts=True,
        ),
        _workload_rule(
            "SPR908",
            "running-skew-exceeded",
            "running pods are further apart than maxSkew",
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
            "nodes share a hostname, so a hard constraint takes them for one",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR912",
            "counts-foreign-pods",
            "a hard constraint counts running pods of other workloads, unevenly spread",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR913",
            "soft-spread-lost",
            "pods end up further apart than a ScheduleAnyway constraint asks for",
            Severity.INFO,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR914",
            "scale-down-skew",
            "fewer replicas leave running pods further apart than maxSkew",
            Severity.INFO,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR915",
            "autoscaler-beyond-room",
            "an autoscaler may ask for more pods than the constraints let in",
            Severity.WARNING,
            needs_facts=True,
        ),
        _workload_rule(
            "SPR916",
            "volumes-exclude-domain",
            "a hard constraint counts domains where a claim's StorageClass makes no volume",
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
    )
}

_AUTOSCALERS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})


def kinds_around(codes: Container[str]) -> frozenset[str]:
    """Return the kinds of objects, workloads apart, that rules of these codes read.

    Autoscalers are always among them, as every rule may ask for the number of replicas.
    """
    rules = [rule for code, rule in RULES.items() if code in codes]
    return _AUTOSCALERS.union(*(rule.needs if rule.target is Target.AROUND else rule.around for rule in rules))


def superseded(refusals: frozenset[str]) -> frozenset[str]:
    """Return the codes of the rules that stay silent about a workload which the API server refuses with `refusals`."""
    return frozenset[str]().union(*(RULES[code].supersedes for code in refusals))
