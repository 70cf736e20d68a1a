"""The demo corpus: the same each time, every planted fault in its place, formats as the released ones."""

import csv
import gzip
import io
import json
import random
import re
import zipfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from lxml import etree

from conf.errors import InputError
from conf.taxonomy import edos_kinds, edos_labels, goemotions_labels
from etl.demo import recorded_answers
from etl.demo.__main__ import main
from etl.demo.corpus import write_demo
from etl.demo.facts import DemoFacts
from etl.demo.screenplay import play
from etl.demo.templates import Frame, common_scenes, expand, material, scenes, statements
from etl.subtitles.transcripts import EMORYNLP, MELD
from udfs.opus.tokens import opus_tokens

FILMS = 12
PLANTED = (
    "advert",
    "advert_9999",
    "alternative",
    "dash",
    "document_id_differs",
    "duration_in_words",
    "duration_not_known",
    "emphasised_sentence",
    "emphasised_word",
    "genre_missing",
    "genre_with_blanks",
    "initial",
    "lyrics",
    "malformed_time",
    "missing_time_tag",
    "negative_time",
    "no_words",
    "number_only",
    "odd_year",
    "over_two_blocks",
    "previously_on",
    "profane",
    "repeated_turn",
    "repetitive",
    "sdh",
    "shared",
    "shouted",
    "sound",
    "speaker_label",
    "too_long",
    "too_short",
    "machine_translated",
    "backwards_time",
)
REASONS = {
    "not_xml",
    "no_sentences",
    "truncated_gzip",
    "bad_gzip",
    "empty",
    "doctype",
    "ratio",
    "too_large",
    "bad_encoding",
    "unsafe_name",
    "crc",
    "bad_zip",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DemoFacts]:
    folder = tmp_path_factory.mktemp("demo")
    return folder, write_demo(folder, FILMS)


def _stored(folder: Path, path: str) -> bytes:
    """A file's or member's bytes, unpacked from the zip but not from gzip."""
    container, _, member = path.partition("!")
    if not member:
        return (folder / "opus" / path).read_bytes()
    with zipfile.ZipFile(folder / "opus" / container) as archive:
        return archive.read(member)


def _xml(folder: Path, path: str) -> etree._Element:
    stored = _stored(folder, path)
    text = gzip.decompress(stored) if path.endswith(".gz") else stored
    return etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def _csv(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_same_arguments_write_the_same_bytes(demo: tuple[Path, DemoFacts], tmp_path: Path) -> None:
    folder, facts = demo
    again = write_demo(tmp_path, FILMS)
    assert again == facts
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_another_seed_writes_another_corpus(demo: tuple[Path, DemoFacts], tmp_path: Path) -> None:
    assert write_demo(tmp_path, FILMS, seed=8).content_sha256 != demo[1].content_sha256


def test_facts_are_what_truth_json_says(demo: tuple[Path, DemoFacts]) -> None:
    assert DemoFacts.read(demo[0] / "truth.json") == demo[1]


def test_every_oddity_of_real_files_is_planted(demo: tuple[Path, DemoFacts]) -> None:
    missing = [rule for rule in PLANTED if not demo[1].planted.get(rule)]
    assert missing == []
    assert set(demo[1].planted) >= set(demo[1].planted_in)


def test_good_files_parse_with_the_counts_of_the_truth(demo: tuple[Path, DemoFacts]) -> None:
    folder, facts = demo
    for path, told in facts.files.items():
        root = _xml(folder, path)
        sentences = root.findall("s")
        assert root.tag == "document"
        assert (len(sentences), len(root.findall("s/w"))) == (told.sentences, told.tokens), path
        assert len(told.turns) == told.sentences
        assert [s.get("id") for s in sentences] == [str(i + 1) for i in range(len(sentences))]
        assert root.findtext("meta/conversion/sentences") == str(told.sentences)


def test_planted_oddities_stand_where_the_truth_says(demo: tuple[Path, DemoFacts]) -> None:
    folder, facts = demo
    looks = {
        "alternative": "s/w[@alternative]",
        "initial": "s/w[@initial]",
        "emphasised_word": "s/w[@emphasis]",
        "emphasised_sentence": "s[@emphasis]",
    }
    seen: Counter[str] = Counter()
    for path, told in facts.files.items():
        root = _xml(folder, path)
        for rule, query in looks.items():
            seen[rule] += len(root.findall(query))
        seen["no_words"] += sum(not s.findall("w") for s in root.findall("s"))
        seen["document_id_differs"] += root.get("id") != told.subtitle_id
        seen["dash"] += sum(s.findtext("w") == "-" for s in root.findall("s"))
        times = [time.get("value", "") for time in root.iter("time") if "9999" not in time.get("id", "")]
        seen["malformed_time"] += sum(bool(re.fullmatch(r"\d\d:\d\d:\d,\d{3}", value)) for value in times)
        seen["negative_time"] += sum(value.startswith("-") for value in times)
        seen["advert_9999"] += root.findtext("meta/subtitle/blocks") == "9999"
        seen["over_two_blocks"] += sum(
            len([t for t in s.findall("time") if t.get("id", "").endswith("S")]) > 1 for s in root.findall("s")
        )
    lost = facts.planted["missing_time_tag"] + 2 * facts.planted["advert_9999"]
    for rule in seen:
        slack = lost if rule == "over_two_blocks" else 0
        assert abs(seen[rule] - facts.planted[rule]) <= slack, rule


def test_uploads_of_a_film_are_near_duplicates(demo: tuple[Path, DemoFacts]) -> None:
    folder, facts = demo
    counts = sorted(map(len, facts.uploads.values()))
    assert (counts[0], counts[-1]) == (1, 6)
    assert sum(counts) == len(facts.files)
    paths = max(facts.uploads.values(), key=len)
    words = [Counter(w.text for w in _xml(folder, path).iter("w")) for path in paths]
    for other in words[1:]:
        assert (words[0] & other).total() / (words[0] | other).total() > 0.6


def test_second_copies_are_the_same_upload(demo: tuple[Path, DemoFacts]) -> None:
    folder, facts = demo
    assert facts.copies
    for copy, first in facts.copies.items():
        assert first in facts.files
        assert copy not in facts.files
        assert etree.tostring(_xml(folder, copy)) == etree.tostring(_xml(folder, first))


def test_every_file_written_is_accounted_for(demo: tuple[Path, DemoFacts]) -> None:
    folder, facts = demo
    root = folder / "opus"
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.xml*") if path.is_file()}
    for archive in root.rglob("*.zip"):
        if not zipfile.is_zipfile(archive):
            found.add(archive.relative_to(root).as_posix())
            continue
        with zipfile.ZipFile(archive) as opened:
            found |= {f"{archive.relative_to(root).as_posix()}!{name}" for name in opened.namelist()}
    told = [*facts.files, *facts.quarantined, *facts.other_languages, *facts.copies]
    assert len(told) == len(set(told))
    assert found == set(told)


def test_broken_files_are_broken_as_told(demo: tuple[Path, DemoFacts]) -> None:
    folder, facts = demo
    assert set(facts.quarantined.values()) == REASONS
    for path, reason in facts.quarantined.items():
        if reason == "unsafe_name":
            assert ".." in path.split("/")
        elif reason == "bad_zip":
            assert not zipfile.is_zipfile(folder / "opus" / path)
        elif reason == "crc":
            with pytest.raises(zipfile.BadZipFile, match="CRC"):
                _stored(folder, path)
        elif reason == "empty":
            assert _stored(folder, path) == b""
        elif reason == "truncated_gzip":
            with pytest.raises(EOFError):
                gzip.decompress(_stored(folder, path))
        elif reason == "bad_gzip":
            with pytest.raises(gzip.BadGzipFile):
                gzip.decompress(_stored(folder, path))
        elif reason == "no_sentences":
            assert _xml(folder, path).tag != "document"
        elif reason == "doctype":
            stored = _stored(folder, path)
            assert b"<!DOCTYPE" in (gzip.decompress(stored) if path.endswith(".gz") else stored)
        elif reason == "too_large":
            assert len(_stored(folder, path)) > 64 << 20
        elif reason == "ratio":
            stored = _stored(folder, path)
            assert len(stored) < 200_000
            assert int.from_bytes(stored[-4:], "little") > 64 << 20
        else:
            with pytest.raises(etree.XMLSyntaxError):
                _xml(folder, path)


def test_shared_dialogues_stand_word_for_word_in_several_films(demo: tuple[Path, DemoFacts]) -> None:
    facts = demo[1]
    films = {facts.files[path].movie_id for path in facts.planted_in["shared"]}
    assert len(films) >= 2


def test_sentences_for_the_weak_labeler(demo: tuple[Path, DemoFacts]) -> None:
    folder, facts = demo
    lines = {
        "train": gzip.decompress((folder / "labels/classifier_train.txt.gz").read_bytes()).decode().splitlines(),
        "valid": (folder / "labels/classifier_valid.txt").read_text(encoding="utf-8").splitlines(),
    }
    assert facts.rows["labels/classifier_train.txt.gz"] == len(lines["train"])
    texts = {}
    for split, least in (("train", 30), ("valid", 7)):
        rows = [re.fullmatch(r"(\d+) <SEP> (.+)", line) for line in lines[split]]
        counts = Counter(int(row[1]) for row in rows if row)
        assert sum(counts.values()) == len(rows)
        assert sorted(counts) == list(range(41))
        assert min(counts.values()) >= least
        texts[split] = {row[2].lower() for row in rows if row}
    assert not texts["train"] & texts["valid"]


def test_votes_have_the_released_columns_and_a_majority_where_told(demo: tuple[Path, DemoFacts]) -> None:
    rows = _csv(gzip.decompress((demo[0] / "labels/crowd_votes.csv.gz").read_bytes()))
    workers = [f"Worker {n} answer" for n in (1, 2, 3)]
    assert list(rows[0]) == ["Count", "Index", "DialogID", "Dialog", "Agreed emotion (2/3 vote)", *workers]
    per_class: Counter[str] = Counter()
    outside = 0
    for row in rows:
        votes = Counter(row[worker].replace(" (Other)", "").lower() for worker in workers)
        label, count = votes.most_common(1)[0]
        agreed = row["Agreed emotion (2/3 vote)"]
        assert agreed == (label.capitalize() if count >= 2 else "-")
        assert 1 <= len(row["Dialog"].split("\n")) <= 4
        assert agreed[0] == agreed[0].upper()
        outside += any(vote not in edos_labels() for vote in votes)
        per_class[agreed.lower()] += 1
    assert set(per_class) == {*edos_labels(), "-"}
    assert min(per_class.values()) >= 12
    assert 0.05 < per_class["-"] / len(rows) < 0.25
    assert outside > 0
    assert any("(Other)" in row[worker] for row in rows for worker in workers)
    twice = [number for number, count in Counter(row["DialogID"] for row in rows).items() if count > 1]
    assert len(twice) == 1
    first, second = (row["Dialog"] for row in rows if row["DialogID"] == twice[0])
    assert second.startswith(first + "\n")
    assert len({row["Dialog"] for row in rows}) == len(rows)


def test_talks_have_the_form_of_empathetic_dialogues(demo: tuple[Path, DemoFacts]) -> None:
    rows = _csv(gzip.decompress((demo[0] / "talks/ed_annotated_all.csv.gz").read_bytes()))
    assert len(rows) == demo[1].rows["talks/ed_annotated_all.csv.gz"]
    assert list(rows[0]) == ["context", "Dialog_ID", "Type", "Actor", "Text", "Label"]
    situations = [row for row in rows if row["Type"] == "situation"]
    emotions = {label for label, kind in edos_kinds().items() if kind == "emotion"}
    assert set(Counter(row["context"] for row in situations)) == emotions
    assert len(emotions) == 32
    assert len({row["Text"] for row in situations}) == len(situations) == len({row["Dialog_ID"] for row in rows})
    assert {row["Actor"] for row in rows} == {"none", "speaker", "listener"}
    assert {row["Label"] for row in rows if row["Type"] == "utterance"} - emotions
    assert all(row["Label"] in edos_labels() and row["Text"] for row in rows)


@pytest.mark.parametrize(
    ("corpus", "pattern", "scene"),
    [
        (MELD, "turns/meld/{}_sent_emo.csv", ("Dialogue_ID",)),
        (EMORYNLP, "turns/emorynlp/emorynlp_{}_final.csv", ("Season", "Episode", "Scene_ID")),
    ],
)
def test_transcripts_hold_out_whole_scenes(
    demo: tuple[Path, DemoFacts], corpus: str, pattern: str, scene: tuple[str, ...]
) -> None:
    said: dict[str, list[set[str]]] = {}
    for split in ("train", "dev"):
        rows = _csv((demo[0] / pattern.format(split)).read_bytes())
        dialogues: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for row in rows:
            dialogues.setdefault(tuple(row[column] for column in scene), []).append(row)
        assert len(dialogues) == {"train": 260, "dev": 60}[split]
        pairs = [pair for lines in dialogues.values() for pair in pairwise(lines)]
        same = sum(left["Speaker"] == right["Speaker"] for left, right in pairs) / len(pairs)
        assert 0.12 < same < 0.35, (corpus, split, same)
        said[split] = [
            {row["Utterance"] for row in lines if len(row["Utterance"].split()) >= 4} for lines in dialogues.values()
        ]
    assert max(len(mine & other) for mine in said["train"] for other in said["dev"]) <= 1


@pytest.mark.parametrize("name", ["scenes_dark", "scenes_bright", "scenes_everyday", "scenes_genres", "closers"])
def test_scenes_expand_to_clean_english(name: str) -> None:
    for scene in scenes(name):
        assert len(scene.lines) >= 2, scene.key
        for seed in range(3):
            for turn in play(scene, random.Random(f"{scene.key}|{seed}"), ("Greta", "Silas")):
                assert turn.label in edos_labels(), scene.key
                plain = turn.text.replace("...", ".")
                assert not re.search(r"[{}|<>=]|\s[.,?!]|[.,?!][.,?!]|\ba [aeiou]", plain), turn.text
                assert turn.text[0].isupper(), turn.text
                assert turn.text[-1] in ".?!", turn.text
                assert len(opus_tokens(turn.text)) <= 100, turn.text


def test_statements_are_enough_and_expand() -> None:
    assert set(statements()) == set(edos_labels())
    for label, templates in statements().items():
        assert len(templates) >= 15, label
        for template in templates:
            text = expand(template, Frame(random.Random(template)), random.Random(template))
            assert not re.search(r"[{}|<>=]", text), text


def test_a_slot_and_a_linked_choice_keep_their_meaning_within_a_dialogue() -> None:
    rng = random.Random(1)
    for _ in range(20):
        frame = Frame(rng)
        words = expand("<thing> <thing> <town> <town2> {1=x|y} {1=x|y}", frame, rng)
        thing, again, *_, first, second = words.split()
        assert thing.lower() == again.lower()
        assert first.lower() == second.lower()
        assert frame["town"] != frame["town2"]
        assert (frame["he"], frame["his"]) in {("she", "her"), ("he", "his")}
        assert (frame["c"] in material("slots")["women"]) == (frame["he"] == "she")


def test_scene_keys_are_unique() -> None:
    keys = [scene.key for scene in (*common_scenes(), *scenes("scenes_genres"), *scenes("closers"))]
    assert len(keys) == len(set(keys))


def test_too_few_films_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="ask for 12 or more"):
        write_demo(tmp_path, 3)
    assert main(["--to", str(tmp_path), "--films", "3"]) == 2
    assert "3 films are too few" in capsys.readouterr().err


def test_other_files_in_the_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "opus").mkdir()
    (tmp_path / "opus/old.xml").write_text("<document/>", encoding="utf-8")
    write_demo(tmp_path, FILMS)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "opus/old.xml").exists()


def _recorded(folder: Path, name: str) -> list[dict[str, list[str]]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def test_every_step_on_every_utterance_has_one_recorded_answer(demo: tuple[Path, DemoFacts]) -> None:
    entries = _recorded(demo[0], recorded_answers.UTTERED)
    said = [
        line.split('"')[1]
        for entry in entries
        for line in entry["answers"][0].splitlines()
        if entry["contains"][0].startswith("Take the part") and '"' in line
    ]
    assert len(said) == len(set(said))
    assert len(said) == (3 * len(material("stories")) - 1) * (recorded_answers.EMOTIONAL + recorded_answers.NEUTRAL)
    for text in said:
        of_text = [entry["contains"][0] for entry in entries if any(f'"{text}"' in one for one in entry["contains"])]
        assert sorted(of_text) == ["Say it in other words", f'Somebody says this: "{text}"', "Tell, in plain prose"]


def test_stories_have_names_of_their_own_and_every_emotion() -> None:
    names = [actor["name"] for story in material("stories") for actor in story["actors"]]
    assert len(names) == len(set(names))
    assert list(material("recorded_utterances")) == list(goemotions_labels())
    for story in material("stories"):
        assert all(actor["name"] in " ".join(story["plot"].split()) for actor in story["actors"])
        assert set(story) == {"title", "plot", "thing", "place", "event", "actors"}


def test_each_first_post_has_two_recorded_talks_and_some_have_faults(demo: tuple[Path, DemoFacts]) -> None:
    entries = _recorded(demo[0], recorded_answers.CONTINUED)
    asked = [entry["contains"][0] for entry in entries]
    assert len(asked) == len(set(asked)) == recorded_answers.FIRST_POSTS + recorded_answers.FORUM_POSTS
    assert {len(entry["answers"]) for entry in entries} == {recorded_answers.SAMPLES}
    texts = [text for entry in entries for text in entry["answers"]]
    assert sum("I am only an AI" in text for text in texts) >= 3
    assert sum(text.count("\n") < 5 for text in texts) >= 3
    assert not re.search(r"[<>{}]", "".join(texts))
