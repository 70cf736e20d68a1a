"""Borders of sentences by our rules, by pysbd and by NLTK's punkt, on small texts with known borders.

    python -m tests.benchmarks.sentence_splitters

The texts are made up: lines of films as subtitles join them, with the titles, numbers, interruptions and quotations of
each language. A bar is a border. pysbd is no dependency: without it (``pip install pysbd``) its column is empty.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate

from udfs.opus.tokens import split_sentences, straight

TEXTS = {
    "en": (
        "Mrs. Hale saw Dr. Kent at the pier. | He left at 6 a.m. with the others. | Did he? | Yes, sir... | I do.",
        "We paid $3.50 each. | No. 9 is closed. | No. | He moved to St. Ives in Jan. 1953. | Good for him!",
        '"Run!" she said. | Nobody moved. | "Why not?" | Because the U.S. Army was there. | Well... maybe not all.',
        "Wait, what?! | You and J. B. Moss? | That can't be. | Sgt. Cole vs. the sea, eh? | Ha!",
    ),
    "de": (
        "Hr. Vogt wohnt in der Goethestr. 5 im Hof. | Seit wann? | Seit dem 3. Mai. | Das sind ca. zwei Jahre, oder?",
        "Dr. Ahrens ist da. | Sie kam um 8.30 Uhr. | Und Prof. Lenz? | Nein... | Der kommt nicht mehr.",
        '"Halt!", rief er. | Keiner blieb stehen. | Das war z. B. mein Bruder. | Es kostet 1.200 Euro. | Zu viel!',
        "Am 24. Dezember schneite es. | Wirklich? | Ja, bzw. es regnete. | Fr. Kahl hat usw. gesagt. | Mehr nicht.",
    ),
    "fr": (
        "M. Noir est parti. | Avec Mme Blanc ? | Oui, à 8 h. | Et le Dr. Petit ? | Il reste... | Tant mieux !",
        "Voir p. 12 du rapport. | Le n° 5 manque. | C'est M. J. Dupuis qui l'a. | Ah bon ? | Il vit av. Foch.",
        "« Jamais ! » dit-il. | Personne ne rit. | Ça coûte 3.50 euros. | Vous êtes sûr ?! | Non. | Enfin, si.",
        "Et St. Malo ? | On y va. | Le col. Roux nous attend. | Alors... on part. | Vite !",
    ),
    "el": (
        "Πού είναι ο κ. Νίκος; | Έφυγε. | Με την κα. Μαρία; | Ναι, στις 8.30. | Καλά.",
        "Ο Δρ. Πέτρου μένει στην οδ. Ερμού. | Από πότε; | Δεν ξέρω... | Ρώτα τον! | Αύριο.",
        "«Σταμάτα!» φώναξε. | Κανείς δεν άκουσε. | Κάνει 3.50 ευρώ. | Τόσο πολύ; | Ναι.",
        "Τι έγινε; | Τίποτα. | Ο Α. Παππάς ήρθε. | Και μετά; | Έφυγε πάλι!",
    ),
    "ru": (
        "Он живёт на ул. Мира. | С каких пор? | С 1953 г. в этом доме. | Понятно. | А проф. Орлов?",
        "Это стоит 3.50 руб. за штуку. | Дорого! | Ну... не знаю. | А. П. Белов пришёл. | Один?",
        "«Стой!» — крикнул он. | Никто не встал. | Где г. Орлов? | Дома. | И т. д. по списку.",
        "Было ок. двух тысяч, т. е. много. | Правда?! | Да. | Тов. Маров подтвердит. | Хорошо.",
    ),
    "ar": (
        "أين كنت؟ | كنت في البيت. | يا د. سامي تعال. | لماذا؟ | لا شيء.",
        "دفعت 3.50 دينار. | هذا كثير! | ربما... | لا أعرف. | اسأل أ. كمال غدا.",
        "«قف!» صاح الرجل. | لم يقف أحد. | هل تسمعني؟! | نعم. | إذن تكلم.",
        "من هناك؟ | أنا. | ادخل، الباب مفتوح. | شكرا! | اجلس هنا.",
    ),
    "hi": (
        "तुम कहाँ थे? | मैं घर पर था। | डॉ. शर्मा आए थे। | कब? | कल शाम।",
        "यह 3.50 रुपये का है। | बहुत महँगा है! | शायद... | मुझे नहीं पता। | श्री. वर्मा से पूछो।",
        '"रुको!" उसने कहा। | कोई नहीं रुका। | क्यों?! | डर गए। | अच्छा।',
        "कौन है? | मैं हूँ। | अंदर आओ, दरवाज़ा खुला है। | धन्यवाद! | बैठो।",
    ),
}
_PUNKT = {"en": "english", "de": "german", "fr": "french", "el": "greek", "ru": "russian"}
Splitter = Callable[[str], list[str]]


def ours(language: str) -> Splitter:
    return lambda text: split_sentences(text, language)


def pysbd(language: str) -> Splitter | None:
    """Return the splitter of pysbd; None where it is not installed."""
    if find_spec("pysbd") is None:
        return None
    segmenter = import_module("pysbd").Segmenter(language=language, clean=False)
    return lambda text: [part.strip() for part in segmenter.segment(text)]


def punkt(language: str) -> Splitter | None:
    """Return NLTK's splitter with the parameters of a language; None for one that has none."""
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    if language not in _PUNKT:
        return None
    data = import_module(f"punkt.data.{_PUNKT[language]}")
    parameters = PunktParameters()
    parameters.abbrev_types = set(data.ABBREV_TYPES)
    parameters.collocations = set(data.COLLOCATIONS)
    parameters.sent_starters = set(data.SENT_STARTERS)
    parameters.ortho_context.update(data.ORTHO_CONTEXT)
    return lambda text: list(PunktSentenceTokenizer(parameters).tokenize(text))


def borders(sentences: list[str]) -> set[int]:
    """Return the places of the inner borders, counted in characters that are no blanks."""
    sizes = accumulate(len("".join(sentence.split())) for sentence in sentences if sentence.strip())
    return set(list(sizes)[:-1])


def score(splitter: Splitter, texts: tuple[str, ...]) -> tuple[float, int, int]:
    """Return F1 of a splitter's borders, and how many it misses and makes up."""
    right = missed = made_up = 0
    for text in texts:
        true = borders(straight(text).split("|"))
        found = borders(splitter(" ".join(straight(text).replace("|", " ").split())))
        right += len(true & found)
        missed += len(true - found)
        made_up += len(found - true)
    return 2 * right / (2 * right + missed + made_up), missed, made_up


def main() -> None:
    """Print F1, missed and made-up borders of each splitter and language as a table."""
    print("| language | borders | ours | pysbd | punkt |\n|---|---:|---|---|---|")
    for language, texts in TEXTS.items():
        cells = []
        for splitter in (ours(language), pysbd(language), punkt(language)):
            if splitter is None:
                cells.append("")
                continue
            f1, missed, made_up = score(splitter, texts)
            cells.append(f"{100 * f1:.1f}% ({missed}, {made_up})")
        count = sum(len(borders(text.split("|"))) for text in texts)
        print(f"| {language} | {count} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
