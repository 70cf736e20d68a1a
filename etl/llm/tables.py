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
        parameters string COMMENT 'how it was decoded, as JSON; answered_by: another model that the server names',
        text string COMMENT 'as the model gave it',
        finish_reason string COMMENT 'stop: the model ended it; length: the most tokens did',
        prompt_tokens int, answer_tokens int, seconds double COMMENT 'of the device; a server: from request to answer',
        error string COMMENT 'why there is no text',
        template_hash string COMMENT 'of the prompt before its slots were filled; null: an older version did not tell'
        """,
        ("prompt_hash", "model", "parameters_hash", "sample"),
    )


VIEWS = ("llm.generations",)
