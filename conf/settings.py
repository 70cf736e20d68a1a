"""Settings: every number a run depends on, with its default and where the default comes from.

A profile (``conf/profiles/<name>.yaml``) is laid over the defaults, then each ``--config`` file, then
each ``--set section.key=value``. Unknown keys and bad values are refused with the key's name.
"""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from conf.errors import InputError

PROFILES = ("local", "databricks", "emr")


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LakehouseSettings(Section):
    root: str = Field("lakehouse", description="folder or URI of the tables when no catalog is set")
    catalog: str | None = Field(None, description="catalog whose schemas hold the tables (Unity Catalog)")


class SparkSettings(Section):
    master: str | None = Field(None, description="null: what spark-submit or the runtime says")
    driver_memory: str | None = None
    shuffle_partitions: int | None = Field(None, ge=1)
    conf: dict[str, str] = Field(default_factory=dict, description="further Spark configuration")
    bundled_jars: bool = Field(False, description="start from the jars that `make install` fetched")
    set_runtime: bool = Field(
        True, description="set Delta's extensions and the like; false where the runtime owns them"
    )


class PipelineSettings(Section):
    slice_minutes: float = Field(20, gt=0, description="work between two commits of a sliced stage")
    max_error_share: float = Field(
        0.01, ge=0, le=1, description="share of rows a model may fail on before its stage fails"
    )
    retrain_on_growth: bool = Field(True, description="train again when a table that the training reads has changed")


class CleaningSettings(Section):
    strip_names: bool = Field(True, description="EDOS 3.1: character names leave the turn, the turn stays")
    strip_brackets: bool = Field(True, description="ours: bracketed sounds and manners leave the turn")
    repeated_turns: Literal["previous", "dialogue", "off"] = Field(
        "previous", description="a turn that says again what the previous (or any earlier) turn said"
    )
    previously_on: bool = Field(True, description="EDOS 3.1: turns that start with previous(ly) on go")
    min_characters: int | None = Field(2, description="EDOS 3.1")
    max_characters: int | None = Field(100, description="EDOS 3.1")
    length_in: Literal["characters", "tokens"] = Field("characters", description="EDOS 3.1 says characters")
    min_alphabetic_share: float | None = Field(0.6, ge=0, le=1, description="EDOS 3.1")
    repetitive_min_tokens: int = Field(5, ge=1, description="ours: shorter turns may repeat a word")
    repetitive_share: float | None = Field(0.5, description="ours: one word above this share is a lot")
    cues_end_dialogue: bool = Field(False, description="ours: a bare name or sound goes alone when false")
    drop_songs: bool = Field(True, description="ours: sung turns go")
    min_turns: int = Field(2, ge=1, description="EDOS 3.1: dialogues left with one turn go")
    excluded_genres: tuple[str, ...] = Field(("Documentary",), description="EDOS 3.1")
    exact_duplicates: bool = Field(True, description="EDOS 3.1: the first copy across films stays")
    near_duplicates: bool = Field(True, description="between uploads of one film")
    near_duplicate_jaccard: float = Field(0.8, ge=0, le=1, description="ours: on word shingles")
    drop_profane: bool = Field(False, description="drop dialogues with a word of conf/profanity.txt")


class SubtitleSettings(Section):
    sources: tuple[str, ...] = Field((), description="folders of .xml/.xml.gz, OPUS zips; paths or URIs")
    languages: tuple[str, ...] = ("en",)
    release: str = Field("v2018", description="for sources whose path names no OPUS release")
    sample: float = Field(1.0, gt=0, le=1, description="share of films, by content hash, nested")
    uploads_per_film: int = Field(1, ge=0, description="0 keeps all")
    truecase: bool = Field(True, description="OPUS's truecased form of shouted words as text")
    max_file_megabytes: int = Field(64, ge=1, description="a file that unpacks to more is quarantined")
    max_ratio: int = Field(200, ge=2, description="a file that unpacks to more times its size is, too")
    task_megabytes: int = Field(64, ge=1, description="stored bytes read by one task")
    lemma_language: str = Field("en", description="of the lemma dictionary; codes as simplemma's")
    lemmatizer: Literal["spark-nlp", "simplemma"] = "spark-nlp"
    turn_examples: tuple[str, ...] = Field(
        (), description="folders of MELD, EmoryNLP and DailyDialog transcripts, for the turn segmenter"
    )
    explicit_marks: bool = Field(True, description="a dash or speaker label decides, the SVM the rest")
    silence_seconds: float = Field(5.0, gt=0, description="EDOS 3.1: more silence parts two dialogues")
    silence_ends_turn: bool = Field(
        True, description="ours: nobody's turn goes on over such a silence (the paper is silent)"
    )
    cleaning: CleaningSettings = CleaningSettings()


class AnnotationSettings(Section):
    bands: tuple[float, ...] = Field(
        (0.9, 0.8, 0.7, 0.6), description="EDOS 3.2: from 0.9; a class that falls short steps down as the released one"
    )
    per_class: int = Field(250, ge=1, description="EDOS 3.2: the most readable of each class")
    dialogues_per_hit: int = Field(15, ge=1, description="EDOS 3.2")
    quiz_per_hit: int = Field(5, ge=0, description="EDOS 3.2")
    quiz_to_pass: int = Field(3, ge=0, description="EDOS 7: right answers that earn the bonus")
    quiz_characters: tuple[int, int] = Field((20, 160), description="ours: shorter and longer situations are no quiz")
    readability_alpha: float = Field(87, gt=0, description="EDOS A")
    distinct_weight: float = Field(0.04, ge=0, description="EDOS A")
    frequencies: Literal["relative", "counts"] = Field("relative", description="reading of EDOS A's frequencies")
    distinct: Literal["share", "percent"] = Field("share", description="reading of EDOS A's percentage of words")
    seed: int = Field(13, description="of the order of items, and of what the quiz offers")
    workers: int = Field(3, ge=1, description="EDOS 3.2: answers to each HIT")
    reward: float = Field(0.40, ge=0, description="EDOS 7: dollars a HIT")
    bonus: float = Field(0.10, ge=0, description="EDOS 7: dollars for a quiz passed")
    countries: tuple[str, ...] = Field(("US", "GB", "CA", "AU", "NZ"), description="EDOS 7: where workers are")
    folder: str | None = Field(None, description="of the exported files; null: annotation/ beside the tables")
    post_to: str | None = Field(None, description="URL that the page sends answers to; null: it offers a download")
    batches: tuple[str, ...] = Field((), description="key files of the batches that went out, or folders of them")
    answers: tuple[str, ...] = Field(
        (), description="the page's answer files (.json, .jsonl, .csv), or folders of them"
    )
    known_workers: tuple[str, ...] = Field((), description="whose answers count; empty: everybody's")
    keep_half_done: bool = Field(False, description="answers of HITs that were not done to their end count, too")


class AuditSettings(Section):
    bands: tuple[float, ...] = Field((0.9, 0.7, 0.5, 0.3, 0.0), description="of the classifier's confidence")
    per_stratum: int = Field(5, ge=1, description="turns of each label and band that are looked at")
    items_per_hit: int = Field(20, ge=1)
    workers: int = Field(1, ge=1, description="answers to each HIT")


class ReportSettings(Section):
    """The report on the finished data set (EDOS 4)."""

    folder: str | None = Field(None, description="where edos.html goes; null: <lakehouse.root>/reports")
    examples: int = Field(2, ge=0, le=5, description="dialogues shown for each quarter of the confidence scale")
    flow_labels: int = Field(9, ge=1, le=40, description="labels with a band of their own in the flow, most frequent")


class ExpansionSettings(Section):
    """EDOS 3.3. Thresholds are cosines and belong to ``models.sentence_encoder``: another encoder, another scale."""

    enabled: bool = Field(True, description="false: nothing is taken from the clean dialogues, released rows stay")
    pool_share: float = Field(1.0, gt=0, le=1, description="share of the clean dialogues, by content hash, nested")
    threshold: float = Field(0.92, gt=0, le=1, description="EDOS 3.3, C: similar to a dialogue of the crowd")
    again_threshold: float = Field(0.90, gt=0, le=1, description="similar to a self-labelled one (released rows)")
    held_out_threshold: float = Field(0.92, gt=0, le=1, description="from here on near a held-out row: left out")
    floor: float = Field(0.85, gt=0, le=1, description="ours: matches are stored from here on")
    matches: int = Field(5, ge=1, description="ours: the best so many matches of a dialogue are stored")

    @model_validator(mode="after")
    def floor_is_lowest(self) -> "ExpansionSettings":
        if self.floor > min(self.threshold, self.again_threshold, self.held_out_threshold):
            raise ValueError("floor is above a threshold: matches below it are not stored")
        return self


class SelfLabelSettings(Section):
    confidence: float | None = Field(0.9, ge=0, le=1, description="EDOS 3.3: from here on; null: any")
    per_class: int | None = Field(None, ge=1, description="the most confident of each class (released rows: 100)")


class EdosSettings(Section):
    weak_label_examples: str | None = Field(
        None, description="folder with classifier_train.txt[.gz] and classifier_valid.txt[.gz]"
    )
    crowd_votes: tuple[str, ...] = Field((), description="files of worker answers (released CSV format)")
    empathetic_dialogues: str | None = Field(
        None, description="CSV of EmpatheticDialogues with columns context, Dialog_ID, Type, Text; or its folder"
    )
    annotation: AnnotationSettings = AnnotationSettings()
    audit: AuditSettings = AuditSettings()
    released_labels: tuple[str, ...] = Field(
        (), description="released files of similar, self-labelled and similar self-labelled dialogues"
    )
    top_n: int = Field(1_000_000, ge=1, description="EDOS 3.1: the most confident dialogues")
    dialogue_confidence: Literal["max", "mean", "first", "last"] = Field(
        "max", description="how turns' weak confidences make a dialogue's; the paper does not say"
    )
    test_share: float = Field(0.2, gt=0, lt=1, description="EDOS 3.3: balanced over the classes")
    validation_share: float = Field(0.1, gt=0, lt=1, description="of all crowd labels")
    report: ReportSettings = ReportSettings()
    expansion: ExpansionSettings = ExpansionSettings()
    self_labels: SelfLabelSettings = SelfLabelSettings()

    @property
    def expands(self) -> bool:
        """Whether there is anything to train on beyond the crowd's labels."""
        return self.expansion.enabled or bool(self.released_labels)


class TrainingSettings(Section):
    epochs: int = Field(5, ge=1)
    learning_rate: float = Field(2e-5, gt=0)
    head_learning_rate: float | None = Field(None, description="of the new layers; null: the same")
    layer_decay: float = Field(1.0, gt=0, le=1, description="ours: an encoder layer's rate over that of the next above")
    batch_size: int = Field(32, ge=1, description="rows a step on one device")
    effective_batch: int = Field(32, ge=1, description="rows an update, by accumulation")
    max_tokens: int = Field(100, ge=8)
    warmup_share: float = Field(0.1, ge=0, le=1)
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    average_decay: float = Field(
        0.0, ge=0, lt=1, description="ours: keep a running average of the weights with this memory; 0: the weights"
    )
    dropout: float = Field(0.1, ge=0, lt=1)
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        "auto", description="auto: bf16 or fp16 on a GPU, fp32 on a CPU"
    )
    device: str = Field("auto", description="auto, cpu, cuda or cuda:N")
    seed: int = 13


class TurnSegmenterSettings(Section):
    name: str = Field("edos-turn-segmenter", description="in the MLflow registry")
    kind: Literal["svm", "encoder"] = Field("svm", description="EDOS 3.1: svm. Ours: an encoder that reads both")
    regularization: float = Field(0.007, gt=0, description="by cross-validation over training episodes")
    features: int = Field(2**20, ge=2**10, description="hash buckets, a power of two")
    lengths: bool = Field(True, description="ours: sentence lengths and repeated lemmas as features")
    max_iterations: int = Field(60, ge=1)
    partitions: int = Field(1, ge=1, description="of the training; one gives the same sums everywhere")
    subtitle_pairs: int = Field(20_000, ge=0, description="pairs of each kind of mark, at most")
    films: int = Field(2_000, ge=0, description="films whose marks are read for training, by content hash")


class TurnPairSettings(TrainingSettings):
    """The training of the segmenter's other kind, the encoder."""

    epochs: int = Field(2, ge=1)
    max_tokens: int = Field(64, ge=8)


class WeakLabelerSettings(TrainingSettings):
    name: str = "edos-weak-labeler"


class EmotionClassifierSettings(TrainingSettings):
    name: str = "edos-emotion-classifier"
    effective_batch: int = Field(256, description="EDOS C")
    weighted: bool = Field(True, description="decreasing weights on token embeddings (EDOS 3.3.1)")
    start_from_weak_labeler: bool = Field(
        False, description="ours: start from the weak labeler's encoder, not from the plain one"
    )


class ComparisonSettings(Section):
    seeds: tuple[int, ...] = Field((13, 14, 15), min_length=1, description="one training each, of every arm")
    weightings: tuple[bool, ...] = Field((True, False), min_length=1, description="EDOS C: with weights and without")
    origins: tuple[Literal["crowd", "similar", "self", "similar_self"], ...] = Field(
        ("crowd", "similar", "self", "similar_self"), min_length=1, description="added one after the other (EDOS 3.3)"
    )


class SelfLabelerSettings(EmotionClassifierSettings):
    name: str = "edos-self-labeler"


class ModelSettings(Section):
    weak_encoder: str = Field("hf:bert-base-uncased", description="what the weak labeler starts from")
    encoder: str = Field("hf:roberta-base", description="what the dialogue classifier starts from")
    turn_encoder: str = Field("hf:roberta-base", description="what the segmenter of kind encoder starts from")
    sentence_encoder: str = Field(
        "hf:sentence-transformers/roberta-base-nli-stsb-mean-tokens", description="EDOS 3.3: embeds turns"
    )
    turn_segmenter: str = "models:/edos-turn-segmenter@champion"
    weak_labeler: str = "models:/edos-weak-labeler@champion"
    self_labeler: str | None = Field(
        "models:/edos-self-labeler@champion", description="null: no model labels dialogues for its successor"
    )
    emotion_classifier: str = "models:/edos-emotion-classifier@champion"
    batch_size: int = Field(64, ge=1, description="rows a model sees at once when it labels")
    threads: int = Field(1, ge=1, description="CPU threads of a labelling worker")
    folder: str | None = Field(None, description="shared by all workers; null: beside the tables")
    share: bool = Field(False, description="copy pkg: and file: models to the shared folder, for other machines")
    training_threads: int = Field(2, ge=1, description="CPU threads of a training; fixed for equal sums")


class TrainSections(Section):
    turn_segmenter: TurnSegmenterSettings = TurnSegmenterSettings()
    turn_pairs: TurnPairSettings = TurnPairSettings()
    weak_labeler: WeakLabelerSettings = WeakLabelerSettings()
    self_labeler: SelfLabelerSettings = SelfLabelerSettings()
    emotion_classifier: EmotionClassifierSettings = EmotionClassifierSettings()
    comparison: ComparisonSettings = ComparisonSettings()
    processes: int = Field(
        1, ge=1, description="of an emotion classifier's training, each on a GPU or CPU of its own; 1: the driver alone"
    )


class PublishingSettings(Section):
    """The data set as files, for others with the films' text or without."""

    name: str = Field("edos", pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}", description="the data set's name and folder")
    folder: str | None = Field(None, description="null: <lakehouse.root>/exports/<name>")
    text: Literal["included", "references"] = Field(
        "included", description="references: sentence numbers of OPUS in place of the films' text"
    )
    formats: tuple[Literal["parquet", "jsonl"], ...] = Field(("parquet", "jsonl"), min_length=1)
    test_share: float = Field(0.1, gt=0, lt=0.5, description="of films; EDOS 5 splits 80, 10 and 10 %")
    validation_share: float = Field(0.1, gt=0, lt=0.5, description="of films")
    dialogues_per_file: int = Field(250_000, ge=1, description="a split of more is cut, by hash of dialogue_id")
    references: str | None = Field(None, description="an export without text, for restore-text")


class MlflowSettings(Section):
    tracking_uri: str | None = Field(None, description="null: a sqlite store beside the tables")
    registry_uri: str | None = Field(None, description="null: the store itself; databricks-uc on Unity Catalog")
    experiment: str = Field("edos", description="experiment name, or a path on Databricks")


class EmoPillarsSettings(Section):
    plots: str | None = None
    goemotions: str | None = None
    isear: str | None = None
    emocontext: str | None = None


class AugescSettings(Section):
    sessions: str | None = None
    queries: str | None = None


class Settings(Section):
    """All settings of a run, by section."""

    lakehouse: LakehouseSettings = LakehouseSettings()
    spark: SparkSettings = SparkSettings()
    pipeline: PipelineSettings = PipelineSettings()
    subtitles: SubtitleSettings = SubtitleSettings()
    edos: EdosSettings = EdosSettings()
    emo_pillars: EmoPillarsSettings = EmoPillarsSettings()
    augesc: AugescSettings = AugescSettings()
    models: ModelSettings = ModelSettings()
    training: TrainSections = TrainSections()
    publishing: PublishingSettings = PublishingSettings()
    mlflow: MlflowSettings = MlflowSettings()

    @model_validator(mode="before")
    @classmethod
    def no_self_labeler_without_expansion(cls, given: Any) -> Any:
        """One switch turns the whole chain off, the training of its model too."""
        expansion = ((given or {}).get("edos") or {}).get("expansion") or {}
        if isinstance(expansion, dict) and expansion.get("enabled") is False:
            return {**given, "models": {**(given.get("models") or {}), "self_labeler": None}}
        return given


def load_settings(
    profile: str = "local",
    config_files: Iterable[str | Path] = (),
    overrides: Mapping[str, Any] | Iterable[str] = (),
) -> Settings:
    """The settings of a run: defaults, then the profile, then the files, then single keys.

    Args:
        profile: a name under ``conf/profiles``.
        config_files: YAML files laid over it, in order.
        overrides: ``section.key`` to value, or ``section.key=value`` texts with the value in YAML.

    Raises:
        InputError: an unknown profile or key, a file that is not there, or a value out of range.
    """
    if profile not in PROFILES:
        raise InputError(f"profile {profile!r} is not known: choose one of {', '.join(PROFILES)}")
    merged = _yaml(files("conf").joinpath("profiles", f"{profile}.yaml").read_text("utf-8"), profile)
    for file in config_files:
        path = Path(file)
        if not path.is_file():
            raise InputError(f"config file {path} is not there: check --config")
        merged = _laid_over(merged, _yaml(path.read_text("utf-8"), str(path)))
    for key, value in _pairs(overrides):
        merged = _laid_over(merged, _nested(key, value))
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise InputError(_one_line(error)) from None


def _pairs(overrides: Mapping[str, Any] | Iterable[str]) -> Iterable[tuple[str, Any]]:
    if isinstance(overrides, Mapping):
        yield from overrides.items()
        return
    for text in overrides:
        key, separator, value = text.partition("=")
        if not separator:
            raise InputError(f"--set {text}: write section.key=value")
        try:
            yield key.strip(), yaml.safe_load(value)
        except yaml.YAMLError:
            raise InputError(f"--set {key}: {value!r} is not a YAML value; quote it") from None


def _nested(key: str, value: Any) -> dict[str, Any]:
    parts = key.split(".")
    if parts[:2] == ["spark", "conf"]:
        parts = ["spark", "conf", ".".join(parts[2:])]  # Spark's own keys have dots
        value = str(value).lower() if isinstance(value, bool) else str(value)
    for part in reversed(parts):
        value = {part: value}
    return dict(value)


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """``above`` over ``below``: mappings merge (except free-form Spark configuration keys), others replace."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _laid_over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _yaml(text: str, place: str) -> dict[str, Any]:
    try:
        content = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise InputError(f"{place} is not YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(content, dict):
        raise InputError(f"{place} must hold sections of settings, not a {type(content).__name__}")
    return content


def _one_line(error: ValidationError) -> str:
    problems = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            problems.append(f"setting {key} is not known")
        else:
            problems.append(f"setting {key}: {problem['msg']}, got {problem['input']!r}")
    return "; ".join(problems)
