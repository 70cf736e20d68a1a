"""A tiny response generator and lines to train it on."""

from collections.abc import Sequence

from conf.taxonomy import edos_labels
from conf.training_options import TrainingOptions
from etl.replies.settings import ReplyNetwork
from etl.training.loop.train import TrainingContext
from udfs.models.language.reply_generator import EncodedReply, ReplyGenerator, new_generator
from udfs.models.language.reply_tokenizer import trained_tokenizer

LINES = [
    ("my dog ran away", "oh no , i am sorry"),
    ("the sun is out", "how nice that is"),
    ("i lost my job", "what will you do now ?"),
    ("we won the game", "well done , all of you"),
    ("it rains again", "take the red umbrella"),
    ("he never calls", "i am sorry about that"),
]


OPTIONS = TrainingOptions(
    epochs=4,
    batch_size=2,
    effective_batch=4,
    learning_rate=5e-3,
    warmup_steps=2,
    decay="none",
    threads=1,
    device="cpu",
    precision="fp32",
)


QUIET = TrainingContext(say=lambda line: None)


TINY = {"layers": 1, "heads": 2, "hidden": 16, "feed_forward": 32, "max_tokens": 24}


def tiny_generator(seed: int = 3, **sizes: object) -> ReplyGenerator:
    tokenizer = trained_tokenizer([text for line in LINES for text in line], 330, edos_labels())
    return new_generator(tokenizer, ReplyNetwork(**{**TINY, **sizes}), seed)  # type: ignore[arg-type]


def rows_of(model: ReplyGenerator, lines: Sequence[tuple[str, str]] = LINES) -> list[EncodedReply]:
    return model.encode([["so ?", said] for said, _ in lines], [reply for _, reply in lines], [None] * len(lines))
