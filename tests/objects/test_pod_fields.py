"""Fields of a pod class, by what decides them."""

from __future__ import annotations

from kubectl_spread.objects.pod import PodClass, TEMPLATE_FIELDS


def test_a_new_field_is_of_the_template() -> None:
    """Pods are compared with templates, and created again from them, in every field but these."""
    assert set(PodClass._fields) - set(TEMPLATE_FIELDS) == {"namespace", "labels", "owner", "owner_uid"}


def test_fields_keep_their_order() -> None:
    """Messages name them in this order."""
    assert [name for name in PodClass._fields if name in TEMPLATE_FIELDS] == list(TEMPLATE_FIELDS)
