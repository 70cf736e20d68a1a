"""Look up the lemma of each distinct word of the subtitles, once (EDOS 3.1: features after lemmatization)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.lakehouse.stage import Sliced, StageRun, Units, stage
from etl.lakehouse.tables.subtitles import FILES, LEMMAS
from udfs.lemmas import lemmas_of_all, vocabulary


def words_of(files: DataFrame, run: StageRun) -> DataFrame:
    return vocabulary(files, F.explode("sentences.text"))


@stage(
    reads=(FILES,),
    writes=LEMMAS,
    settings=("subtitles.lemma_language",),  # not the lemmatizer: both give the same table
    sliced=Sliced("word", cost_per_minute=500_000, prepare=words_of),
    units=Units("words"),
)
def lemmatize_words(words: DataFrame, run: StageRun) -> DataFrame:
    backend = run.all_settings.subtitles.lemmatizer
    return lemmas_of_all(words, backend=backend, language=run.settings.subtitles.lemma_language)


if __name__ == "__main__":
    lemmatize_words.main()
