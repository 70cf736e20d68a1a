"""Settings of checks, maintenance and prices (ours)."""

from pydantic import Field

from conf.section import Section


class CheckSettings(Section):
    """Limits of ``jobs check`` on a stage's last run; null switches a check off."""

    max_age_hours: float | None = Field(
        48, gt=0, description="most hours since the newest finished run of these stages"
    )
    max_shrink_share: float | None = Field(
        0.1, ge=0, le=1, description="largest share of rows lost since the run before"
    )
    max_quarantined_share: float | None = Field(
        0.1, ge=0, le=1, description="largest share of a stage's units that cannot be read"
    )
    max_dropped_change: float | None = Field(
        0.1, ge=0, le=1, description="largest change of the share of units that a stage drops, since the run before"
    )


class MaintenanceSettings(Section):
    """Retention and file sizes of ``jobs maintain``."""

    keep_days: int = Field(30, ge=7, description="days to keep the files of earlier table versions")
    target_megabytes: int = Field(128, ge=1, description="target size when OPTIMIZE joins small files")


class TokenPrices(Section):
    """The prices of a million tokens of a language model."""

    prompt: float | None = Field(None, ge=0, description="of prompts")
    completion: float | None = Field(None, ge=0, description="of answers")


ANY_MODEL = "*"


class PriceSettings(Section):
    """Prices of tokens, in any currency."""

    million_tokens: dict[str, TokenPrices] = Field(
        default_factory=dict,
        description="prices of a million tokens by model, or by how its identity begins; * is any other: "
        '{"openai:NAME": {prompt: 0.15, completion: 0.6}}',
    )
