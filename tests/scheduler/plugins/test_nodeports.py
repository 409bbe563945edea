"""NodePorts, a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import Answer, filtered, FITS, SKIP, U

Plain = dict[str, Any]

TAKEN = U("node(s) didn't have free ports for the requested pod ports")


def port(number: int, *, protocol: str = "", ip: str = "") -> Plain:
    return {"containerPort": 80, "hostPort": number, "protocol": protocol, "hostIP": ip}


def with_ports(name: str, *ports: Plain, on: str = "", field: str = "containers", **more: Any) -> Plain:
    made = pod(name, on=on)
    made["spec"][field] = [{"name": "c", "ports": list(ports), **more}]
    return made


@pytest.mark.parametrize(
    ("used", "wanted", "expected"),
    [
        pytest.param(port(8080), port(8080), TAKEN, id="the same port"),
        pytest.param(port(8080), port(9090), FITS, id="another port"),
        pytest.param(port(53, protocol="UDP"), port(53), FITS, id="another protocol; TCP is the default"),
        pytest.param(port(53, protocol="TCP"), port(53), TAKEN, id="TCP in words"),
        pytest.param(port(80, ip="10.0.0.1"), port(80, ip="10.0.0.2"), FITS, id="two addresses"),
        pytest.param(port(80, ip="10.0.0.1"), port(80, ip="10.0.0.1"), TAKEN, id="one address"),
        pytest.param(port(80), port(80, ip="10.0.0.1"), TAKEN, id="all addresses are taken"),
        pytest.param(port(80, ip="10.0.0.1"), port(80, ip="0.0.0.0"), TAKEN, id="all addresses are wanted"),
        pytest.param(port(80, ip="::"), port(80, ip="10.0.0.1"), FITS, id=":: is an address like any other"),
    ],
)
def test_a_host_port_is_free_or_taken(used: Plain, wanted: Plain, expected: Answer) -> None:
    """Address, protocol and number decide; 0.0.0.0 is every address."""
    objects = (node("n"), node("free"), with_ports("running", used, on="n"))

    assert {"n": expected, "free": FITS} == filtered("NodePorts", with_ports("p", wanted), *objects)


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(with_ports("p", {"containerPort": 80}), SKIP, id="no host port"),
        pytest.param(with_ports("p", port(80), field="initContainers"), SKIP, id="an ordinary init container"),
        pytest.param(
            with_ports("p", port(80), field="initContainers", restartPolicy="Always"), {"n": TAKEN}, id="a sidecar"
        ),
        pytest.param(with_ports("p", port(90), port(80)), {"n": TAKEN}, id="one of two ports"),
    ],
)
def test_ports_of_containers_and_sidecars_are_wanted(incoming: Plain, expected: Any) -> None:
    """A pod that wants no host port is not filtered."""
    assert expected == filtered("NodePorts", incoming, node("n"), with_ports("running", port(80), on="n"))
