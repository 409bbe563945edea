"""What a user installs holds what the program needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

from kubectl_spread import schemas

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kubectl_spread"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built without the network."""
    source = tmp_path_factory.mktemp("source") / "tree"
    ignored = shutil.ignore_patterns(".venv", ".git", "build", "dist", "*.egg-info", "__pycache__", "recordings")
    shutil.copytree(ROOT, source, ignore=ignored)
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


def test_the_wheel_holds_every_module_and_schema(wheel: Path) -> None:
    modules = {str(path.relative_to(ROOT)) for path in PACKAGE.rglob("*.py")}
    documents = {f"kubectl_spread/schemas/{path.name}" for path in (ROOT / "schemas").glob("*.json")}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}

    assert names == modules | documents | {"kubectl_spread/py.typed"}


def test_the_wheel_holds_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert [name for name in names if name.endswith("/LICENSE")] != []


def test_an_installed_package_finds_its_schemas(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = "from kubectl_spread import schemas; print(schemas.directory()); schemas.load('check-report')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )

    assert done.stdout.strip() == str(tmp_path / "kubectl_spread" / "schemas")


def test_a_checkout_finds_its_schemas_beside_the_package() -> None:
    assert schemas.directory() == ROOT / "schemas"


def test_setup_cfg_names_every_package() -> None:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    found = {str(path.parent.relative_to(ROOT)).replace("/", ".") for path in PACKAGE.rglob("__init__.py")}

    assert listed == found | {"kubectl_spread.schemas"}
