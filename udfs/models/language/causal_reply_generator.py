"""A response generator that starts from a pre-trained causal language model (ours, beside the network of EDOS 5)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import (
    AutoModelForCausalLM,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    NoRepeatNGramLogitsProcessor,
)

from conf.errors import InputError
from udfs.models.batches import padded
from udfs.models.language.reply_generator import EncodedReply, ReplyGenerator, ReplyPrompt, generator_facts
from udfs.models.language.reply_tokenizer import ReplyTokenizer
from udfs.models.pretrained import causal_model, complete, unpacked

SCALED = ("final_logit_softcapping", "logit_scale", "logits_scaling")
"""Options of networks that change the logits after the last matrix, which the loss here would miss."""


class CausalReplyGenerator(ReplyGenerator):
    """A causal language model that reads a history, a start token for the intent, and continues with the reply.

    Rows, tokens and files are those of `ReplyGenerator`; the tokenizer is the language model's with added tokens.
    """

    kind = "causal_reply_generator"

    def set_dropout(self, share: float) -> None:
        """Keep the language model's own dropout."""

    def _token_losses(
        self, rows: Sequence[EncodedReply], label_smoothing: float, context_width: int = 0, width: int = 0
    ) -> tuple[Tensor, Tensor]:
        # Padding is on the right, where no real token looks: no mask is needed.
        whole = [(*row.ids, row.start, *row.reply[:-1]) for row in rows]
        ids = padded(whole, self.tokenizer.pad, context_width + width).to(self.device)
        states = self.network.base_model(input_ids=ids, use_cache=False).last_hidden_state
        owner = torch.tensor([place for place, row in enumerate(rows) for _ in row.reply], device=self.device)
        column = torch.tensor([len(row.ids) + n for row in rows for n in range(len(row.reply))], device=self.device)
        truth = torch.tensor([token for row in rows for token in row.reply], device=self.device)
        loss = nn.functional.cross_entropy(
            self._logits(states[owner, column]), truth, reduction="none", label_smoothing=label_smoothing
        )
        return loss, owner

    def written(
        self, rows: Sequence[ReplyPrompt], width: int, config: GenerationConfig, blocked_ngrams: int, rules: list[Any]
    ) -> Tensor:
        pad = self.tokenizer.pad
        most = width + 1
        asked = [(*row.ids, row.start) for row in rows]
        ids = torch.tensor([(*[pad] * (most - len(row)), *row) for row in asked], device=self.device)
        own = [_RepliesAlone(NoRepeatNGramLogitsProcessor(blocked_ngrams), most)] if blocked_ngrams else []
        out = self.network.generate(
            input_ids=ids,
            attention_mask=(ids != pad).long(),
            generation_config=config,
            logits_processor=LogitsProcessorList([*own, *rules]),
        )
        assert isinstance(out, Tensor)
        return out[:, most:]

    @classmethod
    def _network(cls, path: str) -> Any:
        return complete(AutoModelForCausalLM, path, use_safetensors=True)


class _RepliesAlone(LogitsProcessor):
    """Applies a logits processor to the tokens of the replies, without the histories before them."""

    def __init__(self, rule: LogitsProcessor, width: int) -> None:
        self._rule = rule
        self._width = width

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        changed: Tensor = self._rule(input_ids[:, self._width :], scores)  # type: ignore[arg-type]
        return changed


def causal_generator(folder: str | Path, intents: Sequence[str], max_tokens: int) -> CausalReplyGenerator:
    """Return a generator that is to be tuned, from a folder with a causal language model (safetensors or GGUF).

    The added tokens start from known ones: those between turns from a line break, the end from the model's end token,
    intents from their words.

    Raises:
        InputError: the folder has no such model, or one without tokenizer.json, end token or plain logits.
    """
    network, plain = causal_model(folder, torch.float32)
    network = unpacked(network)
    if not plain.is_fast or plain.eos_token_id is None:
        raise InputError(f"{folder}: the model needs a tokenizer.json and an end-of-text token")
    scaled = [name for name in SCALED if getattr(network.config, name, None) not in (None, 1, 1.0)]
    if scaled:
        raise InputError(f"{folder}: a network with {scaled[0]} cannot be tuned as a response generator")
    tokenizer = ReplyTokenizer(Tokenizer.from_str(plain.backend_tokenizer.to_str()), intents)
    network.resize_token_embeddings(tokenizer.size, mean_resizing=False)
    line = list(tokenizer.texts(["\n"])[0]) or [plain.eos_token_id]
    with torch.no_grad():
        for table in (network.get_input_embeddings().weight, network.get_output_embeddings().weight):
            table[tokenizer.pad] = 0
            table[tokenizer.turn] = table[tokenizer.start_of(None)] = table[line].mean(dim=0)
            table[tokenizer.end] = table[plain.eos_token_id]
    network.generation_config = GenerationConfig()
    generator = CausalReplyGenerator(network, tokenizer, max_tokens=max_tokens).eval()
    generator.begin_intents()
    return generator


def load_generator(folder: str | Path) -> ReplyGenerator:
    """Read a response generator of either kind.

    Raises:
        InputError: `folder` holds no response generator.
    """
    causal = generator_facts(Path(folder))["kind"] == CausalReplyGenerator.kind
    return (CausalReplyGenerator if causal else ReplyGenerator).load(folder)
