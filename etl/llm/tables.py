"""Raw answers of the language model: one table for each step that asks, one view over all of them.

Each stage writes one table: a step's prompts are made from the parsed answers of the step
before, so with one table for all steps each stage would read what it writes itself, and every step's growth would
look like a change to all the others. For people the view ``llm.generations`` has them all, with the step's name.
"""

from etl.pipeline.tables.model import Table

SCHEMA = "llm"


def generations(step: str, asked: str) -> Table:
    """Return the table of a step's raw answers.

    Args:
        step: the table's name, and the step's in the view.
        asked: what the step generates, for the catalog.
    """
    return Table(
        f"{SCHEMA}.{step}",
        f"One raw answer: {asked}.",
        """
        request_id string COMMENT 'of prompt_hash, parameters_hash and sample',
        prompt_hash string COMMENT 'of prompt and answer_start',
        model string COMMENT 'identity of the generator', parameters_hash string,
        sample int COMMENT 'which of several answers to the prompt, from 0',
        prompt string, answer_start string COMMENT 'dictated start, which text continues',
        parameters string COMMENT 'how it was decoded, as JSON', text string COMMENT 'as the model gave it',
        finish_reason string COMMENT 'stop: the model ended it; length: the most tokens did',
        prompt_tokens int, answer_tokens int, seconds double COMMENT 'of the device; a server: from request to answer',
        error string COMMENT 'why there is no text',
        template_hash string COMMENT 'of the prompt before its slots were filled; null: an older version did not tell'
        """,
        ("prompt_hash", "model", "parameters_hash", "sample"),
    )


ACTORS = generations("emo_pillars_actors", "who takes part in a plot (Emo Pillars 3.1)")
UTTERANCES = generations("emo_pillars_utterances", "utterances of a character (Emo Pillars 3.2)")
SOFT_LABELS = generations("emo_pillars_soft_labels", "the emotions of an utterance with their levels (Emo Pillars 3.3)")
CONTEXTS = generations("emo_pillars_contexts", "the context of an utterance (Emo Pillars 3.4)")
CLEAN_CONTEXTS = generations("emo_pillars_clean_contexts", "a context without emotions (Emo Pillars 3.4)")
REWRITES = generations("emo_pillars_rewrites", "an utterance in words that need its context (Emo Pillars 3.5)")
TOPIC_NAMES = generations("emo_pillars_topic_names", "the topic that utterances share (Emo Pillars H)")
TOPIC_CATEGORIES = generations("emo_pillars_topic_categories", "the category of a topic (Emo Pillars H)")
AUGMENTED = generations("augesc_augmenter", "a conversation continued from a query by the tuned model (AugESC 4.2)")
UNTUNED = generations("augesc_untuned", "a conversation continued by the model before tuning (AugESC 4.3)")

VIEWS = ("llm.generations",)
