"""The steps that make the data set, in their order; beside them those that name topics (Emo Pillars 3, H)."""

from etl.emo_pillars.step import Step
from etl.emo_pillars.steps import actors, clean_contexts, contexts, rewrites, soft_labels, utterances

SYNTHESIS: tuple[Step, ...] = tuple(
    module.STEP for module in (actors, utterances, soft_labels, contexts, clean_contexts, rewrites)
)
"""The steps from plots to contextual examples."""
