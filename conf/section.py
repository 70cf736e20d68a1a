"""The base class of every group of settings."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A frozen group of settings; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
