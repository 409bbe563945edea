"""Records are what typing makes of the same lines."""

from __future__ import annotations

import copy
import enum
import pickle
import typing
from typing import get_type_hints, Optional

import pytest

from kubectl_spread import records

Record: typing.Any = records.NamedTuple  # not as a type checker sees it


class Ours(Record):
    """A domain."""

    name: str
    count: int = 0
    zone: Optional[str] = None

    @property
    def title(self) -> str:
        """The name, in capitals."""
        return self.name.upper()

    @classmethod
    def of(cls, name: str) -> Ours:
        return cls(name, 1)


class Theirs(typing.NamedTuple):
    """A domain."""

    name: str
    count: int = 0
    zone: Optional[str] = None

    @property
    def title(self) -> str:
        """The name, in capitals."""
        return self.name.upper()

    @classmethod
    def of(cls, name: str) -> Theirs:
        return cls(name, 1)


def test_a_record_is_a_named_tuple_as_typing_makes_it() -> None:
    ours, theirs = Ours.of("a"), Theirs.of("a")

    assert ours == theirs == ("a", 1, None)
    assert ours.title == "A"
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._asdict() == theirs._asdict()
    assert ours._replace(zone="z") == ("a", 1, "z")
    assert Ours._fields == Theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults
    assert Ours.__match_args__ == Theirs.__match_args__
    assert (Ours.__doc__, Ours.__module__, Ours.__qualname__) == (Theirs.__doc__, Theirs.__module__, "Ours")
    assert get_type_hints(Ours) == get_type_hints(Theirs)


def test_wrong_values_are_refused_as_typing_refuses_them() -> None:
    for values, named in ((("a", 1, None, 2), {}), ((), {"count": 1}), (("a",), {"title": 1}), (("a",), {"name": "b"})):
        raised = []
        for record in (Ours, Theirs):
            with pytest.raises(TypeError) as caught:
                record(*values, **named)
            raised.append(str(caught.value).replace("Theirs", "Ours"))
        assert raised[0].replace("Ours.__new__", "") == raised[1].replace("Ours.__new__", "")
    with pytest.raises(TypeError):
        Ours._make(["a"])
    with pytest.raises((TypeError, ValueError)):
        Ours("a")._replace(title="b")


def test_a_record_is_copied_and_pickled() -> None:
    ours = Ours("a")

    assert (ours, Ours) == (pickle.loads(pickle.dumps(ours)), type(copy.copy(ours)))


def test_the_first_instance_may_have_any_field_names() -> None:
    class Odd(Record):
        """A record whose fields have the names of the constructor's parameters."""

        cls: int
        values: int = 2
        named: int = 3

    assert Odd(cls=1, named=4) == (1, 2, 4)
    assert Odd(1) == (1, 2, 3)


def test_a_cached_property_is_computed_once() -> None:
    computed = []

    class Domain:
        """A class whose attribute is computed on first use."""

        @records.cached_property
        def size(self) -> int:
            """Return the number of pods."""
            computed.append(self)
            return 3

    domain = Domain()

    assert (domain.size, domain.size, Domain().size) == (3, 3, 3)
    assert len(computed) == 2
    assert Domain.__dict__["size"].__doc__ == "Return the number of pods."
    assert Domain.size is Domain.__dict__["size"]


Choice: typing.Any = records.Enum


class OurLevel(Choice):
    """A severity."""

    ERROR = "error"
    INFO = "info"

    @property
    def title(self) -> str:
        return str(self.value).upper()


class TheirLevel(enum.Enum):
    """A severity."""

    ERROR = "error"
    INFO = "info"

    @property
    def title(self) -> str:
        return self.value.upper()


def test_a_closed_choice_is_an_enum_as_enum_makes_it() -> None:
    shown = []
    for level in (OurLevel, TheirLevel):
        members = list(level)
        assert members == [level.ERROR, level.INFO] == [level("error"), level["INFO"]]
        assert len(level) == 2
        assert level.ERROR in level
        assert level(level.ERROR) is level.ERROR
        assert {level.ERROR: 1}[level("error")] == 1
        assert list(level.__members__) == ["ERROR", "INFO"]
        shown.append([(item.name, item.value, item.title, repr(item), str(item), f"{item}") for item in members])

    assert repr(shown[0]) == repr(shown[1]).replace("TheirLevel", "OurLevel")


@pytest.mark.parametrize("level", [OurLevel, TheirLevel])
def test_a_member_of_an_enum_exists_once_and_does_not_change(level: typing.Any) -> None:
    assert copy.copy(level.INFO) is copy.deepcopy(level.INFO) is pickle.loads(pickle.dumps(level.INFO)) is level.INFO
    with pytest.raises(ValueError, match=f"^'warning' is not a valid {level.__name__}$"):
        level("warning")
    with pytest.raises(ValueError, match=r"^\[\] is not a valid"):
        level([])
    with pytest.raises(KeyError):
        level["WARNING"]
    with pytest.raises(AttributeError):
        level.INFO.value = "error"
    assert "error" not in list(level)
    assert bool(level)
