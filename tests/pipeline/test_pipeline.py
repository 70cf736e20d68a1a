"""Resume, batches, ledgers and accounts, on small stages of the test's own."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.pipeline import locations, planner, runner
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.outcome import Outcome
from etl.pipeline.planner import PipelineContext, chosen, in_order
from etl.pipeline.progress import Progress
from etl.pipeline.rows_among import rows_added
from etl.pipeline.runner import StageError, run_stage
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import REGISTRY, Incremental, Model, RowAccounting, Stage, Units
from etl.pipeline.tables.model import Table
from etl.pipeline.tables.ops import DROPPED, STAGE_RUNS
from etl.subtitles.tables import QUARANTINE
from tests.stages import run_stages, untyped
from tests.udfs.model_folders import model_folder

LETTERS = Table("trial.letters", "A letter.", "letter string, size int", ("letter",))
LOUD = Table("trial.loud", "A loud letter.", "letter string, loud string", ("letter",))
COUNTED = Table("trial.counted", "How many.", "n bigint", ("n",), {"n_not_negative": "n >= 0"})


def make_stage(name: str, function: Callable, reads: tuple, writes: Table | None, **more: object) -> Stage:
    facts = {"reads": reads, **more}
    incremental = more.get("incremental")
    if isinstance(incremental, Incremental) and incremental.prepare is not None:
        facts["prepare"] = untyped(incremental.prepare)
    return Stage(name=name, function=untyped(function), module=__name__, writes=writes, **facts)


def loud_letters(piece: DataFrame, run: StageRun) -> Outcome:
    vowels = F.col("letter").isin("a", "e", "i", "o", "u")
    dropped = piece.where(vowels).select(
        F.lit("letter").alias("unit"),
        F.col("letter").alias("id"),
        F.lit("vowel").alias("reason"),
        F.lit("").alias("detail"),
        F.lit(1).alias("units"),
    )
    return Outcome(piece.where(~vowels).select("letter", F.upper("letter").alias("loud")), dropped)


SHOUT = make_stage(
    "shout",
    loud_letters,
    (LETTERS,),
    LOUD,
    incremental=Incremental("letter", cost_per_minute=2.5),
    counts=("subtitles.silence_seconds",),
)
CALLED = Table("trial.called", "An answer.", "letter string, model string, error string", ("letter", "model"))
COUNT = make_stage(
    "count",
    lambda loud, run: loud.agg(F.count("*").alias("n")),
    (LOUD,),
    COUNTED,
    units=RowAccounting("letters", rows_out="sum(n)"),
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings("local", [], {"lakehouse.root": str(tmp_path), "pipeline.slice_minutes": 1})


def put(place: PipelineContext, letters: str) -> None:
    rows = place.spark.createDataFrame([(letter, 1) for letter in letters], LETTERS.schema)
    place.lakehouse.replace(LETTERS, rows, {})


def column(place: PipelineContext, table: Table, name: str) -> list:
    return sorted(row[0] for row in place.lakehouse.read(table).select(name).collect())


@pytest.mark.usefixtures("tables_of_test")
def test_a_pipeline_grows_resumes_and_rebuilds(spark: SparkSession, settings: Settings) -> None:
    place = PipelineContext(spark, settings)
    put(place, "abcdefghij")
    assert run_stages(place, (SHOUT, COUNT)) == ["shout", "count"]
    assert column(place, LOUD, "letter") == list("bcdfghj")
    assert column(place, DROPPED, "id") == ["a", "e", "i"]
    assert place.log.last("shout", "done").slices > 1

    again = PipelineContext(spark, settings)
    before = {table.name: again.lakehouse.identity(table) for table in (LOUD, COUNTED, DROPPED, STAGE_RUNS)}
    assert run_stages(again, (SHOUT, COUNT)) == []
    assert before == {
        table.name: PipelineContext(spark, settings).lakehouse.identity(table)
        for table in (LOUD, COUNTED, DROPPED, STAGE_RUNS)
    }

    put(place, "cdefghijkl")  # a and b are gone, k and l are new
    assert run_stages(PipelineContext(spark, settings), (SHOUT, COUNT)) == ["shout", "count"]
    assert column(place, LOUD, "letter") == list("cdfghjkl")
    assert column(place, DROPPED, "id") == ["e", "i"]
    assert column(place, COUNTED, "n") == [8]

    place.lakehouse.delete(COUNTED, "true", {})
    changed = PipelineContext(spark, settings)
    assert changed.plan(COUNT).why == "trial.counted or its quarantine was changed by something else"
    assert run_stages(changed, (SHOUT, COUNT)) == ["count"]

    louder = settings.model_copy(update={"subtitles": settings.subtitles.model_copy(update={"silence_seconds": 4.0})})
    assert PipelineContext(spark, louder).plan(SHOUT).why == "subtitles.silence_seconds (5.0 -> 4.0) changed"
    assert run_stages(PipelineContext(spark, louder), (SHOUT, COUNT)) == ["shout", "count"]
    assert column(place, LOUD, "letter") == list("cdfghjkl")
    assert column(place, DROPPED, "id") == ["e", "i"]


@pytest.mark.usefixtures("tables_of_test")
def test_a_quarantine_is_there_where_nothing_is_quarantined(spark: SparkSession, settings: Settings) -> None:
    checked = replace(SHOUT, quarantine=QUARANTINE)
    place = PipelineContext(spark, settings)
    put(place, "bcd")
    assert run_stages(place, (checked,)) == ["shout"]
    place.lakehouse.register({}, [QUARANTINE])
    assert spark.sql("SELECT reason, count(*) FROM subtitles.quarantine GROUP BY reason").collect() == []
    assert run_stages(PipelineContext(spark, settings), (checked,)) == []
    put(place, "cdf")
    assert run_stages(PipelineContext(spark, settings), (checked,)) == ["shout"]
    assert place.lakehouse.read(QUARANTINE).count() == 0
    assert place.lakehouse.exists(QUARANTINE)


@pytest.mark.usefixtures("tables_of_test")
@pytest.mark.parametrize("dies_at", ["before main", "after main"])
def test_a_run_that_dies_goes_on_without_loss_or_double(
    spark: SparkSession, settings: Settings, monkeypatch: pytest.MonkeyPatch, dies_at: str
) -> None:
    place = PipelineContext(spark, settings)
    put(place, "abcdefghij")
    real = place.lakehouse.append
    written = []

    def dying(table: Table, *arguments: object, **options: bool) -> None:
        written.extend([table] if table is LOUD else [])
        if len(written) == 2 and table is LOUD and dies_at == "before main":
            raise KeyboardInterrupt  # the ledger has the batch's rows, the table has not
        real(table, *arguments, **options)
        if len(written) == 1 and table is LOUD and dies_at == "after main":
            raise KeyboardInterrupt  # the batch counts, though nobody was told

    monkeypatch.setattr(place.lakehouse, "append", dying)
    with pytest.raises(KeyboardInterrupt):
        run_stages(place, (SHOUT,))
    assert 0 < len(column(place, LOUD, "letter")) < 7
    resumed = PipelineContext(spark, settings)
    assert resumed.log.unfinished("shout") is not None
    assert resumed.plan(SHOUT).why == "goes on after the last commit of a run that was stopped"
    assert run_stages(resumed, (SHOUT,)) == ["shout"]
    assert column(resumed, LOUD, "letter") == list("bcdfghj")
    assert column(resumed, DROPPED, "id") == ["a", "e", "i"]


@pytest.mark.usefixtures("tables_of_test")
def test_a_run_given_up_under_other_settings_leaves_nothing(
    spark: SparkSession, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = PipelineContext(spark, settings)
    put(place, "abcdefghij")
    real = place.lakehouse.append

    def dying(table: Table, rows: DataFrame, *more: object, **options: bool) -> None:
        if table is LOUD and place.lakehouse.read(LOUD).count() > 0:
            raise KeyboardInterrupt
        real(table, rows, *more, **options)

    monkeypatch.setattr(place.lakehouse, "append", dying)
    with pytest.raises(KeyboardInterrupt):
        run_stages(place, (SHOUT,))
    other = settings.model_copy(update={"subtitles": settings.subtitles.model_copy(update={"silence_seconds": 4.0})})
    assert PipelineContext(spark, other).plan(SHOUT).rebuild
    run_stages(PipelineContext(spark, other), (SHOUT,))
    assert column(place, LOUD, "letter") == list("bcdfghj")
    assert column(place, DROPPED, "id") == ["a", "e", "i"]
    assert len({row.run_id for row in place.lakehouse.read(DROPPED).collect()}) == 1


@pytest.mark.usefixtures("tables_of_test")
def test_a_run_of_one_slice_given_up_after_its_commit_is_not_mixed_with_others(
    spark: SparkSession, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left out, so the table's commit is the run's only one: its start alone tells whose rows these are."""
    settings = settings.model_copy(update={"pipeline": settings.pipeline.model_copy(update={"slice_minutes": 60})})
    place = PipelineContext(spark, settings)
    put(place, "bcd")
    real = place.lakehouse.append

    def dying(table: Table, rows: DataFrame, *more: object, **options: bool) -> None:
        real(table, rows, *more, **options)
        if table is LOUD:
            raise KeyboardInterrupt

    monkeypatch.setattr(place.lakehouse, "append", dying)
    with pytest.raises(KeyboardInterrupt):
        run_stages(place, (SHOUT,))
    other = settings.model_copy(update={"subtitles": settings.subtitles.model_copy(update={"silence_seconds": 4.0})})
    assert PipelineContext(spark, other).plan(SHOUT).rebuild
    assert PipelineContext(spark, settings).log.unfinished("shout") is not None


@pytest.mark.usefixtures("tables_of_test")
def test_lost_and_doubled_rows_stop_the_stage(spark: SparkSession, settings: Settings) -> None:
    place = PipelineContext(spark, settings)
    put(place, "abc")
    losing = make_stage(
        "losing", lambda letters, run: letters.limit(2).select("letter", F.lit("X").alias("loud")), (LETTERS,), LOUD
    )
    with pytest.raises(StageError, match="losing does not add up: 3 rows in, 2 out"):
        run_stages(place, (losing,))
    doubling = make_stage(
        "doubling",
        lambda letters, run: letters.select(F.lit("a").alias("letter"), F.lit("X").alias("loud")),
        (LETTERS,),
        LOUD,
    )
    with pytest.raises(StageError, match="2 rows too many for its key letter"):
        run_stages(place, (doubling,))
    assert place.log.last("losing", "done") is None


def test_a_check_refuses_bad_rows(spark: SparkSession, settings: Settings) -> None:
    place = PipelineContext(spark, settings)
    with pytest.raises(Exception, match="n_not_negative"):
        place.lakehouse.append(COUNTED, spark.createDataFrame([(-1,)], "n bigint"), {})


@pytest.mark.slow
def test_lineage_stands_in_the_commit(spark: SparkSession, settings: Settings) -> None:
    place = PipelineContext(spark, settings)
    put(place, "bc")
    run_stages(place, (SHOUT,))
    event = place.log.last("shout", "done")
    commits = place.lakehouse.commits(LOUD, event.run_id)
    assert commits
    assert commits[0]["stage"] == "shout"
    assert commits[0]["inputs"] == {"trial.letters": place.lakehouse.identity(LETTERS)}
    assert (event.rows_in, event.rows_out, event.rows_dropped, event.rows_quarantined) == (2, 2, 0, 0)


@pytest.mark.slow
def test_optimize_is_no_reason_to_run(spark: SparkSession, settings: Settings) -> None:
    place = PipelineContext(spark, settings)
    put(place, "bcdf")
    run_stages(place, (SHOUT, COUNT))
    spark.sql(f"OPTIMIZE {place.lakehouse.reference(LOUD)}")
    spark.sql(f"ALTER TABLE {place.lakehouse.reference(LETTERS)} SET TBLPROPERTIES ('note' = 'x')")
    assert run_stages(PipelineContext(spark, settings), (SHOUT, COUNT)) == []


def test_a_missing_input_is_named(spark: SparkSession, settings: Settings) -> None:
    with pytest.raises(InputError, match=r"count reads trial.loud, which does not exist"):
        PipelineContext(spark, settings).plan(COUNT)


@pytest.mark.slow
def test_an_optional_input_is_empty_until_it_is_there(spark: SparkSession, settings: Settings) -> None:
    def sizes(letters: DataFrame, loud: DataFrame, run: StageRun) -> DataFrame:
        return letters.select("letter").union(loud.select("letter")).agg(F.count("*").alias("n"))

    units = RowAccounting("letters", rows_out="sum(n)")
    counted = make_stage("sizes", sizes, (LETTERS, LOUD), COUNTED, optional=(LOUD,), units=units)
    with pytest.raises(InputError, match=r"sizes reads trial.letters, which does not exist"):
        PipelineContext(spark, settings).plan(counted)
    place = PipelineContext(spark, settings)
    put(place, "bc")
    assert run_stages(place, (counted,)) == ["sizes"]
    assert PipelineContext(spark, settings).plan(counted).why is None
    run_stages(place, (SHOUT,))
    assert PipelineContext(spark, settings).plan(counted).why == "trial.loud changed"


def test_order_and_choice() -> None:
    ordered = in_order([COUNT, SHOUT])
    assert [stage.name for stage in ordered] == ["shout", "count"]
    assert [stage.name for stage in chosen(ordered, to="shout")] == ["shout"]
    assert [stage.name for stage in chosen(ordered, start="count")] == ["count"]
    asked = make_stage("asked", lambda loud, run: loud, (LOUD,), COUNTED, manual=True)
    with_asked = in_order([COUNT, SHOUT, asked])
    assert "asked" not in {stage.name for stage in chosen(with_asked)}
    assert "asked" not in {stage.name for stage in chosen(with_asked, start="shout")}
    assert [stage.name for stage in chosen(with_asked, only="asked")] == ["asked"]
    assert [stage.name for stage in chosen(with_asked, to="asked")] == ["shout", "asked"]
    after = make_stage("after", lambda counted, run: None, (COUNTED,), None, manual=True)
    needed = in_order([SHOUT, asked, after])
    assert [stage.name for stage in chosen(needed, to="after")] == ["shout", "asked", "after"]
    assert [stage.name for stage in chosen(needed, to="shout, asked")] == ["shout", "asked"]
    with pytest.raises(InputError, match="stage 'whisper' is not known: `python -m jobs plan` lists them"):
        chosen(ordered, only="whisper")
    with pytest.raises(InputError, match=r"stage 'shoutt' is not known: did you mean shout\? `python -m jobs plan`"):
        chosen(ordered, only="shoutt")


@pytest.mark.usefixtures("tables_of_test")
def test_a_stage_that_is_off_is_passed_over(spark: SparkSession, settings: Settings, monkeypatch) -> None:
    off = make_stage("shout", loud_letters, (LETTERS,), LOUD, enabled_if="edos.expansion.enabled")
    monkeypatch.setitem(REGISTRY, "shout", off)
    edos = settings.edos.model_copy(update={"expansion": settings.edos.expansion.model_copy(update={"enabled": False})})
    quiet = PipelineContext(spark, settings.model_copy(update={"edos": edos}))
    put(quiet, "abc")
    assert run_stages(quiet, (off, COUNT)) == ["count"]
    assert quiet.plan(off, again=True).why is None
    assert column(quiet, COUNTED, "n") == [0]
    loud = PipelineContext(spark, settings)
    assert run_stages(loud, (off, COUNT)) == ["shout", "count"]
    assert column(loud, COUNTED, "n") == [2]


def echoing(piece: DataFrame, run: StageRun) -> Outcome:
    """Every letter stays and leaves an echo in the ledger, under an id of its own."""
    dropped = piece.select(
        F.lit("echo").alias("unit"),
        F.concat("letter", F.lit("!")).alias("id"),
        F.lit("echo").alias("reason"),
        F.lit("").alias("detail"),
        F.lit(1).alias("units"),
        F.col("letter").alias("work_key"),
    )
    return Outcome(piece.select("letter", F.upper("letter").alias("loud")), dropped)


ECHO = make_stage(
    "echo", echoing, (LETTERS,), LOUD, incremental=Incremental("letter"), units=RowAccounting("sounds", "2 * count(*)")
)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["some rows", "the table", "the ledger"])
def test_rows_that_somebody_deleted_are_made_again_with_their_notes(
    spark: SparkSession, settings: Settings, lost: str
) -> None:
    place = PipelineContext(spark, settings)
    put(place, "abc")
    assert run_stages(place, (ECHO,)) == ["echo"]
    if lost == "some rows":
        spark.sql(f"DELETE FROM {place.lakehouse.reference(LOUD)} WHERE letter = 'b'")
    else:
        shutil.rmtree(place.lakehouse.path(LOUD if lost == "the table" else DROPPED))
    put(place, "abcd")
    assert run_stages(PipelineContext(spark, settings), (ECHO,)) == ["echo"]
    assert column(place, LOUD, "letter") == list("abcd")
    assert column(place, DROPPED, "id") == ["a!", "b!", "c!", "d!"]
    assert run_stages(PipelineContext(spark, settings), (ECHO,)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("tables_of_test")
def test_a_clock_that_went_back_does_not_run_a_stage_again(
    spark: SparkSession, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock(datetime):
        ahead = timedelta(days=400)

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + cls.ahead

    put(PipelineContext(spark, settings), "abc")
    monkeypatch.setattr(planner, "datetime", Clock)
    assert run_stages(PipelineContext(spark, settings), [SHOUT, COUNT]) == ["shout", "count"]
    Clock.ahead = timedelta(0)  # the clock was wrong, and is right now
    put(PipelineContext(spark, settings), "abcd")
    assert run_stages(PipelineContext(spark, settings), [SHOUT, COUNT]) == ["shout", "count"]
    assert run_stages(PipelineContext(spark, settings), [SHOUT, COUNT]) == []
    events = PipelineContext(spark, settings).log.done("count")
    assert [event.rows_in for event in events] == [2, 3]
    assert all(event.seconds >= 0 for event in events)


@pytest.mark.usefixtures("tables_of_test")
def test_a_batch_without_all_its_answers_is_kept_and_continued(spark: SparkSession, settings: Settings) -> None:
    """The model goes away: what it answered stays, the stage stops, and the next run asks for the rest alone."""
    asked: list[str] = []
    away = {"c", "d"}

    def call(letters: DataFrame, *inputs: object) -> DataFrame:
        names = sorted(row.letter for row in letters.collect())
        asked.extend(name for name in names if name not in away)
        rows = [(name, "openai:m", "away: it is gone" if name in away else None) for name in names]
        return spark.createDataFrame(rows, CALLED.schema)

    once = Incremental(
        "letter",
        cost_per_minute=1_000,
        prepare=lambda letters, run: letters,
        units=Units.ASKED,
        unanswered="error LIKE 'away: %'",
    )
    stage = make_stage("call", call, (LETTERS,), CALLED, incremental=once, models=(Model("generator"),))
    models = settings.models.model_copy(update={"generator": "openai:m"})
    place = PipelineContext(spark, settings.model_copy(update={"models": models}))
    put(place, "abcd")
    with pytest.raises(StageError, match="call: away: it is gone; other answers are kept: run again to continue"):
        run_stage(place, stage, place.plan(stage), Progress(spark, 1))
    assert column(place, CALLED, "letter") == ["a", "b"]
    away.clear()
    run_stage(place, stage, place.plan(stage), Progress(spark, 1))
    assert column(place, CALLED, "letter") == ["a", "b", "c", "d"]
    assert asked == ["a", "b", "c", "d"]


def large_letters(piece: DataFrame, run: StageRun) -> Outcome:
    return Outcome(piece.select("letter", F.upper("letter").alias("loud")))


EACH_ONCE = make_stage(
    "each_once",
    large_letters,
    (LETTERS,),
    LOUD,
    incremental=Incremental(
        "letter", prepare=lambda letters, run: letters.select("letter").distinct(), row_by_row=True
    ),
)


@pytest.mark.parametrize("further", [False, pytest.param(True, marks=pytest.mark.long)], ids=["grown", "changed"])
def test_a_stage_that_works_row_by_row_looks_at_new_rows_alone(
    spark: SparkSession, settings: Settings, monkeypatch: pytest.MonkeyPatch, further: bool
) -> None:
    looked_at: list[list[str] | None] = []

    def noted(now: DataFrame, then: DataFrame) -> DataFrame | None:
        found = rows_added(now, then)
        looked_at.append(None if found is None else sorted(row.letter for row in found.collect()))
        return found

    monkeypatch.setattr(runner, "rows_added", noted)

    def add(letters: str) -> None:
        place = PipelineContext(spark, settings)
        place.lakehouse.append(LETTERS, spark.createDataFrame([(one, 1) for one in letters], LETTERS.schema), {})

    def run() -> tuple[int | None, list]:
        place = PipelineContext(spark, settings)
        run_stages(place, (EACH_ONCE,))
        return place.log.last("each_once", "done").rows_in, column(place, LOUD, "letter")

    add("abc")
    assert run() == (3, list("abc"))
    add("cdd")
    assert run() == (4, list("abcd"))
    add("ab")  # nothing that is new
    assert run() == (4, list("abcd"))
    assert looked_at == [["c", "d", "d"], ["a", "b"]]
    add("e")
    place = PipelineContext(spark, settings)
    assert place.run_before(EACH_ONCE, place.plan(EACH_ONCE)) is not None
    if not further:
        place.lakehouse.delete(LOUD, "letter = 'c'", {})  # by somebody else
        place = PipelineContext(spark, settings)
        assert place.run_before(EACH_ONCE, place.plan(EACH_ONCE)) is None
        return
    place.lakehouse.delete(LETTERS, "letter = 'a'", {})
    assert run() == (4, list("bcde"))
    assert looked_at[2:] == [None]
    place.lakehouse.delete(LOUD, "letter = 'c'", {})  # by somebody else
    add("f")
    assert run() == (5, list("bcdef"))
    assert looked_at[3:] == []
    add("g")
    with monkeypatch.context() as patch:
        patch.setattr(type(EACH_ONCE), "call", lambda *_: (_ for _ in ()).throw(SystemExit("killed")))
        with pytest.raises(SystemExit):
            run()
    looked_at.clear()
    assert run() == (6, list("bcdefg"))
    assert looked_at == []


@pytest.mark.usefixtures("tables_of_test")
def test_the_same_weights_are_not_asked_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lakehouse of an earlier version knows a model by a digest of all its files, its records among them."""
    monkeypatch.setattr(locations, "check_weights", lambda path: None)  # it has no tokenizer
    folder = model_folder(tmp_path / "m")
    (folder / "MLmodel").write_text("run_id: 1")
    own = {"lakehouse.root": str(tmp_path), "models.sentence_encoder": f"file:{folder}"}
    settings = load_settings("local", [], own)
    stage = replace(COUNT, models=(Model("sentence_encoder"),))
    place = PipelineContext(spark, settings)
    put(place, "bcd")
    new = place.resolve(Model("sentence_encoder"))
    former = new.former
    assert former is not None
    run_stages(place, (SHOUT,))
    with monkeypatch.context() as patch:
        patch.setattr(planner, "model_at", lambda *_: ResolvedModel(folder, former))
        assert run_stages(PipelineContext(spark, settings), (stage,)) == ["count"]
    assert PipelineContext(spark, settings).log.last("count", "done").models == {"sentence_encoder": former}
    (folder / "MLmodel").write_text("run_id: 1")
    assert PipelineContext(spark, settings).plan(stage).why is None
    assert PipelineContext(spark, settings).resolve(Model("sentence_encoder")).identity == former
    (folder / "config.json").write_text("{}")
    assert PipelineContext(spark, settings).plan(stage).why == "model sentence_encoder changed"
    assert PipelineContext(spark, settings).resolve(Model("sentence_encoder")).identity not in (former, new.identity)
