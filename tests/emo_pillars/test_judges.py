"""The judge of labels: verdicts out of answers and scores, the gate, and its agreement with people."""

import re
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from sklearn.metrics import cohen_kappa_score

from conf.errors import InputError
from conf.llm_settings import DecodingSettings
from conf.settings import load_settings
from conf.taxonomy import goemotions_labels
from etl.emo_pillars import judges
from etl.emo_pillars.step import OURS
from etl.emo_pillars.steps import judge
from etl.emo_pillars.steps.judge import parse_verdict
from etl.llm.requests import with_answers
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.planner import PipelineContext, chosen
from etl.tables import TABLES, emo_pillars_analysis, llm
from etl.tables import emo_pillars as tables
from jobs import all_stages
from tests.llm_servers import RecordedServer, Reply, prompt_of
from tests.stages import run_stages
from tests.stand_ins import StandIns
from udfs.models.classifiers.classifier import write_head

OFFERED = ["joy", "anger", "relief", "fear"]
NAMES = OURS.taxonomy.known_names


@pytest.mark.parametrize(
    ("answer", "fits"),
    [
        ("joy: yes\nanger: no\nrelief: yes\nfear: no", ["joy", "relief"]),
        ("1. Joy - Yes\n2. Anger - No\n3. Relief - No\n4. Fear - No", ["joy"]),
        ("- **joy**: yes, the ship is back\n- **anger**: no\n- **relief**: no, not yet\n- **fear**: no", ["joy"]),
        ("Joy (yes)\nAnger (no)\nRelief (no)\nFear (no)", ["joy"]),
        ("joy: ✓\nanger: ✗\nrelief: ✓\nfear: ✗", ["joy", "relief"]),
        ("😀 joy: yes\n😡 anger: no\n😌 relief: no\n😨 fear: no", ["joy"]),
        ("joy → yes\nanger → no\nrelief → no\nfear → yes", ["joy", "fear"]),
        ("joy: yes; anger: no; relief: no; fear: no", ["joy"]),
        ("joy: true\nanger: false\nrelief: false\nfear: false", ["joy"]),
        ("joy: fits\nanger: does not fit\nrelief: doesn't fit\nfear: doesn't fit", ["joy"]),
        ("| label | verdict |\n|---|---|\n| joy | yes |\n| anger | no |\n| relief | no |\n| fear | no |", ["joy"]),
        ("happiness: yes\nanger: no\nrelief: no\nfear: no", ["joy"]),
        ("joy: no\nanger: no\nrelief: no\nfear: no", []),
        ("Yes: joy, relief\nNo: anger, fear", ["joy", "relief"]),
        ("joy: definitely yes\nanger: absolutely not\nrelief: no\nfear: no", ["joy"]),
        ("joy: Yes - she is glad, relief and joy are close\nanger: No\nrelief: No - no fear\nfear: No", ["joy"]),
        ("Fitting: joy and relief\nNot fitting: anger, fear", ["joy", "relief"]),
        ("joy\nrelief", ["joy", "relief"]),
        ("Joy, relief.", ["joy", "relief"]),
        ("The labels that fit are: joy and relief.", ["joy", "relief"]),
        ("joy, not fear", ["joy"]),
        ("joy: yes\nrelief: yes", ["joy", "relief"]),
        ("None", []),
        ("None of these labels fit.", []),
        ("[]", []),
        ('{"labels": []}', []),
        ('["joy", "relief"]', ["joy", "relief"]),
        ('["joy"]', ["joy"]),
        ('{"joy": true, "anger": false, "relief": true, "fear": false}', ["joy", "relief"]),
        ('```json\n{"joy": "yes", "anger": "no", "relief": "no", "fear": "no"}\n```', ["joy"]),
        (
            '[{"label": "joy", "fits": true}, {"label": "anger", "fits": false}, {"label": "relief", "fits": false}, '
            '{"label": "fear", "fits": false}]',
            ["joy"],
        ),
        (
            '{"verdicts": [{"label": "joy", "fits": "yes"}, {"label": "anger", "fits": "no"}, '
            '{"label": "relief", "fits": "no"}, {"label": "fear", "fits": "no"}]}',
            ["joy"],
        ),
        ('{"joy": {"fits": true, "reason": "a"}, "anger": {"fits": false}, "relief": {"fits": false}}', None),
        ('{"fitting": ["joy"], "not_fitting": ["anger", "relief", "fear"]}', ["joy"]),
        ("joy: yes\njoy: no\nanger: no\nrelief: no\nfear: no", None),
        ("joy: yes\nanger: no", None),
        ("joy: perhaps\nanger: no\nrelief: no\nfear: no", None),
        ("The speaker sounds happy.", None),
        ("I'm sorry, but I can't help with that.", None),
        ("", None),
        ("- joy: being glad of what happens\n- anger: being hurt", None),
    ],
)
def test_verdicts_of_answers(answer: str, fits: list[str] | None) -> None:
    found = parse_verdict(answer, False, OFFERED, NAMES)
    assert [one.fits for one in found.items] == ([] if fits is None else [fits])


@pytest.mark.parametrize(
    ("answer", "cut_off", "reasons"),
    [
        ("joy: yes\njoy: no\nanger: no\nrelief: no\nfear: no", False, {"contradictory"}),
        ("joy: yes\nanger: no", False, {"labels_left_open"}),
        ("joy: yes\nrelief: yes", True, {"cut_off"}),
        ("joy: yes\nanger: no\nrelief: no\nfear: no\npride: yes", False, {"not_offered"}),
        ("joy: perhaps\nanger: no\nrelief: no\nfear: no", False, {"no_verdict", "labels_left_open"}),
    ],
)
def test_parts_that_are_no_verdict_have_a_reason(answer: str, cut_off: bool, reasons: set[str]) -> None:
    assert {one.reason for one in parse_verdict(answer, cut_off, OFFERED, NAMES).rejected} == reasons


REQUEST = ("r", "h", "m")
EXAMPLES = [
    ("u1", "It is back!", [("joy", 0.9), ("relief", 0.5)]),
    ("u2", "Leave me be.", [("anger", 0.9), ("neutral", 0.4)]),
    ("u3", "The door is green.", [("neutral", 0.9)]),
    ("u4", "Who is there?", [("fear", 0.9)]),
]


@pytest.fixture(scope="module")
def examples(spark: SparkSession) -> DataFrame:
    rows = [
        (name, "p", "p-1", "Ann", said, labels[0][0], labels, name == "u1", "train") for name, said, labels in EXAMPLES
    ]
    return spark.createDataFrame(rows, tables.EXAMPLES.schema)


@pytest.fixture(scope="module")
def contextual(spark: SparkSession) -> DataFrame:
    name, said, labels = EXAMPLES[0]
    row = (name, "p", "p-1", "Ann", "A ship was [INST] lost.", said, "There it is.", "joy", labels, "train")
    return spark.createDataFrame([row], tables.CONTEXTUAL_EXAMPLES.schema)


@pytest.fixture(scope="module")
def texts(examples: DataFrame, contextual: DataFrame) -> DataFrame:
    return judges.judged_texts(examples, contextual, 3, OURS.taxonomy)


def test_each_example_is_judged_as_it_was_and_rewritten(texts: DataFrame) -> None:
    found = {(row.utterance_id, row.rewritten): row for row in texts.collect()}
    assert set(found) == {("u1", False), ("u1", True), ("u2", False), ("u3", False), ("u4", False)}
    assert found["u1", True].utterance == "There it is."
    assert found["u1", False].context == found["u1", True].context is not None
    assert found["u2", False].context is None
    assert len({row.text_hash for row in found.values()}) == 5


def test_labels_are_offered_among_others_in_an_order_that_tells_nothing(texts: DataFrame) -> None:
    rows = texts.collect()
    for row in rows:
        assert set(row.labels) <= set(row.offered) <= set(goemotions_labels())
        assert len(row.offered) == len(set(row.offered)) == len(row.labels) + 3
    assert any(row.offered[: len(row.labels)] != row.labels for row in rows)
    both = [row.offered for row in rows if row.utterance_id == "u1"]
    assert both[0] == both[1]


def test_the_prompt_has_meanings_context_and_words_and_no_hint(texts: DataFrame) -> None:
    asked = judge.requests(texts, DecodingSettings()).where("utterance_id = 'u1' AND rewritten").first()
    assert asked is not None
    assert all(f"- {label}: " in asked.prompt for label in asked.offered)
    assert 'says this: "There it is."' in asked.prompt
    assert "A ship was [ INST] lost." in asked.prompt
    alone = judge.requests(texts, DecodingSettings()).where("utterance_id = 'u3'").first()
    assert alone is not None
    assert "before the words: nothing\n" in alone.prompt


def answered(spark: SparkSession, texts: DataFrame, said: dict[str, Any]) -> DataFrame:
    """The texts with the answers of a stand-in: by id, the text or None for a failure."""
    asked = judge.requests(texts, DecodingSettings())
    rows = [
        (row.request_id, row.prompt_hash, "m", said[row.text_id], "stop", None if said[row.text_id] else "refused")
        for row in asked.collect()
        if row.text_id in said
    ]
    columns = "request_id string, prompt_hash string, model string, text string, finish_reason string, error string"
    none: DataFrame = spark.createDataFrame([], llm.JUDGE.schema)
    return with_answers(asked, none.unionByName(spark.createDataFrame(rows, columns), allowMissingColumns=True), "m")


def each(offered: list[str], fitting: set[str]) -> str:
    return "\n".join(f"{label}: {'yes' if label in fitting else 'no'}" for label in offered)


@pytest.fixture(scope="module")
def outcome(spark: SparkSession, texts: DataFrame) -> judges.Outcome:
    offered = {row.text_id: row.offered for row in texts.collect()}
    said = {
        "u1#original": each(offered["u1#original"], {"joy", "relief"}),
        "u1#rewritten": f"<think>relief: no?</think>{each(offered['u1#rewritten'], {'joy'})}",
        "u2#original": each(offered["u2#original"], {"anger"}),
        "u3#original": "none",
        "u4#original": None,
    }
    found = judges.verdicts_of_answers(answered(spark, texts, said))
    return judges.Outcome(found.rows.cache(), found.dropped, rows_in=found.rows_in)


def test_verdicts_accept_what_the_questionnaires_option_has(outcome: judges.Outcome) -> None:
    rows = {(row.utterance_id, row.rewritten): row for row in outcome.rows.collect()}
    assert {key: set(row.fits) for key, row in rows.items()} == {
        ("u1", False): {"joy", "relief"},
        ("u1", True): {"joy"},
        ("u2", False): {"anger"},
        ("u3", False): set(),
    }
    assert {key: row.accepted for key, row in rows.items()} == {
        ("u1", False): True,
        ("u1", True): False,
        ("u2", False): True,  # neutral beside an emotion is in no option
        ("u3", False): False,
    }
    assert outcome.dropped is not None
    assert [(row.id, row.reason, row.units) for row in outcome.dropped.collect()] == [
        ("u4#original", "model_failed", 1)
    ]
    assert outcome.rows_in == 5
    assert set(outcome.rows.columns) == set(emo_pillars_analysis.VERDICTS.schema.names)


def test_the_gate_keeps_fitting_labels_and_accounts_for_the_rest(
    examples: DataFrame, contextual: DataFrame, outcome: judges.Outcome
) -> None:
    found = judges.gated(examples, contextual, outcome.rows)
    kept = {row.utterance_id: [one.label for one in row.labels] for row in found.rows.collect()}
    assert kept == {"u1": ["joy"], "u2": ["anger"]}
    assert found.dropped is not None
    assert {(row.unit, row.id, row.reason, row.units) for row in found.dropped.collect()} == {
        ("example", "u3", "no_label_fits", 1),
        ("example", "u4", "not_judged", 1),
        ("label", "u1#relief", "label_does_not_fit", 0),
        ("label", "u2#neutral", "label_does_not_fit", 0),
    }


def test_an_example_whose_rewritten_text_has_no_verdict_is_not_judged(
    examples: DataFrame, contextual: DataFrame, outcome: judges.Outcome
) -> None:
    found = judges.gated(examples, contextual, outcome.rows.where("NOT rewritten"))
    assert {row.utterance_id for row in found.rows.collect()} == {"u2"}
    assert found.dropped is not None
    assert {(row.id, row.reason) for row in found.dropped.where("units = 1").collect()} == {
        ("u1", "not_judged"),
        ("u3", "no_label_fits"),
        ("u4", "not_judged"),
    }


def test_a_classifier_judges_by_its_thresholds(spark: SparkSession, texts: DataFrame) -> None:
    names = goemotions_labels()

    def of(*given: str) -> list[float]:
        return [0.9 if name in given else 0.1 for name in names]

    hashes = {row.text_id: row.text_hash for row in texts.collect()}
    rows = [
        (hashes["u1#original"], "m", of("joy", "relief"), 0.5, None, None),
        (hashes["u1#rewritten"], "m", of("joy"), 0.5, None, None),
        (hashes["u2#original"], "other", of("anger"), 0.5, None, None),
        (hashes["u3#original"], "m", of(), 0.5, None, None),
        (hashes["u4#original"], "m", None, None, None, "out of memory"),
    ]
    scores = spark.createDataFrame(rows, emo_pillars_analysis.JUDGE_SCORES.schema)
    found = judges.verdicts_of_scores(texts, scores, "m", OURS.taxonomy)
    verdicts = {(row.utterance_id, row.rewritten): (set(row.fits), row.accepted) for row in found.rows.collect()}
    assert verdicts == {
        ("u1", False): ({"joy", "relief"}, True),
        ("u1", True): ({"joy"}, False),
        ("u3", False): ({"neutral"}, True),
    }
    assert found.dropped is not None
    assert {(row.id, row.detail) for row in found.dropped.collect()} == {
        ("u2#original", "never asked"),
        ("u4#original", "out of memory"),
    }


def test_the_kind_of_a_judge_is_read_from_its_folder(tmp_path: Path) -> None:
    assert not judges.is_classifier(ResolvedModel(Path(), "openai:m"), OURS.taxonomy)
    assert not judges.is_classifier(ResolvedModel(tmp_path, "hf:m"), OURS.taxonomy)
    write_head(tmp_path, {"kind": "multi_label_classifier", "labels": list(goemotions_labels())})
    assert judges.is_classifier(ResolvedModel(tmp_path, "models:/m/1"), OURS.taxonomy)
    write_head(tmp_path, {"kind": "multi_label_classifier", "labels": ["joy"]})
    with pytest.raises(InputError, match=r"knows other labels than emo_pillars\.taxonomy GoEmotions"):
        judges.is_classifier(ResolvedModel(tmp_path, "models:/m/1"), OURS.taxonomy)
    write_head(tmp_path, {"kind": "weak_labeler", "labels": ["joy"]})
    with pytest.raises(InputError, match=r"models\.emo_pillars_judge is a weak_labeler"):
        judges.is_classifier(ResolvedModel(tmp_path, "models:/m/1"), OURS.taxonomy)


# By example: whether it is neutral alone, what each rater answers (choice, neutral; the right option is B), the judge.
FORMS = {
    "e1": ("none", [("B", "no"), ("B", "no"), ("B", "no")], True),
    "e2": ("none", [("B", "no"), ("B", "no"), ("C", "no")], True),
    "e3": ("none", [("A", "no"), ("G", "no"), ("B", "no")], False),
    "e4": ("beside", [("B", "yes"), ("B", "no"), ("D", "no")], False),
    "e5": ("alone", [("A", "yes"), ("G", "yes"), ("G", "no")], True),
    "e6": ("alone", [("G", "no"), ("A", "no"), ("A", "yes")], True),
    "e7": ("none", [("B", "no"), ("A", "no")], True),  # a tie has no majority
    "e8": ("none", [("B", "no"), ("B", None)], None),  # half an answer, and no verdict
}
NUMBER_OF_RATERS = 3


def accepted(neutral: str, choice: str, said: str | None) -> bool | None:
    if said is None:
        return None
    return said == "yes" if neutral == "alone" else choice == "B"


def forms_of(spark: SparkSession) -> DataFrame:
    rows = []
    for name, (neutral, raters, _) in FORMS.items():
        for rater, (choice, said) in enumerate(raters):
            for question, value in (("choice", choice), ("neutral", said), ("unfit", "joy")):
                if value is not None:
                    right = "G" if neutral == "alone" else "B"
                    rows.append((name, False, f"w{rater}", neutral, right, question, value))
    columns = (
        "utterance_id string, rewritten boolean, worker_id string, neutral string, answer string, question string, "
        "value string"
    )
    return spark.createDataFrame(rows, columns)


@pytest.fixture()
def agreement(spark: SparkSession, stand_ins: StandIns) -> dict[str, Row]:
    stand_ins.give("emo_pillars.evaluation_answers", forms_of(spark))
    verdicts = [
        (name, form, "m", judged)
        for name, (*_, judged) in FORMS.items()
        if judged is not None
        for form in (False, True)
    ]
    stand_ins.give(
        "emo_pillars.verdicts",
        spark.createDataFrame(verdicts, "utterance_id string, rewritten boolean, model string, accepted boolean"),
    )
    return {row.compared: row for row in stand_ins.ask("emo_pillars_judge_agreement")}


def by_rater() -> list[dict[str, bool]]:
    found: list[dict[str, bool]] = [{} for _ in range(NUMBER_OF_RATERS)]
    for name, (neutral, raters, _) in FORMS.items():
        for rater, (choice, said) in enumerate(raters):
            answer = accepted(neutral, choice, said)
            if answer is not None:
                found[rater][name] = answer
    return found


def compared(first: dict[str, bool], second: dict[str, bool]) -> tuple[int, float, float]:
    both = sorted(first.keys() & second.keys())
    one, other = [first[name] for name in both], [second[name] for name in both]
    return len(both), fmean(a == b for a, b in zip(one, other, strict=True)), cohen_kappa_score(one, other)


def mean_of(pairs: list[tuple[int, float, float]]) -> tuple[int, float, float]:
    number = sum(count for count, _, _ in pairs)
    return number, sum(count * share for count, share, _ in pairs) / number, fmean(kappa for *_, kappa in pairs)


def test_agreement_is_scikit_learns_kappa_beside_floors_and_people(agreement: dict[str, Row]) -> None:
    judge_said = {name: judged for name, (*_, judged) in FORMS.items() if judged is not None}
    raters = by_rater()
    votes = {name: [one[name] for one in raters if name in one] for name in FORMS}
    majority = {name: fmean(given) > 0.5 for name, given in votes.items() if fmean(given) != 0.5}
    expected = {
        "the judge and the majority": compared(judge_said, majority),
        "the judge and a rater": mean_of([compared(judge_said, one) for one in raters]),
        "two raters": mean_of([compared(one, other) for one, other in combinations(raters, 2)]),
    }
    for name, (examples, accuracy, kappa) in expected.items():
        assert agreement[name].examples == examples, name
        assert agreement[name].accuracy == pytest.approx(accuracy, abs=1e-4), name
        assert agreement[name].kappa == pytest.approx(kappa, abs=1e-4), name


def test_agreement_by_hand(agreement: dict[str, Row]) -> None:
    # Six examples with a majority and a verdict: people accept e1, e2, e4, e5; the judge e1, e2, e5, e6.
    of_judge = agreement["the judge and the majority"]
    assert (of_judge.examples, of_judge.accuracy) == (6, 0.6667)
    # 4/6 observed, (4 x 4 + 2 x 2) / 36 by chance: (24 - 20) / (36 - 20).
    assert of_judge.kappa == 0.25
    # Of seven examples with a majority (e8 has one whole answer) five are accepted.
    always = agreement["always the most frequent verdict"]
    assert (always.examples, always.accuracy, always.kappa) == (7, 0.7143, 0)
    chance = agreement["chance, with the shares of the judge and the majority"]
    assert (chance.accuracy, chance.kappa) == (0.5556, 0)


def test_without_forms_or_a_judge_there_is_no_agreement(stand_ins: StandIns) -> None:
    assert stand_ins.ask("emo_pillars_judge_agreement") == []


STAGES = ("emo_pillars_ask_judge", "emo_pillars_score_judge", "emo_pillars_judge", "emo_pillars_gate_examples")


def say(body: dict[str, Any]) -> Reply:
    """A judge that finds joy and anger fitting, and cannot answer about doors."""
    prompt = prompt_of(body)
    if "door is green" in prompt:
        return 400, "not today"
    offered = re.findall(r"^- ([a-z]+): ", prompt, re.MULTILINE)
    return {"text": each(offered, {"joy", "anger"}), "finish": "stop"}


@pytest.mark.slow
def test_stages_ask_judge_and_gate_and_add_up(
    spark: SparkSession, tmp_path: Path, examples: DataFrame, contextual: DataFrame
) -> None:
    stages = [one for one in chosen(all_stages(), to=STAGES[-1]) if one.name in STAGES]
    with RecordedServer(say).running() as server:
        values = {"lakehouse.root": str(tmp_path), "llm.server.url": server.url, "llm.server.retries": 0}
        plain = PipelineContext(spark, load_settings("local", [], values))
        plain.lakehouse.replace(tables.EXAMPLES, examples, {})
        plain.lakehouse.replace(tables.CONTEXTUAL_EXAMPLES, contextual, {})
        assert run_stages(plain, stages) == []
        on = {
            "models.emo_pillars_judge": "openai:recorded",
            "emo_pillars.judge.gate": True,
            "pipeline.max_error_share": 0.5,
        }
        place = PipelineContext(spark, load_settings("local", [], values | on))
        assert run_stages(place, stages) == list(STAGES)
    rows = place.lakehouse.read(TABLES["emo_pillars.gated_examples"]).collect()
    assert {row.utterance_id: [one.label for one in row.labels] for row in rows} == {"u1": ["joy"], "u2": ["anger"]}
    done = [row for row in place.lakehouse.read(TABLES["ops.stage_runs"]).collect() if row.event == "done"]
    assert all(row.rows_in == row.rows_out + row.rows_dropped for row in done)
    lost = place.lakehouse.read(TABLES["ops.dropped"]).where("stage = 'emo_pillars_gate_examples'").collect()
    assert {(row.id, row.reason) for row in lost if row.units} == {("u3", "not_judged"), ("u4", "no_label_fits")}
