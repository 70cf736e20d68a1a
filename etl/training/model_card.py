"""The card of a trained model: what it is, its figures on held-out rows, how it is opened, and its limits."""

import json
from collections.abc import Mapping

ABOUT = {
    "weak_labeler": "Labels one sentence with one of the taxonomy's emotions and intents (EDOS 3.1).",
    "dialogue_classifier": "Labels the last turn of a dialogue with one of the taxonomy's labels (EDOS 3.3.1).",
    "multi_label_classifier": "Gives an utterance, in a context or without, all labels that fit (Emo Pillars 5).",
    "causal_language_model": "Continues a text token by token.",
    "reply_generator": "Replies to a dialogue's turns (EDOS 5).",
    "causal_reply_generator": "Replies to a dialogue's turns; tuned from a causal language model (ours).",
    "turn_segmenter": "Says whether the second of two sentences begins a new turn (EDOS 3.1).",
    "turn_window_classifier": "Says at each border of a stretch of sentences whether a new turn begins (EDOS 3.1).",
}
LIMITS = """\
- The figures are of held-out rows of the data that it was trained on. On other data they are lower.
- The texts are films' dialogue, or written from plots, or crowd workers' chats: English, no sample of how people talk.
- Labels of emotions are what annotators or models read from a text, not what a person feels. They are no basis for
  decisions on people.
"""
HEAD = """\
```python
import mlflow
import pandas as pd

model = mlflow.pyfunc.load_model(".")  # this folder, or models:/{name}@champion
print(model.predict(pd.DataFrame([{example}])))
```
"""


def description(kind: str, made_from: str) -> str:
    """Return what a training's run is, in one line for MLflow's page.

    Args:
        made_from: rows and initial weights, or the models that it is the mean of, in a sentence.
    """
    return f"{ABOUT.get(kind, f'A {kind}.')} {made_from}"


def model_card(name: str, kind: str, made_from: str, figures: Mapping[str, float]) -> str:
    """Return the card as Markdown.

    Args:
        made_from: see `description`.
    """
    from etl.training.signatures import EXAMPLES

    opened = []
    if kind in EXAMPLES:
        opened = [f"## How it is opened\n\n{HEAD.format(name=name, example=json.dumps(EXAMPLES[kind])).rstrip()}"]
    table = "\n".join(f"| {metric} | {value:.4f} |" for metric, value in sorted(figures.items()))
    parts = [
        f"# {name}",
        ABOUT.get(kind, f"A {kind}."),
        made_from,
        f"## Figures on held-out rows\n\n| metric | value |\n| --- | --- |\n{table}",
        *opened,
        f"## Limits\n\n{LIMITS}",
    ]
    return "\n\n".join(parts)
