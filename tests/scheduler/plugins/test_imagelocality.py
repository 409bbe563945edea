"""ImageLocality, a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import scored

Plain = dict[str, Any]

MIB = 1 << 20


def has(name: str, **images: int) -> Plain:
    """A node with images; `_` in a keyword stands for a colon, the number is the size in MiB."""
    listed = [{"names": [image.replace("_", ":")], "sizeBytes": size * MIB} for image, size in images.items()]
    return node(name, status={"images": listed})


def runs(*images: str, init: tuple[str, ...] = ()) -> Plain:
    made = pod("p")
    made["spec"]["containers"] = [{"name": f"c{at}", "image": image} for at, image in enumerate(images)]
    made["spec"]["initContainers"] = [{"name": f"i{at}", "image": image} for at, image in enumerate(init)]
    return made


# The sum is clamped to 23 to 1000 MiB per container; the score is 100 * (sum - 23) // (1000 * containers - 23).
@pytest.mark.parametrize(
    ("incoming", "nodes", "expected"),
    [
        pytest.param(runs("a"), [has("x"), has("y")], {"x": 0, "y": 0}, id="no node has the image"),
        # 500 * 1/2 = 250: 100 * 227 // 977 = 23.
        pytest.param(runs("a:1"), [has("x", a_1=500), has("y")], {"x": 23, "y": 0}, id="one of two nodes has it"),
        # 500 * 2/2 = 500: 100 * 477 // 977 = 48.
        pytest.param(runs("a:1"), [has("x", a_1=500), has("y", a_1=500)], {"x": 48, "y": 48}, id="both have it"),
        pytest.param(runs("a:1"), [has("x", a_1=1500)], {"x": 100}, id="above 1000 MiB"),
        pytest.param(runs("a:1"), [has("x", a_1=20)], {"x": 0}, id="below 23 MiB"),
        pytest.param(runs("a"), [has("x", a_latest=1000)], {"x": 100}, id="no tag is latest"),
        pytest.param(runs("a:2"), [has("x", a_1=1000)], {"x": 0}, id="another tag"),
        # Two containers: 600 + 400 = 1000: 100 * 977 // 1977 = 49.
        pytest.param(runs("a:1", "b:1"), [has("x", a_1=600, b_1=400)], {"x": 49}, id="two images add up"),
        # The init container is a second slot: 100 * 477 // 1977 = 24.
        pytest.param(runs("b:1", init=("a:1",)), [has("x", a_1=500)], {"x": 24}, id="init containers count"),
        # The same image twice counts twice: 100 * 977 // 1977 = 49.
        pytest.param(runs("a:1", "a:1"), [has("x", a_1=500)], {"x": 49}, id="one image in two containers"),
    ],
)
def test_nodes_that_have_the_images_score_higher(incoming: Plain, nodes: list[Plain], expected: dict[str, int]) -> None:
    """The size counts in proportion to the nodes that have the image."""
    assert expected == scored("ImageLocality", incoming, *nodes)


def test_nodes_that_do_not_fit_count_among_all_nodes() -> None:
    """Half of the nodes have the image, and only one is scored: 1000 * 1/2 = 500, 100 * 477 // 977 = 48."""
    nodes = [has("x", a_1=1000), has("y")]

    assert {"x": 48} == scored("ImageLocality", runs("a:1"), *nodes, feasible=("x",))
