"""Sources whose address has a key or a password, such as ``s3://KEY:SECRET@bucket``: tables name them without it."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.redaction import without_user_info


def shown_sources(sources: Sequence[str]) -> list[str]:
    """Return the sources as tables name them, in the same order.

    Raises:
        InputError: two sources differ only in their secrets.
    """
    shown = [without_user_info(source) for source in sources]
    for name, source in zip(shown, sources, strict=True):
        if source != next(other for other, known in zip(sources, shown, strict=True) if known == name):
            raise InputError(f"subtitles.sources names {name} twice with different keys: keep one")
    return shown


def with_secrets_again(files: DataFrame, sources: Sequence[str]) -> DataFrame:
    """Return rows of ``subtitles.manifest`` whose column source is the address as the settings have it.

    The addresses are joined as data, because Spark shows the constants of a query on its pages.
    """
    secret = [(name, source) for name, source in zip(shown_sources(sources), sources, strict=True) if name != source]
    if not secret:
        return files
    known = files.sparkSession.createDataFrame(list(dict.fromkeys(secret)), "source string, address string")
    joined = files.join(F.broadcast(known), "source", "left")
    return joined.withColumn("source", F.coalesce("address", "source")).select(*files.columns)
