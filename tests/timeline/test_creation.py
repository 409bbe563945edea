"""Commands that create objects, leave pods without a controller, or change which pods a scale-down deletes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.timeline.test_run import deployment, replica_set, running, THREE_ZONES, ZONE

Plain = dict[str, Any]


def template(app: str) -> Plain:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    container = {"name": "c", "image": "pause"}
    return {
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [container], "topologySpreadConstraints": [constraint], "restartPolicy": "Never"},
    }


def nightly() -> Plain:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "app"},
        "spec": {
            "schedule": "0 0 * * *",
            "jobTemplate": {"spec": {"completions": 3, "parallelism": 3, "template": template("nightly")}},
        },
    }


def shards() -> list[Plain]:
    """A StatefulSet with a pod on each node."""
    made = {
        "spec": {**template("shards")["spec"], "restartPolicy": "Always"},
        "metadata": {"labels": {"app": "shards"}},
    }
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "shards", "uid": "s", "controller": True}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "shards", "namespace": "app", "uid": "s"},
        "spec": {
            "replicas": 3,
            "serviceName": "shards",
            "selector": {"matchLabels": {"app": "shards"}},
            "template": made,
        },
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"shards-{at}",
                "namespace": "app",
                "uid": f"shards-{at}",
                "labels": {"app": "shards"},
                "ownerReferences": [owner],
            },
            "spec": {**made["spec"], "nodeName": name},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for at, name in enumerate(("a1", "b1", "c1"))
    ]
    return [workload, *pods]


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]
    web = [deployment(3), replica_set("web-abc", 3, template_hash="abc"), *pods]
    items = [*THREE_ZONES, *web, *shards(), nightly()]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


def simulated(capsys: pytest.CaptureFixture[str], facts: Path, *steps: str) -> tuple[int, list[Plain], str]:
    """Run some steps: exit code, steps, standard error."""
    first, *rest = steps
    more = [word for step in rest for word in ("--then", step)]
    code = run(["simulate", "--snapshot", str(facts), "-n", "app", "-o", "json", *more, *shlex.split(first)])
    out, err = capsys.readouterr()
    return code, json.loads(out)["steps"] if out else [], err


def domains(step: Plain, outcome: int = 0) -> dict[str, int]:
    (workload,) = step["outcomes"][outcome]["workloads"]
    found: dict[str, int] = workload["domains"][ZONE]
    return found


def test_a_job_of_a_cron_job(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, (step,), _ = simulated(capsys, facts, "create job once --from=cronjob/nightly")

    assert code == 0
    assert domains(step) == {"a": 1, "b": 1, "c": 1}


def test_a_deployment_of_an_image(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, (step,), _ = simulated(capsys, facts, "create deployment api --image=api --replicas=2")

    assert code == 0
    assert sum(domains(step).values()) == 2


def test_a_file_of_new_objects(facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second time they exist."""
    path = tmp_path / "api.json"
    plain = deployment(2)
    plain["metadata"]["name"] = "api"
    path.write_text(json.dumps(plain))
    code, (step,), _ = simulated(capsys, facts, f"create -f {path}")
    again, _, err = simulated(capsys, facts, f"create -f {path}", f"create -f {path}")

    assert (code, again) == (0, 1)
    assert sum(domains(step).values()) == 2
    assert 'Error from server (AlreadyExists): deployments.apps "api" already exists' in err


@pytest.mark.parametrize(
    ("step", "code", "message"),
    [
        ("create", 2, "error: must specify one of -f and -k, or `create deployment NAME` or `create job NAME`"),
        ("create deployment api", 2, 'error: required flag(s) "image" not set'),
        ("create deployment --image=api", 2, "error: exactly one NAME is required, got 0"),
        ("create deployment api --image=api --replicas=x", 2, 'invalid argument "x" for "--replicas" flag'),
        (
            "create deployment web --image=x",
            1,
            'Error from server (AlreadyExists): deployments.apps "web" already exists',
        ),
        ("create job once", 2, "error: either --image or --from must be specified"),
        ("create job once --from=cj/x", 1, 'Error from server (NotFound): cronjobs.batch "x" not found'),
        ("create job once --from=deploy/web", 1, "error: from must be an existing cronjob"),
        ("create limitrange q", 2, "error: `create limitrange` is not simulated: use `apply -f`"),
        ("create namespace x", 2, "error: `create namespace` is not simulated: use `apply -f`"),
        ("delete deploy/web --cascade=some", 2, "error: invalid cascade value (some)"),
        ("delete deploy/nope --cascade=orphan", 1, 'Error from server (NotFound): deployments.apps "nope" not found'),
        ("annotate pods web-abc-a1", 2, "error: at least one annotation update is required"),
        (
            "annotate pods web-abc-a1 controller.kubernetes.io/pod-deletion-cost=low",
            1,
            'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "low"',
        ),
        ("annotate pods nope a=b", 1, 'Error from server (NotFound): pods "nope" not found'),
    ],
)
def test_what_kubectl_refuses(
    facts: Path, capsys: pytest.CaptureFixture[str], step: str, code: int, message: str
) -> None:
    found, _, err = simulated(capsys, facts, step)

    assert found == code
    assert message in err


def test_the_cheapest_pod_goes_first(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cost = "annotate pods web-abc-b1 controller.kubernetes.io/pod-deletion-cost=-5"
    _, steps, _ = simulated(capsys, facts, cost, "scale deploy/web --replicas=2")

    assert [domains(steps[1], at) for at in range(len(steps[1]["outcomes"]))] == [{"a": 1, "b": 0, "c": 1}]


def test_without_a_cost_any_pod_may_go(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, (step,), _ = simulated(capsys, facts, "scale deploy/web --replicas=2")

    (workload,) = step["workloads"]
    (zones,) = [item for item in workload["domains"] if item["topologyKey"] == ZONE]
    assert [item["after"] for item in zones["domains"]] == [{"min": 0, "max": 1}] * 3


def test_other_annotations_change_nothing(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, (step,), _ = simulated(capsys, facts, "annotate deploy/web owner=me")

    assert code == 0
    assert step["notes"] == [
        "of annotations, only controller.kubernetes.io/pod-deletion-cost of pods changes what happens"
    ]


def test_pods_of_an_orphaned_statefulset_stay_and_are_adopted(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A deleted pod stays away until the StatefulSet is back."""
    workload, *_ = shards()
    path = tmp_path / "shards.json"
    path.write_text(json.dumps(workload))
    steps = ["delete sts/shards --cascade=orphan", "delete pod shards-1", f"apply -f {path}"]
    code, answers, _ = simulated(capsys, facts, *steps)

    assert code == 0
    assert answers[0]["notes"] == ["statefulset.apps/shards is deleted, its pods stay as they are"]
    assert domains(answers[2]) == {"a": 1, "b": 1, "c": 1}


def test_replica_sets_of_an_orphaned_deployment_replace_their_pods(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, answers, _ = simulated(capsys, facts, "delete deploy/web --cascade=orphan", "delete pod web-abc-b1")

    assert code == 0
    assert answers[0]["notes"] == ["deployment.apps/web is deleted, its ReplicaSets stay, and keep their pods"]
    assert domains(answers[1]) == {"a": 1, "b": 1, "c": 1}
    web, left = "Deployment app/web", "ReplicaSet app/web-abc"
    assert [(web, True), (left, False)] == [(name(item), item["deleted"]) for item in concerned(answers[0])]
    assert [(left, False)] == [(name(item), item["deleted"]) for item in concerned(answers[1])]


def concerned(step: Plain) -> list[Plain]:
    return [item for item in step["workloads"] if item["concerned"]]


def name(workload: Plain) -> str:
    found = workload["object"]
    return f"{found['kind']} {found['namespace']}/{found['name']}"


@pytest.mark.parametrize(
    "step", ["label pods --all tier=x", "annotate pods --all controller.kubernetes.io/pod-deletion-cost=5"]
)
def test_labels_of_pods_do_not_let_a_workload_be_stuck_that_was_not_complete_before(
    step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fourth pod of the Deployment is Pending from the start, and the StatefulSet is complete."""
    pods = [running("web-abc", f"web-abc-{at}", at, template_hash="abc") for at in ("a1", "b1", "c1")]
    waiting = running("web-abc", "web-abc-x", "", template_hash="abc")
    del waiting["spec"]["nodeName"]
    waiting["spec"]["nodeSelector"] = {"disk": "fast"}
    waiting["status"] = {"phase": "Pending"}
    web = [deployment(4), replica_set("web-abc", 4, template_hash="abc"), *pods, waiting]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*THREE_ZONES, *web, *shards()]}))
    code, (answer,), _ = simulated(capsys, path, step)

    assert (code, answer["verdict"]) == (0, "completes")
    assert ["StatefulSet app/shards"] == [name(item) for item in concerned(answer)]
