"""Look for known vulnerabilities in the locked packages: ``python -m etl.cli.audit [FILE]``, as ``make audit`` does.

pip-audit asks a service about each package and version. It counts what the service does not know as without faults, and
so says "no known vulnerabilities" where it could ask nothing.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OPTIONS = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
MOST_NAMED = 5


def summary(report: Mapping[str, Any]) -> tuple[list[str], int]:
    """Return the lines that tell of pip-audit's report, and the exit status.

    Returns:
        0: all packages were looked at, and none has a known vulnerability. 1: some have. 2: some were not looked at.
    """
    found = report.get("dependencies", [])
    skipped = [one["name"] for one in found if "skip_reason" in one]
    lines = []
    for one in found:
        for fault in one.get("vulns", []):
            fixed = ", ".join(fault.get("fix_versions", [])) or "no version yet"
            lines.append(f"{one['name']} {one['version']}: {fault['id']}, fixed in {fixed}")
    audited = len(found) - len(skipped)
    lines.append(f"{audited} of {len(found)} packages looked at, {len(lines)} known vulnerabilities")
    if skipped:
        named = ", ".join(skipped[:MOST_NAMED]) + (", ..." if len(skipped) > MOST_NAMED else "")
        lines.append(f"not looked at, because the service does not know them or is not reached: {named}")
    return lines, 1 if len(lines) > 1 + bool(skipped) else 2 if skipped or not found else 0


def audit(command: str, file: str) -> int:
    """Run pip-audit on a file of hashed requirements, print its `summary`, and return the exit status."""
    done = subprocess.run([command, *OPTIONS, "-r", file], capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        reason = (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]
        print(f"not audited: the service with the vulnerabilities cannot be reached ({reason}): offline?")
        return 2
    lines, status = summary(report)
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    beside = Path(sys.executable).with_name("pip-audit")
    sys.exit(audit(str(beside), sys.argv[1] if len(sys.argv) > 1 else "requirements.txt"))
