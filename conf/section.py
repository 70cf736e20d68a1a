"""What every group of settings is."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A group of settings; unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)
