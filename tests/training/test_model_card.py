"""The card that is stored with a model."""

from etl.training.model_card import description, model_card


def test_a_card_has_figures_use_and_limits() -> None:
    card = model_card(
        "edos-weak", "weak_labeler", "Trained on 1,200 rows, from pkg:x==1#2.", {"macro_f1": 0.5, "accuracy": 0.61234}
    )
    assert card.startswith("# edos-weak\n\nLabels one sentence")
    assert "| accuracy | 0.6123 |\n| macro_f1 | 0.5000 |" in card
    assert "Trained on 1,200 rows, from pkg:x==1#2." in card
    assert "## Limits" in card


def test_a_run_is_described_in_one_line() -> None:
    told = description("weak_labeler", "Trained on 1,200 rows, from pkg:x==1#2.")
    assert told.startswith("Labels one sentence")
    assert told.endswith("Trained on 1,200 rows, from pkg:x==1#2.")


def test_a_model_that_is_not_served_says_nothing_of_it() -> None:
    assert "How it is opened" not in model_card("bot", "causal_language_model", "x", {"perplexity": 3.0})
