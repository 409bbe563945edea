"""No test of a command line asks the cluster of whoever runs the tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kubeconfig that there would be."""
    path = tmp_path_factory.mktemp("kube") / "config"
    monkeypatch.setenv("KUBECONFIG", str(path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return path


@pytest.fixture
def pods_alone(tmp_path: Path) -> str:
    """The snapshot of the shop without its Deployment."""
    yaml = YAML(typ="safe")
    plain = yaml.load((Path(__file__).parents[2] / "examples" / "shop" / "cluster.yaml").read_text(encoding="utf-8"))
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({**plain, "items": [item for item in plain["items"] if item["kind"] != "Deployment"]}))
    return str(path)
