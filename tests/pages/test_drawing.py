"""The record that pages draw from: which boxes and dots there are."""

from __future__ import annotations

from kubectl_spread.report.pages.drawing import Dots, draw, DrawnNode, DrawnPod, Look, NodeBox, Shape

NOW = Look("running")
OLD = Look("earlier revision", Shape.EARLIER)


def nodes(count: int, zones: int = 3) -> list[DrawnNode]:
    return [DrawnNode(f"n{at}", f"z{at % zones}") for at in range(count)]


def pods(*places: str, look: Look = NOW) -> list[DrawnPod]:
    return [DrawnPod(f"p{at}", place, look) for at, place in enumerate(places)]


def test_each_of_a_few_nodes_has_a_box_in_its_domain() -> None:
    drawing = draw("zone", nodes(4), [*pods("n0", "n0", "n1"), *pods("n0", look=OLD)])

    first, second, third = drawing.domains
    assert first.boxes == (
        NodeBox(("n0",), (Dots(NOW, 2, ("p0", "p1")), Dots(OLD, 1, ("p0",)))),
        NodeBox(("n3",), ()),
    )
    assert [(box.names, box.pods, box.nodes) for box in (first, second, third)] == [
        (("z0",), 3, 2),
        (("z1",), 1, 1),
        (("z2",), 0, 1),
    ]
    assert drawing.legend == (NOW, OLD)


def test_pending_pods_and_pods_on_missing_nodes_are_apart() -> None:
    drawing = draw("zone", nodes(1), pods("", "gone", "n0"))

    assert drawing.pending == (Dots(NOW, 1, ("p0",)),)
    assert drawing.lost == (Dots(NOW, 1, ("p1",)),)


def test_nodes_without_the_label_share_the_last_domain() -> None:
    drawing = draw("zone", [DrawnNode("x", None), *nodes(2)], [])

    assert [box.names for box in drawing.domains] == [("z0",), ("z1",), (None,)]


def test_empty_nodes_of_many_share_a_box_in_each_domain_unless_they_have_notes() -> None:
    many = [*nodes(300), DrawnNode("x", "z0", ("cordoned",))]
    drawing = draw("zone", many, pods("n0", "n3"))

    assert [(box.number, box.notes, len(box.dots)) for box in drawing.domains[0].boxes] == [
        (1, (), 1),
        (1, (), 1),
        (98, (), 0),
        (1, ("cordoned",), 0),
    ]


def test_of_very_many_nodes_all_that_look_the_same_share_a_box() -> None:
    drawing = draw("zone", nodes(3000), pods(*(f"n{at}" for at in range(600))))

    assert [(box.number, [dots.pods for dots in box.dots]) for box in drawing.domains[0].boxes] == [
        (200, [1]),
        (800, []),
    ]
    assert drawing.domains[0].pods == 200


def test_many_domains_that_look_the_same_share_a_box_and_the_fullest_come_first() -> None:
    drawing = draw("rack", nodes(400, zones=200), pods("n7", "n7"))

    assert [(box.number, box.pods, box.nodes) for box in drawing.domains] == [(1, 2, 2), (199, 0, 2)]
    assert len(drawing.domains[1].names) == 12


def test_a_drawing_of_any_cluster_has_few_boxes() -> None:
    """Each node has another number of pods, and each domain, too."""
    many = [DrawnNode(f"n{at}", f"d{at // 3}") for at in range(3000)]
    drawing = draw("rack", many, pods(*(f"n{at}" for at in range(3000) for _ in range(at % 40))))

    assert sum(len(box.boxes) for box in drawing.domains) < 300
    assert drawing.more + sum(box.number for box in drawing.domains) == 1000


def test_the_domain_name_that_all_nodes_share_is_known() -> None:
    named = [DrawnNode("a.eu.internal", "z"), DrawnNode("b.eu.internal", "z")]

    assert ".eu.internal" == draw("zone", named, []).suffix
    assert "" == draw("zone", [*named, DrawnNode("c", "z")], []).suffix
    assert "" == draw("zone", nodes(4), []).suffix
