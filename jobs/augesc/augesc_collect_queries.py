"""Collect posts that begin conversations: EmpatheticDialogues' first posts, dumps of forums (AugESC 4.2, A)."""

from itertools import chain

from conf.wordlists import cased_words
from etl.augesc.queries import COLUMNS, chosen_queries, empathetic_posts, forum_posts, with_lengths
from etl.lakehouse.files.outside import csv_rows, files_under
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import QUERIES

TALKS, DUMPS = (".csv", ".csv.gz"), (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")


@stage(
    writes=QUERIES,
    settings=("augesc.query_rules",),
    inputs=("augesc.queries",),
    units=Units("posts"),
    on_request=True,
)
def augesc_collect_queries(run: StageRun) -> Outcome:
    rules = run.settings.augesc.query_rules
    files = files_under(run.settings.augesc.queries, (*TALKS, *DUMPS), "augesc.queries")
    talks = (csv_rows(name, COLUMNS, "augesc.queries") for name in files if name.endswith(TALKS))
    posts = empathetic_posts(run.spark, chain.from_iterable(talks))
    dumps = [name for name in files if not name.endswith(TALKS)]
    posts = with_lengths(posts.unionByName(forum_posts(run.spark, dumps))).cache()
    outcome = chosen_queries(
        posts,
        tokens=(rules.min_tokens, rules.max_tokens),
        emotions=rules.emotions or cased_words("augesc/negative_emotions"),
        sensitive=cased_words("augesc/sensitive_words"),
        medication=cased_words("augesc/medication_words"),
        forum_words=cased_words("augesc/forum_words"),
        forums=[name.lower() for name in rules.forums],
    )
    return Outcome(outcome.rows, outcome.dropped, rows_in=posts.count())


if __name__ == "__main__":
    augesc_collect_queries.main()
