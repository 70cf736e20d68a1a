"""Export a registered classifier as a folder that `transformers` opens with its trained head."""

import json
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

from conf.errors import InputError

CODE = "modeling_edos.py"
CLASS = "EdosForSequenceClassification"
KINDS = ("weak_labeler", "dialogue_classifier")
"""Kinds of models that answer one text with one label."""
HEAD_CONFIG = "head.json"
UNCHANGED: dict[str, Any] = {"temperature": 1.0, "confidence": [0.0, 1.0]}
"""The calibration of a classifier that was not calibrated."""
HEAD_WEIGHTS = "head.safetensors"
TOKENIZER_FILES = ("token*", "vocab*", "merges*", "special_tokens*", "added_tokens*", "*.model")

USAGE = """\
## How it is opened

```python
from transformers import pipeline

classifier = pipeline("text-classification", model=".", trust_remote_code=True)
print(classifier({example}))
```

`trust_remote_code` lets transformers read the head's code, `modeling_edos.py` in this folder, which imports PyTorch and
transformers alone. {unit}
"""
UNIT = {
    "weak_labeler": "A text is one sentence.",
    "dialogue_classifier": (
        "A text is a dialogue: its turns, oldest first, joined by the tokenizer's separator. The label is that of the "
        "last turn."
    ),
}


def export_model(model: Path, folder: Path) -> dict[str, Any]:
    """Write the encoder and head of a classifier as one transformers folder.

    Returns its configuration.

    Args:
        model: folder that the classifier's ``save`` wrote.
        folder: to write; it must not be there, or be empty.

    Raises:
        InputError: the model is no classifier of one label, or the folder holds something.
    """
    head = _head(model)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty: name another folder with --out, or empty it")
    folder.mkdir(parents=True, exist_ok=True)
    encoder = model / "encoder"
    for pattern in TOKENIZER_FILES:
        for file in encoder.glob(pattern):
            shutil.copyfile(file, folder / file.name)
    config = _config(encoder, head)
    (folder / "config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    _weights(model, folder)
    code = files(__package__).joinpath("exported_classifier.py").read_text("utf-8")
    (folder / CODE).write_text(code, encoding="utf-8")
    (folder / "README.md").write_text(_card(model, config), encoding="utf-8")
    return config


def _head(model: Path) -> dict[str, Any]:
    try:
        head: dict[str, Any] = json.loads((model / HEAD_CONFIG).read_text("utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{model} is no classifier with a head: export {', '.join(KINDS)}") from None
    if head.get("kind") not in KINDS:
        raise InputError(f"a {head.get('kind')} is not exported: only {', '.join(KINDS)} answer a text with one label")
    return head


def _config(encoder: Path, head: dict[str, Any]) -> dict[str, Any]:
    """Return the encoder's configuration with labels, the head's options and the place of the code."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(encoder), local_files_only=True)
    config: dict[str, Any] = json.loads((encoder / "config.json").read_text("utf-8"))
    labels = list(head["labels"])
    tokens = {
        "separator_id": tokenizer.sep_token_id,
        "start_id": tokenizer.cls_token_id,
        "pad_id": tokenizer.pad_token_id,
    }
    options = {key: value for key, value in head.items() if key not in ("labels", "dropout")}
    return config | {
        "architectures": [CLASS],
        "auto_map": {"AutoModelForSequenceClassification": f"{CODE.removesuffix('.py')}.{CLASS}"},
        "id2label": {str(place): label for place, label in enumerate(labels)},
        "label2id": {label: place for place, label in enumerate(labels)},
        "num_labels": len(labels),
        "problem_type": "single_label_classification",
        "edos": {**UNCHANGED, **options, **tokens},
    }


def _weights(model: Path, folder: Path) -> None:
    """Write the encoder's and the head's weights as one file."""
    from safetensors.torch import load_file, save_file

    found: dict[str, Any] = {}
    for file in sorted((model / "encoder").glob("*.safetensors")):
        # The head pools by itself.
        stored = {name: value for name, value in load_file(file).items() if not name.startswith("pooler.")}
        found |= {f"classifier.encoder.{name}": value for name, value in stored.items()}
    found |= {f"classifier.{name}": value for name, value in load_file(model / HEAD_WEIGHTS).items()}
    save_file(found, folder / "model.safetensors", metadata={"format": "pt"})


def _card(model: Path, config: dict[str, Any]) -> str:
    """Return the model's card with metadata for the hub, and how the exported folder is opened."""
    own = model / "README.md"
    text = own.read_text("utf-8") if own.is_file() else "# A classifier of emotions in dialogue\n"
    before, _, after = text.partition("## How it is opened")
    limits = after[after.index("## Limits") :] if "## Limits" in after else ""
    kind = config["edos"]["kind"]
    turns = 'classifier.tokenizer.sep_token.join(["I got the job!", "Well done."])'
    example = '"I got the job!"' if kind == "weak_labeler" else turns
    usage = USAGE.format(example=example, unit=UNIT[kind])
    tags = "library_name: transformers\npipeline_tag: text-classification\nlanguage: en\ntags:\n- emotion\n- dialogue"
    licence = (
        "## Licence\n\nThe code is under the Apache License 2.0. The weights come from the encoder and the texts that "
        "they were trained on, whose licences apply: EDOS's labels are CC BY 4.0, subtitles belong to others.\n"
    )
    return (
        f"---\n{tags}\n---\n\n"
        + "\n\n".join(part.strip() for part in (before, usage, limits, licence) if part.strip())
        + "\n"
    )
