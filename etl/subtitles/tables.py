"""Tables of the subtitle path: files found, read, segmented and cleaned."""

from etl.pipeline.tables.model import Table

SENTENCE = "struct<index: int, block_first: int, block_last: int, start_ms: int, end_ms: int, text: string>"
TURN = "struct<text: string, start_ms: int, end_ms: int, sentence_first: int, sentence_last: int>"

MANIFEST = Table(
    "subtitles.manifest",
    "One subtitle file found under a source: a plain file, or a member of an OPUS zip.",
    """
    source string COMMENT 'the source as the settings name it',
    source_path string COMMENT 'path relative to its source; zip!member for a member; other bytes as U+FFFD and hex',
    container string COMMENT 'URI of the file to open: the file itself, or its zip',
    offset bigint COMMENT 'where the member\\'s local header starts in the zip; 0 for a plain file',
    stored_bytes bigint COMMENT 'bytes as stored (compressed)',
    bytes bigint COMMENT 'bytes unpacked, as the zip claims; as stored for a plain file',
    method int COMMENT 'zip compression method (0 stored, 8 deflated); null for a plain file',
    crc bigint COMMENT 'CRC-32 of the unpacked member; null for a plain file',
    gzipped boolean COMMENT 'the name ends in .gz',
    tag string COMMENT 'version of the container: size and modification time, or ETag',
    release string COMMENT 'OPUS release, e.g. v2018',
    language string COMMENT 'from the path: xml/<language>/...; null when the path names none',
    movie_id string COMMENT 'the IMDb folder; file:<subtitle_id> when the path names none',
    directory_year int COMMENT 'the year folder',
    subtitle_id string COMMENT 'the file name without its endings',
    member string COMMENT 'name in the zip, with a number where the zip has it again; null for a plain file',
    fault string COMMENT 'reason: detail of what cannot be read, known from the listing; null for a file to read'
    """,
    ("source_path",),
    {"bytes_not_negative": "bytes >= 0"},
)

WITHDRAWN = Table(
    "subtitles.withdrawn",
    "One film or file that was withdrawn: no table has rows from it.",
    """
    kind string COMMENT 'film or file', id string COMMENT 'movie_id of a film, source_path of a file',
    reason string COMMENT 'why, as it was given'
    """,
    ("kind", "id"),
    {"kind_is_known": "kind IN ('film', 'file')"},
    by_command=True,
)

FILES = Table(
    "subtitles.files",
    "One parsed subtitle file with its sentences nested.",
    f"""
    source string, source_path string, release string, language string,
    movie_id string, subtitle_id string, document_id string, directory_year int,
    year int COMMENT 'meta year; null when absent or not a year of cinema',
    genres array<string>, country string, original string COMMENT 'original language(s)',
    duration_ms int COMMENT 'film length by meta', subtitle_duration_ms int,
    blocks int, cds string, subtitle_date string,
    encoding string COMMENT 'of the uploaded srt; of a file that is no OPUS XML: as it was read',
    encoding_confidence double COMMENT '1 where a mark or the bytes decide, else how well the text fits; null for XML',
    form string COMMENT 'srt, vtt, ass, microdvd, mpl2, subviewer, ttml, sami or json3; null for XML',
    faults array<struct<reason: string, times: int, lines: array<int>, example: string>>
        COMMENT 'what was not read as it stands there: how often, the first 20 lines, the first text; null for XML',
    machine_translated boolean,
    sentence_count int, token_count int,
    quirks map<string, int> COMMENT 'how often each known oddity occurred in this file',
    sentences array<{SENTENCE}>,
    speaker_marks int COMMENT 'sentences that open with a dash or a speaker; null in rows of earlier versions',
    content_hash bigint COMMENT 'hash of all that was read from the file', work_version bigint
    """,
    ("source_path",),
    {"counts_not_negative": "sentence_count >= 0 AND token_count >= 0"},
    clustered_by=("movie_id",),
)


CHOSEN_UPLOADS = Table(
    "subtitles.chosen_uploads",
    "The upload chosen for a film.",
    """
    source_path string, subtitle_id string, movie_id string, release string, language string,
    choice int COMMENT '1 for the film\\'s best upload', uploads int COMMENT 'uploads of the film read'
    """,
    ("source_path",),
)

LEMMAS = Table(
    "subtitles.lemmas",
    "One distinct word of the subtitles with its lemma.",
    "word string, lemma string COMMENT 'the word itself where the dictionary has no other'",
    ("word",),
)

QUARANTINE = Table(
    "subtitles.quarantine",
    "One file that could not be read or parsed.",
    """
    source string, source_path string, reason string, detail string,
    work_version bigint, stage string, run_id string, slice int
    """,
    ("source_path",),
    empty_if_absent=True,
)


TURN_SCORES = Table(
    "subtitles.turn_scores",
    "One file's turn-change scores, one for each pair of adjacent sentences. What decides is in subtitles.dialogues.",
    """
    source_path string, subtitle_id string, model string COMMENT 'identity of the segmenter',
    scores array<float> COMMENT 'SVM margin that sentence i+1 opens a new turn; above 0 it does',
    carried array<boolean> COMMENT 'whether sentence i+1 opens a turn by other uploads; null: unknown',
    sources array<string> COMMENT 'what would decide by default rules: mark (its own), carried, model; null: no pair',
    work_version bigint
    """,
    ("source_path",),
)

_DIALOGUE = f"""
    dialogue_id string COMMENT '<subtitle_id>-<index of its first sentence>',
    source_path string, subtitle_id string, movie_id string, release string, language string,
    year int, genres array<string>,
    turns array<{TURN}>,
    certainties array<float> COMMENT 'probability of each turn that it is one speaker\\'s, and whole',
    borders array<string> COMMENT 'what decided by the settings that each opens: start, silence, mark, carried, model',
    border_certainties array<float> COMMENT 'probability of each turn that it opens where the speaker changes',
    speakers array<string> COMMENT 'name of the label that each turn opens with, in capitals; null without one'
    """

DIALOGUES = Table(
    "subtitles.dialogues",
    "One raw dialogue: the turns between two silences (EDOS 3.1).",
    _DIALOGUE + ", work_version bigint",
    ("dialogue_id",),
)

_CLEANED = (
    _DIALOGUE
    + """,
    profane boolean COMMENT 'some turn has a word of the profanity list',
    raw_dialogue_id string COMMENT 'dialogue_id in subtitles.dialogues that it is a part of',
    certainty float COMMENT 'probability that all its borders are right, before its first turn and after its last too',
    work_version bigint
    """
)

FILTERED_DIALOGUES = Table(
    "subtitles.filtered_dialogues",
    "One dialogue that the cleaning rules leave of its film, before those that repeat another go (EDOS 3.1).",
    _CLEANED,
    ("dialogue_id",),
)

CLEAN_DIALOGUES = Table(
    "subtitles.clean_dialogues",
    "One dialogue after every cleaning rule of EDOS 3.1.",
    _CLEANED,
    ("dialogue_id",),
)

GAPS = Table(
    "subtitles.gaps",
    "One class of silences between neighbouring sentences of the chosen uploads, and how many there are (EDOS C).",
    """
    kind string COMMENT 'gap; overlap: starts before the last one ends; same_block; no_time; in_sentence: of blocks',
    from_ms int COMMENT 'lower edge of the bin, of a gap; null otherwise',
    to_ms int COMMENT 'upper edge, not included; null for the last bin', pairs bigint
    """,
    ("kind", "from_ms"),
    {"pairs_not_negative": "pairs >= 0"},
)

OF_SETS = (FILTERED_DIALOGUES.name, CLEAN_DIALOGUES.name)
"""Tables of which each set has its own."""
