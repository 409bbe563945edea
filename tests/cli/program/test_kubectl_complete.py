"""What kubectl is told by `kubectl_complete-spread`, and what a shell is offered without kubectl."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kubectl_spread.cli.complete import lines
from tests.test_startup import HEAVY

SHOP = str(Path(__file__).parents[3] / "examples" / "shop" / "cluster.yaml")


def values(*words: str) -> list[str]:
    """The candidates, without what they mean, and the directive."""
    return [line.partition("\t")[0] for line in lines(list(words))]


def test_commands_are_offered_with_what_they_do() -> None:
    assert ["status\tShow how running pods are spread over their domains", ":4"] == lines(["stat"])
    offered = (
        "check explain simulate guarantee status rebalance exporter snapshot demo init rule lsp version options :4"
    )

    assert offered.split() == [word for word in values("") if not word.startswith("-")]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("check", "--sel"), ["--selector", "--select", ":4"]),
        (("check", "--select", "SPR304"), ["SPR304", ":4"]),
        (("status", "-o", "p"), ["prometheus", ":4"]),
        (("status", "depl"), ["deployment", "deploymentconfig", ":4"]),
        (("explain", "statef"), ["statefulset", ":4"]),
        (("check", "--snapshot", "x"), [":0"]),  # a file
        (("snapshot", "-o", ""), [":0"]),
        (("check", ""), [":0"]),
        (("check", "statef"), ["statefulset/", ":2"]),  # a file may begin so, too
        (("rule", "hard-zone-and"), ["hard-zone-and-hostname", ":4"]),
        (("init", ""), [":16"]),
        ((), ["check"]),
    ],
)
def test_words_are_completed(words: tuple[str, ...], offered: list[str]) -> None:
    assert offered == (values(*words) if words else values(*words)[:1])


def test_contexts_clusters_and_users_are_those_of_the_kubeconfig(no_cluster: Path) -> None:
    named = [{"name": name, "cluster": {}} for name in ("prod", "test")]
    users = [{"name": "me", "user": {}}]
    contexts = [{"name": "prod-eu", "context": {"cluster": "prod", "user": "me"}}]
    no_cluster.write_text(json.dumps({"clusters": named, "users": users, "contexts": contexts}))

    assert ["prod-eu", ":4"] == values("status", "--context", "")
    assert ["prod", ":4"] == values("check", "--cluster", "p")
    assert ["me", ":4"] == values("explain", "--user", "")


def test_a_broken_kubeconfig_offers_nothing(no_cluster: Path) -> None:
    no_cluster.write_text("clusters: [")

    assert [":4"] == values("status", "--context", "")
    assert [":4"] == values("status", "-n", "")


def test_names_are_those_of_a_small_snapshot() -> None:
    assert ["shop", ":4"] == values("status", "--snapshot", SHOP, "-n", "")
    assert ["pod/web-6d4f9c7b58-9pdlw", ":4"] == values(
        "explain", "--snapshot", SHOP, "-n", "shop", "pod/web-6d4f9c7b58-9"
    )
    assert ["web-6d4f9c7b58-9pdlw", ":4"] == values(
        "explain", "--snapshot", SHOP, "-n", "shop", "pod", "web-6d4f9c7b58-9"
    )
    assert [":4"] == values("explain", "--snapshot", "nope.yaml", "pod", "")


def completing(*words: str) -> subprocess.CompletedProcess[str]:
    """As kubectl calls it: by its name."""
    code = "import sys; sys.argv[0] = '/bin/kubectl_complete-spread'; from kubectl_spread.__main__ import main; main()"
    command = [sys.executable, "-X", "importtime", "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ}, timeout=60)


def test_the_program_completes_where_it_has_kubectl_s_name_for_that() -> None:
    done = completing("check", "--select", "SPR304")

    assert (0, "SPR304\tzone and hostname are both DoNotSchedule with `maxSkew` 1\n:4\n") == (
        done.returncode,
        done.stdout,
    )


def test_completing_says_nothing_else_and_never_fails() -> None:
    done = completing("check", "-n", "")

    assert (0, ":4\n") == (done.returncode, done.stdout)
    assert "error: " not in done.stderr


@pytest.mark.parametrize("words", [("",), ("check", "--sel"), ("status", ""), ("check", "--select", "SPR")])
def test_completing_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    """Neither numpy nor the client, for it happens at every key."""
    code = (
        "import sys; from kubectl_spread.cli.complete import lines; lines(sys.argv[1:]); print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)

    assert set() == set(done.stdout.split()) & HEAVY


def test_a_cluster_that_does_not_answer_is_waited_for_a_second(no_cluster: Path) -> None:
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        contexts = [{"name": "c", "context": {"cluster": "c", "user": "u"}}]
        config = {"clusters": [{"name": "c", "cluster": {"server": server}}], "users": [{"name": "u", "user": {}}]}
        no_cluster.write_text(json.dumps({**config, "contexts": contexts, "current-context": "c"}))
        done = completing("status", "-n", "")

    assert (0, ":4\n") == (done.returncode, done.stdout)
