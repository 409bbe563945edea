"""NodeName, a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import Answer, filtered, FITS, UU

OTHER = UU("node(s) didn't match the requested node name")
NODES = (node("n1"), node("n2"), node("n10", spec={"unschedulable": True}))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, {"n1": FITS, "n2": FITS, "n10": FITS}, id="no node is named"),
        pytest.param({"on": "n1"}, {"n1": FITS, "n2": OTHER, "n10": OTHER}, id="a name is not a prefix"),
        pytest.param({"on": "n10"}, {"n1": OTHER, "n2": OTHER, "n10": FITS}, id="a cordon is not looked at"),
        pytest.param({"on": "gone"}, {"n1": OTHER, "n2": OTHER, "n10": OTHER}, id="the node does not exist"),
        pytest.param({"on": "N1"}, {"n1": OTHER, "n2": OTHER, "n10": OTHER}, id="names differ in case"),
        pytest.param(
            {"nodeSelector": {"kubernetes.io/hostname": "n1"}},
            {"n1": FITS, "n2": FITS, "n10": FITS},
            id="a node selector is another plugin's",
        ),
    ],
)
def test_a_pod_fits_the_node_that_it_names(spec: dict[str, Any], expected: dict[str, Answer]) -> None:
    """Only `spec.nodeName` counts, compared as a whole."""
    assert expected == filtered("NodeName", pod("p", **spec), *NODES)
