"""What suggestions are made with: columns that are a little different, edits, and specs written from pods."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.advice import target as targets
from kubectl_spread.advice.recreate import recreation, spec_of
from kubectl_spread.advice.target import drop, edited, put_op, TemplateOwner
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.reading import read
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.profiles import profiles
from tests.advice.strategies import Case, cases, nodes
from tests.naive.builders import pod, ZONE

Plain = dict[str, Any]
QUICK = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.slow
@QUICK
@given(cases(), nodes(9), st.data())
def test_changed_columns_are_those_of_the_changed_cluster(case: Case, new: Plain, data: Any) -> None:
    """Nodes added, taken away and relabelled, and pods deleted: what every plugin says is as if it were read anew."""
    before = cluster_of([*case.objects, *case.waiting])
    dropped = data.draw(st.sampled_from([node.name for node in before.nodes]))
    moved = data.draw(st.sampled_from([node.name for node in before.nodes]))
    gone = {item.key for item in before.bound_pods() if data.draw(st.booleans())}
    objects = [
        item
        for item in copy.deepcopy(case.objects)
        if item["metadata"]["name"] != dropped and f"default/{item['metadata']['name']}" not in gone
    ]
    for item in objects:
        if item["metadata"]["name"] == moved:
            item["metadata"]["labels"][ZONE] = "z"
    after = cluster_of([*objects, new, *case.waiting])
    changed = Columns(before).copy_for_cluster(after, [item.uid for item in before.bound_pods() if item.key in gone])
    anew = Columns(after)
    incoming = after.pending()[0]
    said = [Scheduler(columns, profiles()).filter(incoming) for columns in (anew, changed)]

    assert [pod.key for pod in anew.bound_pods] == [pod.key for pod in changed.bound_pods]
    assert anew.bound_nodes.tolist() == changed.bound_nodes.tolist()
    assert [[pod.key for pod in pods] for pods in anew.pods] == [[pod.key for pod in pods] for pods in changed.pods]
    assert all(np.array_equal(anew.requested_of(name), changed.requested_of(name)) for name in ("cpu", "memory"))
    assert np.array_equal(anew.pod_count, changed.pod_count)
    assert said[0].diagnosis().message("") == said[1].diagnosis().message("")
    assert said[0].feasible.tolist() == said[1].feasible.tolist()


@QUICK
@given(cases())
def test_a_written_spec_reads_as_the_pod(case: Case) -> None:
    """The constraints, affinity, node selector and tolerations of a pod survive being written down."""
    for item in cluster_of([*case.objects, *case.waiting]).pods:
        cls = item.cls
        again = read.pod_class(cls.namespace, {"labels": dict(cls.labels)}, spec_of(cls), {})

        assert cls.constraints == again.constraints
        assert cls.pod_anti_affinity == again.pod_anti_affinity
        assert cls.node_requirement == again.node_requirement
        assert cls.tolerations == again.tolerations


def test_what_the_api_server_adds_for_match_label_keys_is_not_written() -> None:
    """A stored pod selects its own revision; made anew, it must not select that of the pod it replaces."""
    selector = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "pod-template-hash", "operator": "In", "values": ["1"]}],
    }
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        "matchLabelKeys": ["pod-template-hash"],
    }
    stored = read.pod(pod("p", labels={"app": "web", "pod-template-hash": "1"}, topologySpreadConstraints=[constraint]))
    spec = spec_of(stored.cls)
    changed = edited(spec, [put_op(("topologySpreadConstraints", 0, "maxSkew"), 2)])
    anew = recreation(spec, changed, labels={"pod-template-hash": "2"})(stored)

    assert [{"matchLabels": {"app": "web"}}] == [item["labelSelector"] for item in spec["topologySpreadConstraints"]]
    assert (2, ()) == (anew.cls.constraints[0].max_skew, anew.cls.constraints[0].label_selector.match_expressions)
    assert ("pod-template-hash", "2") in anew.cls.labels


def test_a_failing_test_fails() -> None:
    """As the API server refuses the patch."""
    with pytest.raises(ValueError, match="/a/b~1c"):
        edited({"a": {"b/c": 1}}, [targets.test(("a", "b/c"), 2)])


def test_commands_are_safe_for_shells() -> None:
    """Whatever an object is called; and pods that nobody replaces are deleted."""
    target = TemplateOwner("StatefulSet", "o'ne; rm -rf /", "we b", ("spec", "template", "spec"), is_live=True)
    ops = [put_op(("nodeSelector", "it's"), "$(x)")]
    waiting = [read.pod(pod("web-0"))]

    assert [
        (
            "kubectl patch statefulset 'we b' -n 'o'\"'\"'ne; rm -rf /' --type=json -p "
            '\'[{"op":"add","path":"/spec/template/spec/nodeSelector/it\'"\'"\'s","value":"$(x)"}]\''
        ),
        "kubectl delete pod web-0 -n 'o'\"'\"'ne; rm -rf /'",
    ] == target.written(ops, waiting)[1]


def test_pods_are_replaced_and_manifests_only_edited() -> None:
    """A pod cannot be patched; what is in a file alone has no command."""
    ops = [drop(("nodeSelector",))]
    bare = TemplateOwner("Pod", "shop", "web", ("spec",), is_live=True)

    assert [
        (
            "kubectl get pod web -n shop -o json | kubectl patch --local -f - --type=json -o json -p "
            '\'[{"op":"remove","path":"/spec/nodeSelector"}]\' | kubectl replace --force -f -'
        )
    ] == bare.written(ops, [])[1]
    assert [] == bare._replace(is_live=False).written(ops, [])[1]
    assert "kubectl get pod web -n shop -o json | kubectl replace --force -f -" == targets.recreate_command(
        "pod", "web", "shop"
    )
