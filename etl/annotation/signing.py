"""Sign the links to a batch's HITs, so that an answer's worker id, which is a claim, is bound to a link that was given.

A link leads to one HIT and has a seat, of which a HIT has some more than it needs answers. The batch's secret is in its
key file only. Answers carry seat and signature; ``etl.annotation.claims`` compares them with the key.
"""

import csv
import hmac
import io
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from etl.annotation.labelling import batch_id_of, hits_of

PLATFORM = "platform"
"""The seat of answers that a crowd platform collects, whose worker ids it vouches for."""
SPARE_SEATS = 2
LENGTH = 20


@dataclass(frozen=True)
class Signing:
    """The secret that signs the links of a batch.

    Attributes:
        secret: of the batch.
        workers: answers that each HIT needs.
    """

    secret: str
    workers: int

    @property
    def seats(self) -> tuple[str, ...]:
        return (*map(str, range(1, self.workers + SPARE_SEATS + 1)), PLATFORM)

    def signature(self, batch_id: str, hit_id: str, seat: str) -> str:
        """Return the first digits of the HMAC-SHA256 of batch, HIT and seat."""
        text = f"{batch_id}/{hit_id}/{seat}"
        return hmac.new(self.secret.encode(), text.encode(), "sha256").hexdigest()[:LENGTH]

    def facts(self, batch_id: str, hit_id: str) -> dict[str, Any]:
        """Return what the key says of a HIT: the secret, and the signature of each seat."""
        signed = {seat: self.signature(batch_id, hit_id, seat) for seat in self.seats}
        return {"batch_secret": self.secret, "signatures": signed}


def links_csv(tasks: Sequence[Mapping[str, Any]], signing: Signing) -> str:
    """Return a CSV with a link for each seat of each HIT, to be given to one worker each."""
    table = io.StringIO()
    batch_id = batch_id_of(tasks)
    writer = csv.writer(table, lineterminator="\r\n")
    writer.writerow(("hit_id", "seat", "link"))
    for hit_id, _ in hits_of(tasks):
        for seat in signing.seats[:-1]:
            named = {"hit": hit_id, "seat": seat, "sign": signing.signature(batch_id, hit_id, seat)}
            writer.writerow((hit_id, seat, f"annotate.html#{urlencode(named)}"))
    return table.getvalue()


def secret_of(key: str | None) -> str:
    """Return the secret in a batch's key file, so that links that were given stay valid; a new one without a file."""
    try:
        known = json.loads((key or "").partition("\n")[0]).get("batch_secret")
    except (ValueError, AttributeError):
        known = None
    return known if isinstance(known, str) and known else secrets.token_hex(16)
