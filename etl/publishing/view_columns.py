"""Comments of the views' columns that no table column of the same name has."""

from etl.pipeline.tables.column_comments import COMMENTS

PAPER = "paper_"
"""Begins the name of a column with a paper's number."""
ENDINGS = {
    "_sd": "standard deviation over seeds or folds of",
    "_low": "lower end of the 95 % interval of",
    "_high": "upper end of the 95 % interval of",
}
OWN: dict[str, str] = {
    "above_echo": "similarity above that of repeating the last turn",
    "accepted_accuracy": "share of them whose label is right; null: there are none",
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
    "border": "what decided that the turn opens: start, silence, mark, carried, model; null: unknown",
    "border_certainty": "probability that the border before the turn is right; null: unknown",
    "certainty": "probability that the turn is one speaker's, and whole; null: unknown",
    "class": "the label that is scored",
    "clock_seconds": "seconds that the stage's runs took, by the clock",
    "colour": "of the label's kind on the report's page, as #rrggbb",
    "completion_price": "price of a million tokens of answers",
    "correct": "the label is the crowd's",
    "cost": "what its tokens cost; null: of a model without prices",
    "crowd_label": "the label that most of the crowd gave",
    "decade": "first year of the film's decade; null without a year",
    "dialogue_certainty": "probability that all borders of the dialogue are right; null: unknown",
    "distinct_replies": "share of replies that occur once",
    "distribution": "the label distribution that is compared",
    "empathetic_share": "share of the utterances of EmpatheticDialogues",
    "empathetic_turns": "utterances of EmpatheticDialogues",
    "end_ms": "end in the film in milliseconds; null: the file has no time there",
    "enough": "200 histories or more",
    "expected": "agreement expected by chance",
    "finish_reason": "why the model stopped: stop or length",
    "from_value": "number that the class begins with",
    "gain": "the difference to what is compared with",
    "gain_over_goemotions": "F1 above that of the model trained on GoEmotions",
    "gain_over_plain": "F1 above that of the plain encoder",
    "given": "labels or answers that the model gave",
    "goemotions_f1": "F1 of the model trained on GoEmotions",
    "highly_significant": "with p below 0.01",
    "judges": "judges of emotion and toxicity that the posts passed, each with its model",
    "kappa": "Fleiss' kappa",
    "kind": "the kind of what is counted; of a label: emotion, intent or neutral",
    "label_accepted": "the confidence reaches the threshold of the label (edos.label_thresholds); null: unknown",
    "labelled": "the labelled dialogue, its turns joined by |",
    "least_confidence": "the confidence from which on turns are taken; null: none are",
    "least_score": "the lowest score among the rows",
    "left_in": "occurrences of the label's markers that stay in rewritten texts",
    "likeliest": "share of tokens that the model holds the likeliest",
    "lowest_confidence_from": "where the quarter of the dialogue's least confident turn begins",
    "majority_f1": "F1 of giving the most frequent label to every text",
    "mann_whitney": "p of the Mann-Whitney test",
    "markers": "marker words of the label",
    "minimum_wage": "dollars an hour that the paper pays at least",
    "nats": "KL divergence in nats",
    "negative": "share of turns with a negative emotion",
    "observed": "agreement that was observed",
    "opens_turn": "the model holds that the next sentence opens a turn",
    "our_score": "cosine of the two dialogues by the configured encoder",
    "overlap": "shared words over all words of both",
    "p_best": "p of the test against the best method",
    "paper": "the paper's number; null where it has none",
    "place": "place in the order of rows",
    "plain": "share of replies of the plain generator with the intent",
    "plain_f1": "F1 of the plain encoder",
    "plain_rate": "share of replies of the plain generator with the intent",
    "plain_text": "the text without the blanks of OPUS's tokens",
    "polarity": "positive, negative, ambiguous or neutral",
    "position": "number of the turn, from 1",
    "positive": "share of turns with a positive emotion",
    "primary_labels": "texts with the label as their strongest",
    "projected_cost": "what the tokens of as many prompts as the paper's cost",
    "projected_hours": "hours for the paper's number of prompts at this rate",
    "prompt_price": "price of a million tokens of prompts",
    "random_f1": "F1 of random labels with the test set's frequencies",
    "random_mean": "mean rating of a random text",
    "ratio": "dialogues here over those in the pool, in relation to all",
    "reader": "the classifier that reads the replies",
    "released_score": "the authors' cosine",
    "scored": "what was scored: texts or classes",
    "seeds_it_helps": "trainings in which it helps",
    "share_of_blocks_up_to_here": "share of this class and those before it, between subtitle blocks",
    "share_within_1": "share of rating pairs that differ by at most 1",
    "shared": "words that both have",
    "significant_in_pairs": "whether the gain is significant at the 1 % level by tests of the same passages",
    "similar": "the similar dialogue, its turns joined by |",
    "speaker": "name of the label that the turn opens with, if the subtitles have one",
    "start_ms": "start in the film in milliseconds; null: the file has no time there",
    "starts_from": "the model that the training starts from",
    "strategy": "support strategy, as it was named; none named: of turns without one",
    "strength": "sum of the given labels' probabilities",
    "surest_share": "share of the test turns, those of the highest confidence",
    "times_plain": "asked over plain rate",
    "times_unasked": "asked over unasked rate; null where it is never read unasked",
    "to_label": "label of the next turn; null: the dialogue ends",
    "true_rate": "share of people's replies of the intent in which it is read",
    "tuned": "which part of the model was trained",
    "turn": "number of the turn in its dialogue, from 0",
    "turns_of_dialogues": "turns of the dialogues that the rule drops",
    "unasked_rate": "share of the same generator's replies with the intent when none is asked",
    "unexplained": "units that neither came out nor were dropped or quarantined; 0 is right",
    "uniform_perplexity": "perplexity of drawing each token alike: the vocabulary's size",
    "unit": "what is counted: file, dialogue, turn, ...",
    "unweighted_f1": "macro-F1 without weighting newer turns more",
    "uploads": "subtitle files of the film that were read",
    "valence": "mean valence of the emotions, -1 to 1",
    "value": "the number here; null where there is nothing to count",
    "version": "version of the stage's rules",
    "weak_confidence": "probability of the weak label; null without one",
    "weak_label": "label by the weak labeler; null without one",
    "weighted_f1": "macro-F1 with newer turns weighted more",
    "wilcoxon": "p of Wilcoxon's test",
    "with_rival_label": "dialogues whose matches have other labels too",
}
OWN_OF_VIEW: dict[str, str] = {
    "analysis.edos_examples.place": "number of the dialogue in its quarter, from 1",
    "analysis.dropped.units": "how many of the stage's units the row stands for",
    "analysis.edos_released_pairs.matched_id": "id of the labelled dialogue",
    "analysis.edos_emotions_by_turn.neutral": "share of the turns with the label neutral",
    "analysis.labels.about": "what the label means",
    "analysis.labels.example": "what somebody says who shows it",
}


def view_column(view: str, column: str) -> str:
    """Return what a column of a view means; its name where that says what it is.

    Args:
        view: its name.
        column: of the view.
    """
    return _known(view, column) or ("as the paper prints it" if "_paper_" in view else column.replace("_", " "))


def _known(view: str, column: str) -> str:
    if found := OWN_OF_VIEW.get(f"{view}.{column}") or OWN.get(column) or COMMENTS.get(column):
        return found
    if column.startswith(PAPER):
        return f"in the paper: {view_column(view, column.removeprefix(PAPER))}"
    for ending, meaning in ENDINGS.items():
        if column.endswith(ending):
            measure = column.removesuffix(ending)
            return f"{meaning} {_known(view, measure) or _known(view, f'{measure}_rate') or measure.replace('_', ' ')}"
    return ""
