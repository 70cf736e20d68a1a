"""A taxonomy and prompts of one's own: from plots to contextual examples and the export's classes."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.prompts import replaced_prompts
from conf.resources import stored
from conf.settings import load_settings
from conf.taxonomy import (
    EmotionTaxonomy,
    goemotions_groups,
    goemotions_labels,
    goemotions_mapping,
    goemotions_polarities,
    load_emotion_taxonomy,
    require_goemotions,
)
from etl.emo_pillars.export import named
from etl.pipeline.planner import PipelineContext, chosen
from etl.pipeline.tables import TABLES
from etl.publishing.views import all_views
from jobs import all_stages
from tests.llm_servers import RecordedServer, Reply, prompt_of
from tests.stages import run_stages

HARBOUR = """
name: Harbour
neutral: calm sea
labels:
  - label: warmth
    definition: feeling at home with somebody
    polarity: positive
    group: near
  - label: sting
    definition: being hurt by what somebody did
    polarity: negative
    group: far
  - label: pull
    definition: wanting to be elsewhere
    group: far
  - label: dread
    definition: fearing what the night brings
    polarity: negative
  - label: spark
    definition: being about to begin something
    polarity: positive
    group: near
  - label: weight
    definition: carrying a thing that is over
    polarity: negative
    group: far
  - label: calm sea
    definition: nothing in particular
    polarity: neutral
map:
  homesickness: pull
  bliss: warmth
  hunger: null
"""


def harbour(**changed: Any) -> dict[str, Any]:
    return {**yaml.safe_load(HARBOUR), **changed}


def test_the_papers_labels_are_a_taxonomy_like_any_other() -> None:
    known = load_emotion_taxonomy("goemotions")
    assert known.names == goemotions_labels()
    assert known.polarities == goemotions_polarities()
    assert known.groups == goemotions_groups()
    assert known.map == goemotions_mapping()
    assert known.neutral == "neutral"
    assert named(known) == "GoEmotions' 28 labels"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"neutral": "none"}, "neutral: 'none'is not one of the labels"),
        ({"map": {"joy": "glee"}}, "map: 'joy' counts as 'glee', which is not one of the labels"),
        ({"map": {"sting": "dread"}}, "map: 'sting' is a label itself"),
        ({"map": {"Joy": "warmth"}}, "map: 'Joy' must be lower case, with single spaces between words"),
        ({"labels": yaml.safe_load(HARBOUR)["labels"] * 2}, "appears twice"),
        ({"labels": yaml.safe_load(HARBOUR)["labels"][-2:]}, "labels: Tuple should have at least 3 items"),
        ({"neutral": "dread"}, "label 'dread': the polarity of the neutral label is neutral"),
        ({"colour": "blue"}, "colour: Extra inputs are not permitted"),
        (
            {"labels": [{"label": "Sturm und Drang", "definition": "storm"}, *yaml.safe_load(HARBOUR)["labels"]]},
            "label 'Sturm und Drang' must be one or two words of the letters a to z",
        ),
        (
            {"labels": [{"label": "love and hate", "definition": "both"}, *yaml.safe_load(HARBOUR)["labels"]]},
            "label 'love and hate' must be one or two words",
        ),
        (
            {
                "labels": [
                    {"label": "fog", "definition": "d", "polarity": "neutral"},
                    *yaml.safe_load(HARBOUR)["labels"],
                ]
            },
            "label 'fog': only 'calm sea' has the polarity neutral",
        ),
        ({"labels": [{"label": "fog", "definition": ""}]}, "labels.0.definition: String should have at least 1"),
    ],
)
def test_a_fault_of_a_taxonomy_is_named_in_one_line(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(harbour(**changed)), "utf-8")
    with pytest.raises(InputError) as found:
        load_settings("local", [], {"emo_pillars.taxonomy": str(path)})
    assert said in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("content", ["- a list", "labels: [", "12", "\x00"])
def test_a_file_that_is_no_taxonomy_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match="taxonomy"):
        load_settings("local", [], {"emo_pillars.taxonomy": str(path)})


def test_only_stages_with_labels_are_stale_under_another_taxonomy(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(HARBOUR, "utf-8")
    plain, own = (load_settings("local", [], one) for one in ({}, {"emo_pillars.taxonomy": str(path)}))
    stages = {stage.name: stage for stage in all_stages()}
    changed = {name for name, stage in stages.items() if stage.settings_hash(plain) != stage.settings_hash(own)}
    assert {"emo_pillars_ask_utterances", "emo_pillars_soft_labels", "emo_pillars_train_contextless"} <= changed
    assert not {"emo_pillars_ask_actors", "emo_pillars_ask_contexts", "augesc_collect_queries"} & changed
    assert all(name.startswith("emo_pillars_") for name in changed)


def test_people_labelled_sets_refuse_another_taxonomy() -> None:
    require_goemotions(load_emotion_taxonomy("goemotions"), "the transfer")
    own = EmotionTaxonomy.model_validate(harbour())
    with pytest.raises(InputError, match=r"^the transfer compares .* emo_pillars\.taxonomy is Harbour"):
        require_goemotions(own, "the transfer")


def test_views_know_the_polarities_of_the_taxonomy() -> None:
    edos = load_settings("local").edos.taxonomy
    own = EmotionTaxonomy.model_validate(harbour())
    view = all_views(edos, own)["analysis.emo_pillars_polarities"].sql
    assert "('calm sea', 'neutral', 6)" in view
    assert "admiration" not in view


CLEANING = "Person: {actor}\nHide {emotions} in this:\n{context}\nAnswer with the text alone."


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"clean_contexts.txt": "{actor} {mood}"}, "clean_contexts.txt lacks {context}, {emotions}"),
        ({"clean_contexts.txt": f"{CLEANING} {{mood}}"}, "clean_contexts.txt has {mood}, which nothing fills"),
        ({"cleaning.txt": CLEANING}, "has cleaning.txt: none of actors.txt"),
        ({"clean_contexts.txt": " \n"}, "clean_contexts.txt is empty: delete it to use ours"),
        ({"notes.md": "hello"}, "has no prompt: name its files as"),
        ({"actors.txt": "{plot}" + "x" * 100_000}, "actors.txt has more than 100,000 characters"),
        ({"actors.txt": b"{plot} \xff"}, "actors.txt cannot be read as UTF-8"),
    ],
)
def test_a_fault_of_a_prompt_is_named_before_a_request(tmp_path: Path, files: dict[str, Any], said: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as found:
        load_settings("local", [], {"emo_pillars.prompts": str(tmp_path)})
    assert said in str(found.value)
    assert "\n" not in str(found.value)


def test_files_belong_to_the_step_that_their_name_begins_with(tmp_path: Path) -> None:
    names = ("utterances_shared.txt", "clean_contexts.txt", "soft_labels.txt", "rewrites_example.txt")
    for name in names:
        (tmp_path / name).write_text(stored(f"prompts/emo_pillars/{name}"), "utf-8")
    (tmp_path / "README.md").write_text("not a prompt", "utf-8")
    found = replaced_prompts(str(tmp_path), "emo_pillars")
    assert {step: [*files] for step, files in found.items()} == {
        "utterances": ["utterances_shared.txt"],
        "clean_contexts": ["clean_contexts.txt"],
        "soft_labels": ["soft_labels.txt"],
        "rewrites": ["rewrites_example.txt"],
    }


def test_a_changed_file_makes_its_steps_stages_stale(tmp_path: Path) -> None:
    file = tmp_path / "clean_contexts.txt"
    hashes = []
    stages = {stage.name: stage for stage in all_stages() if stage.name.startswith("emo_pillars_")}
    for content in (CLEANING, f"{CLEANING} Please."):
        file.write_text(content, "utf-8")
        settings = load_settings("local", [], {"emo_pillars.prompts": str(tmp_path)})
        hashes.append({name: stage.settings_hash(settings) for name, stage in stages.items()})
    assert {name for name in stages if hashes[0][name] != hashes[1][name]} == {
        "emo_pillars_ask_clean_contexts",
        "emo_pillars_clean_contexts",
    }


NAMES = ("Orla Finch", "Bram Quist", "Tilda Roe", "Osric Vale")
SAID = {
    "warmth": "You kept my old cup on the shelf all these years.",
    "homesickness": "The ferry leaves at six and I am not on it.",
    "dread": "There is a light in the boathouse again tonight.",
}
ASKED = {
    "Name every character": "actors",
    "Take the part of this character": "utterances",
    "Which labels fit these words best": "soft_labels",
    "Tell, in plain prose": "contexts",
    "Hide ": "clean_contexts",
    "Say it in other words": "rewrites",
}


def reply(body: dict[str, Any]) -> Reply:
    """What a model would answer that knows the taxonomy's labels alone."""
    prompt = prompt_of(body)
    step = next(step for words, step in ASKED.items() if words in prompt)
    key = hashlib.sha256(prompt.encode()).hexdigest()[:6]
    if step == "actors":
        return "\n".join(f"{n}. {name} (sailor)" for n, name in enumerate(NAMES[:2], 1))
    if step == "utterances":
        lines = [f'{n}. ({label}) "{words} ({key})"' for n, (label, words) in enumerate(SAID.items(), 1)]
        return "\n".join(
            [*lines, '4. (hunger) "I could eat a whole cod now."', "", "Neutral:", f'1. "It is {key} now."']
        )
    if step == "soft_labels":
        (begun,) = re.findall(r'Your answer begins with "1\. ([a-z ]+)"', prompt)
        return f"1. {begun} (0.9)\n2. {'bliss' if begun != 'warmth' else 'pull'} (0.5)\n3. joy (0.4)"
    return f"They came past the {key} lamp at noon." if step != "rewrites" else f"So much for the {key} boat then."


@pytest.fixture(scope="module")
def place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipelineContext]:
    folder = tmp_path_factory.mktemp("harbour")
    stories = [
        f'Tale {n},"In the year {n + 1800} they sail out of the old harbour and come back late."' for n in range(4)
    ]
    (folder / "plots.csv").write_text("\n".join(["title,plot", *stories]), "utf-8")
    (folder / "harbour.yaml").write_text(HARBOUR, "utf-8")
    (folder / "prompts").mkdir()
    (folder / "prompts" / "clean_contexts.txt").write_text(f"{CLEANING}\n", "utf-8")
    with RecordedServer(reply).running() as server:
        values = {
            "lakehouse.root": str(folder / "lakehouse"),
            "emo_pillars.plots": str(folder / "plots.csv"),
            "emo_pillars.taxonomy": str(folder / "harbour.yaml"),
            "emo_pillars.prompts": str(folder / "prompts"),
            "emo_pillars.context_share": 1.0,
            "models.generator": "openai:recorded",
            "llm.server.url": server.url,
            "llm.server.dialect": "openai",
        }
        done = PipelineContext(spark, load_settings("local", [], values))
        wanted = chosen(all_stages(), to="emo_pillars_contextual_examples")
        run_stages(done, [stage for stage in wanted if stage.name.startswith("emo_pillars_")])
        asked = "\n".join(map(prompt_of, server.asked))
        assert "- warmth: feeling at home with somebody" in asked
        assert "First write 6 things" in asked  # there are no eight different emotions
        assert "admiration" not in asked
        yield done


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_steps_export_and_hashes_follow_them(place: PipelineContext, spark: SparkSession, tmp_path: Path) -> None:
    def rows(name: str) -> list[Any]:
        return place.lakehouse.read(TABLES[name]).collect()

    assert {(row.raw_label, row.label, row.was_mapped) for row in rows("emo_pillars.utterances")} == {
        ("warmth", "warmth", False),
        ("homesickness", "pull", True),
        ("dread", "dread", False),
        ("calm sea", "calm sea", False),
    }
    assert {row.label for row in rows("emo_pillars.soft_labels")} == {"warmth", "pull", "dread", "calm sea"}
    rejected = [row.detail for row in rows("ops.dropped") if row.reason == "unknown_label"]
    assert any("hunger" in text for text in rejected)
    assert any("joy" in text for text in rejected)
    made = rows("emo_pillars.contextual_examples")
    assert len(made) == len(rows("emo_pillars.examples")) > 8
    cleaned = rows("llm.emo_pillars_clean_contexts")
    own = hashlib.sha256(CLEANING.encode()).hexdigest()[:16]
    assert {row.template_hash for row in cleaned} == {own}
    assert all(row.prompt.startswith("Person: ") for row in cleaned)
    assert {row.template_hash for row in rows("llm.emo_pillars_contexts")} != {own}
    (export,) = chosen(all_stages(), only="emo_pillars_export")
    run_stages(place, [export])
    folder = Path(place.settings.lakehouse.root) / "exports" / "emo-pillars"
    import datasets

    opened = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    part = next(iter(opened.values()))
    assert part.features["primary_label"].names == list(place.settings.emo_pillars.taxonomy.names)
    assert part.features["primary_label"].int2str(part[0]["primary_label"]) in SAID | {"pull": "", "calm sea": ""}
    assert "Harbour's 7 labels" in (folder / "README.md").read_text("utf-8")
