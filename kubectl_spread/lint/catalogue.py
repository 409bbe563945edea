"""The rules, by code."""

from __future__ import annotations

from kubectl_spread.lint.finding import RuleMeta
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.finding import Target


def _rule(code: str, name: str, summary: str, severity: Severity = Severity.ERROR) -> tuple[str, RuleMeta]:
    return code, RuleMeta(code, name, severity, summary)


def _about_workloads(
    code: str,
    name: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    needs: tuple[str, ...] = (),
    is_opinion: bool = False,
    needs_facts: bool = False,
    needs_constraints: bool = True,
) -> tuple[str, RuleMeta]:
    """A rule that has a module of its name in `lint/rules`, with `check(subject, project)`."""
    words = frozenset(("topologySpreadConstraints", *needs) if needs_constraints else needs)
    return code, RuleMeta(code, name, severity, summary, Target.WORKLOAD, words, is_opinion, needs_facts)


def _about_others(
    code: str, name: str, summary: str, severity: Severity = Severity.ERROR, *, kinds: tuple[str, ...]
) -> tuple[str, RuleMeta]:
    """A rule about objects around workloads; its module has `check(manifest, project)`."""
    return code, RuleMeta(code, name, severity, summary, Target.AROUND, frozenset(kinds))


RULES: dict[str, RuleMeta] = dict(
    (
        _rule("SPR001", "yaml-syntax", "a document is not YAML"),
        _rule("SPR002", "template-skipped", "a Go template was not checked", Severity.INFO),
        _rule("SPR003", "duplicate-key", "a mapping has a key twice"),
        _rule("SPR005", "unused-suppression", "a suppression suppresses nothing", Severity.WARNING),
        _rule("SPR101", "max-skew-not-positive", "maxSkew is missing, zero or negative"),
        _rule("SPR102", "topology-key-missing", "topologyKey is missing or empty"),
        _rule("SPR103", "when-unsatisfiable-missing", "whenUnsatisfiable is missing; it has no default"),
        _rule("SPR104", "when-unsatisfiable-invalid", "whenUnsatisfiable is neither DoNotSchedule nor ScheduleAnyway"),
        _rule("SPR105", "duplicate-constraint", "two constraints share topologyKey and whenUnsatisfiable"),
        _rule("SPR106", "min-domains-not-positive", "minDomains is zero or negative"),
        _rule("SPR107", "min-domains-on-soft", "minDomains without DoNotSchedule"),
        _rule("SPR108", "inclusion-policy-invalid", "a node inclusion policy is neither Honor nor Ignore"),
        _rule("SPR109", "match-keys-without-selector", "matchLabelKeys without labelSelector"),
        _rule("SPR110", "match-key-in-selector", "a key is in both matchLabelKeys and labelSelector"),
        _rule("SPR111", "match-key-syntax", "a matchLabelKeys entry is not a label key"),
        _rule("SPR112", "label-selector-invalid", "labelSelector does not parse"),
        _rule("SPR113", "wrong-scalar-type", "a value has the wrong type, so the object cannot be decoded"),
        _rule("SPR114", "unknown-field", "a constraint has a field that does not exist"),
        _rule("SPR115", "misplaced-constraints", "topologySpreadConstraints stands where nothing reads it"),
        _about_workloads("SPR201", "selector-missing", "a constraint without labelSelector counts no pods"),
        _about_workloads("SPR202", "selector-empty", "an empty labelSelector counts no pods"),
        _about_workloads("SPR203", "selector-misses-own-pods", "a constraint does not select the pods it stands in"),
        _about_workloads(
            "SPR204", "max-skew-never-binds", "maxSkew is as large as the number of pods", Severity.WARNING
        ),
        _about_workloads(
            "SPR206", "daemonset", "constraints on a DaemonSet spread nothing", Severity.WARNING, needs=("DaemonSet",)
        ),
        _about_workloads(
            "SPR208",
            "per-pod-match-key",
            "matchLabelKeys has a label that is different on every pod",
            needs=("matchLabelKeys",),
        ),
        _about_workloads(
            "SPR209",
            "match-key-absent",
            "matchLabelKeys has a label that the pods do not have",
            Severity.WARNING,
            needs=("matchLabelKeys",),
        ),
        _about_workloads(
            "SPR210", "node-name-set", "nodeName is set, so no scheduler sees the pod", needs=("nodeName",)
        ),
        _about_workloads("SPR302", "unknown-well-known-key", "topologyKey is a misspelt label of Kubernetes"),
        _about_workloads(
            "SPR304", "double-hard", "zone and hostname are both DoNotSchedule with maxSkew 1", Severity.WARNING
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
        ),
        _about_workloads(
            "SPR401",
            "missing-revision-key",
            "a rolling update counts the pods of the old revision",
            Severity.WARNING,
            needs=("Deployment",),
        ),
        _about_workloads(
            "SPR502", "selector-too-broad", "a constraint counts the pods of other workloads", Severity.WARNING
        ),
        _about_workloads("SPR602", "deprecated-key", "topologyKey is a deprecated label", Severity.WARNING),
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
            "SPR908", "live-skew", "running pods are further apart than maxSkew", Severity.INFO, needs_facts=True
        ),
        _about_workloads(
            "SPR909", "server-too-old", "a field is newer than the API server, which drops it", needs_facts=True
        ),
        _about_workloads(
            "SPR910",
            "defaults-differ",
            "constraints switch off defaults that the scheduler is configured with",
            Severity.INFO,
            needs_facts=True,
        ),
    )
)
