"""The configuration of the cluster's scheduler, found or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread.cli.main import run
from kubectl_spread.sources.live import reading as scheduler_configuration
from kubectl_spread.sources.live.flags import Flags
from kubectl_spread.sources.live.reading import Session
from tests.apiserver import ApiServer

PENDING = "pod/web-6d4f9c7b58-9pdlw"
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      disabled: [{name: PodTopologySpread}]
"""


def scheduler(*command: str, **spec: Any) -> dict[str, Any]:
    """A kube-scheduler as kubeadm starts it."""
    container = {"name": "kube-scheduler", "image": "s", "command": ["kube-scheduler", *command]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "kube-scheduler-cp-1",
            "namespace": "kube-system",
            "labels": {"component": "kube-scheduler", "tier": "control-plane"},
        },
        "spec": {"nodeName": "cp-1", "containers": [{**container, **spec.pop("container", {})}], **spec},
        "status": {"phase": "Running"},
    }


def mounted(**config_map: Any) -> dict[str, Any]:
    """A kube-scheduler whose configuration is in a ConfigMap."""
    mounts = {
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}, {"name": "config", "mountPath": "/etc/scheduler/"}]
    }
    volumes = [{"name": "tmp", "emptyDir": {}}, {"name": "config", "configMap": {"name": "scheduler", **config_map}}]
    return scheduler("--v=2", "--config=/etc/scheduler/config.yaml", container=mounts, volumes=volumes)


def config_map(**data: str) -> dict[str, Any]:
    named = {"name": "scheduler", "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": data}


def said(config: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the output says of the configuration."""
    assert run(["explain", PENDING, "--kubeconfig", config]) in (0, 1)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: cluster ")]
    return line.partition("scheduler configuration: ")[2]


def test_a_scheduler_without_a_configuration_has_the_default(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.put(scheduler("--leader-elect=true"))

    assert said(config, capsys) == "default (the scheduler runs without --config)"


@pytest.mark.parametrize("words", [["--config=/etc/kubernetes/s.yaml"], ["--config", "/etc/kubernetes/s.yaml"]])
def test_a_configuration_on_a_nodes_disk_cannot_be_read(
    words: list[str], server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    volumes = [{"name": "k", "hostPath": {"path": "/etc/kubernetes"}}]
    mounts = {"volumeMounts": [{"name": "k", "mountPath": "/etc/kubernetes"}]}
    server.put(scheduler(*words, container=mounts, volumes=volumes))

    assert said(config, capsys) == (
        "not known, default assumed (pod kube-system/kube-scheduler-cp-1 reads it from "
        "/etc/kubernetes/s.yaml on its node's disk); --scheduler-config names it"
    )


def test_a_configuration_in_a_config_map_counts(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.put(mounted(), config_map(**{"config.yaml": CONFIGURATION}))
    code = run(["explain", PENDING, "--kubeconfig", config])
    out, err = capsys.readouterr()

    assert code == 1  # the scheduler refused it, and its word counts
    assert "scheduler configuration: ConfigMap kube-system/scheduler, config.yaml\n" in err
    assert "by the cluster facts it fits on 4 nodes (a-1, a-2, b-1, b-2)" in " ".join(out.split())


def test_the_key_of_a_config_map_may_have_another_name_in_the_volume(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.put(mounted(items=[{"key": "it", "path": "config.yaml"}]), config_map(it=CONFIGURATION))

    assert said(config, capsys) == "ConfigMap kube-system/scheduler, it"


UNREADABLE = {
    "configmaps": "ConfigMap kube-system/scheduler may not be read: "
    '{apiGroups: [""], resources: [configmaps], verbs: [get]} in a Role there allows it',
    "pods@kube-system": "pods of kube-system may not be listed: "
    '{apiGroups: [""], resources: [pods], verbs: [list]} in a Role there allows it',
}


@pytest.mark.parametrize(("forbidden", "why"), UNREADABLE.items(), ids=UNREADABLE)
def test_what_may_not_be_read_leaves_the_default(
    forbidden: str, why: str, server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.put(mounted(), config_map(**{"config.yaml": CONFIGURATION}))
    server.forbidden = {forbidden}

    assert said(config, capsys) == f"not known, default assumed ({why}); --scheduler-config names it"


@pytest.mark.parametrize(
    ("args", "is_told"),
    [
        (["explain", PENDING], True),
        (["check"], True),  # a pod is Pending there
        (["check", "-n", "default"], False),
        (["status", "-n", "default"], False),
        (["status", "-n", "default", "-a"], True),  # the default constraints are shown
    ],
)
def test_configuration_is_told_only_where_something_depends_on_it(
    args: list[str], is_told: bool, server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one short line, once."""
    server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
    run([*args, "--kubeconfig", config])
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: cluster ")]
    expected = "note: cluster kind, Kubernetes v1.36.2"
    if is_told:
        expected += "; scheduler configuration: not known, default assumed; --scheduler-config names it"

    assert expected == line


def test_a_config_map_without_the_key_leaves_the_default(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.put(mounted(), config_map(other=CONFIGURATION))

    assert "ConfigMap kube-system/scheduler has no `config.yaml`" in said(config, capsys)


def test_a_configuration_that_no_scheduler_would_start_with_is_told_with_its_place(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.put(mounted(), config_map(**{"config.yaml": "kind: Pod\n"}))
    code = run(["explain", PENDING, "--kubeconfig", config])

    assert (code, capsys.readouterr().err) == (
        3,
        "error: ConfigMap kube-system/scheduler, config.yaml:1:1: not a KubeSchedulerConfiguration\n",
    )


def test_a_configuration_that_is_named_counts_and_the_clusters_is_not_looked_for(
    server: ApiServer, config: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(CONFIGURATION)
    server.put(mounted())
    code = run(["explain", PENDING, "--kubeconfig", config, "--scheduler-config", str(path)])

    out, err = capsys.readouterr()

    assert code == 1
    assert "by the cluster facts it fits on 4 nodes (a-1, a-2, b-1, b-2)" in " ".join(out.split())
    assert f"scheduler configuration: {path}\n" in err
    assert not [request for request in server.requests if "kube-system" in request.path]


def routes(value: Any, route: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value."""
    yield route
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from routes(item, (*route, key))


def with_value(value: Any, route: tuple[Any, ...], new: Any) -> Any:
    if not route:
        return new
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[route[0]] = with_value(value[route[0]], route[1:], new)
    return copied


def test_no_broken_object_of_the_scheduler_is_a_bug_of_ours(server: ApiServer, config: str) -> None:
    """Anybody who may write pods or ConfigMaps in kube-system could break the answer of everybody else."""
    transport = Session(Flags(kubeconfig=config)).transport
    pod = mounted(items=[{"key": "it", "path": "config.yaml"}])
    data = config_map(it=CONFIGURATION)
    for new in (None, 5, "../x", [5], {"a": 5}, True):
        for route in routes(pod["spec"]):
            server.put({**pod, "spec": with_value(pod["spec"], route, new)}, data)
            assert scheduler_configuration.find_configuration(transport).said
        server.put(pod)
        for route in routes(data["data"]):
            server.put({**data, "data": with_value(data["data"], route, new)})
            assert scheduler_configuration.find_configuration(transport).said


def in_namespace(config: str, name: str) -> str:
    """A kubeconfig whose context has a namespace of this name; -n would refuse it."""
    document = YAML(typ="safe").load(Path(config))
    document["contexts"][0]["context"]["namespace"] = name
    Path(config).write_text(json.dumps(document))
    return config


def test_names_are_quoted_in_paths(server: ApiServer, config: str) -> None:
    server.put(mounted(name="../../../../version?a=b#c"))
    run(["explain", PENDING, "--kubeconfig", in_namespace(config, "../../../x?y")])
    paths = {request.path for request in server.requests}

    assert "/api/v1/namespaces/kube-system/configmaps/..%2F..%2F..%2F..%2Fversion%3Fa%3Db%23c" in paths
    assert not [path for path in paths if ".." in path.replace("..%2F", "").split("/")]


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_of_dots_does_not_lead_to_another_path(server: ApiServer, config: str, name: str) -> None:
    server.put(mounted(name=name))
    run(["explain", PENDING, "--kubeconfig", in_namespace(config, name)])
    paths = {request.path for request in server.requests}
    quoted = name.replace(".", "%2E")

    assert f"/api/v1/namespaces/kube-system/configmaps/{quoted}" in paths
    assert f"/api/v1/namespaces/{quoted}/events" in paths
    assert not paths & {"/api/v1/namespaces/kube-system/configmaps", "/api/v1/events", "/api/v1/namespaces/events"}
