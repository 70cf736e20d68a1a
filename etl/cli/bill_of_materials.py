"""Add the jars to a software bill of materials (CycloneDX): ``python -m etl.cli.bill_of_materials FILE``.

``make sbom`` writes the file for the Python packages from ``requirements.txt``.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from etl.cli.jars import jar_digests


def jar_components() -> list[dict[str, Any]]:
    """Return a CycloneDX component for each jar: name, version, sha256 and its address as a package of Maven."""
    components = []
    for name, digest in jar_digests().items():
        group, _, rest = name.removesuffix(".jar").partition("_")
        found = re.match(r"(.+?)-(\d.*)$", rest)
        artifact, version = found.groups() if found is not None else (rest, "")
        purl = f"pkg:maven/{group}/{artifact}@{version}"
        hashes = [{"alg": "SHA-256", "content": digest}]
        component = {"type": "library", "bom-ref": purl, "group": group, "name": artifact, "version": version}
        components.append(component | {"purl": purl, "hashes": hashes})
    return components


def add_jars(path: Path) -> int:
    """Add the jars to a CycloneDX file in JSON; return how many components it has then."""
    content = json.loads(path.read_text(encoding="utf-8"))
    jars = jar_components()
    known = {component["bom-ref"] for component in jars}
    others = [one for one in content.get("components", []) if one.get("bom-ref") not in known]
    content["components"] = [*others, *jars]
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return len(content["components"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    print(f"{add_jars(file)} components in {file}")
