"""Scheduler configurations: what loads acts, what the scheduler refuses is refused in its words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kubectl_spread.cluster.assemble import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.errors import SourceError
from kubectl_spread.objects import read
from kubectl_spread.scheduler.config import version_of
from kubectl_spread.scheduler.config import VersionError
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.sources import scheduler_config

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "scheduler-configs"
ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
SPREAD = HEAD + "profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args:\n"


def pod(name: str, node: str = "") -> dict[str, object]:
    spec = {"nodeName": node} if node else {}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c"}], **spec},
    }


def spread_scores(config: str) -> dict[str, int]:
    """PodTopologySpread's scores for a pod of a Service, two nodes to a zone, pods on a1 and a2."""
    nodes = [
        {"kind": "Node", "metadata": {"name": f"{zone}{at}", "labels": {ZONE: zone, OLD_ZONE: zone}}}
        for zone in "ab"
        for at in (1, 2)
    ]
    for node in nodes:
        node["status"] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    service = {"kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}}}
    cluster = cluster_of([*nodes, service, pod("one", "a1"), pod("two", "a2")])
    scheduler = Scheduler(Columns(cluster), scheduler_config.load(config).profiles)
    incoming = read.pod(pod("new"))
    scores = scheduler.score(incoming, scheduler.filter(incoming)).by_plugin.get("PodTopologySpread")
    if scores is None:
        return {}
    return {node.name: int(score) for node, score in zip(cluster.nodes, np.asarray(scores), strict=True)}


def test_default_constraints_of_a_list_score_by_zone() -> None:
    """The nodes of the empty zone score 100, twice weighted; those of the other 0."""
    scores = spread_scores(str(EXAMPLES / "zone-by-default.yaml"))

    assert {"a1": 0, "a2": 0, "b1": 200, "b2": 200} == scores


def test_an_empty_list_of_defaults_switches_the_plugin_off() -> None:
    assert {} == spread_scores(str(EXAMPLES / "no-defaults.yaml"))


def test_a_configuration_as_documents_of_1_18_write_it_loads_and_acts() -> None:
    """A mapping of one profile is read as a list, and constraints without a defaultingType are a List."""
    path = str(EXAMPLES / "as-written-for-1.18.yaml")

    assert {"a1": 0, "a2": 0, "b1": 200, "b2": 200} == spread_scores(path)
    assert ("`profiles` is a mapping, and is read as a list of that one profile",) == scheduler_config.load(path).notes


def test_an_old_plugin_is_read_as_the_strategy_that_replaced_it(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    text = HEAD.replace("/v1\n", "/v1beta1\n")
    file.write_text(
        text + "profiles:\n- plugins: {score: {enabled: [{name: NodeResourcesMostAllocated, weight: 7}]}}\n"
    )
    loaded = scheduler_config.load(str(file))
    weights = {entry.plugin.name: entry.weight for entry in loaded.profiles["default-scheduler"].score}

    assert 7 == weights["NodeResourcesFit"]
    assert ("NodeResourcesMostAllocated is read as the MostAllocated strategy of NodeResourcesFit",) == loaded.notes


REFUSED = {
    "not a configuration": ("kind: Pod\n", 1, "not a KubeSchedulerConfiguration"),
    "unknown version": (
        HEAD.replace("/v1\n", "/v2\n"),
        1,
        (
            "unknown apiVersion kubescheduler.config.k8s.io/v2: there are kubescheduler.config.k8s.io/v1, "
            "kubescheduler.config.k8s.io/v1beta3, kubescheduler.config.k8s.io/v1beta2, "
            "kubescheduler.config.k8s.io/v1beta1, kubescheduler.config.k8s.io/v1alpha2"
        ),
    ),
    "profiles of the wrong type": (
        HEAD + "profiles: 3\n",
        3,
        (
            "json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.profiles of type "
            "[]v1.KubeSchedulerProfile"
        ),
    ),
    "System with constraints": (
        SPREAD + "      defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]\n",
        6,
        (
            'profiles[0].pluginConfig[0].args.defaultingType: Invalid value: "System": '
            "when .defaultConstraints are not empty"
        ),
    ),
    "a selector": (
        SPREAD + "      defaultingType: List\n      defaultConstraints:\n"
        "      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}\n",
        9,
        (
            "profiles[0].pluginConfig[0].args.defaultConstraints[0].labelSelector: Forbidden: "
            "constraint must not define a "
            "selector, as they deduced for each pod"
        ),
    ),
    "maxSkew of zero": (
        SPREAD + "      defaultingType: List\n      defaultConstraints:\n"
        "      - {topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n",
        9,
        (
            "profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew: Invalid value: 0: "
            "not in valid range (0, inf)"
        ),
    ),
    "a pair twice, told at the later one": (
        SPREAD + "      defaultingType: List\n      defaultConstraints:\n"
        "      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n"
        "      - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n",
        10,
        'profiles[0].pluginConfig[0].args.defaultConstraints[1]: Duplicate value: "{zone, ScheduleAnyway}"',
    ),
    "a plugin twice": (
        HEAD + "profiles:\n- plugins:\n    score:\n      enabled:\n      - {name: ImageLocality}\n"
        "      - {name: ImageLocality}\n",
        8,
        'plugin "ImageLocality" already registered as "ImageLocality"',
    ),
}


@pytest.mark.parametrize(("text", "line", "message"), REFUSED.values(), ids=REFUSED)
def test_a_configuration_that_stops_the_scheduler_is_refused(
    text: str, line: int, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(SourceError) as raised:
        scheduler_config.load(str(file))

    assert (message, line) == (raised.value.message, raised.value.line)


@pytest.mark.parametrize("text", ["1.17", "1.37", "2.0", "one", "", "1"])
def test_a_version_without_known_rules_is_refused(text: str) -> None:
    with pytest.raises(VersionError):
        version_of(text)


def test_fields_that_an_old_release_ignores_are_ignored() -> None:
    fields = [version_of(f"1.{minor}").fields for minor in (25, 26, 27)]

    assert [(False, False, False), (False, True, False), (True, True, True)] == [tuple(field) for field in fields]
