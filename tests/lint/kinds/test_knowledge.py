"""What rules say of constraints, by how much is known about their pods."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.text.source import SourceFile
from tests.lint.test_mutations import judged, read
from tests.manifests import DEPLOYMENT

HARD = "maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule"
SELECTED = f"{HARD}, labelSelector: {{matchLabels: {{app.kubernetes.io/instance: web}}}}"
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: {name}}}
spec:
  values:
    replicas: {replicas}
    topologySpreadConstraints: [{{{constraint}}}]
"""
VALUES = "web:\n  topologySpreadConstraints: [{%s}]\n"


def codes(text: str) -> list[str]:
    """The default findings of a text, as `CODE severity`, without the notes about what was not checked."""
    found = [item for item in judged([read(SourceFile("a.yaml", text))]) if not item.rule.is_opinion]
    return [f"{item.rule.code} {item.rule.severity.value}" for item in found if item.rule.code != "SPR006"]


def release(constraint: str, *, name: str = "web", replicas: int = 3) -> list[str]:
    return codes(RELEASE.format(name=name, replicas=replicas, constraint=constraint))


def test_a_release_of_a_chart_is_partly_known() -> None:
    """A hard constraint with a selector may stall, whatever the pods' labels are."""
    assert ["SPR301 info"] == release(SELECTED)


def test_values_of_a_chart_elsewhere_are_unknown() -> None:
    """How many pods they are for is unknown, too."""
    assert [] == codes(VALUES % SELECTED)


def test_a_file_of_values_is_partly_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A release reads it, as it reads its own values."""
    (tmp_path / "prod-values.yaml").write_text(VALUES % SELECTED)
    run(["check", str(tmp_path / "prod-values.yaml"), "-o", "concise"])

    assert "SPR301 if labelSelector matches the pods" in capsys.readouterr().out


@pytest.mark.parametrize("text", [VALUES % HARD, RELEASE.format(name="web", replicas=3, constraint=HARD)])
def test_a_constraint_that_may_count_nothing_is_not_said_to_stall(text: str) -> None:
    """It is said that labelSelector is missing, and nothing else."""
    assert ["SPR201 info"] == codes(text)


@pytest.mark.parametrize(("replicas", "expected"), [(1, ["SPR205 info"]), (2, ["SPR301 info"])])
def test_a_moot_constraint_of_a_release(replicas: int, expected: list[str]) -> None:
    assert expected == release(SELECTED, replicas=replicas)


def test_a_release_with_a_skew_of_all_its_pods() -> None:
    assert ["SPR204 warning"] == release(SELECTED.replace("maxSkew: 1", "maxSkew: 9"))


def test_the_instance_of_another_release() -> None:
    """Charts set the label to the name of the release."""
    assert "SPR203 warning" in release(SELECTED, name="shop")
    assert "SPR301 info" not in release(SELECTED, name="shop")  # it counts no pods
    assert "SPR203 warning" not in release(SELECTED, name="web")


@pytest.mark.parametrize(("keys", "expected"), [("[]", "SPR202 error"), ("[pod-template-hash]", "")])
def test_an_empty_selector_with_keys_of_unknown_pods(keys: str, expected: str) -> None:
    """The pods may have the labels, and then the selector is not empty."""
    constraint = f"{HARD}, labelSelector: {{}}, matchLabelKeys: {keys}"
    kind = OPERATED.format(constraint=constraint)

    assert [expected] * bool(expected) == [item for item in codes(kind) if item.startswith("SPR202")]


OPERATED = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {{name: web}}
spec:
  provider: {{kubernetes: {{envoyDeployment: {{pod: {{topologySpreadConstraints: [{{{constraint}}}]}}}}}}}}
"""


@pytest.mark.parametrize(
    ("own", "selected", "replicas", "is_told"),
    [
        ("web", "web", "3", False),
        ("shop", "web", "3", True),
        ("shop", "other", "3", False),  # may be the name of the chart
        ("shop", "web", "3  # of chart web", False),
    ],
)
def test_a_selector_that_was_copied_from_another_release(own: str, selected: str, replicas: str, is_told: bool) -> None:
    """Nothing but the selector has the name of the other release."""
    constraint = f"{HARD}, labelSelector: {{matchLabels: {{app.kubernetes.io/name: {selected}}}}}"
    texts = [RELEASE.format(name=own, replicas=replicas, constraint=constraint)]
    texts.append(RELEASE.format(name="web", replicas=3, constraint=SELECTED))
    found = judged([read(SourceFile(f"{number}.yaml", text)) for number, text in enumerate(texts)])

    assert is_told == any("was copied from HelmRelease `web`" in item.message for item in found)


@pytest.mark.parametrize(("names", "expected"), [(("a", "b", "c"), 0), (("a", "b", "x"), 1), (("a", "x"), 0)])
def test_a_value_that_no_workload_has_where_all_others_are_here(names: tuple[str, ...], expected: int) -> None:
    """At least two others; otherwise the pods may be in another run."""
    constraints = [f"{HARD}, labelSelector: {{matchLabels: {{team: {name}}}}}" for name in names]
    texts = [VALUES % constraint for constraint in constraints]
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {{name: {0}, labels: {{team: {0}}}}}\nspec: {{containers: []}}\n"
    texts += [pod.format(name) for name in "abc"]
    found = judged([read(SourceFile(f"{number}.yaml", text)) for number, text in enumerate(texts)])

    assert expected == sum("no workload of this run has `x` for `team`" in item.message for item in found)


LISTS = """\
apiVersion: databases.example.com/v1
kind: RedisFailover
metadata: {name: cache}
spec:
  one: {topologySpreadConstraints: [{%s, labelSelector: {matchLabels: {redisfailovers.example.com/name: c}}}]}
  two: {topologySpreadConstraints: [{%s, labelSelector: {matchLabels: {redisfilovers.example.com/name: c}}}]}
"""


def test_a_key_that_is_misspelt_in_one_of_two_lists() -> None:
    """The one that the kind does not have is the wrong one."""
    text = LISTS % (HARD, HARD)
    (finding,) = [item for item in judged([read(SourceFile("a.yaml", text))]) if item.rule.code == "SPR203"]

    assert finding.place.source.position(finding.place.span.start).line == 6
    assert "`redisfilovers.example.com/name` is misspelt" in finding.message


@pytest.mark.parametrize("other", ["rediscluster.example.com/name", "redisfailovers.example.com/names"])
def test_keys_that_differ_in_more_than_a_letter_may_both_be_meant(other: str) -> None:
    text = (LISTS % (HARD, HARD)).replace("redisfilovers.example.com/name", other)
    assert [] == [item for item in judged([read(SourceFile("a.yaml", text))]) if item.rule.code == "SPR203"]


TEMPLATE = """\
spec:
  {{- with .Values.web.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers: []
"""
ADDING = """\
spec:
  topologySpreadConstraints:
  {{- range .Values.web.topologySpreadConstraints }}
    - {{ toYaml . | nindent 6 }}
      labelSelector: {{ include "selector" $ }}
  {{- end }}
  containers: []
"""


@pytest.fixture
def chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 0.1.0\n")
    return tmp_path


GENERATED = """\
{{- range $_, $spread := .Values.web.topologySpreadConstraints -}}
{{- $all = (concat $all (list (dict "labelSelector" $labels "maxSkew" $spread.maxSkew))) -}}
{{- end -}}
"""
OF_AN_OPERATOR = f"apiVersion: example.com/v1\nkind: WebCluster\n{TEMPLATE}"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (TEMPLATE, "error SPR201 labelSelector is missing, so"),
        (f"kind: StatefulSet\n{TEMPLATE}", "error SPR201 labelSelector is missing, so"),
        (OF_AN_OPERATOR, "info SPR201"),
        (ADDING, ""),
        (GENERATED, ""),
        ("{{ .Values.other }}", "info SPR201"),
    ],
)
def test_the_templates_of_a_chart_say_whether_a_selector_is_added(
    chart: Path, template: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list that is printed as it is has no selector; a template that adds one makes the list right."""
    (chart / "templates" / "web.yaml").write_text(template)
    (chart / "values.yaml").write_text(VALUES % HARD)
    run(["check", "values.yaml", "-o", "concise"])

    out = capsys.readouterr().out
    assert expected in out
    assert expected or "SPR201" not in out


def test_a_template_may_fill_in_what_the_values_leave_out(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of an unknown chart that is information, and an error if the template prints the list as it is."""
    (chart / "values.yaml").write_text(VALUES % "maxSkew: 1, topologyKey: kubernetes.io/hostname")
    found = []
    for template in (TEMPLATE, GENERATED, "{{ .Values.other }}"):
        (chart / "templates" / "web.yaml").write_text(template)
        run(["check", "values.yaml", "-o", "concise", "--select", "SPR103"])
        found.append(capsys.readouterr().out.split(" SPR")[0].rpartition(" ")[2])

    assert ["error", "", "info"] == found


def test_a_field_that_a_template_reads_is_the_charts_own(chart: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No finding, no fix; a field that no template reads is at most information."""
    own = f"{HARD}, customLabelSelector: {{a: b}}, labelSelectorr: {{matchLabels: {{a: b}}}}"
    values = VALUES % own
    (chart / "templates" / "web.yaml").write_text(TEMPLATE.replace("toYaml .", "toYaml .customLabelSelector"))
    (chart / "values.yaml").write_text(values)
    run(["check", "values.yaml", "-o", "concise", "--fix", "--unsafe-fixes"])

    out = capsys.readouterr().out
    assert "info SPR114" in out
    assert "customLabelSelector" not in out
    assert values == (chart / "values.yaml").read_text()


@pytest.mark.parametrize(
    ("beside", "expected"),
    [("replicaCount: 3", "SPR301"), ("persistence: {size: 1Gi}", ""), ("replicaCount: 1", "")],
)
def test_values_of_a_chart_have_volumes_and_replicas_beside_the_constraints(
    chart: Path, capsys: pytest.CaptureFixture[str], beside: str, expected: str
) -> None:
    (chart / "templates" / "web.yaml").write_text(TEMPLATE)
    selected = SELECTED.replace("kubernetes.io/hostname", "topology.kubernetes.io/zone")
    (chart / "values.yaml").write_text(f"web:\n  {beside}\n  topologySpreadConstraints: [{{{selected}}}]\n")
    run(["check", "values.yaml", "-o", "concise", "--select", "SPR301"])

    assert [expected] * bool(expected) == [line.split()[2] for line in capsys.readouterr().out.splitlines()]


ZONAL = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 6
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: x}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: db}}
"""
CLAIMS = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]\n"


def test_honor_does_not_help_pods_that_are_tied_to_the_zones_of_their_volumes() -> None:
    assert "SPR301 info" in codes(ZONAL)
    assert "SPR301 info" not in codes(ZONAL + CLAIMS)


def test_a_safe_fix_that_would_add_a_finding_in_another_file_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A selector that is added to the one workload makes its group differ from the other's."""
    monkeypatch.chdir(tmp_path)
    soft = ZONAL.replace("DoNotSchedule", "ScheduleAnyway").replace("StatefulSet", "Deployment")
    soft = soft.replace("  serviceName: db\n", "")
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(soft.replace("{name: db}", f"{{name: db-{name}}}"))
    broken = (tmp_path / "b.yaml").read_text().replace("        labelSelector: {matchLabels: {app: db}}\n", "")
    (tmp_path / "b.yaml").write_text(broken.replace("maxSkew: 1", "maxSkew: 5"))
    run(["check", ".", "--select", "SPR201,SPR501", "--fix"])

    assert "b.yaml:12:9: SPR201 is not fixed: then there would be: SPR501" in capsys.readouterr().err
    assert "labelSelector" not in (tmp_path / "b.yaml").read_text()


OVERLAY = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway,
         labelSelector: {matchLabels: {app: wbe}}}
"""
JSON_PATCH = """\
- op: add
  path: /spec/template/spec/topologySpreadConstraints
  value:
  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway,
     labelSelector: {matchLabels: {app: wbe}}}
"""


@pytest.mark.parametrize(
    ("patch", "entry", "line"),
    [
        (OVERLAY, "{path: p.yaml}", 9),
        (JSON_PATCH, "{path: p.yaml, target: {kind: Deployment, name: web}}", 5),
        (JSON_PATCH, "{path: p.yaml, target: {kind: Deployment, name: other}}", 0),
    ],
)
def test_a_patch_is_read_on_its_base(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    patch: str,
    entry: str,
    line: int,
) -> None:
    """The finding is at the line of the patch; a patch of another workload is not about this one."""
    monkeypatch.chdir(tmp_path)
    for folder, texts in {
        "base": {"d.yaml": DEPLOYMENT, "kustomization.yaml": "resources: [d.yaml]\n"},
        "sm": {"p.yaml": patch, "kustomization.yaml": f"resources: [../base]\npatches: [{entry}]\n"},
    }.items():
        (tmp_path / folder).mkdir()
        for name, text in texts.items():
            (tmp_path / folder / name).write_text(text)
    run(["check", "-R", ".", "-o", "concise", "--select", "SPR2"])

    out = capsys.readouterr().out
    assert (f"./sm/p.yaml:{line}:" in out and "the pods' label `app` is `web`" in out) if line else "SPR203" not in out


def indented(text: str, by: int = 4) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


WEB = "target: {kind: Deployment, name: web}"
INLINE = f"resources: [../base]\npatches:\n- {WEB}\n  patch: |\n{indented(JSON_PATCH)}"
PLAIN_INLINE = f"resources: [../base]\npatches:\n- patch: |\n{indented(OVERLAY)}"
LISTED = "resources: [../base]\ncomponents: [../c]\n"
HEAD = INLINE.partition("    - op")[0]
ONE_ENTRY = """\
- op: add
  path: /spec/template/spec/topologySpreadConstraints/-
  value: {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway,
    labelSelector: {matchLabels: {app: wbe}}}
"""
RIGHT = (
    DEPLOYMENT
    + """\
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway,
         labelSelector: {matchLabels: {team: a}}}
"""
)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"o/kustomization.yaml": INLINE}, "./o/kustomization.yaml:9:"),
        ({"o/kustomization.yaml": PLAIN_INLINE}, "./o/kustomization.yaml:12:"),
        ({"o/kustomization.yaml": INLINE.replace("name: web", "name: other")}, ""),
        ({"o/kustomization.yaml": INLINE.replace("../base", "../elsewhere")}, ""),
        (
            {"o/kustomization.yaml": LISTED, "c/kustomization.yaml": "kind: Component\npatches: [{path: p.yaml}]\n"},
            "./c/p.yaml:9:",
        ),
        # One entry is appended to a list of the base, or to one that another operation makes.
        ({"base/d.yaml": RIGHT, "o/kustomization.yaml": f"{HEAD}{indented(ONE_ENTRY)}"}, "./o/kustomization.yaml:8:"),
        ({"o/kustomization.yaml": f"{HEAD}{indented(JSON_PATCH + ONE_ENTRY)}"}, "./o/kustomization.yaml:9:"),
        # A kustomization changes an object by the name that an inner one gave it.
        (
            {
                "o/kustomization.yaml": "namePrefix: x-\nresources: [../base]\n",
                "p/kustomization.yaml": INLINE.replace("../base", "../o").replace("name: web", "name: x-web"),
            },
            "./p/kustomization.yaml:9:",
        ),
        (
            {
                "o/kustomization.yaml": LISTED,
                "c/kustomization.yaml": f"kind: Component\n{INLINE.partition('base]')[2][1:]}",
            },
            "./c/kustomization.yaml:9:",
        ),
    ],
)
def test_inline_patches_and_those_of_components_are_read_on_their_bases(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    base = {"base/d.yaml": DEPLOYMENT, "base/kustomization.yaml": "resources: [d.yaml]\n"}
    for name, text in {**base, "c/p.yaml": OVERLAY, **files}.items():
        if "c/kustomization.yaml" in files or not name.startswith("c/"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
    run(["check", "-R", ".", "-o", "concise", "--select", "SPR2"])

    out, err = capsys.readouterr()
    assert (expected in out and "the pods' label `app` is `web`" in out) if expected else "SPR203" not in out
    note = "1 patched list of constraints was not read on a workload, as none in this run fits: ./o/kustomization.yaml"
    assert (note in err) == (not expected)


@pytest.mark.parametrize("is_in_base", [True, False])
@pytest.mark.parametrize(
    ("labels", "is_told"),
    [
        ("commonLabels: {team: a}", False),
        ("commonLabels: {team: b}", False),  # it replaces the value in the selector, too
        ("labels: [{pairs: {team: a}, includeSelectors: true}]", False),
        ("labels: [{pairs: {team: a}, includeTemplates: true}]", False),
        ("labels: [{pairs: {team: b}, includeTemplates: true}]", True),
        ("labels: [{pairs: {team: a}}]", True),
        ("components: [../c]", False),
        ("commonAnnotations: {team: a}", True),
    ],
)
def test_labels_that_a_kustomization_adds(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    labels: str,
    is_told: bool,
    is_in_base: bool,
) -> None:
    """`commonLabels` and `includeSelectors` change pods and selectors, `includeTemplates` only pods.

    A patch may have the constraints as well.
    """
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "base/d.yaml": RIGHT if is_in_base else DEPLOYMENT,
        "base/kustomization.yaml": "resources: [d.yaml]\n",
        "o/p.yaml": OVERLAY.replace("app: wbe", "team: a"),
        "o/kustomization.yaml": f"resources: [../base]\n{labels}\n{'' if is_in_base else 'patches: [{path: p.yaml}]'}",
        "c/kustomization.yaml": "kind: Component\ncommonLabels: {team: a}\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    run(["check", "-R", ".", "-o", "concise", "--select", "SPR203"])

    assert is_told == ("SPR203" in capsys.readouterr().out)


def test_a_base_whose_patch_adds_the_other_key_drops_no_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the patch, the pods are spread over zones and nodes."""
    monkeypatch.chdir(tmp_path)
    patch = HEAD + indented(ONE_ENTRY.replace("wbe", "web"))
    found = []
    for overlay in (patch, "resources: [../base]\n"):
        for name, text in {
            "base/d.yaml": RIGHT.replace("team: a", "app: web"),
            "base/kustomization.yaml": "resources: [d.yaml]\n",
            "o/kustomization.yaml": overlay,
        }.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        run(["check", "-R", ".", "-o", "concise", "--select", "SPR507"])
        found.append("SPR507" in capsys.readouterr().out)

    assert [False, True] == found


def test_files_with_one_service_are_alternatives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody applies both, so neither counts the pods of the other."""
    monkeypatch.chdir(tmp_path)
    service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {selector: {app: db}}\n"
    for name, extra in (("a", service), ("b", service)):
        (tmp_path / f"{name}.yaml").write_text(ZONAL.replace("{name: db}", f"{{name: db-{name}}}", 1) + extra)
    run(["check", ".", "-o", "concise"])

    assert "SPR502" not in capsys.readouterr().out


BROKEN = "apiVersion: v1\nkind: Deployment\nspec: [\n"


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [(BROKEN, ["."], 0), (BROKEN, ["a.yaml"], 3), (f"{BROKEN}# topologySpreadConstraints\n", ["."], 3)],
)
def test_only_files_that_matter_are_errors_if_they_are_not_yaml(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    arguments: list[str],
    code: int,
) -> None:
    """A file that was named, or that mentions constraints; others are counted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(text)

    assert code == run(["check", *arguments])
    assert ("1 file that is not YAML and names no constraints was not checked" in capsys.readouterr().err) == (not code)


def test_equal_findings_are_one_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(20):
        text = RELEASE.format(name="web", replicas=3, constraint=SELECTED)
        (tmp_path / f"{number:02}.yaml").write_text(text)
    run(["check", "."])

    out = capsys.readouterr().out
    assert out.count("SPR301 tainted-nodes-counted") == 1
    assert "SPR301 20 times in 20 files" in out
    assert "and 17 more" in out


POD_OF_A_CONTROLLER = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec:
  values:
    controllers:
      web:
        %s
        pod:
          topologySpreadConstraints: [{%s}]
"""


@pytest.mark.parametrize(
    ("controller", "expected"),
    [
        ("replicas: 3", ["SPR301 info"]),
        ("strategy: RollingUpdate", ["SPR205 info"]),
        ("type: cronjob", ["SPR205 info"]),
        ("type: daemonset", []),
        ('replicas: "{{ count }}"', ["SPR301 info"]),
    ],
)
def test_the_replicas_of_a_controller_beside_its_pod(controller: str, expected: list[str]) -> None:
    """The library has one replica by default, and any number with an autoscaler."""
    text = POD_OF_A_CONTROLLER % (controller, SELECTED)
    scaled = f"{text}    autoscaling: {{web: {{minReplicas: 1, maxReplicas: 4}}}}\n"

    assert expected == codes(text)
    assert ["SPR301 info"] == codes(scaled)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("controller: {replicas: 1}", ["SPR205 info"]),  # of the library's first versions
        ("deployment: {replicas: 3}", ["SPR301 info"]),
        ("replicas: 3, controller: {replicas: 1}", ["SPR301 info"]),  # two numbers
        ("controllers: {web: {}}", ["SPR205 info"]),
        ("controllers: {web: {}, api: {}}", ["SPR301 info"]),
    ],
)
def test_the_replicas_of_all_pods_beside_their_list(scale: str, expected: list[str]) -> None:
    head = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web}\n"

    assert expected == codes(f"{head}spec: {{values: {{{scale}, topologySpreadConstraints: [{{{SELECTED}}}]}}}}\n")


@pytest.mark.parametrize(("more", "is_fixed"), [("", True), (", minDomains: 1", True), (", minDomains: 3", False)])
def test_honor_is_not_set_where_pods_could_wait_for_more_domains(more: str, is_fixed: bool) -> None:
    """Pods on a cordoned node no longer count then, and too few domains make the minimum 0."""
    labels = "{app.kubernetes.io/instance: web}"
    pod = f"{{metadata: {{labels: {labels}}}, spec: {{topologySpreadConstraints: [{{{SELECTED}{more}}}]}}}}"
    spec = f"{{replicas: 3, selector: {{matchLabels: {labels}}}, template: {pod}}}"
    text = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {spec}\n"
    (found,) = [item for item in judged([read(SourceFile("a.yaml", text))]) if item.rule.code == "SPR301"]

    assert is_fixed == (found.repair is not None) == ("at least" not in found.hint)
