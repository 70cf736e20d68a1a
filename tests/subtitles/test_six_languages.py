"""Six languages, each from a small film of its own form and encoding to clean dialogues, by one run for all.

The films are made up. Each has two dialogues parted by a silence, dashes, a label that recurs, a credit or advert, and
what its script is easily read wrongly in.
"""

import gzip
import unicodedata
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.dialogues import dialogues_between_silences
from etl.subtitles.ingest import ingest_subtitles
from etl.subtitles.manifest import find_subtitles
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.turns import turns_of
from tests.subtitles.cleaned import clean_dialogues
from tests.udfs.opus.subtitle_files import xml_file

pytestmark = pytest.mark.slow
LANGUAGES = ("de", "fr", "el", "ru", "ar", "hi")
TIMES = ((1, 3), (3.5, 5), (20, 22), (22.5, 24), (40, 42))
"""Seconds in which the five cues of a film are shown."""
CUES = {
    "de": (
        ("- Hr. Vogt, wo waren Sie gestern?", "- Draußen. Es schneite."),
        ("Und Ihre Frau?",),
        ("LENA: Jonas, ich hab'", "solche Angst gehabt--"),
        ("JONAS: Ich auch.", "LENA: Geh nicht!"),
        ("Untertitel von Karla Beispiel",),
    ),
    "fr": (
        ("- Où étiez-vous, M. Noël\u00a0?", "- À l'hôtel, avec ma sœur."),
        ("Et après\u00a0?",),
        ("- Il a dit «\u00a0jamais\u00a0», voilà tout.", "- Ça m'étonne. Pas toi\u00a0?"),
        ("Bon, allons-y maintenant.",),
        ("Sous-titres\u00a0: Jeanne Exemple",),
    ),
    "el": (
        ("- Πού ήσουν χθες; Σε έψαχνα.", "- Στο σπίτι, κ. Νίκο."),
        ("Γιατί δεν απαντούσες;",),
        ("- Έλα εδώ! Τι έγινε;", "- Τίποτα. Όλα καλά."),
        ("Πάμε, λοιπόν;",),
        ("Υποτιτλισμός: Μαρία Παράδειγμα",),
    ),
    "ru": (
        ("- Где вы были вчера?", "- Дома, на ул. Мира. Спал."),
        ("И никто вас не видел?",),
        ("- Стой! Не ходи туда.", "- Почему? Я не боюсь."),
        ("Пойдём. Уже поздно.",),
        ("Перевод субтитров: Анна Пример",),
    ),
    "ar": (
        ("- أين كنت البارحة؟ بحثت عنك.", "- كنت في البيت، يا د. سامي."),
        ("لماذا لم ترد؟",),
        ("أحمد: تعال إلى هنا الآن.", "ليلى: لن آتي معك."),
        ("أحمد: أرجوك!", "ليلى: قلت لا."),
        ("ترجمة: سامي مثال",),
    ),
    "hi": (
        ("- तुम कल कहाँ थे? मैंने बहुत ढूँढा।", "- मैं घर पर था, डॉ. शर्मा।"),
        ("फ़ोन क्यों नहीं उठाया?",),
        ("रवि: यहाँ आओ, जल्दी करो।", "मीरा: मैं नहीं आऊँगी।"),
        ("रवि: कृपया आ जाओ!", "मीरा: मैंने कहा नहीं।"),
        ("उपशीर्षक: आशा उदाहरण",),
    ),
}
CLEAN = {
    "de": [
        ["Hr. Vogt , wo waren Sie gestern ?", "Draußen . Es schneite . Und Ihre Frau ?"],
        ["Jonas , ich hab ' solche Angst gehabt- -", "Ich auch .", "Geh nicht !"],
    ],
    "fr": [
        ["Où étiez-vous , M. Noël ?", "À l 'hôtel , avec ma sœur . Et après ?"],
        ["Il a dit « jamais » , voilà tout .", "Ça m 'étonne . Pas toi ? Bon , allons-y maintenant ."],
    ],
    "el": [
        ["Πού ήσουν χθες ; Σε έψαχνα .", "Στο σπίτι , κ. Νίκο . Γιατί δεν απαντούσες ;"],
        ["Έλα εδώ ! Τι έγινε ;", "Τίποτα . Όλα καλά . Πάμε , λοιπόν ;"],
    ],
    "ru": [
        ["Где вы были вчера ?", "Дома , на ул. Мира . Спал . И никто вас не видел ?"],
        ["Стой ! Не ходи туда .", "Почему ? Я не боюсь . Пойдём . Уже поздно ."],
    ],
    "ar": [
        ["أين كنت البارحة ؟ بحثت عنك .", "كنت في البيت ، يا د. سامي . لماذا لم ترد ؟"],
        ["تعال إلى هنا الآن .", "لن آتي معك .", "أرجوك !", "قلت لا ."],
    ],
    "hi": [
        ["तुम कल कहाँ थे ? मैंने बहुत ढूँढा ।", "मैं घर पर था , डॉ. शर्मा । फ़ोन क्यों नहीं उठाया ?"],
        ["यहाँ आओ , जल्दी करो ।", "मैं नहीं आऊँगी ।", "कृपया आ जाओ !", "मैंने कहा नहीं ।"],
    ],
}


def clock(seconds: float, mark: str = ",") -> str:
    return f"00:00:{int(seconds):02}{mark}{round(seconds % 1 * 1000):03}"


def srt(language: str) -> str:
    cues = zip(TIMES, CUES[language], strict=True)
    return "".join(
        f"{n}\r\n{clock(a)} --> {clock(b)}\r\n" + "\r\n".join((*lines, "", ""))
        for n, ((a, b), lines) in enumerate(cues, 1)
    )


def vtt(language: str) -> str:
    cues = zip(TIMES, CUES[language], strict=True)
    return "WEBVTT\n\n" + "".join(
        f"{clock(a, '.')} --> {clock(b, '.')}\n" + "\n".join((*lines, "", "")) for (a, b), lines in cues
    )


def ass(language: str) -> str:
    cues = zip(TIMES, CUES[language], strict=True)
    return "[Script Info]\n\n[Events]\nFormat: Layer, Start, End, Style, Text\n" + "".join(
        f"Dialogue: 0,{clock(a, '.')[1:-1]},{clock(b, '.')[1:-1]},Default,{{\\i1}}" + "\\N".join(t) + "\n"
        for (a, b), t in cues
    )


def raw_xml(language: str) -> bytes:
    """Return a file of OPUS's raw zips: a sentence for each line, with its block's times."""
    body = ""
    for n, ((a, b), lines) in enumerate(zip(TIMES, CUES[language], strict=True), 1):
        for place, line in enumerate(lines):
            start = f'<time id="T{n}S" value="{clock(a)}" />' if place == 0 else ""
            end = f'<time id="T{n}E" value="{clock(b)}" />' if place == len(lines) - 1 else ""
            body += f"<s id='{n}'>{start}{line}{end}</s>"
    return xml_file(body)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one film of each language, each in another form or encoding."""
    folder = tmp_path_factory.mktemp("films")
    films = {
        "own/Hafen.de.srt": srt("de").encode("cp1252"),
        "own/Port.fre.ass": unicodedata.normalize("NFD", ass("fr")).encode(),
        "own/Limani_Greek.vtt": vtt("el").encode("utf-16"),
        "OpenSubtitles/raw/ru/2001/77/5.xml.gz": gzip.compress(raw_xml("ru")),
        "own/Mina.ar.srt": srt("ar").encode("cp1256"),
        "own/Ghat.srt": ("\ufeff" + srt("hi")).encode(),
    }
    for name, data in films.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_six_languages_become_clean_dialogues(spark: SparkSession, corpus: Path) -> None:
    sources = [str(corpus)]
    listed = find_subtitles(spark, sources, LANGUAGES, "v2018")
    files = ingest_subtitles(listed, languages=LANGUAGES, sources=sources).rows.persist()
    scored = files.withColumn("scores", F.array().cast("array<float>"))
    turns = turns_of(scored, explicit_marks=True, silence_ends_turn_ms=5_000)
    raw = dialogues_between_silences(turns, 5.0).rows
    outcome = clean_dialogues(raw, CleaningSettings(), cleaning_words(LANGUAGES))
    said = outcome.rows.selectExpr("language", "turns[0].start_ms at", "turns.text texts").orderBy("language", "at")
    clean: dict[str, list[list[str]]] = {}
    for row in said.collect():
        clean.setdefault(row["language"], []).append(row["texts"])
    for language in LANGUAGES:
        assert clean[language] == CLEAN[language]
    assert outcome.dropped is not None
    reasons = {row["reason"] for row in outcome.dropped.collect()}
    assert reasons == {"credit", "no_turns_left"}
