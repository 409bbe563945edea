"""Count findings per rule over any folders of manifests: `python -m tests.bench.corpus FOLDER...`; not part of CI.

Each folder is a repository, checked by itself with `check -R`. A line for each rule has the findings, the files with
one, and the repositories with one, so that the precision of a rule can be judged by samples: `--show RULE` prints its
findings, `--sample N` takes N of them at random, the same ones for the same `--seed`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

Plain = dict[str, Any]


def checked(folder: str, flags: list[str]) -> Plain:
    """What `check` reports about a folder; it is told on stderr if the program fails."""
    command = [sys.executable, "-m", "kubectl_spread", "check", "-R", folder, "-o", "json", "--no-config", *flags]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode not in (0, 1, 3) or not done.stdout:
        print(f"{folder}: exit code {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}", file=sys.stderr)
        return {"findings": [], "checked": {"files": 0, "workloads": 0}}
    report: Plain = json.loads(done.stdout)
    return report


def table(reports: dict[str, Plain]) -> list[str]:
    """A line for each rule, the most findings first."""
    findings: Counter[tuple[str, str, str]] = Counter()
    files: dict[str, set[str]] = {}
    folders: dict[str, set[str]] = {}
    for folder, report in reports.items():
        for finding in report["findings"]:
            findings[finding["code"], finding["severity"], finding["name"]] += 1
            files.setdefault(finding["code"], set()).add(finding["file"])
            folders.setdefault(finding["code"], set()).add(folder)
    lines = [f"{'RULE':8} {'SEVERITY':9} {'FINDINGS':>9} {'FILES':>7} {'REPOS':>6}  NAME"]
    for (code, severity, name), count in sorted(findings.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{code:8} {severity:9} {count:9} {len(files[code]):7} {len(folders[code]):6}  {name}")
    return lines


def summary(reports: dict[str, Plain]) -> str:
    """How much was checked, and how many findings that makes for 100 files."""
    files = sum(report["checked"]["files"] for report in reports.values())
    workloads = sum(report["checked"]["workloads"] for report in reports.values())
    count = sum(len(report["findings"]) for report in reports.values())
    named = {(folder, item["file"]) for folder, report in reports.items() for item in report["findings"]}
    rate = 100 * count / files if files else 0.0
    return (
        f"{len(reports)} repositories, {files} files, {workloads} workloads: {count} findings in {len(named)} files, "
        f"{rate:.1f} for 100 files"
    )


def samples(reports: dict[str, Plain], rule: str, *, most: int, seed: int) -> list[str]:
    """Findings of a rule, one on each line."""
    found = [item for report in reports.values() for item in report["findings"] if rule in (item["code"], item["name"])]
    if most and len(found) > most:
        found = random.Random(seed).sample(found, most)
    return [f"{item['file']}:{item['line']}:{item['column']}: {item['code']} {item['message']}" for item in found]


def main() -> int:
    """Check the folders, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", help="Repositories; with --each, folders of repositories.")
    parser.add_argument("--each", action="store_true", help="Check every directory of a folder by itself.")
    parser.add_argument("--show", metavar="RULE", default="", help="Print the findings of a rule.")
    parser.add_argument("--sample", metavar="N", type=int, default=0, help="With --show, N findings at random.")
    parser.add_argument("--seed", type=int, default=0, help="Of the sample.")
    parser.add_argument(
        "--flag", action="append", default=[], help="A further flag of check, such as --profile=strict."
    )
    asked = parser.parse_args()
    folders = asked.folders
    if asked.each:
        folders = [str(path) for folder in folders for path in sorted(Path(folder).iterdir()) if path.is_dir()]
    reports = {folder: checked(folder, asked.flag) for folder in folders}
    print("\n".join([*table(reports), summary(reports)]))
    if asked.show:
        print("\n".join(samples(reports, asked.show, most=asked.sample, seed=asked.seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
