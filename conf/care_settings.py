"""Settings of what keeps a lakehouse well between its runs, and of what its work costs. Ours."""

from pydantic import Field

from conf.section import Section


class CheckSettings(Section):
    """When ``jobs check`` finds fault with a stage's last run; null switches a check off."""

    max_age_hours: float | None = Field(48, gt=0, description="hours since the newest finished run of these stages")
    max_shrink_share: float | None = Field(0.1, ge=0, le=1, description="rows that are fewer than after the run before")
    max_quarantined_share: float | None = Field(0.1, ge=0, le=1, description="units of a stage that cannot be read")
    max_dropped_change: float | None = Field(
        0.1, ge=0, le=1, description="change of the share of units that a stage drops, since the run before"
    )


class MaintenanceSettings(Section):
    """What ``jobs maintain`` deletes."""

    keep_days: int = Field(30, ge=7, description="days that files of earlier versions of tables are kept")
    target_megabytes: int = Field(128, ge=1, description="size of the files into which OPTIMIZE puts smaller ones")


class TokenPrices(Section):
    """What a million tokens of a language model cost."""

    prompt: float | None = Field(None, ge=0, description="of prompts")
    completion: float | None = Field(None, ge=0, description="of answers")


ANY_MODEL = "*"


class PriceSettings(Section):
    """Prices of hours, which ``jobs estimate`` multiplies, and of tokens, in any currency."""

    core_hour: float | None = Field(None, ge=0, description="price of a core for an hour, with its part of the machine")
    gpu_hour: float | None = Field(None, ge=0, description="price of a GPU for an hour, with its part of the machine")

    million_tokens: dict[str, TokenPrices] = Field(
        default_factory=dict,
        description="prices of a million tokens by model, or by how its identity begins; * is any other: "
        '{"openai:NAME": {prompt: 0.15, completion: 0.6}}',
    )

    @property
    def given(self) -> bool:
        """Whether there is any price."""
        return self.core_hour is not None or self.gpu_hour is not None or bool(self.million_tokens)

    def cost(self, core_hours: float, gpu_hours: float) -> float:
        """Return what hours cost; hours without a price cost nothing."""
        return core_hours * (self.core_hour or 0) + gpu_hours * (self.gpu_hour or 0)

    def tokens_of(self, model: str) -> TokenPrices | None:
        """Return the prices of a model's tokens: those of the longest name that its identity begins with; else None."""
        names = [name for name in self.million_tokens if name != ANY_MODEL and model.startswith(name)]
        return self.million_tokens.get(max(names, key=len, default=ANY_MODEL))

    def tokens_cost(self, model: str, prompt: int, completion: int) -> float | None:
        """Return what tokens cost; None for a model without prices."""
        prices = self.tokens_of(model)
        if prices is None:
            return None
        return (prompt * (prices.prompt or 0) + completion * (prices.completion or 0)) / 1e6
