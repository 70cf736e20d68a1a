"""Let two models, one tuned on each speaker's utterances, talk with each other, from queries on (AugESC 6.1)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.augesc.generation import role_plays_asked
from etl.augesc.texts import next_prompt
from etl.lakehouse.asking import source
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.augesc import QUERIES, ROLE_PLAYS

ROLES = ("seeker", "supporter")


def pending(queries: DataFrame, run: StageRun) -> DataFrame:
    return role_plays_asked(queries, run.settings.augesc.generation, [run.models[role].identity for role in ROLES])


@stage(
    reads=(QUERIES,),
    writes=ROLE_PLAYS,
    asks=tuple(map(Model, ROLES)),
    settings=(
        "augesc.generation.queries", "augesc.generation.baseline_queries", "augesc.generation.role_decoding",
        "augesc.generation.role_utterances",
    ),
    sliced=Sliced("play_id", cost_per_minute=2, prepare=pending, plans=True),
    units=Units("talks"),
    on_request=True,
    when="augesc.generation.plays_roles",
)  # fmt: skip
def augesc_play_roles(plays: DataFrame, queries: DataFrame, run: StageRun) -> DataFrame:
    from udfs.role_play import role_plays

    wanted, cores = run.settings.augesc.generation, run.spark.sparkContext.defaultParallelism
    sources = {role: source(run, role) for role in ROLES}
    said = role_plays(plays, sources, next_prompt, wanted.role_decoding, wanted.role_utterances, cores)
    models = {f"{role}_model": F.lit(run.models[role].identity) for role in ROLES}
    return plays.drop("query").withColumns(models).join(said, "play_id")


if __name__ == "__main__":
    augesc_play_roles.main()
