"""All raw answers of the language model in one place, and what they cost (Emo Pillars 4, C)."""

from etl.lakehouse.tables import TABLES
from etl.lakehouse.tables.llm import SCHEMA
from etl.lakehouse.tables.model import AND_ALSO

# Emo Pillars 4: 2,000 plots, 15 actors each, 300 K utterances, a third of them through the last three steps.
PAPER_PROMPTS = {
    "emo_pillars_actors": 2_000,
    "emo_pillars_utterances": 30_000,
    "emo_pillars_soft_labels": 300_000,
    "emo_pillars_contexts": 100_000,
    "emo_pillars_clean_contexts": 100_000,
    "emo_pillars_rewrites": 100_000,
}
PAPER_INFERENCES = 700_000
PAPER_HOURS = 450

_COLUMNS = """model, request_id, prompt_hash, parameters_hash, sample, prompt, answer_start, parameters, text,
  finish_reason, prompt_tokens, answer_tokens, seconds, error"""


def steps() -> list[str]:
    """The steps that have a table of raw answers."""
    return [name.removeprefix(f"{SCHEMA}.") for name in TABLES if name.startswith(f"{SCHEMA}.")]


def generations() -> str:
    """Every raw answer, with the step that asked."""
    return AND_ALSO.join(f"SELECT '{step}' AS step, {_COLUMNS} FROM {SCHEMA}.{step}" for step in steps())


def cost() -> str:
    """Emo Pillars 4, C: 450 GPU hours. Ours by step and model, and as many hours as the paper's numbers of
    prompts would take; the last row is of all answers, projected to 700 K inferences. For a server ``seconds``
    are those that a request waited, so that requests under way at once count each."""
    paper = ", ".join(f"('{step}', {count})" for step, count in PAPER_PROMPTS.items())
    return f"""
WITH said AS (
  SELECT step, model, count(*) AS prompts, count(error) AS errors, sum(prompt_tokens) AS prompt_tokens,
         sum(answer_tokens) AS answer_tokens, sum(seconds) AS seconds
  FROM {SCHEMA}.generations GROUP BY step, model
), paper AS (
  SELECT * FROM VALUES {paper} AS steps(step, paper_prompts)
), rows AS (
  SELECT said.*, CAST(paper_prompts AS bigint) AS paper_prompts, CAST(NULL AS bigint) AS paper_hours
  FROM said LEFT JOIN paper ON said.step = paper.step
  UNION ALL
  SELECT 'all', model, sum(prompts), sum(errors), sum(prompt_tokens), sum(answer_tokens), sum(seconds),
         {PAPER_INFERENCES}L, {PAPER_HOURS}L
  FROM said GROUP BY model
)
SELECT step, model, prompts, errors, prompt_tokens, answer_tokens, round(seconds, 1) AS seconds,
       round(try_divide(seconds, prompts), 3) AS seconds_a_prompt, paper_prompts,
       round(try_divide(seconds, prompts) * paper_prompts / 3600, 1) AS projected_hours, paper_hours
FROM rows ORDER BY model, step = 'all', step"""


def llm_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    if not steps():
        return {}
    return {
        f"{SCHEMA}.generations": (
            "One raw answer of the language model, with the step that asked for it.",
            generations(),
        ),
        "analysis.llm_cost": (
            "Emo Pillars 4, C: prompts, tokens and time of each step, and hours at the paper's numbers of prompts.",
            cost(),
        ),
    }
