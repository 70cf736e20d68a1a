"""The licence check of an export: what its parts allow, and whether the licence that it names goes beyond that."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conf import resources
from conf.errors import InputError
from conf.section import Section

UNDECIDED = "other"


@dataclass(frozen=True)
class LicensedPart:
    """A part of an export with its licence.

    Attributes:
        licence: as its owners name it.
        commercial: whether it allows commercial use.
        part: texts, labels, or training (of a model that gave labels or cut turns).
    """

    source: str
    licence: str
    commercial: bool
    part: str


def used_sources(sections: Mapping[str, Section], *, with_texts: bool) -> list[LicensedPart]:
    """Return the sources that the settings name, by ``conf/publishing/licences.csv``, after the texts if included."""
    found = []
    if with_texts:
        found.append(LicensedPart("texts of the films", "none: they belong to their owners", False, "texts"))
    for row in csv.DictReader(resources.text("publishing/licences.csv").splitlines()):
        section, name = row["setting"].split(".")
        if getattr(sections[section], name):
            found.append(LicensedPart(row["source"], row["licence"], row["commercial"] == "yes", row["part"]))
    return found


def check_licence(licence: str, sources: Sequence[LicensedPart]) -> None:
    """Refuse a licence that grants more than the sources do.

    Raises:
        InputError: texts of films are included, or a source is for non-commercial use and the licence is not.
    """
    if licence == UNDECIDED:
        return
    for source in sources:
        if source.part == "texts":
            raise InputError(
                f"publishing.licence={licence}: nobody here can license the films' texts; set "
                "publishing.text=references, or leave the licence at other"
            )
        if not source.commercial and "-nc" not in licence:
            raise InputError(
                f"publishing.licence={licence}: {source.source} took part ({source.licence}); name a non-commercial "
                "licence such as cc-by-nc-4.0, or leave it at other"
            )
