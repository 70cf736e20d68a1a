"""The demo corpus: an OPUS tree and zips, labelled sets, transcripts, and facts about them."""

import random
import shutil
from pathlib import Path

from conf.errors import InputError
from etl.demo.broken_files import DAMAGED_MEMBER, broken_files, broken_members
from etl.demo.corpus_folder import CorpusFolder
from etl.demo.facts import DemoFacts, FileFacts
from etl.demo.films import MIN_FILMS, Film, film_of
from etl.demo.labelled_sets import write_labelled_sets
from etl.demo.markup import HEAD
from etl.demo.recorded_answers import write_stories, write_support
from etl.demo.templates import Frame, expand, material
from etl.demo.transcripts import write_transcripts
from etl.demo.uploads import Upload, upload_of

RELEASE = "OpenSubtitles/v2018"
ZIP = f"{RELEASE}/en.zip"
CUT_ZIP = f"{RELEASE}/en_cut_off.zip"
_OUTPUTS = ("opus", "labels", "talks", "turns", "stories", "support", "truth.json")


def write_demo(folder: Path, films: int = 300, seed: int = 7) -> DemoFacts:
    """Write the demo corpus; equal arguments give equal contents.

    The folders are ``opus/`` (the OPUS layout), ``labels/`` (classifier_train.txt.gz, classifier_valid.txt,
    crowd_votes.csv.gz), ``talks/`` (in the format of EmpatheticDialogues), ``turns/meld`` and ``turns/emorynlp``
    (transcripts), ``stories/`` (plots for Emo Pillars) and ``support/`` (sessions and first posts for AugESC), both
    with recorded answers in place of a language model's. The facts are also written to ``truth.json``.

    Args:
        folder: target folder; the outputs of an earlier call are replaced, other files are kept.
        films: number of films, at least 12, so that every oddity occurs.
        seed: seed of all random choices.

    Raises:
        InputError: There are fewer than 12 films.
    """
    if films < MIN_FILMS:
        raise InputError(f"demo corpus: {films} films are too few: ask for {MIN_FILMS} or more")
    for name in _OUTPUTS:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    store = CorpusFolder(folder)
    facts = DemoFacts(films=films)
    _write_opus(store, facts, films, seed)
    facts.rows |= write_labelled_sets(store, seed)
    facts.rows |= write_transcripts(store, seed)
    facts.rows |= write_stories(store, seed)
    facts.rows |= write_support(store, seed)
    facts.content_sha256 = store.digest()
    facts.write(folder / "truth.json")
    return facts


def _write_opus(store: CorpusFolder, facts: DemoFacts, films: int, seed: int) -> None:
    members: dict[str, bytes] = {}
    number = 0
    good = b""
    for film_number in range(films):
        film = film_of(film_number, seed)
        if film.kind == "documentary":
            facts.documentaries.append(film.movie_id)
        for copy in range(film.uploads):
            upload = upload_of(film, number, copy, seed)
            path = _place(store, members, film, upload, number)
            facts.files[path] = FileFacts(
                film.movie_id, upload.subtitle_id, upload.sentences, upload.tokens, upload.acts, upload.turns
            )
            facts.uploads.setdefault(film.movie_id, []).append(path)
            for rule, count in upload.planted.items():
                facts.add(rule, path, count)
            if "!" not in path and len(facts.copies) < 3:
                member = _member(film, upload)
                members[member] = upload.content
                facts.copies[f"{ZIP}!{member}"] = path
            good = good or upload.content
            number += 1
    _write_other_languages(store, facts, seed)
    _write_broken(store, facts, members, good)


def _member(film: Film, upload: Upload) -> str:
    return f"OpenSubtitles/xml/en/{film.folder_year}/{film.movie_id}/{upload.subtitle_id}.xml"


def _place(store: CorpusFolder, members: dict[str, bytes], film: Film, upload: Upload, number: int) -> str:
    """Add a file to the zip's members, or write it plain or gzipped, and return its path below ``opus/``."""
    if number % 10 in (0, 3, 6):
        member = _member(film, upload)
        members[member] = upload.content
        return f"{ZIP}!{member}"
    ending = "xml" if number % 20 == 8 else "xml.gz"
    path = f"{RELEASE}/xml/en/{film.folder_year}/{film.movie_id}/{upload.subtitle_id}.{ending}"
    store.write_packed(f"opus/{path}", upload.content)
    return path


def _write_other_languages(store: CorpusFolder, facts: DemoFacts, seed: int) -> None:
    rng = random.Random(f"{seed}|languages")
    for language, lines in material("extras")["foreign"].items():
        for number in range(3):
            subtitle_id = str(7_000_000 + rng.randint(0, 99_999))
            path = f"{RELEASE}/xml/{language}/{1990 + number}/{8_800_000 + number}/{subtitle_id}.xml.gz"
            parts = [f'{HEAD}<document id="{subtitle_id}">\n']
            for index, line in enumerate(lines, 1):
                words = expand(line, Frame(rng), rng).split()
                written = "".join(f'    <w id="{index}.{i}">{word}</w>\n' for i, word in enumerate(words, 1))
                parts.append(f'  <s id="{index}">\n{written}  </s>\n')
            store.write_packed(f"opus/{path}", "".join([*parts, "</document>\n"]).encode())
            facts.other_languages[path] = language


def _write_broken(store: CorpusFolder, facts: DemoFacts, members: dict[str, bytes], good: bytes) -> None:
    for number, (name, (reason, content)) in enumerate(broken_files(good).items()):
        subtitle_id, ending = name.split(".", 1)
        path = f"{RELEASE}/xml/en/2001/{8_900_000 + number}/{subtitle_id}.{ending}"
        store.write(f"opus/{path}", content, digest_of=f"{reason} {name}".encode())
        facts.quarantined[path] = reason
    for member, (reason, content) in broken_members().items():
        members[member] = content
        facts.quarantined[f"{ZIP}!{member}"] = reason
    store.write_zip(f"opus/{ZIP}", members, damaged=DAMAGED_MEMBER)
    store.write(f"opus/{CUT_ZIP}", b"PK\x03\x04 the rest of this archive never came")
    facts.quarantined[CUT_ZIP] = "bad_zip"
