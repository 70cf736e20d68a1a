"""Make and evaluate the danger classifiers of the chat: ``python -m etl.safety train|words|evaluate``.

``train`` learns from the lines of ``etl/safety/data``, chooses the threshold, and writes the weights to
``etl/safety/weights``; ``words`` does so for the classifier that needs no encoder. ``evaluate`` prints the figures of a
half.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import torch

from etl.safety.classifier import DangerClassifier
from etl.safety.lines import HELD_OUT, TUNE
from etl.safety.stored import weights
from etl.safety.training import encoder_model, evaluated, train, train_words


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, or evaluate the tuned halves (by default) or the held-out halves."""
    parser = argparse.ArgumentParser(prog="python -m etl.safety", description=__doc__)
    parser.add_argument("command", choices=("train", "words", "evaluate"))
    parser.add_argument("--half", choices=(TUNE, HELD_OUT), default=TUNE)
    parser.add_argument("--folder", type=Path, help="of the weights; default: those of the package")
    options = parser.parse_args(arguments)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    with weights() as package:
        folder = options.folder or package
        if options.command == "train":
            print(f"threshold {train(folder).threshold}")
        elif options.command == "words":
            print(f"threshold {train_words(folder).threshold}")
        else:
            encoder = encoder_model()
            print(evaluated(options.half, DangerClassifier.read(folder, encoder.path, encoder.identity)))


if __name__ == "__main__":
    main()
