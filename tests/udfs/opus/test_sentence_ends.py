"""Where a sentence ends: abbreviations, ordinals, initials and ellipses of each language, within and between cues."""

import pytest

from tests.udfs.opus.subtitle_files import srt, texts
from udfs.opus.tokens import opus_tokens, split_sentences

WHOLE = [
    ("en", "Meet me at St. James at noon."),
    ("en", "Dr. Bell and Prof. Ames saw the U.S. Army."),
    ("en", "Is it No. 5 or No. 7?"),
    ("en", "J. R. Ames lives on Oak St. Louis knows."),
    ("en", "Wait . . . and then . . . you do."),
    ("de", "Der 2. Weltkrieg war lange vorbei."),
    ("de", "Am 3. Mai kam sie im 4. Stock an."),
    ("de", "Zum 1. Mal sah er die Fa. Bell."),
    ("de", "Sie kauft z. B. Brot, d. h. Kuchen usw. Danach nichts."),
    ("de", "Ludwig XIV. Bell und Hr. Ames."),
    ("fr", "M. Dupont et Mme. Le Bel sont là."),
    ("fr", "Av. J.-C. M. Noir vivait av. J.-C. Paris était petit."),
    ("es", "Los EE. UU. Mexicanos, p. ej. Oaxaca."),
    ("es", "Son las 5 p. m. Cía. López cierra."),
    ("es", "El Sr. Paz y la Sra. Rey viven en la Av. Juárez."),
    ("pt", "O Sr. Paz e a Dra. Reis, p. ex. Ana."),
    ("it", "Il Sig. Lo Bello e il Dott. Rossi."),
    ("nl", "Dhr. De Wit en Mevr. Bos, d.w.z. Anna."),
    ("pl", "Prof. Nowak, tzn. Jan, zna p. Annę."),
    ("pl", "Był tu w r. 1980 o godz. 9."),
    ("en", "He sued Bell Co. Ltd. for it."),
    ("th", "ผมรู้จัก นพ. มานะ ครับ"),
    ("ru", "Он жил на ул. Мира, т. е. Ленина, у проф. Белова."),
    ("tr", "Biz 2. Dünya Savaşı gördük."),
    ("el", "Ο κ. Νίκος, π. χ. Άννα."),
    ("sv", "Hon gillar t. ex. Anna."),
    ("da", "Han kender bl. a. Anna."),
    ("ar", "كنت أظن... أنك رحلت."),
    ("ar", "كنت أظن\u2026 أنك رحلت."),
    ("he", "חשבתי... שהלכת."),
    ("hi", "मैंने सोचा... तुम चले गए।"),
]
PARTED = [
    ("en", "She lives on Oak St. She knows.", 2),
    ("en", "He lives on Elm Dr. It is far.", 2),
    ("en", "We met at 9 p.m. He left.", 2),
    ("en", "He grew up in the U.S. She did not.", 2),
    ("en", "So do I. Come in.", 2),
    ("en", "It was plan B. They knew.", 2),
    ("en", "Wait. . . She is here.", 2),
    ("en", "He came. Ten years on. Sen. Ames.", 3),
    ("de", "Er kam, usw. Er ging.", 2),
    ("de", "Ich bin 42. Sie ist 40.", 2),
    ("de", "Das war 1945. Berlin lag da.", 2),
    ("es", "¿Vienes? No. 5 minutos.", 3),
    ("es", "Vive en EE. UU. El piso es suyo.", 2),
    ("es", "Lo sabe Ud. Yo no.", 2),
    ("fr", "Il en a. Marie aussi.", 2),
    ("fr", "Je bois, etc. Il dort.", 2),
    ("it", "Sono io. Sono qui.", 2),
    ("pl", "OK. Chodźmy.", 2),
    ("pl", "To był 1980 r. On wyjechał.", 2),
    ("en", "She works for Bell Inc. She likes it.", 2),
    ("ru", "И я. Пойдём.", 2),
    ("ru", "Это я. Я. Открой.", 3),
    ("ru", "Скажи им. Пусть идут.", 2),
    ("tr", "Yaşım 20. Sen kaç?", 2),
    ("ar", "أين كنت؟ كنت هنا.", 2),
    ("zh_cn", "是。我知道。", 2),
    ("zh_cn", "是. 我知道.", 2),
]


@pytest.mark.parametrize(("language", "text"), WHOLE, ids=[text for _, text in WHOLE])
def test_no_sentence_ends(language: str, text: str) -> None:
    assert len(split_sentences(text, language)) == 1


@pytest.mark.parametrize(("language", "text", "number"), PARTED, ids=[text for _, text, _ in PARTED])
def test_sentences_end(language: str, text: str, number: int) -> None:
    assert len(split_sentences(text, language)) == number


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("de", "Brot, z. B. hier.", "Brot , z. B. hier ."),
        ("es", "En EE. UU. no.", "En EE. UU. no ."),
        ("en", "At Oak St. now.", "At Oak St. now ."),
        ("es", "No. 5 minutos.", "No . 5 minutos ."),
        ("fr", "M. Bel, etc. ici.", "M. Bel , etc. ici ."),
    ],
)
def test_an_abbreviation_keeps_its_full_stop(language: str, text: str, tokens: str) -> None:
    assert opus_tokens(text, language) == tokens


@pytest.mark.parametrize(
    ("language", "cues", "number"),
    [
        ("en", ["I thought . . .", ". . . you had gone."], 1),
        ("en", ["I thought\u2026", "\u2026you had gone."], 1),
        ("en", ["I need...", "...5 minutes."], 1),
        ("en", ["Wait..", "..what did you say?"], 1),
        ("en", ["I thought...", "...You had gone."], 2),
        ("ru", ["Я думал...", "...ты ушла."], 1),
        # abbreviations before names
        ("en", ["Have you seen Mr.", "Bell today?"], 1),
        ("en", ["Have you seen Dr.", "Bell today?"], 1),
        ("en", ["It was J. R.", "Ames who wrote it."], 1),
        ("en", ["He lives on Elm Dr.", "It is far."], 2),
        ("en", ["She got a B.", "Bell got an A."], 2),
        ("en", ["I come from N.Y.", "Bell does not."], 2),
        ("en", ["We met at 9 p.m.", "Bell was late."], 2),
        ("en", ["I can see Mr.", "- Bell is here."], 2),
        ("de", ["Das ist Hr.", "Ames."], 1),
        ("fr", ["C'est Mme", "Ames."], 1),
        ("en", ["Have you seen Dr", "Bell today?"], 1),
        ("en", ["He lives on Elm Dr", "It is far."], 2),
        ("en", ["I can see Mr", "- Bell is here."], 2),
        ("el", ["Πού είναι ο κ.", "Νίκος;"], 1),
        # small letters in quotation marks
        ("en", ["He calls it", '"the best of days" and laughs.'], 1),
        ("en", ["He calls it", '"The best of days" and laughs.'], 2),
        ("en", ["He calls it", "(laughing)"], 2),
        ("ar", ["كنت أظن...", "...أنك رحلت."], 1),
        ("ar", ["كنت أظن\u2026", "\u2026أنك رحلت"], 1),
        ("ar", ["عندما وصلت،", "كان الباب مفتوحا."], 1),
        ("ar", ["عندما وصلت.", "كان الباب مفتوحا."], 2),
        ("ar", ["عندما وصلت،", "- كان الباب مفتوحا."], 2),
        # without a mark, where nearly all others have one, and where they do not
        ("ar", ["لم أره", "لأن الضباب كان كثيفا.", *["حسنا.", "نعم."] * 5], 11),
        ("ar", ["لم أره", "- لأن الضباب كان كثيفا.", *["حسنا.", "نعم."] * 5], 12),
        ("ar", ["لم أره", "لأن الضباب كان كثيفا", *["حسنا.", "نعم."] * 5], 12),
        ("hi", ["मैंने नहीं देखी", "क्योंकि कोहरा था।", *["ठीक।", "हाँ।"] * 5], 11),
        ("he", ["חשבתי...", "...שהלכת."], 1),
        ("hi", ["मैंने सोचा...", "...तुम चले गए।"], 1),
        ("zh_cn", ["我以为……", "……你走了。"], 1),
        ("ja", ["行くと…", "…思った。"], 1),
    ],
)
def test_a_sentence_goes_on_in_the_next_cue(language: str, cues: list[str], number: int) -> None:
    assert len(texts(srt(*cues), language)) == number


@pytest.mark.parametrize(
    ("language", "cues", "expected"),
    [
        # dashes where they are seen
        ("ar", ["أين كنت؟ -\nفي البيت. -", "حسنا."], ["- أين كنت ؟", "- في البيت .", "حسنا ."]),
        ("ar", ["مرحبا-\nأهلا-"], ["- مرحبا", "- أهلا"]),
        ("he", ["?איפה היית-\n.בבית-", ".טוב"], ["- איפה היית ?", "- בבית .", "טוב ."]),
        # marks before the words in one line of several
        ("he", ["לאן?", "!הביתה", "עכשיו."], ["לאן ?", "הביתה !", "עכשיו ."]),
        ("he", ["לאן?", "...הביתה", ".5 שעות", "עכשיו."], ["לאן ?", "... הביתה", ". 5 שעות", "עכשיו ."]),
        # a sentence that breaks off, and dashes that stand before
        ("ar", ["كنت أظن-", "توقف."], ["كنت أظن-", "توقف ."]),
        ("ar", ["- أين كنت؟", "كنت أظن-"], ["- أين كنت ؟", "كنت أظن-"]),
        ("he", ["חשבתי...", "...שהלכת"], ["חשבתי ... ... שהלכת"]),
        # a label of one word, once
        ("he", ["לא ראיתי אותו\nדוד: אני כן."], ["לא ראיתי אותו", "דוד : אני כן ."]),
        ("he", ["לא ראיתי אותו\nאז הוא אמר: אני כן."], ["לא ראיתי אותו אז הוא אמר : אני כן ."]),
    ],
)
def test_scripts_from_right_to_left(language: str, cues: list[str], expected: list[str]) -> None:
    assert texts(srt(*cues), language) == expected
