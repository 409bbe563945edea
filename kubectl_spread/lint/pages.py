"""Pages of rules: the docstring of a rule's module, or for rules about the text and the API server the table here."""

from __future__ import annotations

import importlib

from kubectl_spread.lint.finding import RuleMeta
from kubectl_spread.lint.finding import Target
from kubectl_spread.lint.run_rules import module_name


def documentation(rule: RuleMeta) -> str:
    """Return the page of a rule, as Markdown with an indented example."""
    if rule.target is Target.OBJECT:
        return _PAGES[rule.name].strip()
    return str(importlib.import_module(module_name(rule.name)).__doc__).strip()


_PAGES = {
    "duplicate-constraint": """\
Two constraints share `topologyKey` and `whenUnsatisfiable`.

The API server refuses the second, even where their selectors differ.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 2
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Merge the two; a DoNotSchedule and a ScheduleAnyway constraint may share a key.
""",
    "duplicate-key": """\
A mapping has a key twice.

Most parsers keep the last of the two without a word, so one of the values is not what the object says. kubectl and the
API server's strict decoding refuse it.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            maxSkew: 2
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove one of the two.
""",
    "inclusion-policy-invalid": """\
A node inclusion policy is neither Honor nor Ignore.

`nodeAffinityPolicy` and `nodeTaintsPolicy` decide which nodes count as domains; the API server refuses any other value,
and another case of letters is another value.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            nodeTaintsPolicy: honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write one of the two; without the field affinity is honoured and taints are ignored.
""",
    "label-selector-invalid": """\
`labelSelector` does not parse.

An operator that does not exist, values where none may be or none where some must, or a key or value with characters
that labels do not have. The API server refuses it from 1.27 on; before, the pod was accepted and never scheduled.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchExpressions: [{key: app, operator: in, values: [web]}]}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

The operators are In and NotIn, with values, and Exists and DoesNotExist, without.
""",
    "match-key-in-selector": """\
A key is in both `matchLabelKeys` and `labelSelector`.

Up to 1.33 the API server refuses the object. From 1.34 on it accepts a Deployment, and refuses every pod that its
ReplicaSet then creates: there is no pod, so no event of one; only the ReplicaSet's `FailedCreate` tells.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [app]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove the key from `matchLabelKeys`: the selector already has it.
""",
    "match-key-syntax": """\
A `matchLabelKeys` entry is not a label key.

The API server refuses it. A key is a name of at most 63 characters, before which a DNS name and a slash may stand.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [app!]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write the key of a label, such as `pod-template-hash`.
""",
    "match-keys-without-selector": """\
`matchLabelKeys` without `labelSelector`.

The keys narrow the selector; where there is none, the API server refuses them.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            matchLabelKeys: [app]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Add a `labelSelector` with the labels of the workload's own pods.
""",
    "max-skew-not-positive": """\
`maxSkew` is missing, zero or negative.

The API server refuses the object: a domain could then hold no pod more than the smallest, which no first pod can
satisfy. The field has no default.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 0
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write 1, the evenest, or more.
""",
    "min-domains-not-positive": """\
`minDomains` is zero or negative.

The API server refuses it. Leaving the field out means 1.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            minDomains: 0
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove it, or write 1 or more.
""",
    "min-domains-on-soft": """\
`minDomains` without DoNotSchedule.

With fewer domains than `minDomains` the smallest counts as empty, so that pods wait for more domains; a preference
waits for nothing, and the API server refuses the pair.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            minDomains: 3
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove `minDomains`, or use `whenUnsatisfiable: DoNotSchedule`.
""",
    "misplaced-constraints": """\
`topologySpreadConstraints` stands where nothing reads it.

It belongs to the pod's spec. Beside `template`, under `affinity` or in a container it is refused by strict decoding,
and otherwise dropped: the pods have no constraint at all.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: web}]

Move it to the place the hint names.
""",
    "separator-text": """\
Text stands beside a document separator.

kubectl takes every line that begins with `---` for a separator, and refuses the file there: `invalid Yaml document
separator`. Nothing below is applied. YAML itself would let a document begin on that line, so that other tools read the
file without a word. kubectl before 1.22 dropped the next object in silence. The object below is checked all the same.

A comment, `--- # web`, is no fault: only kubectl before 1.22 stumbles over it, and which kubectl will read the file is
not known here.

Example:
    --- web
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove the text, make it a comment, or put it on a line of its own.
""",
    "suppression-without-reason": """\
A suppression has no reason.

Who reads `# spread: ignore[SPR304]` a year later cannot tell whether the fault is wanted, or whether it was in the way.
The reason is what follows the rules, in a comment and in an annotation.

This is an opinion, and off by default.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: kubernetes.io/zone  # spread: ignore[SPR302]
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write it: `# spread: ignore[SPR302] our nodes have this label`.
""",
    "template-skipped": """\
A template was not checked.

A template (of a Helm chart, or of Jinja, ERB or Terraform) is not YAML until it is rendered, so the file was not
checked. Only a template that names `topologySpreadConstraints` is reported; the summary of the run counts all
templates, in one line.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      {{- with .Values.replicas }}
      replicas: {{ . }}
      {{- end }}
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Check what it renders to: `helm template shop charts/shop | kubectl spread check -`.
""",
    "topology-key-missing": """\
`topologyKey` is missing or empty.

It names the node label whose values are the domains; without it there is nothing to spread over, and the API server
refuses the object.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Name a label, such as `topology.kubernetes.io/zone` or `kubernetes.io/hostname`.
""",
    "unknown-field": """\
A constraint has a field that does not exist.

kubectl's strict validation refuses it. Helm and most controllers do not ask for strict validation: the API server drops
the field, with a warning from 1.27 on, which nobody may see, and in silence before. Case counts: `NodeTaintsPolicy` is
no field. What the field would have said is checked as if it were spelt right, so that a `MaxSkew` is not reported as a
missing `maxSkew`, too.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            NodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write the field as the hint has it.
""",
    "unmapped-podspec": """\
An object of an unknown kind has constraints, and only a part of the checks was made.

Operators, GitOps tools and charts hold constraints in kinds of their own. It is not known where such a kind has its
pods' labels, its replicas and the rest of the pod spec. The constraints get every check that needs no pod: values that
the API server refuses (SPR101 to SPR108, SPR110 to SPR112, SPR114), keys that no node has (SPR216, SPR302), deprecated
keys (SPR602), and hard constraints that count tainted nodes (SPR301, as info). This finding says once for each file
that the rest, such as selectors that match no pod, was not checked.

Example:
    apiVersion: example.com/v1
    kind: Database
    metadata: {name: ledger}
    spec:
      instances: 3
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {db: ledger}}

Name the path of the pods in the config (`podspecPaths`), or check what comes of the object, where it runs:
`kubectl get statefulsets -o yaml | kubectl spread check -`.
""",
    "unused-suppression": """\
A suppression suppresses nothing.

The fault it was written for is gone, or it names no rule, or a rule that does not exist. It would hide the next finding
of that rule at this place.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1  # spread: ignore[SPR304] our zones are alike
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove the comment, the annotation's entry or the config's, or name the rule in brackets:
`# spread: ignore[SPR304] the reason`.
""",
    "when-unsatisfiable-invalid": """\
`whenUnsatisfiable` is neither DoNotSchedule nor ScheduleAnyway.

The API server refuses any other value, and another case of letters is another value.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: scheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write one of the two.
""",
    "when-unsatisfiable-missing": """\
`whenUnsatisfiable` is missing; it has no default.

The documentation speaks of DoNotSchedule as the default, but nothing sets it, and the API server refuses the empty
value.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write `DoNotSchedule` (a rule: the pod waits) or `ScheduleAnyway` (a preference).
""",
    "wrong-scalar-type": """\
A value has the wrong type, so the object cannot be decoded.

`"1"` is no number, and an unquoted `on`, `1.10` or `0644` is no text: kubectl reads YAML 1.1's words and octal numbers.
The API server refuses the whole object, so nothing else in it was checked, and the exit code is 3.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: "1"
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Quote what is text, and do not quote numbers.
""",
    "yaml-syntax": """\
A document is not YAML.

kubectl and the API server stop at it too. The other documents of the file are checked all the same. As nothing is known
of what the document says, the exit code is 3.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Mend what the parser names; the place is where it gave up, the cause is often a line before.
""",
}
