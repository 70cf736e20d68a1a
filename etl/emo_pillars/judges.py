"""A judge of the examples' labels, and the gate that keeps what it finds fitting (ours; the paper has none).

The judge is a language model, or one of our classifiers of passages. It judges each example's utterance, with the
context where it has one, and the rewritten utterance with its context.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import EmotionTaxonomy
from etl.common.hashes import text_hash
from etl.emo_pillars.intra_dataset import given_labels
from etl.emo_pillars.label_form import MOST_LABELS
from etl.emo_pillars.step import OURS, Rules, Wording
from etl.emo_pillars.steps import judge
from etl.llm.requests import answered_request
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.llm_kinds import kind_of

NOT_JUDGED = "not_judged"
NO_LABEL_FITS = "no_label_fits"
LABEL_UNFIT = "label_does_not_fit"


def is_classifier(model: ResolvedModel, taxonomy: EmotionTaxonomy) -> bool:
    """Return whether the judge is a classifier of passages of ours; otherwise it is a language model.

    Raises:
        InputError: it is another classifier of ours, or one of other labels.
    """
    from udfs.models.classifiers.classifier import HEAD_CONFIG, read_head
    from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier

    if kind_of(model.identity).prefix or not (model.path / HEAD_CONFIG).is_file():
        return False
    head = read_head(model.path)
    if head.get("kind") != MultiLabelClassifier.kind:
        raise InputError(
            f"models.emo_pillars_judge is a {head.get('kind')}: name a language model, or a model that "
            "emo_pillars_train_contextual or a sister of it has trained"
        )
    if tuple(head.get("labels") or ()) != tuple(taxonomy.names):
        raise InputError(
            f"models.emo_pillars_judge knows other labels than emo_pillars.taxonomy {taxonomy.name}: train it on them"
        )
    return True


def judged_texts(examples: DataFrame, contextual: DataFrame, others: int, taxonomy: EmotionTaxonomy) -> DataFrame:
    """Return the texts that are judged: each example as it was, and rewritten where it is.

    Args:
        examples: ``emo_pillars.examples``.
        contextual: ``emo_pillars.contextual_examples``.
        others: labels that are offered beside the example's own.
        taxonomy: of the labels.

    Returns:
        text_id, utterance_id, rewritten, utterance, context (null without one), labels (an array of names, the
        strongest first), offered, text_hash (of utterance and context).
    """
    contexts = contextual.select("utterance_id", "context")
    names = F.col("labels")["label"].alias("labels")
    originals = examples.join(contexts, "utterance_id", "left").select(
        "utterance_id", F.lit(False).alias("rewritten"), "utterance", "context", names
    )
    again = contextual.select(
        "utterance_id", F.lit(True).alias("rewritten"), F.col("rewritten").alias("utterance"), "context", names
    )
    form = F.when(F.col("rewritten"), "rewritten").otherwise("original")
    texts = originals.unionByName(again).withColumn("text_id", F.concat_ws("#", "utterance_id", form))
    return texts.select(
        "*",
        judge.offered_labels(F.col("utterance_id"), F.col("labels"), others, taxonomy).alias("offered"),
        text_hash(F.concat_ws("\u0001", "utterance", "context")).alias("text_hash"),
    )


def right_labels(labels: Column, neutral: str) -> Column:
    """Return the labels that the questionnaire's right option has, or neutral where it is alone (Emo Pillars I.1)."""
    emotions = F.slice(F.filter(labels, lambda one: one != neutral), 1, MOST_LABELS)
    return F.when(F.size(emotions) > 0, emotions).otherwise(F.array(F.lit(neutral)))


def verdicts_of_answers(answers: DataFrame, wording: Wording = OURS) -> Outcome:
    """Return ``emo_pillars.verdicts`` of a language model.

    Args:
        answers: the texts of ``judged_texts`` with their answers (``etl.llm.requests.with_answers``).
        wording: of the prompts.
    """
    rules = Rules(judge.STEP.template(wording=wording), wording.taxonomy.known_names)
    items, dropped = judge.STEP.read(answers, rules, {"offered": F.col("offered")})
    found = items.withColumn("fits", F.col("item.fits")).withColumn("request", answered_request())
    return Outcome(_rows(found, wording.taxonomy), dropped, rows_in=answers.count())


def verdicts_of_scores(texts: DataFrame, scores: DataFrame, model: str, taxonomy: EmotionTaxonomy) -> Outcome:
    """Return ``emo_pillars.verdicts`` of a classifier: the offered labels that it gives, neutral if it gives none.

    Args:
        texts: result of ``judged_texts``.
        scores: ``emo_pillars.judge_scores``.
        model: identity of the classifier. Rows of other models are ignored.
        taxonomy: of the labels.
    """
    named = given_labels(taxonomy.names)
    given = F.when(F.size(named) > 0, named).otherwise(F.array(F.lit(taxonomy.neutral)))
    answers = scores.where(F.col("model") == model)
    known = answers.select("text_hash", "model", "error", F.when(F.col("error").isNull(), given).alias("given"))
    found = texts.join(known, "text_hash", "left").persist()
    columns = dropped_columns("text", "text_id", "model_failed", 1, F.coalesce("error", F.lit("never asked")))
    fits = F.array_intersect("offered", "given").alias("fits")
    without_request = F.lit(None).cast("struct<request_id: string, prompt_hash: string, model: string>")
    rows = found.where(F.col("given").isNotNull()).select("*", fits, without_request.alias("request"))
    return Outcome(_rows(rows, taxonomy), found.where(F.col("given").isNull()).select(*columns), rows_in=texts.count())


def _rows(found: DataFrame, taxonomy: EmotionTaxonomy) -> DataFrame:
    right = right_labels(F.col("labels"), taxonomy.neutral)
    accepted = F.forall(right, lambda one: F.array_contains("fits", one))
    return found.select(
        "utterance_id", "rewritten", "model", "labels", "offered", "fits", accepted.alias("accepted"), "request"
    )


def gated(examples: DataFrame, contextual: DataFrame, verdicts: DataFrame) -> Outcome:
    """Return the examples with the labels that all verdicts on them find fitting.

    An example is judged where each of its texts has a verdict, since the labels are of both.

    Args:
        examples: ``emo_pillars.examples``.
        contextual: ``emo_pillars.contextual_examples``.
        verdicts: ``emo_pillars.verdicts``.

    Returns:
        Outcome of ``emo_pillars.gated_examples``: dropped are examples that are not judged or have no fitting label;
        each other label that does not fit is a row of no units.
    """
    each = verdicts.groupBy("utterance_id").agg(F.collect_list("fits").alias("all_fits"), F.min("model").alias("model"))
    texts = contextual.select("utterance_id", F.lit(2).alias("texts"))
    joined = (
        examples.select("utterance_id", "utterance", "labels")
        .join(texts, "utterance_id", "left")
        .join(each, "utterance_id", "left")
    )
    judged = F.size("all_fits") >= F.coalesce("texts", F.lit(1))

    def fits(one: Column) -> Column:
        return F.forall("all_fits", lambda its: F.array_contains(its, one["label"]))

    found = joined.select(
        "*",
        F.coalesce(judged, F.lit(False)).alias("judged"),
        F.filter("labels", fits).alias("kept"),
        F.filter("labels", lambda one: ~fits(one)).alias("unfit"),
    ).persist()
    ok = F.col("judged") & (F.size("kept") > 0)
    reason = F.when(F.col("judged"), NO_LABEL_FITS).otherwise(NOT_JUDGED)
    out = found.where(~ok).select(*dropped_columns("example", "utterance_id", reason, 1, F.col("utterance")))
    unfit = found.where(ok).select("utterance_id", F.explode("unfit.label").alias("label"))
    key = F.concat_ws("#", "utterance_id", "label")
    lines = unfit.select(*dropped_columns("label", key, LABEL_UNFIT, 0, F.col("label")))
    rows = found.where(ok).select("utterance_id", F.col("kept").alias("labels"), "model")
    return Outcome(rows, out.unionByName(lines))
