"""What the columns of the views mean, where the columns of tables with the same name do not say it already."""

import hashlib
import json
from functools import cache
from importlib.resources import files

from etl.tables.column_comments import COMMENTS

PAPER = "paper_"
"""Begins the name of a column with a paper's number."""
ENDINGS = {
    "_sd": "standard deviation over seeds or folds of",
    "_low": "lower end of the 95 % interval of",
    "_high": "upper end of the 95 % interval of",
}
OWN: dict[str, str] = {
    "above_echo": "similarity above that of repeating the last turn",
    "accepted": "turns whose label is accepted",
    "accepted_accuracy": "share of them whose label is right; null: there are none",
    "actors": "characters",
    "against": "the model that is compared with",
    "agree": "both models give the same label",
    "all_labels_f1": "F1 of giving every label to every text",
    "all_lengths": "true: dialogues of all lengths; false: those of at least four turns",
    "always_f1": "F1 of giving this label to every text",
    "answer_start": "the first characters of the answer",
    "asked": "share of replies with the intent, when it is asked",
    "asked_rate": "share of replies with the intent, when it is asked",
    "average": "how scores are averaged: macro, micro or weighted",
    "begins_with": "the beginning of a model's identity; empty: any model",
    "below_best": "rated lower than the best method, significantly",
    "border": "what decided that the turn opens: start, silence, mark, carried, model, rule, arbiter; null: unknown",
    "border_certainty": "probability that the border before the turn is right; null: unknown",
    "category": "category of the topic",
    "certainty": "probability that the turn is one speaker's, and whole; null: unknown",
    "class": "the label that is scored",
    "classifier": "the classifier",
    "clean_dialogues": "dialogues of the film after cleaning",
    "clock_seconds": "seconds that the stage's runs took, by the clock",
    "colour": "of the label's kind on the report's page, as #rrggbb",
    "completion_price": "price of a million tokens of answers",
    "conversations": "conversations",
    "corpus": "EDOS or EmpatheticDialogues",
    "correct": "the label is the crowd's",
    "cost": "what its tokens cost; null: of a model without prices",
    "crowd_label": "the label that most of the crowd gave",
    "criterion": "what is counted or measured",
    "dataset": "name of the data set",
    "decade": "first year of the film's decade; null without a year",
    "decision": "the fact or decision",
    "dialogue_certainty": "probability that all borders of the dialogue are right; null: unknown",
    "dialogues": "number of dialogues",
    "dialogues_dropped": "dialogues that the rule drops",
    "distinct_replies": "share of replies that occur once",
    "distribution": "the label distribution that is compared",
    "emotions": "number or share of labels that are emotions",
    "empathetic_share": "share of the utterances of EmpatheticDialogues",
    "empathetic_turns": "utterances of EmpatheticDialogues",
    "end_ms": "end in the film in milliseconds; null: the file has no time there",
    "enough": "200 histories or more",
    "epochs_run": "epochs that were trained",
    "errors": "prompts that failed",
    "example": "an example",
    "expected": "agreement expected by chance",
    "f1": "harmonic mean of precision and recall",
    "facts_a_text": "facts that a text states, on average",
    "finish_reason": "why the model stopped: stop or length",
    "fold": "number of the fold",
    "from_confidence": "confidence that the band begins with",
    "from_seconds": "seconds that the class of silences begins with",
    "from_value": "number that the class begins with",
    "gain": "the difference to what is compared with",
    "gain_over_goemotions": "F1 above that of the model trained on GoEmotions",
    "gain_over_plain": "F1 above that of the plain encoder",
    "genre": "one genre of the film",
    "given": "labels or answers that the model gave",
    "goemotions_f1": "F1 of the model trained on GoEmotions",
    "highly_significant": "with p below 0.01",
    "hours": "hours of training",
    "intent": "the intent that was asked or is meant",
    "intents": "number or share of labels that are intents",
    "judges": "judges of emotion and toxicity that the posts passed, each with its model",
    "kappa": "Fleiss' kappa",
    "kind": "the kind of what is counted; of a label: emotion, intent or neutral",
    "label_accepted": "the confidence reaches the threshold of the label (edos.label_thresholds); null: unknown",
    "labelled": "the labelled dialogue, its turns joined by |",
    "large_topics": "topics of many texts",
    "learner": "the model",
    "least_confidence": "the confidence from which on turns are taken; null: none are",
    "least_score": "the lowest score among the rows",
    "left_in": "occurrences of the label's markers that stay in rewritten texts",
    "likeliest": "share of tokens that the model holds the likeliest",
    "lose_percent": "percent of comparisons lost",
    "lowest_confidence_from": "where the quarter of the dialogue's least confident turn begins",
    "majority_f1": "F1 of giving the most frequent label to every text",
    "mann_whitney": "p of the Mann-Whitney test",
    "markers": "marker words of the label",
    "mean_level": "mean level of the label, 0 to 1",
    "mean_of_all": "mean over all texts",
    "mean_utterance_tokens": "tokens of an utterance, on average",
    "mean_words": "words of a reply, on average",
    "minimum_wage": "dollars an hour that the paper pays at least",
    "more_turns": "dialogues of five and more turns",
    "nats": "KL divergence in nats",
    "negative": "share of turns with a negative emotion",
    "next_sentence": "index of the second sentence",
    "note": "what to know about the number",
    "number": "number of rows, or number of the turn or sentence, from 0",
    "observed": "agreement that was observed",
    "occurrences": "how often the word occurs",
    "opens_turn": "the model holds that the next sentence opens a turn",
    "other_confidence": "probability of the other model's label",
    "other_label": "the other label",
    "other_model": "the other model",
    "others": "those of the other sets",
    "our_score": "cosine of the two dialogues by the configured encoder",
    "overlap": "shared words over all words of both",
    "p": "p of the test",
    "p_best": "p of the test against the best method",
    "p_two_sided": "two-sided p of the test",
    "package": "package and its version that ran the stage",
    "paired_t_test": "p of the paired t-test",
    "paper": "the paper's number; null where it has none",
    "parameters": "parameters of the model, or of the prompt",
    "percent": "in percent",
    "percent_of_pairs_contradictory": "percent of statement pairs that contradict each other",
    "percent_of_utterances_shifted": "percent of utterances that leave the topic",
    "percent_seen_in_another_conversation": "percent of texts with an utterance of another conversation",
    "percent_shifted_by_supporter": "percent of shifts that the supporter makes",
    "percent_with_contradicted_facts": "percent of texts that contradict their own facts",
    "percent_with_mixed_up_roles": "percent of texts in which speakers change roles",
    "percent_with_topic_shift": "percent of texts that leave the topic",
    "percent_with_toxicity": "percent of texts with a toxic utterance",
    "percentile_99": "99th percentile",
    "perplexity": "perplexity on the test set",
    "place": "place in the order of rows",
    "plain": "share of replies of the plain generator with the intent",
    "plain_f1": "F1 of the plain encoder",
    "plain_rate": "share of replies of the plain generator with the intent",
    "plain_text": "the text without the blanks of OPUS's tokens",
    "plots": "story plots",
    "polarity": "positive, negative, ambiguous or neutral",
    "position": "number of the turn, from 1",
    "positive": "share of turns with a positive emotion",
    "primary_labels": "texts with the label as their strongest",
    "probability": "probability of the label",
    "projected_cost": "what the tokens of as many prompts as the paper's cost",
    "projected_hours": "hours for the paper's number of prompts at this rate",
    "prompt_hash": "hash of the prompt",
    "prompt_price": "price of a million tokens of prompts",
    "prompts": "number of prompts",
    "publicly_available": "whether the data set can be had",
    "queries": "number of queries",
    "query_tokens": "tokens of a query, on average",
    "random_f1": "F1 of random labels with the test set's frequencies",
    "random_mean": "mean rating of a random text",
    "random_share": "share by chance",
    "raters_a_sample": "raters of a sample",
    "ratio": "dialogues here over those in the pool, in relation to all",
    "reader": "the classifier that reads the replies",
    "reason": "why",
    "reference": "the label distribution that is compared with",
    "released_score": "the authors' cosine",
    "replies": "number of replies",
    "request_id": "id of the request",
    "requirement": "the requirement",
    "rows": "number of rows",
    "rule": "the cleaning rule",
    "samples": "number of samples, or sample pairs",
    "scored": "what was scored: texts or classes",
    "seconds_a_prompt": "seconds for a prompt",
    "seeds": "trainings with different seeds",
    "seeds_it_helps": "trainings in which it helps",
    "sentence": "index of the sentence in its file, from 0",
    "sentence_first": "index of the turn's first sentence in its file",
    "sentence_last": "index of the turn's last sentence in its file",
    "setting": "how the model is used",
    "share": "share of all, 0 to 1",
    "share_of_all": "share of all texts",
    "share_of_blocks_up_to_here": "share of this class and those before it, between subtitle blocks",
    "share_of_gaps": "share of all silences",
    "share_up_to_here": "share of this class and those before it",
    "share_within_1": "share of rating pairs that differ by at most 1",
    "shared": "words that both have",
    "significance": "level of significance",
    "significant": "whether the difference is significant",
    "significant_in_pairs": "whether the gain is significant at the 1 % level by tests of the same passages",
    "similar": "the similar dialogue, its turns joined by |",
    "speaker": "name of the label that the turn opens with, if the subtitles have one",
    "split": "train, validation or test, by film",
    "start_ms": "start in the film in milliseconds; null: the file has no time there",
    "starts_from": "the model that the training starts from",
    "statement_pairs": "pairs of statements that were compared",
    "step": "the step",
    "strategy": "support strategy, as it was named; none named: of turns without one",
    "strength": "sum of the given labels' probabilities",
    "surest_share": "share of the test turns, those of the highest confidence",
    "t": "t of the test",
    "t_test": "p of the t-test",
    "task": "the data set that is trained on and scored",
    "test": "rows for test",
    "texts": "number of texts",
    "three_or_four_turns": "dialogues of three or four turns",
    "tie_percent": "percent of comparisons without a winner",
    "times_plain": "asked over plain rate",
    "times_unasked": "asked over unasked rate; null where it is never read unasked",
    "to_confidence": "confidence that the band ends with",
    "to_label": "label of the next turn; null: the dialogue ends",
    "to_seconds": "seconds that the class of silences ends with; null: no end",
    "tokens_per_turn": "tokens of a turn, on average",
    "topics": "number of topics",
    "topics_of_two_or_more": "topics of two texts and more",
    "train": "rows for training",
    "trained_on": "the rows that the classifier was trained on",
    "trial": "number of the training",
    "trials": "number of trainings",
    "true_rate": "share of people's replies of the intent in which it is read",
    "true_replies": "people's replies of the intent",
    "truth": "the true label",
    "tuned": "which part of the model was trained",
    "turn": "number of the turn in its dialogue, from 0",
    "turns": "number of turns",
    "turns_after": "turns after the rule",
    "turns_of_dialogues": "turns of the dialogues that the rule drops",
    "turns_per_dialogue": "turns of a dialogue, on average",
    "two_turns": "dialogues of two turns",
    "unasked_rate": "share of the same generator's replies with the intent when none is asked",
    "unexplained": "units that neither came out nor were dropped or quarantined; 0 is right",
    "uniform_perplexity": "perplexity of drawing each token alike: the vocabulary's size",
    "unit": "what is counted: file, dialogue, turn, ...",
    "units": "how many of the units",
    "unweighted_f1": "macro-F1 without weighting newer turns more",
    "uploads": "subtitle files of the film that were read",
    "valence": "mean valence of the emotions, -1 to 1",
    "validation": "rows for validation",
    "validation_perplexity": "perplexity on the validation rows",
    "value": "the number here; null where there is nothing to count",
    "variant": "variant of the training",
    "version": "version of the stage's rules",
    "weak_confidence": "probability of the weak label; null without one",
    "weak_label": "label by the weak labeler; null without one",
    "weighted_f1": "macro-F1 with newer turns weighted more",
    "wilcoxon": "p of Wilcoxon's test",
    "win_percent": "percent of comparisons won",
    "with_rival_label": "dialogues whose matches have other labels too",
    "word_perplexity": "perplexity by word",
    "words": "the words",
    "year": "year of the film; null: unknown or before the cinema",
    "z": "z of the test",
}
OWN_OF_VIEW: dict[str, str] = {
    "analysis.edos_examples.place": "number of the dialogue in its quarter, from 1",
    "analysis.emo_pillars_judge_agreement.accuracy": "share of the examples on which both say the same",
    "analysis.emo_pillars_judge_agreement.compared": "whose verdicts on an example's labels are compared",
    "analysis.emo_pillars_judge_agreement.examples": "verdicts that are compared, of all pairs",
    "analysis.emo_pillars_judge_agreement.kappa": "Cohen's kappa; of several pairs the mean; null: chance is certain",
    "analysis.augesc_repairs.attempts": "continuations of these texts",
    "analysis.augesc_repairs.percent_kept": "percent of the texts that meet all requirements as they were generated",
    "analysis.augesc_repairs.percent_kept_with_repairs": "the same, with those that do so once they are continued",
    "analysis.augesc_repairs.repaired": "texts that meet all requirements once they are continued",
    "analysis.augesc_repairs.texts_continued": "texts that were continued from their last good turn",
    "analysis.augesc_repairs.violated": "the only requirement that the texts violated; none, several, or all texts",
    "analysis.dropped.units": "how many of the stage's units the row stands for",
    "analysis.edos_released_pairs.matched_id": "id of the labelled dialogue",
    "analysis.edos_emotions_by_turn.neutral": "share of the turns with the label neutral",
    "analysis.labels.about": "what the label means",
    "analysis.labels.example": "what somebody says who shows it",
}


def view_column(view: str, column: str) -> str:
    """Return what a column of a view means; empty if nothing says so.

    Args:
        view: its name.
        column: of the view.
    """
    if found := OWN_OF_VIEW.get(f"{view}.{column}") or OWN.get(column) or COMMENTS.get(column):
        return found
    if column.startswith(PAPER):
        of_ours = view_column(view, column.removeprefix(PAPER))
        return f"in the paper: {of_ours or column.removeprefix(PAPER).replace('_', ' ')}"
    for ending, meaning in ENDINGS.items():
        if column.endswith(ending) and (of := _measure(view, column.removesuffix(ending))):
            return f"{meaning} {of}"
    return "as the paper prints it" if "_paper_" in view else ""


def _measure(view: str, name: str) -> str:
    """Return what a measure means whose interval or deviation a column has."""
    return view_column(view, name) or view_column(view, f"{name}_rate")


@cache
def columns_of_views() -> dict[str, list[str]]:
    """Return the names of each view's columns in their order, as `etl.cli.documents` has written them."""
    return {view: columns for view, (_, columns) in _written().items()}


def columns_of(view: str, sql: str) -> list[str]:
    """Return the names of a view's columns in their order; none if they were written for another query."""
    identity, columns = _written().get(view, ("", []))
    return columns if identity == identity_of(sql) else []


def identity_of(sql: str) -> str:
    """Return the beginning of a query's hash."""
    return hashlib.sha256(sql.encode()).hexdigest()[:12]


@cache
def _written() -> dict[str, tuple[str, list[str]]]:
    stored = json.loads(files(__package__).joinpath("view_columns.json").read_text("utf-8"))
    return {view: (one["query"], one["columns"]) for view, one in stored.items()}
