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

pytestmark = pytest.mark.slow

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


def test_the_wheel_holds_every_module_schema_and_the_example_of_the_demo(wheel: Path) -> None:
    modules = {
        str(path.relative_to(ROOT))
        for path in (*PACKAGE.rglob("*.py"), *PACKAGE.rglob("templates/*"), *PACKAGE.rglob("*.md"))
    }
    documents = {f"kubectl_spread/schemas/{path.name}" for path in (ROOT / "schemas").glob("*.json")}
    documents |= {f"kubectl_spread/examples/shop/{path.name}" for path in (ROOT / "examples" / "shop").iterdir()}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}

    assert names == modules | documents | {"kubectl_spread/py.typed"}


def test_the_wheel_holds_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {"LICENSE", "NOTICE"} == {name.rpartition("/")[2] for name in names if "/licenses/" in name}


def test_pipx_installs_a_plugin_that_kubectl_finds(wheel: Path, tmp_path: Path) -> None:
    """With all it needs, in an environment of its own; kubectl has nothing to warn of. Without kubectl we are it."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    settings = {"PIPX_HOME": str(home), "PIPX_BIN_DIR": str(programs), "PIP_QUIET": "1", "PIP_COMPILE": "0"}
    outside = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    command = [sys.executable, "-m", "pipx", "install", str(wheel)]
    installed = subprocess.run(command, env={**outside, **settings}, capture_output=True, text=True, timeout=280)
    kubectl = shutil.which("kubectl")
    path = os.pathsep.join([str(programs), *([str(Path(kubectl).parent)] if kubectl else [])])
    env = {**outside, "PATH": path, "HOME": str(tmp_path)}
    start = ["kubectl", "spread"] if kubectl else [str(programs / "kubectl-spread")]
    checked = subprocess.run(
        [
            *start,
            "check",
            str(ROOT / "examples" / "shop" / "web-fixed.yaml"),
            "--topology",
            "zones=3,cpu=8,memory=32Gi",
        ],
        env=env,
        capture_output=True,
        text=True,
    )

    assert 0 == installed.returncode, installed.stderr
    assert (0, True) == (checked.returncode, "4 of 4 replicas placed" in checked.stdout), checked.stderr
    if kubectl:
        listed = subprocess.run(["kubectl", "plugin", "list"], env=env, capture_output=True, text=True)
        found = [Path(line).stem for line in listed.stdout.splitlines() if line.startswith(str(programs))]
        assert (0, ["kubectl-spread"], "") == (listed.returncode, found, listed.stderr)


def test_an_installed_package_finds_its_schemas(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = "from kubectl_spread import schemas; print(schemas.data_directory('schemas')); schemas.load('check-report')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )

    assert done.stdout.strip() == str(tmp_path / "kubectl_spread" / "schemas")


def test_an_installed_package_runs_the_demo(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    command = [sys.executable, "-m", "kubectl_spread", "demo", "mistakes", "status"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)

    assert (0, True) == (done.returncode, "statefulset/db" in done.stdout), done.stderr


def test_a_checkout_finds_its_schemas_beside_the_package() -> None:
    assert schemas.data_directory("schemas") == str(ROOT / "schemas")


def test_setup_cfg_names_every_package() -> None:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    found = {str(path.parent.relative_to(ROOT)).replace("/", ".") for path in PACKAGE.rglob("__init__.py")}

    assert listed == found | {"kubectl_spread.schemas", "kubectl_spread.examples.shop"}
