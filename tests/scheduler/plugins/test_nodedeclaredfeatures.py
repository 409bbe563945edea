"""NodeDeclaredFeatures, a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import filtered, FITS, SKIP, UU

NO = UU("node(s) didn't match Pod's required features")
NAMESPACES, RESTARTS = "UserNamespacesHostNetworkSupport", "RestartAllContainersOnContainerExits"
HOST = {"hostNetwork": True, "hostUsers": False}
RULES = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}]
RESTARTING = [{"name": "c", "restartPolicyRules": RULES}]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, SKIP, id="nothing is required"),
        pytest.param({"hostNetwork": True}, SKIP, id="host network with the host's users"),
        pytest.param({"hostUsers": False}, SKIP, id="own users without the host network"),
        pytest.param(HOST, {"users", "both"}, id="host network with own users"),
        pytest.param({"containers": RESTARTING}, {"restarts", "both"}, id="a restart rule"),
        pytest.param({"initContainers": RESTARTING}, {"restarts", "both"}, id="a restart rule of an init container"),
        pytest.param({**HOST, "containers": RESTARTING}, {"both"}, id="both features"),
        pytest.param(
            {"containers": [{"name": "c", "restartPolicyRules": [{"action": "Restart"}]}]}, SKIP, id="another action"
        ),
    ],
)
def test_a_node_must_declare_every_required_feature(spec: Any, expected: Any) -> None:
    """A node that declares more fits as well."""
    nodes = {"none": [], "users": [NAMESPACES], "restarts": [RESTARTS], "both": [NAMESPACES, RESTARTS, "Other"]}
    objects = [node(name, status={"declaredFeatures": declared}) for name, declared in nodes.items()]
    if isinstance(expected, set):
        expected = {name: FITS if name in expected else NO for name in nodes}

    assert expected == filtered("NodeDeclaredFeatures", pod("p", **spec), *objects)
