"""Which names are two spellings of one, and which only look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.advice.moves.nodes import misspelt_values
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading import read
from kubectl_spread.text.wording import spelling_of

ZONE = "topology.kubernetes.io/zone"


def nodes(*zones: str) -> list[Node]:
    """Nodes, each with a zone."""
    return [
        read.node({"metadata": {"name": f"n{at}", "labels": {ZONE: zone} if zone else {}}})
        for at, zone in enumerate(zones)
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("us-east-1a", "us-east1a"),  # punctuation
        ("eu-West-1b", "eu-west-1b"),  # case
        ("diskType", "disktype"),
        ("storage", "sotrage"),  # swapped letters
        ("storage", "storrage"),  # one letter too many
        ("storage", "strage"),  # one too few
    ],
)
def test_two_spellings_of_one_name(one: str, other: str) -> None:
    assert spelling_of(one, [other]) == other
    assert spelling_of(other, [one]) == one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("us-east-1a", "us-east-1b"),  # zones differ in their last character on purpose
        ("us-east-1a", "us-east-2a"),
        ("rack-12", "rack-21"),  # swapped digits are another number
        ("node-1", "node-11"),
        ("ssd", "sdd"),  # too short to tell
        ("zone-a", "zone-ab"),
        ("", "-"),
    ],
)
def test_names_that_only_look_alike(one: str, other: str) -> None:
    assert not spelling_of(one, [other])
    assert not spelling_of(other, [one])


def test_the_spelling_that_more_nodes_have_is_the_right_one() -> None:
    assert misspelt_values(nodes("us-east-1a", "us-east-1a", "us-east1a", "us-east-1b", ""), ZONE) == {
        "us-east1a": "us-east-1a"
    }


def test_of_two_as_frequent_spellings_one_is_wrong() -> None:
    """The longer one is right: a hyphen is rather forgotten than added."""
    assert misspelt_values(nodes("us-east1a", "us-east-1a"), ZONE) == {"us-east1a": "us-east-1a"}


def test_no_spelling_is_corrected_to_one_that_is_wrong_itself() -> None:
    found = misspelt_values(nodes("storage", "storage", "sotrage", "storrage"), ZONE)

    assert found == {"sotrage": "storage", "storrage": "storage"}


@given(st.lists(st.text("ab1-", min_size=1, max_size=8), max_size=12))
def test_the_index_finds_what_comparing_all_with_all_finds(names: list[str]) -> None:
    """Nothing is missed for the sake of speed."""
    for name in names:
        alone = [other for other in sorted(names) if other != name and spelling_of(name, [other])]

        assert spelling_of(name, names) == next(iter(alone), "")


@pytest.mark.parametrize(("name", "found"), [("disk", "disks"), ("sotrage", "storage"), ("gpu", "")])
def test_a_name_is_looked_up_among_those_that_exist(name: str, found: str) -> None:
    """A plural is the same name, too."""
    assert spelling_of(name, ["storage", "disks", name]) == found
