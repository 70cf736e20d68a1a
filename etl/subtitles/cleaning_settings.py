"""The cleaning rules that the settings ask for."""

from conf.subtitle_settings import CleaningSettings
from conf.wordlists import words
from etl.common.near_duplicates import NearDuplicates
from etl.subtitles.cleaning import CleaningRules


def rules_of(settings: CleaningSettings) -> CleaningRules:
    """``subtitles.cleaning`` as rules, with the word lists of ``conf/``."""
    near = NearDuplicates(jaccard=settings.near_duplicate_jaccard) if settings.near_duplicates else None
    return CleaningRules(
        **settings.model_dump(exclude={"near_duplicates", "near_duplicate_jaccard"}),
        near=near,
        not_names=words("not_names"),
        profanity=words("profanity"),
    )
