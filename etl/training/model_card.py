"""The card of a trained model: what it is, its figures on held-out rows, how it is opened, and its limits."""

from collections.abc import Mapping

ABOUT = {
    "weak_labeler": "Labels one sentence with one of the taxonomy's emotions and intents (EDOS 3.1).",
    "dialogue_classifier": "Labels the last turn of a dialogue with one of the taxonomy's labels (EDOS 3.3.1).",
    "multi_label_classifier": "Gives an utterance, in a context or without, all labels that fit (Emo Pillars 5).",
    "causal_language_model": "Continues a text token by token.",
    "reply_generator": "Replies to a dialogue's turns (EDOS 5).",
    "causal_reply_generator": "Replies to a dialogue's turns; tuned from a causal language model (ours).",
    "turn_pair_classifier": "Says whether the second of two sentences begins a new turn (EDOS 3.1).",
}
LIMITS = """\
- The figures are of held-out rows of the data that it was trained on. On other data they are lower.
- The texts are films' dialogue, or written from plots, or crowd workers' chats: English, no sample of how people talk.
- Labels of emotions are what annotators or models read from a text, not what a person feels. They are no basis for
  decisions on people.
"""
HEAD = """\
The encoder alone is a plain transformers folder; the head is `head.safetensors` with `head.json`:

```python
from transformers import AutoModel, AutoTokenizer
encoder, tokenizer = AutoModel.from_pretrained("encoder"), AutoTokenizer.from_pretrained("encoder")

from udfs.serving import ServedClassifier      # the head's code, with this package installed
ServedClassifier(Path(".")).predict(frame)     # the same as mlflow.pyfunc.load_model(uri).predict(frame)
```
"""


def model_card(name: str, kind: str, starts_from: str, figures: Mapping[str, float], rows: int) -> str:
    """Return the card as Markdown.

    Args:
        name: of the registered model.
        kind: of the model's class.
        starts_from: identity of its initial weights.
        figures: metrics on held-out rows.
        rows: number of training rows.
    """
    from etl.training.signatures import SERVED

    table = "\n".join(f"| {metric} | {value:.4f} |" for metric, value in sorted(figures.items()))
    parts = [
        f"# {name}",
        ABOUT.get(kind, f"A {kind}."),
        f"Initial weights: `{starts_from}`. Training rows: {rows:,}.",
        f"## Figures on held-out rows\n\n| metric | value |\n| --- | --- |\n{table}",
        *([f"## How it is opened\n\n{HEAD}".rstrip()] if kind in SERVED else []),
        f"## Limits\n\n{LIMITS}",
    ]
    return "\n\n".join(parts)
