"""Tables that keep to a width."""

from __future__ import annotations

from kubectl_spread.report import table

ROWS = [
    ("DOMAIN", "IF PLACED HERE", "FITS"),
    ("eu-central-1a", "1 + 1 - 0 = 2 > 1", "allowed, no usable node"),
]


def test_gaps_give_way_before_cells_are_broken() -> None:
    assert [
        "DOMAIN         IF PLACED HERE     FITS",
        "eu-central-1a  1 + 1 - 0 = 2 > 1  allowed, no usable node",
    ] == table.table(ROWS, table.Style(58))


def test_cells_are_broken_where_gaps_do_not_suffice() -> None:
    assert [
        "DOMAIN          IF PLACED HERE      FITS",
        "eu-central-1a   1 + 1 - 0 = 2 > 1   allowed, no usable",
        "                                    node",
    ] == table.table(ROWS, table.Style(54))


def test_both_give_way_where_neither_suffices() -> None:
    assert [
        "DOMAIN         IF PLACED HERE     FITS",
        "eu-central-1a  1 + 1 - 0 = 2 > 1  allowed, no usable",
        "                                  node",
    ] == table.table(ROWS, table.Style(52))


def test_without_a_width_no_cell_is_broken() -> None:
    assert [
        "DOMAIN          IF PLACED HERE      FITS",
        "eu-central-1a   1 + 1 - 0 = 2 > 1   allowed, no usable node",
    ] == table.table(ROWS)


def test_columns_become_as_narrow_as_their_words() -> None:
    assert [
        "DOMAIN          IF PLACED    FITS",
        "                HERE",
        "eu-central-1a   1 + 1 - 0    allowed, no",
        "                = 2 > 1      usable node",
    ] == table.table(ROWS, table.Style(40))


def test_rows_become_blocks_if_words_do_not_fit() -> None:
    rows = [("NODES", "REFUSED BY"), ("4", "taint node-role.kubernetes.io/control-plane:NoSchedule")]

    assert [
        "  NODES: 4",
        "    REFUSED BY: taint",
        "      node-role.kubernetes.io/control-plane:NoSchedule",
    ] == table.table(rows, table.Style(50), indent="  ")
