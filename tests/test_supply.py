"""What is installed is pinned by content: packages by hashes, jars by sha256."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conf.errors import InputError
from etl.cli import jars
from etl.cli.jars import jar_digests, require_pinned
from etl.pipeline.jars import PACKAGES, jar_folder

REPOSITORY = Path(__file__).resolve().parents[1]
LOCK = (REPOSITORY / "requirements.txt").read_text("utf-8")
LOCKED = dict(re.findall(r"(?m)^([A-Za-z0-9._-]+)==([^\s;\\]+)", LOCK))
PINNED = dict(
    line.split("==") for line in (REPOSITORY / "constraints.txt").read_text("utf-8").splitlines() if "==" in line
)


def test_every_package_has_hashes_and_the_pinned_version() -> None:
    pinned = {canonicalize_name(name): version for name, version in PINNED.items()}
    blocks = re.split(r"(?m)^(?=[A-Za-z0-9])", LOCK)[1:]
    assert len(blocks) == len(LOCKED) > 200
    for block in blocks:
        name, version = re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)", block).groups()  # type: ignore[union-attr]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), name
        assert pinned[canonicalize_name(name)] == version, name
    assert "://" not in LOCK


def test_what_the_extras_name_is_locked() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["text"], *extras["cluster"], *extras["local"], *extras["dev"]]
    names = {canonicalize_name(Requirement(one).name) for one in wanted} - {"edos-lakehouse"}
    locked = {canonicalize_name(name): version for name, version in LOCKED.items()}
    assert names <= locked.keys()
    for one in map(Requirement, wanted):
        version = locked.get(canonicalize_name(one.name))
        assert version is None or one.specifier.contains(version, prereleases=True), one


def test_the_fetched_jars_are_the_pinned_ones() -> None:
    found = sorted(jar_folder().glob("*.jar"))
    require_pinned(found)
    assert {jar.name for jar in found} == jar_digests().keys()
    for package in PACKAGES:
        group, artifact, version = package.split(":")
        assert f"{group}_{artifact}-{version}.jar" in jar_digests()


@pytest.mark.parametrize(("name", "words"), [(None, "does not list it"), ("known", "pins")])
def test_another_jar_is_refused_in_one_line(
    tmp_path: Path, name: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "packages", lambda: PACKAGES)
    jar = tmp_path / (next(iter(jar_digests())) if name else "other_evil-1.0.jar")
    jar.write_bytes(b"PK")
    with pytest.raises(InputError, match=words) as refused:
        require_pinned([jar])
    assert "\n" not in str(refused.value)
