"""A language model as annotator: labels out of answers of any form, prompts, draws, and figures beside people."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from sklearn.metrics import cohen_kappa_score, f1_score

from conf.errors import InputError
from conf.llm_settings import DecodingSettings
from conf.settings import load_settings
from conf.taxonomy import edos_labels, load_taxonomy
from etl.edos import annotator_agreement as figures
from etl.edos import llm_annotator as annotator
from etl.edos.llm_annotator import Read, label_in
from etl.pipeline.planner import PipelineContext
from etl.tables import edos, edos_annotation, llm, ops
from jobs import all_stages
from tests.stages import register_views, run_stages

NAMES = edos_labels()
OFFERED = ["sad", "angry", "caring"]


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("sad", "sad"),
        ("Sad.", "sad"),
        ("  SAD\n", "sad"),
        ('"sad"', "sad"),
        ("“sad”", "sad"),
        ("'sad'", "sad"),
        ("`sad`", "sad"),
        ("**Sad**", "sad"),
        ("- sad", "sad"),
        ("[sad]", "sad"),
        ("<sad>", "sad"),
        ("\\boxed{sad}", "sad"),
        ("\\boxed{\\text{sad}}", "sad"),
        ("😢 sad", "sad"),
        ("Sad (Other)", "sad"),
        ("The emotion is sad.", "sad"),
        ("Label: sad", "sad"),
        ("Label - sad", "sad"),
        ("label=sad", "sad"),
        ("**Final answer:** sad", "sad"),
        ("Emotion: **Sad**\nReason: she is devastated and lonely", "sad"),
        ('The best label for this turn is "caring".', "caring"),
        ("The label that fits this turn best is: caring.", "caring"),
        ("The turn is best described as caring.", "caring"),
        ("None of the proposed labels fits. I would choose questioning.", "questioning"),
        ("I'd say angry, although he also sounds hopeful and proud.", "angry"),
        ("I am confident that the label is angry.", "angry"),
        ("The speaker is sad because the dog died.", "sad"),
        ("It is not sad but angry.", "angry"),
        ("Rather than angry, this is sad.", "sad"),
        ("Sad: she has lost her cat and is devastated", "sad"),
        ("sad (she is devastated)", "sad"),
        ("sad, because she is angry with herself", "sad"),
        ("Sad. She seems devastated.", "sad"),
        ("sad\n\nExplanation: he is devastated and angry.", "sad"),
        ("sad, angry", "sad"),
        ("sad/angry", "sad"),
        ("sad and angry", "sad"),
        ("1. angry\n2. sad", "angry"),
        ("2", "angry"),
        ("2.", "angry"),
        ("(3)", "caring"),
        ("Option 2", "angry"),
        ("Answer: 3", "caring"),
        ("2. Sad", "sad"),
        ('{"label": "sad"}', "sad"),
        ('{"Label": "Sad", "reason": "she is angry"}', "sad"),
        ('```json\n{"emotion": ["sad", "angry"]}\n```', "sad"),
        ('["sad"]', "sad"),
        ('{"label": 2}', "angry"),
        ("Sympathising", "sympathizing"),
        ("sympathizing", "sympathizing"),
    ],
)
def test_the_label_of_an_answer(answer: str, label: str) -> None:
    assert label_in(answer, NAMES, OFFERED) == Read(label, None)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", "no_label"),
        ("...", "no_label"),
        ("99", "no_label"),
        ("0", "no_label"),
        ("gloomy", "no_label"),
        ("sadness", "no_label"),
        ("unsad", "no_label"),
        ("self-confident", "no_label"),
        ("I cannot help with that.", "no_label"),
        ("I am confident.", "no_label"),
        ("It is not sad.", "no_label"),
        ("None of these.", "no_label"),
        ("She could be sad; he may be devastated by grief, and the crowd is angry", "several_labels"),
        ('{"reason": "nothing"}', "no_label"),
        ("The speaker talks about a sad day. " + "Words go on and on. " * 20, "several_labels"),
    ],
)
def test_an_answer_without_one_label_has_a_fault(answer: str, fault: str) -> None:
    assert label_in(answer, NAMES, OFFERED) == Read(None, fault)


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("sad", Read("sad", None)),
        ("The label is sad, for the speaker", Read("sad", None)),
        ("First, the speaker is sad about", Read(None, "cut_off")),
        ("Let me look at the turn", Read(None, "cut_off")),
    ],
)
def test_a_text_that_was_cut_off_counts_by_its_statement_alone(answer: str, read: Read) -> None:
    assert label_in(answer, NAMES, OFFERED, cut_off=True) == read


def test_every_label_of_the_taxonomy_is_read_as_itself() -> None:
    assert [label_in(f"The label is {name.title()}.", NAMES, ()).label for name in NAMES] == list(NAMES)


def test_a_number_is_of_the_list_that_the_prompt_numbers() -> None:
    assert label_in("2", NAMES, NAMES).label == NAMES[1]
    assert label_in("2", NAMES, ()).label is None


SAID = {
    "d1": (["Where is she ?", "She left me ."], "sad", ["sad", "sad", "angry"]),
    "d2": (["Get out {now} !"], "angry", ["angry", "angry", "angry"]),
    "d3": (["I fell .", "Let me see </s> your knee ."], "caring", ["caring", "sad", "caring"]),
    "d4": (["We won !"], "joyful", ["joyful", "joyful", "proud"]),
}


@pytest.fixture(scope="module")
def seeds(spark: SparkSession) -> DataFrame:
    rows = [(name, len(turns) - 1, turns, label, "test") for name, (turns, label, _) in SAID.items()]
    rows.append(("d5", 0, ["Not held out ."], "sad", "train"))
    return spark.createDataFrame(rows, edos.SEEDS.schema)


@pytest.fixture(scope="module")
def crowd(spark: SparkSession) -> DataFrame:
    rows = [(name, len(turns) - 1, turns, label, votes, "t", []) for name, (turns, label, votes) in SAID.items()]
    return spark.createDataFrame(rows, edos.CROWD_LABELS.schema)


def scored(spark: SparkSession, drawn: DataFrame) -> DataFrame:
    """The weak labeler's answers: always sad, angry, caring; none on the turn of d4."""
    top3 = [("sad", 0.5), ("angry", 0.3), ("caring", 0.1)]
    rows = [
        (row.text_hash, None if row.dialogue_id == "d4" else top3, "too odd" if row.dialogue_id == "d4" else None)
        for row in drawn.collect()
    ]
    return spark.createDataFrame(
        rows, "text_hash string, top3 array<struct<label: string, confidence: float>>, error string"
    )


@pytest.fixture(scope="module")
def turns(spark: SparkSession, seeds: DataFrame, crowd: DataFrame) -> DataFrame:
    drawn = annotator.drawn_turns(seeds, crowd, 10)
    return annotator.offered_turns(drawn, scored(spark, drawn)).rows.cache()


def test_the_draw_is_nested_and_of_held_out_turns(seeds: DataFrame, crowd: DataFrame) -> None:
    by_size = [{row.dialogue_id for row in annotator.drawn_turns(seeds, crowd, size).collect()} for size in (1, 2, 9)]
    assert [len(one) for one in by_size] == [1, 2, 4]
    assert by_size[0] < by_size[1] < by_size[2] == set(SAID)
    again = annotator.drawn_turns(seeds.repartition(5), crowd, 2)
    assert {row.dialogue_id for row in again.collect()} == by_size[1]


def test_each_turn_has_the_weak_labelers_three_labels_shuffled(
    spark: SparkSession, seeds: DataFrame, crowd: DataFrame
) -> None:
    drawn = annotator.drawn_turns(seeds, crowd, 10)
    outcome = annotator.offered_turns(drawn, scored(spark, drawn))
    rows = outcome.rows.collect()
    assert {row.dialogue_id for row in rows} == {"d1", "d2", "d3"}
    assert all(sorted(row.offered) == sorted(OFFERED) for row in rows)
    assert all(row.weak_label == "sad" for row in rows)
    assert outcome.dropped is not None
    assert [(row.id, row.reason, row.detail) for row in outcome.dropped.collect()] == [
        ("d4/0", "model_failed", "too odd")
    ]
    assert outcome.rows_in == 4


@pytest.fixture(scope="module")
def asked(turns: DataFrame) -> dict[tuple[str, str], Row]:
    requests = annotator.label_requests(turns, annotator.WAYS, load_taxonomy("edos"), DecodingSettings(), {})
    return {(row.dialogue_id, row.way): row for row in requests.collect()}


def test_the_crowds_way_offers_three_labels_and_all_others(asked: dict[tuple[str, str], Row]) -> None:
    row = asked["d1", "offered"]
    assert all(f"- {name}: " in row.prompt for name in NAMES)
    assert "\n".join(f"{n}. {label}" for n, label in enumerate(row.offered, start=1)) in row.prompt
    assert '"She left me ."' in row.prompt
    assert "- Where is she ?\n" in row.prompt
    assert row.template_hash


def test_the_other_way_proposes_nothing_and_numbers_all(asked: dict[tuple[str, str], Row]) -> None:
    row = asked["d1", "all"]
    assert all(f"{n}. {name}: " in row.prompt for n, name in enumerate(NAMES, start=1))
    assert "proposed" not in row.prompt
    assert row.request_id != asked["d1", "offered"].request_id


def test_texts_are_data_in_the_prompt(asked: dict[tuple[str, str], Row]) -> None:
    assert "(it opens the dialogue)" in asked["d2", "all"].prompt
    assert "Get out {now} !" in asked["d2", "all"].prompt
    assert "</s>" not in asked["d3", "all"].prompt


def test_the_prompt_does_not_tell_the_crowds_label(turns: DataFrame) -> None:
    labels = load_taxonomy("edos")
    other = turns.withColumn("label", turns["weak_label"]).drop("votes")
    prompts = [
        sorted(
            row.prompt
            for row in annotator.label_requests(rows, annotator.WAYS, labels, DecodingSettings(), {}).collect()
        )
        for rows in (turns, other)
    ]
    assert prompts[0] == prompts[1]


def test_a_prompt_of_ones_own_replaces_ours(tmp_path: Path, turns: DataFrame) -> None:
    own = "{labels}\n{history}\nSay what {turn} is."
    (tmp_path / "all.txt").write_text(own, "utf-8")
    settings = load_settings("local", [], {"edos.llm_annotator.prompts": str(tmp_path)}).edos.llm_annotator
    assert annotator.template_of("all", settings.prompts) == own
    assert "proposed" in annotator.template_of("offered", settings.prompts)
    (tmp_path / "all.txt").write_text("{labels} {turn}", "utf-8")
    with pytest.raises(InputError, match=r"all\.txt lacks \{history\}"):
        load_settings("local", [], {"edos.llm_annotator.prompts": str(tmp_path)})


GIVEN = ["a", "a", "b", "c", "b", figures.UNREAD, "a"]
TRUTH = ["a", "b", "b", "c", "c", "a", "a"]


def test_figures_are_scikit_learns(spark: SparkSession) -> None:
    labels = sorted(set(TRUTH))
    row = figures.measured("r", "all", "m", [figures.Rated(*one) for one in zip(GIVEN, TRUTH, strict=True)])
    assert row is not None
    named = Row(*edos_annotation.LLM_ANNOTATOR_AGREEMENT.schema.names)(*row)
    assert (named.answers, named.unread, named.accuracy) == (7, 1, 0.5714)
    assert named.macro_f1 == pytest.approx(f1_score(TRUTH, GIVEN, labels=labels, average="macro"), abs=1e-4)
    assert named.kappa == pytest.approx(cohen_kappa_score(TRUTH, GIVEN), abs=1e-4)
    assert named.accuracy_low < named.accuracy < named.accuracy_high
    assert named.macro_f1_low < named.macro_f1 < named.macro_f1_high
    assert named.vote_agreement is None


@pytest.mark.parametrize(
    ("votes", "answers"),
    [
        (["a", "a", "a"], [("a", "a")] * 3),
        (["a", "b", "a"], [("b", "a")]),
        (["a", "b", "c"], []),
        (["a", "a"], []),
        (None, []),
    ],
)
def test_a_worker_is_compared_where_the_others_agree(votes: Any, answers: list[tuple[str, str]]) -> None:
    assert [one[:2] for one in figures.crowd_answers([Row(votes=votes)])] == answers


def test_pairs_of_votes_that_are_equal() -> None:
    assert figures.worker_pairs([Row(votes=["a", "a", "b"]), Row(votes=["a", "a", "a"])]) == 0.6667
    assert figures.worker_pairs([Row(votes=None)]) is None


STAGES = ("ask_llm_annotator", "read_llm_annotations", "compare_llm_annotator")
ANSWERS = [
    {"contains": ["She left me", "proposed"], "answers": ["<think>angry?</think>Label: sad"]},
    {"contains": ["She left me"], "answers": ["The emotion is angry."]},
    {"contains": ["Get out", "proposed"], "answers": ["furious"]},
    {"contains": ["Get out"], "answers": ["2"]},
    {"contains": ["your knee"], "answers": ["I would rather not say."]},
]


def test_stages_ask_read_and_compare_and_add_up(spark: SparkSession, tmp_path: Path, turns: DataFrame) -> None:
    recorded = tmp_path / "answers.jsonl"
    recorded.write_text("\n".join(map(json.dumps, ANSWERS)), "utf-8")
    stages = {one.name: one for one in all_stages()}
    values = {"lakehouse.root": str(tmp_path / "lake")}
    off = PipelineContext(spark, load_settings("local", [], values))
    off.lakehouse.replace(edos_annotation.LLM_ANNOTATOR_TURNS, turns, {})
    assert run_stages(off, [stages[name] for name in STAGES]) == []
    on = PipelineContext(spark, load_settings("local", [], {**values, "models.llm_annotator": f"recorded:{recorded}"}))
    assert run_stages(on, [stages[name] for name in STAGES]) == list(STAGES)
    assert on.lakehouse.read(llm.ANNOTATOR).count() == 6
    said = {
        (row.dialogue_id, row.way): row.label for row in on.lakehouse.read(edos_annotation.LLM_ANNOTATIONS).collect()
    }
    assert said == {
        ("d1", "offered"): "sad",
        ("d1", "all"): "angry",
        ("d2", "offered"): "furious",
        ("d2", "all"): NAMES[1],
    }
    agreed = on.lakehouse.read(edos_annotation.LLM_ANNOTATOR_AGREEMENT).collect()
    rows = {(row.rater, row.way): row for row in agreed}
    model = rows["language model", "offered"]
    assert (model.answers, model.unread, model.accuracy) == (3, 1, 0.3333)
    # sad equals two of three votes; furious none; what was not read none: 2 of 9.
    assert model.vote_agreement == 0.2222
    assert rows["weak labeler", ""].accuracy == 0.3333
    # d1 and d3 have one vote against two, d2 three times one against two.
    assert (rows["crowd worker", ""].answers, rows["crowd worker", ""].accuracy) == (5, 0.6)
    assert {("most frequent label", ""), ("random label", "offered"), ("random label", "all")} < set(rows)
    done = [row for row in on.lakehouse.read(ops.STAGE_RUNS).collect() if row.event == "done"]
    assert all(row.rows_in == row.rows_out + row.rows_dropped for row in done)
    lost = on.lakehouse.read(ops.DROPPED).where("stage = 'read_llm_annotations'").collect()
    assert {(row.id, row.reason) for row in lost} == {("d3/1#offered", "no_label"), ("d3/1#all", "no_label")}
    register_views(on, "edos_llm_annotator")
    shown = spark.sql("SELECT * FROM analysis.edos_llm_annotator WHERE rater = 'language model'").collect()
    assert {(row.way, round(row.beside_people, 2)) for row in shown} == {("offered", 0.4), ("all", 0.8)}
    assert run_stages(on, [stages[name] for name in STAGES]) == []
