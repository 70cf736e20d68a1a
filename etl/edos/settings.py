"""Settings of the EDOS data set: crowd, growth of labels, report, publishing, trainings (EDOS 3.1 to 4, C)."""

from functools import partial
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from conf.section import Part, Section, added, fixed, outside
from conf.taxonomy import Taxonomy, load_taxonomy
from conf.training_options import ClassifierOptions

SearchFrom = Literal["train", "train_and_validation"]
DialogueConfidence = Literal["max", "mean", "min", "first", "last"]
Preset = Literal["released", "paper", "trusted"]


class ReadabilityRules(Part):
    """Settings of a turn's readability to workers (EDOS 3.2, A)."""

    bands: tuple[float, ...] = Field(
        (0.9, 0.8, 0.7, 0.6), description="EDOS 3.2: from 0.9; a class that falls short steps down as the released one"
    )
    frequencies: Literal["relative", "counts"] = Field("relative", description="reading of EDOS A's frequencies")
    distinct: Literal["share", "percent"] = Field("share", description="reading of EDOS A's percentage of words")


class HitRules(Part):
    """The turns and the quiz of a HIT (EDOS 3.2, 7)."""

    per_class: int = Field(250, ge=1, description="EDOS 3.2: the most readable of each class")
    dialogues_per_hit: int = Field(15, ge=1, description="EDOS 3.2")
    quiz_per_hit: int = Field(5, ge=0, description="EDOS 3.2")


class Posting(Part):
    """The posting of HITs to workers."""

    reward: float = Field(0.40, ge=0, description="EDOS 7: dollars per HIT")
    folder: str | None = Field(None, description="of the exported files; null: annotation/ beside the tables")
    post_to: str | None = Field(None, description="URL that the page sends answers to; null: it offers a download")


class AnswerRules(Part):
    """The rules by which workers' answers are counted."""

    batches: tuple[str, ...] = outside((), description="key files of the batches sent out, or folders of them")
    answers: tuple[str, ...] = outside(
        (), description="the page's answer files (.json, .jsonl, .csv), or folders of them"
    )
    known_workers: tuple[str, ...] = Field((), description="workers whose answers count; empty: all")
    keep_half_done: bool = Field(False, description="also count answers of unfinished HITs")


class AnnotationSettings(AnswerRules, Posting, HitRules, ReadabilityRules):
    bonus: float = Field(0.10, ge=0, description="EDOS 7: dollars per passed quiz")


class ReportSettings(Section):
    """The report on the finished data set (EDOS 4)."""

    folder: str | None = Field(None, description="where edos.html goes; null: <lakehouse.root>/reports")


class Pool(Part):
    """The clean dialogues that labels are looked for in."""

    enabled: bool = Field(True, description="false: take nothing from the clean dialogues; released rows stay")
    pool_share: float = Field(1.0, gt=0, le=1, description="share of the clean dialogues, by content hash, nested")


class ExpansionSettings(Pool):
    """EDOS 3.3. Thresholds are cosines and belong to ``models.sentence_encoder``: another encoder, another scale."""

    floor: float = Field(0.85, gt=0, le=1, description="ours: lowest similarity that is stored")
    search_from: SearchFrom = Field(
        "train",
        description="splits of the crowd's labels whose similar dialogues are looked for; the authors' script takes"
        " both, with edos.validation_share=0.2",
    )
    threshold: float = Field(0.92, gt=0, le=1, description="EDOS 3.3, C: similar to a dialogue of the crowd")
    again_threshold: float = Field(0.90, gt=0, le=1, description="similar to a self-labelled one (released rows)")
    held_out_threshold: float = Field(0.92, gt=0, le=1, description="rows this similar to a held-out row are left out")
    drop_near_held_out: bool = added(
        True,
        description="ours: rows near a held-out row, by cosine, text or film, are not trained on; paper: false",
    )

    @model_validator(mode="after")
    def floor_is_lowest(self) -> "ExpansionSettings":
        if self.floor > min(self.threshold, self.again_threshold, self.held_out_threshold):
            raise ValueError("floor is above a threshold: matches below it are not stored")
        return self


class SelfLabelRules(Part):
    """The rules by which the first classifier's answers become labels."""

    confidence: float | None = Field(
        None, ge=0, le=1, description="lowest confidence; paper: 0.9 (EDOS 3.3); released rows: null, any (from 0.64)"
    )
    per_class: int | None = Field(
        100, ge=1, description="the most confident of each class; released rows: 100; paper: null, all"
    )


class SelfLabelSettings(SelfLabelRules):
    """EDOS 3.3 labels what has a confidence over 0.9; the released rows are the 100 most confident of each class."""

    calibrated: bool = Field(
        True, description="ours: confidences are scaled by a temperature fitted on validation rows; paper: false"
    )


Choice = Literal["emotion", "worth"]

INTENTS = (
    "agreeing",
    "acknowledging",
    "encouraging",
    "consoling",
    "sympathizing",
    "suggesting",
    "questioning",
    "wishing",
)
"""The empathetic intents of EDOS; ``trusted`` chooses by the 32 emotions alone."""
_PAPER_RECIPE = {
    "warmup_share": 0.0,
    "decay": "none",
    "label_smoothing": 0.0,
    "start_token": True,
    "crowd_epochs": 0,
    "start_from_weak_labeler": False,
}
"""What of the classifier's recipe (EDOS C, the authors' script) needs no more time or memory than another."""
PRESETS: dict[str, dict[str, Any]] = {
    "released": {},
    "paper": {
        "subtitles": {
            "explicit_marks": False,
            "carried_marks": False,
            "opening_dash_margin": 0.0,
            "silence_ends_turn": False,
            "uploads_per_film": 0,
            "cleaning": {"preset": "paper"},
        },
        "edos": {
            "validation_share": 0.2,
            "expansion": {"search_from": "train_and_validation", "drop_near_held_out": False},
            "self_labels": {"confidence": 0.9, "per_class": None, "calibrated": False},
        },
        "training": {
            "turn_segmenter": {"kind": "svm", "lengths": False},
            "weak_labeler": {"calibrated": False},
            "self_labeler": _PAPER_RECIPE,
            "emotion_classifier": {**_PAPER_RECIPE, "calibrated": False},
        },
    },
    "trusted": {
        "subtitles": {"cleaning": {"preset": "trusted"}},
        "edos": {"choice": "worth", "top_share": 0.15, "not_emotions": ["neutral", *INTENTS]},
    },
}
"""Settings of each named set that differ from the defaults, which are those of ``released``. They go over a profile's:
what a small machine cannot do (epochs, batches, encoders) is in none of them."""


class WorthWeights(Part):
    """Exponents of the parts of what a dialogue is worth, whose product ranks the dialogues; 0 leaves a part out."""

    emotion: float = Field(0.5, ge=0, description="ours: the dialogue's weak confidence in emotions")
    certainty: float = Field(2.0, ge=0, description="ours: the probability that all its borders are right")
    content: float = Field(1.0, ge=0, description="ours: how much it says")
    exchange: float = Field(4.0, ge=0, description="ours: how many turns take up the turn before")
    variety: float = Field(0.5, ge=0, description="ours: the share of turns that are not formulas")
    accepted: float = added(1.0, ge=0, description="ours: how many turns have an accepted weak label, of an emotion")


class ChoiceRules(Part):
    """How many dialogues are chosen as emotional, and by what (EDOS 3.1)."""

    top_n: int = Field(1_000_000, ge=1, description="EDOS 3.1: the most confident dialogues")
    top_share: float | None = added(
        None,
        gt=0,
        le=1,
        description="ours: the chosen dialogues have at most this share of the turns of all clean dialogues; the"
        " paper's 2.83 of 19 million are 0.15; null: any",
    )
    dialogue_confidence: DialogueConfidence = Field(
        "mean",
        description="how a dialogue's confidence comes from its turns' weak confidences; the paper does not say, but "
        "its chosen dialogues are shorter (2.83 turns) than its pool (4.75), which fits the mean, and the minimum even "
        "more; the maximum chooses longer ones",
    )
    choice: Choice = Field(
        "emotion",
        description="what the dialogues are ranked by: weak confidence (EDOS 3.1); worth, ours: that times the"
        " probability that all borders are right and what they say (docs/edos.md)",
    )
    not_emotions: tuple[str, ...] = Field(
        (),
        description="labels that do not make a dialogue emotional, however confident; none: confidence alone decides"
        " (EDOS 3.1, whose Table 9 opens 36% with questioning); trusted: neutral and all intents",
    )
    worth: WorthWeights = added(WorthWeights())


class EdosSettings(ChoiceRules):
    preset: Preset = Field(
        "released",
        description="named set, whose values files and --set override (docs/presets.md): as the rows are that the"
        " authors released, as the paper's words are, or ours for use: whole exchanges, chosen by what they are worth",
    )
    taxonomy: Taxonomy = Field(
        default_factory=partial(load_taxonomy, "edos"),
        description="of the labels: a name under conf/taxonomies (edos: the paper's 41), or a path of such a YAML file",
    )
    weak_label_examples: str | None = outside(
        None,
        description="folder with classifier_train.txt[.gz], classifier_valid and classifier_test: the epoch is chosen"
        " on the second, the accuracy is of the third; without it, of the second",
    )
    emotion_transcripts: tuple[str, ...] = outside(
        (),
        later=True,
        description="ours: folders of MELD, EmoryNLP and GoEmotions; weak labeler, self-labeler and dialogue classifier"
        " learn from the emotions that people gave to their texts, too. None: from the paper's examples"
        " alone; trusted: those of subtitles.turn_examples, and emo_pillars.goemotions",
    )
    crowd_votes: tuple[str, ...] = outside((), description="files of worker answers (released CSV format)")
    empathetic_dialogues: str | None = outside(
        None, description="CSV of EmpatheticDialogues with columns context, Dialog_ID, Type, Text; or a folder of them"
    )
    annotation: AnnotationSettings = AnnotationSettings()
    released_labels: tuple[str, ...] = outside(
        (), description="released files of similar, self-labelled and similar self-labelled dialogues"
    )
    published_dialogues: tuple[str, ...] = outside(
        (),
        description="files of EDOS as its authors published it (dialogue_id, text, label or emotion, confidence, a row"
        " a turn): edos.dialogues of a set of its own (lakehouse.set), in place of one's own labels",
    )
    validation_share: float = Field(
        0.1, gt=0, lt=1, description="of all crowd labels; the authors' script: 0.2 (60, 20 and 20 %)"
    )
    accepted_accuracy: float = added(
        0.8,
        gt=0,
        lt=1,
        description="ours: how many of the accepted labels have to be right; each label's least confidence is chosen so"
        " on validation rows",
    )
    report: ReportSettings = ReportSettings()
    expansion: ExpansionSettings = ExpansionSettings()
    self_labels: SelfLabelSettings = SelfLabelSettings()

    @field_validator("taxonomy", mode="before")
    @classmethod
    def from_its_file(cls, taxonomy: Any) -> Any:
        return load_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy

    @property
    def weighs_accepted(self) -> bool:
        """Whether the choice weighs which weak labels are accepted, and has the sentences that tell it."""
        return self.choice == "worth" and self.worth.accepted > 0 and self.weak_label_examples is not None

    @property
    def expands(self) -> bool:
        """Whether any step adds labels to the crowd's."""
        return self.expansion.enabled or bool(self.released_labels)


class PublishingSettings(Section):
    """The published files, with or without the films' text."""

    name: str = Field("edos", pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}", description="the data set's name and folder")
    folder: str | None = Field(None, description="null: <lakehouse.root>/exports/<name>, -<lakehouse.set> after it")
    text: Literal["included", "references"] = Field(
        "included", description="references: OPUS's sentence numbers instead of the films' text"
    )
    spelling: Literal["plain", "tokens"] = Field(
        "plain", description="of the texts: don't know. as people write, or don 't know . as in OPUS"
    )
    licence: str = Field(
        "other",
        pattern=r"[a-z0-9][a-z0-9.-]{0,40}",
        description="of the export: an SPDX identifier in small letters, checked against its sources; other: undecided",
    )
    formats: tuple[Literal["parquet", "jsonl"], ...] = Field(("parquet", "jsonl"), min_length=1)
    test_share: float = Field(0.1, gt=0, lt=0.5, description="of films; EDOS 5 splits 80, 10 and 10 %")
    validation_share: float = Field(0.1, gt=0, lt=0.5, description="of films")
    references: str | None = Field(None, description="an export without text, for restore-text")


class WeakLabelerSettings(ClassifierOptions):
    name: str = "edos-weak-labeler"
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="share of the target spread over all labels")
    calibrated: bool = Field(
        True,
        description="ours: confidences are divided by a temperature that is fitted on validation sentences; no label"
        " changes",
    )
    mean_of: tuple[str, ...] = added(
        (),
        description="ours: URIs of trained weak labelers, such as models:/NAME/1 and models:/NAME/2: nothing is"
        " trained, and the model is the mean of their answers, calibrated on validation rows",
    )


class DialogueClassifierSettings(ClassifierOptions):
    """The recipe of the authors' public script, which trains 10 epochs at a constant rate (EDOS C)."""

    name: str
    epochs: int = Field(10, ge=1)
    warmup_share: float = Field(0.0, ge=0, le=1)
    decay: Literal["linear", "none"] = Field(
        "none", description="how the rate falls after the warm-up: to 0, or not at all"
    )
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="share of the target spread over all labels")
    effective_batch: int = Field(256, description="EDOS C")
    start_token: bool = Field(
        True, description="the encoder's start token (<s>, [CLS]) in place of the first separator, as in the script"
    )
    weighted: bool = Field(True, description="decreasing weights on token embeddings (EDOS 3.3.1)")
    crowd_epochs: int = Field(
        0, ge=0, description="ours: so many epochs at the end go over the crowd's rows alone, after all rows' epochs"
    )
    start_from_weak_labeler: bool = Field(
        False, description="ours: start from the weak labeler's encoder, not from the plain one"
    )

    @property
    def last_epochs(self) -> int:
        return self.crowd_epochs


class WeakStudentSettings(WeakLabelerSettings):
    """The small weak labeler that learns from the weak labeler; ours."""

    name: str = "edos-weak-student"
    mean_of: tuple[str, ...] = fixed((), description="a student is one model")
    unlabelled: int = Field(100_000, ge=0, description="distinct turns that the teacher labels, at most")


class EmotionClassifierSettings(DialogueClassifierSettings):
    name: str = "edos-emotion-classifier"
    calibrated: bool = Field(
        True,
        description="ours: confidences are made by a temperature and a logistic regression, fitted on validation rows;"
        " no label changes; paper: false",
    )
    mean_of: tuple[str, ...] = added(
        (),
        description="ours: URIs of trained dialogue classifiers, such as models:/NAME/1 and models:/NAME/2: nothing is"
        " trained, and the model is the mean of their answers, calibrated on validation rows",
    )


class ComparisonSettings(Section):
    seeds: tuple[int, ...] = Field((13, 14, 15), min_length=1, description="one training each, of every arm")
    weightings: tuple[bool, ...] = Field((True, False), min_length=1, description="EDOS C: with weights and without")
    origins: tuple[Literal["crowd", "similar", "self", "similar_self"], ...] = Field(
        ("crowd", "similar", "self", "similar_self"), min_length=1, description="added one after the other (EDOS 3.3)"
    )


class SelfLabelerSettings(DialogueClassifierSettings):
    name: str = "edos-self-labeler"


class EmotionStudentSettings(EmotionClassifierSettings):
    """The small classifier that learns from the dialogue classifier; ours."""

    name: str = "edos-emotion-student"
    mean_of: tuple[str, ...] = fixed((), description="a student is one model")
    unlabelled: int = Field(100_000, ge=0, description="turns with their history that the teacher labels, at most")
