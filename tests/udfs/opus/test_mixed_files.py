"""Files of two languages, without marks, with odd times, songs and readings."""

import re
from collections.abc import Sequence

import pytest

from tests.udfs.opus.subtitle_files import parsed, rows, srt, texts
from udfs.opus.plain_text import parse_plain_text
from udfs.opus.tokens import split_sentences

ENGLISH = (
    "Where did you leave the wagon last night?",
    "I left it behind the mill with the sacks.",
    "No.",
    "Then somebody must have taken the horses.",
    "You should have told me about that before.",
)
GERMAN = (
    "Wo hast du gestern Nacht den Wagen gelassen?",
    "Ich habe ihn hinter der Mühle stehen lassen.",
    "Nein.",
    "Dann muss jemand die Pferde genommen haben.",
    "Das hättest du mir vorher sagen sollen.",
)
CHINESE = (
    "昨晚你把马车停在哪里了？",
    "我把它停在磨坊后面了。",
    "不。",
    "那一定有人把马牵走了。",
    "你应该早点告诉我的。",
)
SPANISH = (
    "¿Dónde dejaste el carro anoche?",
    "Lo dejé detrás del molino con los sacos.",
    "Entonces alguien se ha llevado los caballos.",
    "Tendrías que habérmelo dicho antes de cenar.",
    "Mi hermana llegará mañana en el tren de la noche.",
    "Nadie ha visto a la muchacha desde el domingo.",
)
PORTUGUESE = (
    "Onde você deixou a carroça ontem à noite?",
    "Deixei atrás do moinho com os sacos.",
    "Então alguém deve ter levado os cavalos.",
    "Você devia ter me contado isso antes do jantar.",
    "Minha irmã vai chegar amanhã no trem da noite.",
    "Ninguém viu a moça desde domingo de manhã.",
)


def time(ms: int, sign: str = ",") -> str:
    return f"00:{ms // 60_000:02}:{ms // 1000 % 60:02}{sign}{ms % 1000:03}"


def cues(*lines: tuple[int, int, str]) -> str:
    return "\n".join(f"{n}\n{time(a)} --> {time(b)}\n{text}\n" for n, (a, b, text) in enumerate(lines, 1))


def at_the_same_times(shift: int = 0) -> str:
    pairs = zip(ENGLISH, GERMAN, strict=True)
    both = [
        (n * 3000 + late, n * 3000 + 2000, said)
        for n, pair in enumerate(pairs)
        for late, said in zip((0, shift), pair, strict=True)
    ]
    return cues(*both)


def by_class() -> str:
    head = "<STYLE><!--\n.ENCC {lang:en-US;}\n.DECC {lang:de-DE;}\n--></STYLE>"
    body = "".join(
        f"<SYNC Start={n * 3000}><P Class=DECC>{german}<P Class=ENCC>{english}\n"
        f"<SYNC Start={n * 3000 + 2000}><P Class=ENCC>&nbsp;\n"
        for n, (english, german) in enumerate(zip(ENGLISH, GERMAN, strict=True))
    )
    return f"<SAMI><HEAD>{head}</HEAD><BODY>{body}</BODY></SAMI>"


def by_style() -> str:
    lines = [
        f"Dialogue: 0:00:{n * 3:02}.00,0:00:{n * 3 + 2:02}.00,{style},{said}"
        for n, pair in enumerate(zip(ENGLISH, GERMAN, strict=True))
        for style, said in zip(("Top", "Main"), pair, strict=True)
    ]
    return "\n".join(["[Events]", "Format: Start, End, Style, Text", *lines])


@pytest.mark.parametrize(
    "text",
    [
        at_the_same_times(),
        at_the_same_times(200),
        by_class(),
        by_style(),
        srt(*("\n".join(pair) for pair in zip(ENGLISH, GERMAN, strict=True))),
        srt(*ENGLISH, *GERMAN),
    ],
    ids=["cues", "late cues", "SAMI", "ASS", "lines", "halves"],
)
@pytest.mark.parametrize(("language", "said"), [("en", ENGLISH), ("de", GERMAN)])
def test_of_two_languages_the_wanted_one_is_read(text: str, language: str, said: tuple[str, ...]) -> None:
    file = parse_plain_text(text.encode(), None, (language,))
    assert file.language_name == language
    found = file.sentences.text.to_pylist()
    expected = texts(srt(*said), language)
    assert [line for line in found if len(line) > 6] == [line for line in expected if len(line) > 6]
    assert file.quirks["other_language"] >= len(said) - 1


def test_of_two_scripts_in_a_cue_the_wanted_one_is_read() -> None:
    text = srt(*("\n".join(pair) for pair in zip(CHINESE, ENGLISH, strict=True)))
    assert texts(text) == texts(srt(*ENGLISH))
    assert parse_plain_text(text.encode(), "zh_cn", ("zh_cn",)).sentences.text.to_pylist() == texts(
        srt(*CHINESE), "zh_cn"
    )


@pytest.mark.parametrize(
    ("said", "mixed"),
    [
        ([line for pair in zip(SPANISH, PORTUGUESE, strict=True) for line in pair], True),
        ([*SPANISH, *PORTUGUESE], True),
        ([*SPANISH * 3, *PORTUGUESE[:3]], False),
        (SPANISH * 2, False),
        (PORTUGUESE * 2, False),
    ],
    ids=["in turn", "halves", "few", "Spanish", "Portuguese"],
)
def test_a_mix_of_languages_that_a_line_hardly_tells_is_noted(said: Sequence[str], mixed: bool) -> None:
    file = parse_plain_text(srt(*said).encode(), "es", ("es",))
    assert len(file.sentences.text) == len(set(said)) or not mixed
    found = [(row["reason"], row["times"], row["example"][:9]) for row in file.meta["faults"]]  # type: ignore[attr-defined]
    assert found == [("alike_languages", 1, "es and pt")] * mixed
    assert file.quirks["alike_languages"] == mixed


def test_some_foreign_lines_stay() -> None:
    assert len(texts(srt(*ENGLISH, *ENGLISH[:2], GERMAN[0]))) == 8


def test_without_end_marks_a_sentence_ends_at_a_pause() -> None:
    said = [f"so they went on to the next house number {n}" for n in "abcdefghij"]
    file = parsed(srt(*said))
    assert file.sentences.text.to_pylist() == said
    assert file.quirks["no_end_marks"] == 1
    assert texts(srt(*(line.upper() for line in said))) == [line.upper() for line in said]
    touching = texts(srt(*said, gap=0))
    assert 1 < len(touching) < len(said)
    assert "no_end_marks" not in parsed(srt(*ENGLISH, *ENGLISH)).quirks


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("tr", "Sen. Ben gelmem.", 2),
        ("en", "Sen. Ames came.", 1),
        ("nl", "Gen. Lee kwam.", 2),
        ("fr", "Mr. Bell est là.", 1),
    ],
)
def test_titles_are_those_of_the_language(language: str, text: str, number: int) -> None:
    assert len(split_sentences(text, language)) == number


def test_an_ellipsis_goes_on_in_the_next_cue() -> None:
    assert texts(srt("I thought...", "...you had gone.")) == ["I thought ... ... you had gone ."]
    assert texts(srt("I thought...", "...You had gone.")) == ["I thought ...", "... You had gone ."]


def test_marks_in_visual_order_are_put_behind() -> None:
    assert texts(srt(".\u05e9\u05dc\u05d5\u05dd", "?\u05de\u05d4-"), "he") == [
        "\u05e9\u05dc\u05d5\u05dd .",
        "- \u05de\u05d4 ?",
    ]
    assert texts(srt("\u05e9\u05dc\u05d5\u05dd."), "he") == ["\u05e9\u05dc\u05d5\u05dd ."]


def test_an_end_before_its_start_is_unknown() -> None:
    file = parsed(cues((1000, 500, "Who is it?"), (2000, 3000, "The post.")))
    assert [row[2:4] for row in rows(file.sentences)] == [(1000, None), (2000, 3000)]
    assert [fault["reason"] for fault in file.meta["faults"]] == ["end_before_start"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("first", "end"),
    [
        ((1000, 359_999_999), 4000),
        ((1000, 300_000), 4000),
        ((1000, 20_000), 4000),
        ((1000, 15_000), 15_000),
        ((1000, 8000), 8000),
    ],
)
def test_an_end_far_behind_the_next_start_is_unknown(first: tuple[int, int], end: int) -> None:
    file = parsed(
        cues((*first, "Who is it?"), (9000, 10_000, "The post."), (11_000, 12_000, "So.")).replace("00:5999", "99:59")
    )
    assert [row[2:4] for row in rows(file.sentences)] == [(1000, end), (9000, 10_000), (11_000, 12_000)]
    assert file.quirks["end_too_late"] == (end != first[1])


def test_an_end_that_none_follows_or_that_the_next_start_cuts() -> None:
    file = parsed(cues((1000, 90_000, "Who is it?"), (2000, 90_000, "The post.")))
    assert [row[2:4] for row in rows(file.sentences)] == [(1000, 2000), (2000, 5000)]


DISC = tuple(f"Line {word}." for word in ("one", "two", "three", "four", "five", "six"))


def disc(said: str, apart: int, first: int = 1) -> str:
    lines = ((n * apart + 1000, n * apart + 2000, f"{said} {line}") for n, line in enumerate(DISC))
    return re.sub("(?m)^([0-9])$", lambda match: str(int(match[1]) + first - 1), cues(*lines))


@pytest.mark.parametrize(
    "text",
    [
        disc("One:", 3000) + "\n" + disc("Two:", 3000),
        disc("One:", 30_000) + "\n" + disc("Two:", 30_000),
        disc("One:", 3000) + "\n" + disc("Two:", 3000, first=7),
        disc("One:", 30_000) + "\n" + disc("Two:", 31_000, first=7),
        "WEBVTT\n\n" + re.sub(r"(?m)^[0-9]\n", "", disc("One:", 3000) + "\n" + disc("Two:", 3000)).replace(",", "."),
    ],
)
def test_a_clock_that_starts_again_begins_another_part(text: str) -> None:
    file = parsed(text)
    said = file.sentences.text.to_pylist()
    assert [line[:3] for line in said] == ["One"] * 6 + ["Two"] * 6
    starts = file.sentences.start_ms.to_pylist()
    assert starts == sorted(starts)
    assert (file.quirks["clock_restarts"], file.quirks["time_backwards"]) == (1, 0)


def test_some_cues_out_of_order_begin_no_part() -> None:
    late = disc("One:", 30_000) + "\n7\n00:00:04,000 --> 00:00:05,000\nTwo: Line.\n"
    for text in (late, disc("One:", 3000) + "\n" + disc("One:", 3000)):
        file = parsed(text)
        assert file.quirks["clock_restarts"] == 0
        assert file.sentences.start_ms.to_pylist() == sorted(file.sentences.start_ms.to_pylist())


def test_frames_in_place_of_milliseconds() -> None:
    text = "1\n00:00:01:12 --> 00:00:02:24\nWho is it?\n\n2\n00:00:03:00 --> 00:00:04:05\nThe post.\n"
    assert [row[2:4] for row in rows(parsed(text).sentences)] == [(1480, 2960), (3000, 4200)]
    hundredths = (
        text.replace(":12 ", ",12 ").replace(":24\n", ",24\n").replace("03:00 ", "03,00 ").replace("04:05", "04,05")
    )
    assert rows(parsed(hundredths).sentences)[0][2:4] == (1120, 2240)


def test_a_song_over_several_cues_is_sung_in_each() -> None:
    said = texts(
        srt("- Sing.", "\u266a The hill is green", "and all the sheep are white", "and so am I \u266a", "- Fine.")
    )
    assert said == [
        "- Sing .",
        *(f"\u266a {line} \u266a" for line in ("The hill is green", "and all the sheep are white", "and so am I")),
        "- Fine .",
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["# Over the sea", "and far", "away #"],
            [f"\u266a {one} \u266a" for one in ("Over the sea", "and far", "away")],
        ),
        (["# 1 is here.", "We are # 1"], ["# 1 is here .", "We are # 1"]),
    ],
)
def test_a_song_between_number_signs(lines: list[str], said: list[str]) -> None:
    assert texts(srt(*lines)) == said


def test_songs_within_cues_sing_no_speech_between_them() -> None:
    first = ("\u266a I walk alone at night \u266a\nTurn it off!", "Hear that?  \u266a la la la \u266a")
    said = " ".join(texts(srt(*first, "\u266a We ride\nand never stop \u266a\nWho sings there?", "I love it. \u266a")))
    assert said == (
        "\u266a I walk alone at night \u266a Turn it off ! Hear that ? \u266a la la la \u266a"
        " \u266a We ride and never stop \u266a Who sings there ? I love it . \u266a"
    )


def test_karaoke_is_sung_and_its_effects_are_left_out() -> None:
    lines = (
        "0:00:01.00,0:00:02.00,,{\\k20}The {\\k30}hill",
        "0:00:01.00,0:00:01.20,fx,The",
        "0:00:03.00,0:00:04.00,,Fine.",
    )
    text = "\n".join(["[Events]", "Format: Start, End, Effect, Text", *(f"Dialogue: {line}" for line in lines)])
    assert texts(text) == ["\u266a The hill", "Fine ."]


def test_colours_of_ttml_tell_speakers_apart() -> None:
    head = (
        '<head><styling><style xml:id="a" tts:color="yellow"/><style xml:id="b" tts:color="#00ffff"/></styling></head>'
    )
    names = 'xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling"'
    pairs = '<span style="a">Who ?</span><br/><span style="b">Me .</span>'
    body = f'<div><p begin="1s" end="2s">{pairs}</p><p begin="3s" end="4s" style="b">No .</p>'
    body += '<p begin="5s" end="6s" tts:color="yellow">Go .</p></div>'
    found = texts(f"<tt {names}>{head}<body>{body}</body></tt>")
    assert [text.startswith("> >") for text in found] == [False, True, False, True]


def test_readings_of_ruby_in_ttml_are_left_out() -> None:
    head = '<head><styling><style xml:id="r" tts:ruby="text"/></styling></head>'
    styled = '<span>\u6771<span style="r">\u3072\u304c\u3057</span></span>\u3078\u3002'
    base, reading = '<span tts:ruby="base">\u897f</span>', '<span tts:ruby="text">\u306b\u3057</span>'
    own = f'<span tts:ruby="container">{base}{reading}</span>\u3078\u3002'
    body = f'<body><div><p begin="1s" end="2s">{styled}</p><p begin="3s" end="4s">{own}</p></div></body>'
    names = 'xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling"'
    assert texts(f"<tt {names}>{head}{body}</tt>", "ja") == ["\u6771\u3078 \u3002", "\u897f\u3078 \u3002"]
