"""Name the subtitles that a set was made from in its card and report: OPUS's, or files of its makers."""

from dataclasses import dataclass

from pyspark.sql import functions as F

from etl.pipeline.lakehouse import Lakehouse
from etl.subtitles.tables import FILES

OPUS_CITATION = "lison2016opensubtitles"


@dataclass(frozen=True)
class Origins:
    """The subtitle files that were read.

    Attributes:
        opus: whether some are OPUS's XML.
        forms: of the others, such as srt.
        numbered: whether some films have IMDb numbers, which OPUS's folders name.
        named: whether some have the names of their files in place of numbers.
    """

    opus: bool = True
    forms: tuple[str, ...] = ()
    numbered: bool = True
    named: bool = False

    @property
    def source(self) -> str:
        """What was read, as the object of a sentence."""
        own = f"subtitle files of the set's makers ({', '.join(self.forms)})" if self.forms else ""
        return " and ".join(filter(None, ["OPUS OpenSubtitles" if self.opus else "", own]))

    @property
    def raw(self) -> str:
        """The form of what was read."""
        own = f"Files of subtitles ({', '.join(self.forms)}), whose cues have times" if self.forms else ""
        xml = "XML files of subtitles with sentences, times and tokens" if self.opus else ""
        return f"{'; '.join(filter(None, [xml, own]))}."

    @property
    def film(self) -> str:
        """The meaning of movie_id."""
        name = "`file:` and the name of its file"
        if not self.named:
            return "the film's IMDb number"
        return f"the film's IMDb number; {name} where the path has none" if self.numbered else f"the film: {name}"

    @property
    def upload(self) -> str:
        """The meaning of release, language and subtitle_id."""
        return "the subtitle file in OPUS's OpenSubtitles" if self.opus else "the subtitle file; release is a setting's"

    @property
    def rights(self) -> str:
        """Whose the texts are, for a card's section on the licence."""
        owners = "The subtitles belong to those who made them and the films."
        opus = (
            " OpenSubtitles gave them to OPUS, which asks those who use them to link to <http://www.opensubtitles.org/>\n"
            "and to cite Lison and Tiedemann, *OpenSubtitles2016: Extracting Large Parallel Corpora from Movie and TV\n"
            "Subtitles* (LREC 2016)."
        )
        own = " Where the makers of this set have their files from, they say beside it." if self.forms else ""
        return owners + (opus if self.opus else "") + own

    @property
    def owners(self) -> str:
        """Whose the texts are, for a report."""
        return "The texts have copyright owners" + (
            ": they come from OpenSubtitles through OPUS." if self.opus else "."
        )

    @property
    def not_cited(self) -> tuple[str, ...]:
        """The entries of a citation that do not concern these subtitles."""
        return () if self.opus else (OPUS_CITATION,)


def origins_of(lakehouse: Lakehouse) -> Origins:
    """Return the origins of a lakehouse's files; those of OPUS where it has none."""
    if not lakehouse.exists(FILES):
        return Origins()
    named = F.startswith("movie_id", F.lit("file:"))
    row = (
        lakehouse.read(FILES)
        .agg(
            F.coalesce(F.bool_or(F.col("form").isNull()), F.lit(True)).alias("opus"),
            F.array_sort(F.collect_set("form")).alias("forms"),
            F.coalesce(F.bool_or(~named), F.lit(True)).alias("numbered"),
            F.coalesce(F.bool_or(named), F.lit(False)).alias("named"),
        )
        .collect()[0]
    )
    return Origins(row["opus"], tuple(row["forms"]), row["numbered"], row["named"])
