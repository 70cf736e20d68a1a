"""The rules, and what they stand on: a folder for each data set, and folders that know none."""

DATA_SETS = ("subtitles", "edos", "emo_pillars", "augesc", "replies")
"""The folders of data sets, in the order of their stages where dependencies leave a choice."""
WITH_TABLES = (*(f"{folder}.tables" for folder in (*DATA_SETS, "llm")), "emo_pillars.steps")
"""The modules that declare tables."""
