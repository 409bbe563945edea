"""Pages of rules: a rule's module has its own as its docstring, rules without a module have theirs here.

Every page has the same headings. Examples are indented by four spaces.
"""

from __future__ import annotations

import importlib
import textwrap
from typing import NamedTuple

from kubectl_spread.lint.finding import RuleMeta, RuleTarget
from kubectl_spread.lint.run_rules import module_name

_WIDTH = 119


class _Page(NamedTuple):
    """The sections of a page; `corrected` is what replaces the faulty constraint of the example."""

    what: str
    why: str
    example: str
    instead: str
    corrected: str = ""
    safety: str = ""


def documentation(rule: RuleMeta) -> str:
    """Return the page of a rule, as Markdown with indented examples."""
    if rule.target is RuleTarget.OBJECT:
        return _rendered(rule, _PAGES[rule.name])
    return str(importlib.import_module(module_name(rule.name)).__doc__).strip()


def title(rule: RuleMeta) -> str:
    """Return the first line of a rule's page: its summary as a sentence."""
    first = rule.summary if rule.summary.startswith(("`", "kube-")) else rule.summary[0].upper() + rule.summary[1:]
    return f"{first}."


def _rendered(rule: RuleMeta, page: _Page) -> str:
    corrected = f"\n\n{_indented(page.corrected)}" if page.corrected else ""
    sections = [
        title(rule),
        f"## What it does\n\n{_wrapped(page.what)}",
        f"## Why it matters\n\n{_wrapped(page.why)}",
        f"## Example\n\n{_indented(page.example)}",
        f"## Use instead\n\n{_wrapped(page.instead)}{corrected}",
    ]
    if page.safety:
        sections.append(f"## Fix safety\n\n{_wrapped(page.safety)}")
    return "\n\n".join(sections)


def _wrapped(text: str) -> str:
    paragraphs = text.split("\n\n")
    return "\n\n".join(textwrap.fill(part, _WIDTH, break_on_hyphens=False) for part in paragraphs)


def _indented(manifest: str) -> str:
    return textwrap.indent(manifest.rstrip("\n"), "    ")


def _with(constraint: str, *more: str) -> str:
    """Return a StatefulSet with a constraint, one over nodes, and perhaps more."""
    after = "".join(textwrap.indent(item, "      ") for item in more)
    return f"""\
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: web}}
spec:
  replicas: 6
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      topologySpreadConstraints:
{textwrap.indent(constraint, "      ").rstrip()}
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {{matchLabels: {{app: web}}}}
{after}      containers: [{{name: web, image: web}}]
"""


_PAGES = {
    "yaml-syntax": _Page(
        what=("Reports a document that cannot be parsed as YAML. The other documents of the file are still checked."),
        why="kubectl refuses the document too. Its content was not checked, so the exit code is 3.",
        example="""\
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
""",
        instead=(
            "Fix the error that the parser names. The finding shows where the parser gave up; the cause is often a "
            "line earlier."
        ),
    ),
    "template-skipped": _Page(
        what=(
            "Reports a template (of a Helm chart, Jinja, ERB or Terraform) that contains "
            "`topologySpreadConstraints`. The summary of the run counts all skipped templates in one line."
        ),
        why="A template is not YAML until it is rendered, so the file was not checked.",
        example="""\
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
""",
        instead="Check the rendered manifests: `helm template shop charts/shop | kubectl spread check -`.",
    ),
    "duplicate-key": _Page(
        what="Reports the second of two equal keys in one mapping.",
        why=(
            "kubectl and the API server's strict decoding refuse the object. Most other parsers silently keep the "
            "last value, so one of the two values is lost."
        ),
        example=_with("""\
- maxSkew: 1
  maxSkew: 2
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
"""),
        instead="Remove one of the two.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
    ),
    "separator-text": _Page(
        what=(
            "Reports a line that starts with `---` and has text other than a comment after it. The object below is "
            "still checked."
        ),
        why=(
            "kubectl treats every line that starts with `---` as a separator. It stops at a line with such text: "
            "`invalid Yaml document separator`. Nothing below the line is applied. YAML itself allows the text, so "
            "other tools read the file without a complaint. kubectl before 1.22 silently dropped the next object.\n\n"
            "A comment (`--- # web`) is not reported: only kubectl before 1.22 fails on it."
        ),
        example="""\
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
""",
        instead="Remove the text, turn it into a comment, or move it to a line of its own.",
        safety=(
            "The fix is safe. It removes a word after the separator, and moves anything that may belong to the "
            "document to a line of its own."
        ),
    ),
    "unused-suppression": _Page(
        what=(
            "Reports an ignore comment, an annotation, or an entry of the configuration that suppresses no finding. "
            "It may name no rule, an unknown rule, or a rule that finds nothing there."
        ),
        why="It would silently hide a future finding of that rule at this place.",
        example=_with("""\
- maxSkew: 1  # spread: ignore[SPR304] our zones are alike
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
"""),
        instead=(
            "Remove the comment, or the entry of the annotation or configuration. To suppress a finding, name the "
            "rule in brackets: `# spread: ignore[SPR304] the reason`."
        ),
        safety=(
            "The fix is safe: it removes the comment, or replaces a rule's old name with its new one. Annotations "
            "and the configuration are not changed."
        ),
    ),
    "unmapped-podspec": _Page(
        what="Reports, once for each file, an object of an unknown kind that contains `topologySpreadConstraints`.",
        why=(
            "Operators, GitOps tools and charts keep constraints in kinds of their own. In such a kind, the place of "
            "the replicas, the pods' labels and the rest of the pod spec is unknown. The constraints get only the "
            "checks that need no pod: values that the API server refuses (SPR101 to SPR108, SPR110 to SPR112, "
            "SPR114), keys that no node has (SPR216, SPR302), deprecated keys (SPR602), and tainted nodes that count "
            "as domains (SPR301, as info). Selectors that match no pod, for example, are not found."
        ),
        example="""\
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
""",
        instead=(
            "Add the path of the pod spec to the configuration (`podspecPaths`), or check the workloads that the "
            "operator creates: `kubectl get statefulsets -o yaml | kubectl spread check -`."
        ),
    ),
    "max-skew-not-positive": _Page(
        what="Reports a constraint whose `maxSkew` is missing or below 1.",
        why=(
            "The API server refuses the object. The field has no default, and with 0 not even the first pod could "
            "be placed."
        ),
        example=_with("""\
- maxSkew: 0
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
"""),
        instead="Write 1, which spreads most evenly, or more.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
        safety="The fix is unsafe: it writes `maxSkew: 1`, and a larger value may be meant.",
    ),
    "topology-key-missing": _Page(
        what="Reports a constraint without a `topologyKey`.",
        why=(
            "The key names the node label whose values are the domains. The API server refuses a constraint without it."
        ),
        example=_with("""\
- maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
"""),
        instead="Name a node label, such as `topology.kubernetes.io/zone` or `kubernetes.io/hostname`.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
    ),
    "when-unsatisfiable-missing": _Page(
        what="Reports a constraint without `whenUnsatisfiable`.",
        why=(
            "The field has no default, although the documentation calls DoNotSchedule one. The API server refuses "
            "the empty value."
        ),
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  labelSelector: {matchLabels: {app: web}}
"""),
        instead="Write `DoNotSchedule` if a pod should wait, or `ScheduleAnyway` for a preference.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
        safety="The fix is unsafe: it writes `DoNotSchedule`, which can leave pods Pending.",
    ),
    "when-unsatisfiable-invalid": _Page(
        what="Reports any other value of `whenUnsatisfiable`.",
        why="The API server refuses the object. Upper and lower case matter.",
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: scheduleAnyway
  labelSelector: {matchLabels: {app: web}}
"""),
        instead="Write one of the two.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
        safety="The fix is safe: it corrects the spelling of a value that the API server refuses.",
    ),
    "duplicate-constraint": _Page(
        what="Reports the second of two constraints with the same `topologyKey` and `whenUnsatisfiable`.",
        why="The API server refuses the object, even if the selectors differ.",
        example=_with(
            """\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
            """\
- maxSkew: 2
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
        ),
        instead="Merge the two. One DoNotSchedule and one ScheduleAnyway constraint may share a key.",
    ),
    "min-domains-not-positive": _Page(
        what="Reports a `minDomains` below 1.",
        why="The API server refuses the object.",
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
  minDomains: 0
  nodeTaintsPolicy: Honor
"""),
        instead="Remove the field, which means 1, or write 1 or more.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
  nodeTaintsPolicy: Honor
""",
        safety="The fix is safe: it removes a value that the API server refuses.",
    ),
    "min-domains-on-soft": _Page(
        what="Reports `minDomains` in a ScheduleAnyway constraint.",
        why=(
            "With `minDomains`, pods wait until there are enough domains. A preference never makes a pod wait, so "
            "the API server refuses the combination."
        ),
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
  minDomains: 3
"""),
        instead="Remove `minDomains`, or use `whenUnsatisfiable: DoNotSchedule`.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
        safety="The fix is safe: it removes a field that the API server refuses here.",
    ),
    "inclusion-policy-invalid": _Page(
        what="Reports any other value of `nodeAffinityPolicy` or `nodeTaintsPolicy`.",
        why=(
            "The two fields decide which nodes count as domains. The API server refuses other values; upper and "
            "lower case matter."
        ),
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
  nodeTaintsPolicy: honor
"""),
        instead="Write one of the two. Without the fields, node affinity is honored and taints are ignored.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
  nodeTaintsPolicy: Honor
""",
        safety="The fix is safe: it corrects the spelling of a value that the API server refuses.",
    ),
    "match-keys-without-selector": _Page(
        what="Reports a constraint with `matchLabelKeys` and no `labelSelector`.",
        why="The keys narrow the selector. Without a selector, the API server refuses them.",
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  matchLabelKeys: [app]
"""),
        instead="Add a `labelSelector` with the labels of the workload's own pods.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
        safety="The fix is unsafe: it adds a selector, so the constraint starts to count pods.",
    ),
    "match-key-in-selector": _Page(
        what="Reports an entry of `matchLabelKeys` whose key the selector names already.",
        why=(
            "Up to 1.33 the API server refuses the object. From 1.34 on it accepts a Deployment, and refuses every "
            "pod that its ReplicaSet creates. There is then no pod and no pod event: only the ReplicaSet's "
            "`FailedCreate` event shows the problem."
        ),
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
  matchLabelKeys: [app]
"""),
        instead="Remove the key from `matchLabelKeys`.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
        safety="The fix is safe: the selector already has the key.",
    ),
    "match-key-syntax": _Page(
        what="Reports an entry of `matchLabelKeys` with characters that label keys cannot have.",
        why=(
            "The API server refuses the object. A key is a name of at most 63 characters, with an optional DNS name "
            "and a slash before it."
        ),
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
  matchLabelKeys: [app!]
"""),
        instead="Write the key of a label, such as `pod-template-hash`.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
  matchLabelKeys: [controller-revision-hash]
""",
    ),
    "label-selector-invalid": _Page(
        what=(
            "Reports an operator that does not exist, missing or unexpected values, and keys or values with "
            "characters that labels cannot have."
        ),
        why="The API server refuses the object from 1.27 on. Before, the pod was accepted and never scheduled.",
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchExpressions: [{key: app, operator: in, values: [web]}]}
"""),
        instead="The operators are In and NotIn, with values, and Exists and DoesNotExist, without values.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}
""",
        safety="The fix is safe: it corrects the spelling of an operator that the API server refuses.",
    ),
    "wrong-scalar-type": _Page(
        what=(
            'Reports a value of another type than the field has. `"1"` is not a number, and an unquoted `on`, '
            "`1.10` or `0644` is not a string: kubectl reads YAML 1.1's Booleans and octal numbers."
        ),
        why="The API server refuses the whole object. Nothing else in it was checked, and the exit code is 3.",
        example=_with("""\
- maxSkew: "1"
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
"""),
        instead="Put strings in quotes, and write numbers without them.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
""",
        safety=(
            "The fix is safe: it keeps the value as it is written, and the API server refuses the object without it."
        ),
    ),
    "unknown-field": _Page(
        what=(
            "Reports an unknown field in a constraint or its selector. Upper and lower case matter: "
            "`NodeTaintsPolicy` does not exist. The other rules read the field as if it were spelled correctly, so "
            "one mistake is one finding."
        ),
        why=(
            "kubectl's strict validation refuses the object. Helm and most controllers do not ask for strict "
            "validation. The API server then drops the field, with a warning from 1.27 on and silently before."
        ),
        example=_with("""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
  NodeTaintsPolicy: Honor
"""),
        instead="Write the field as the hint says.",
        corrected="""\
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
  nodeTaintsPolicy: Honor
""",
        safety="The fix is safe: it corrects the name of a field that would be dropped or refused.",
    ),
    "misplaced-constraints": _Page(
        what=(
            "Reports `topologySpreadConstraints` outside the pod spec: next to `template`, under `affinity`, or in "
            "a container."
        ),
        why=(
            "Strict decoding refuses the object. Otherwise the API server drops the field, and the pods have no "
            "constraint at all."
        ),
        example="""\
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
""",
        instead="Move the list to the place that the hint names.",
        safety=(
            "The fix is unsafe: the constraints take effect for the first time, so pods may stay Pending. A list "
            "with comments is not moved."
        ),
    ),
    "suppression-without-reason": _Page(
        what=(
            "Reports an ignore comment or annotation with nothing after the rules. This rule is an opinion, and off "
            "by default."
        ),
        why="A year later, a reader of `# spread: ignore[SPR304]` cannot tell why the problem was accepted.",
        example=_with("""\
- maxSkew: 1
  topologyKey: kubernetes.io/zone  # spread: ignore[SPR302]
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
"""),
        instead="Write the reason after the rules: `# spread: ignore[SPR302] our nodes have this label`.",
    ),
}
