"""Embeddings of dialogues' sentences for other models: one array a dialogue in an .npz file (Emo Pillars 5.1.4).

CORECT's input is a pickle, which this project neither reads nor writes: ``{"train": [...], "dev": [...],
"test": [...]}``. Each entry is a dialogue with ``vid``, ``sentence`` (a list of texts) and ``text``, their embeddings
(sentences, size). ``docs/emo_pillars.md`` shows how to extract the sentences and insert the embeddings.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from conf.errors import InputError
from etl.emo_pillars.settings import SentenceFiles
from etl.pipeline.stage_run import StageRun
from udfs.devices import training_device
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage

MOST_BYTES = 64 << 20
_SETTING = "emo_pillars.sentences"
_ID = re.compile(r"[\w.-]{1,200}")


def export_embeddings(run: StageRun, settings: SentenceFiles) -> Path:
    """Write each sentence's embedding, the last layer's state of its first token, and return the file.

    Raises:
        InputError: the settings name no file or no model, or the file has no dialogues.
    """
    if settings.sentences is None:
        raise InputError(f"{_SETTING} is not set: name a JSON file of a dialogue's id to its sentences")
    if not run.model("emo_pillars_contextless").given:
        raise InputError("models.emo_pillars_contextless is null: there is no model to embed with")
    dialogues = read_sentences(Path(settings.sentences))
    if settings.embeddings is None and run.store is not None:
        raise InputError("emo_pillars.embeddings is null and models are in an object store: name a file of the driver")
    file = Path(settings.embeddings or f"{run.folder}/../exports/emo-pillars-embeddings.npz").resolve()
    if file.suffix != ".npz":
        raise InputError(f"emo_pillars.embeddings: {file.name} must end in .npz")
    model = MultiLabelClassifier.load(run.model("emo_pillars_contextless").path).to(training_device("auto"))
    flat = [Passage(sentence) for sentences in dialogues.values() for sentence in sentences]
    vectors = iter(model.embed(flat, run.compute.batch_size))
    arrays = {name: np.stack([next(vectors) for _ in sentences]) for name, sentences in dialogues.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, **arrays)
    run.say(f"{len(flat):,} sentences of {len(arrays):,} dialogues, {model.hidden.in_features} numbers each: {file}")
    return file


def read_sentences(file: Path) -> Mapping[str, list[str]]:
    """Return sentences by dialogue id from a JSON file.

    Raises:
        InputError: the file has another form.
    """
    try:
        if file.stat().st_size > MOST_BYTES:
            raise InputError(f"{_SETTING}: {file} is larger than {MOST_BYTES >> 20} MiB")
        found = json.loads(file.read_text("utf-8"))
    except InputError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{_SETTING}: {file} is not a JSON file: {str(error).splitlines()[0][:200]}") from None
    if not isinstance(found, dict) or not found:
        raise InputError(f"{_SETTING}: {file} must be an object of dialogues")
    for name, sentences in found.items():
        if not _ID.fullmatch(name) or name == "file":
            raise InputError(f"{_SETTING}: {name[:80]!r} is not a dialogue's id (letters, digits, '.', '_' and '-')")
        if not isinstance(sentences, list) or not sentences or not all(isinstance(one, str) for one in sentences):
            raise InputError(f"{_SETTING}: {name} must have a list of texts, one at least")
    return found
