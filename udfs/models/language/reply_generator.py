"""The response generator: an encoder-decoder transformer from a history to a reply (EDOS 5, E)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa
import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    BartConfig,
    BartForConditionalGeneration,
    GenerationConfig,
    LogitsProcessorList,
    MBartConfig,
    MBartForConditionalGeneration,
)

from conf.errors import InputError, message_line
from etl.replies.settings import ReplyNetwork
from udfs.models.batches import answers_alike, batches_of_equal_width, padded, padded_width
from udfs.models.language.language_model import LanguageModel, network_state
from udfs.models.language.reply_tokenizer import ReplyTokenizer
from udfs.models.pretrained import LOCAL, complete, quiet, reading

Network = BartForConditionalGeneration | MBartForConditionalGeneration
NORMS: dict[str, type[Network]] = {"after": BartForConditionalGeneration, "before": MBartForConditionalGeneration}
"""By the place of the layer norms: mBART has them before each sub-layer and one at the end, BART after each."""
NETWORK = "network"
CONFIG = "reply_generator.json"


class EncodedReply(NamedTuple):
    """A history and its reply as token ids.

    Attributes:
        ids: of the history, without its oldest tokens where it is too long.
        start: the token that the reply starts from, which selects its intent.
        reply: of the reply with its end token; empty before the reply is written.
    """

    ids: tuple[int, ...]
    start: int
    reply: tuple[int, ...] = ()


class ReplyPrompt(NamedTuple):
    """The token ids of a history to reply to, the token that the reply starts from, and the seed for sampling."""

    ids: tuple[int, ...]
    start: int
    seed: int


class ReplyGenerator(LanguageModel):
    """BART's or mBART's network at the paper's sizes, with a tokenizer and a start token for each intent.

    ``steered`` is whether those start tokens were trained.

    On disk: `network/` (a transformers folder), the tokenizer's JSON, `reply_generator.json`. No pickles.
    """

    kind = "reply_generator"
    row = EncodedReply
    schema = pa.schema([("ids", pa.list_(pa.int32())), ("start", pa.int32()), ("reply", pa.list_(pa.int32()))])

    def __init__(self, network: Any, tokenizer: ReplyTokenizer, steered: bool = False, max_tokens: int = 0) -> None:
        super().__init__()
        self.network = network
        self.tokenizer = tokenizer
        self.steered = steered
        self.max_tokens = max_tokens or int(network.config.max_position_embeddings)
        if isinstance(network, Network) and not network.config.tie_word_embeddings:
            network.model.shared.weight.requires_grad_(False)  # unused: encoder and decoder have their embeddings

    @property
    def device(self) -> torch.device:
        """The device that computes."""
        return next(self.network.parameters()).device

    def begin_intents(self) -> None:
        """Set each intent's start token to the mean embedding of its label's words (ours).

        A few updates then need not tell 41 random tokens apart.
        """
        tables = [part.weight for part in self.network.modules() if isinstance(part, nn.Embedding)]
        words = self.tokenizer.texts([f" {intent}" for intent in self.tokenizer.intents])
        with torch.no_grad():
            for table in {id(one): one for one in tables if len(one) == self.tokenizer.size}.values():
                for intent, ids in zip(self.tokenizer.intents, words, strict=True):
                    table[self.tokenizer.start_of(intent)] = table[list(ids)].mean(dim=0)

    def parameter_count(self) -> int:
        """Return the number of trained parameters; shared matrices count once."""
        return sum(value.numel() for value in self.parameters() if value.requires_grad)

    def set_dropout(self, share: float) -> None:
        """Set the dropout of every layer's output and attention weights, also in the saved configuration."""
        self.network.config.dropout = self.network.config.attention_dropout = share
        for module in self.network.modules():
            for name in ("dropout", "attention_dropout"):
                if isinstance(getattr(module, name, None), float):
                    setattr(module, name, share)

    def encode(
        self, contexts: Sequence[Sequence[str]], replies: Sequence[str], intents: Sequence[str | None]
    ) -> list[EncodedReply]:
        """Return histories (oldest turn first) with replies; a truncated reply has no end token.

        Raises:
            InputError: an unknown intent.
        """
        end = self.tokenizer.end
        most = self.max_tokens
        histories = self.tokenizer.contexts(contexts, most)
        texts = self.tokenizer.texts(replies)
        return [
            EncodedReply(ids, self.tokenizer.start_of(intent), (*reply, end)[:most])
            for ids, reply, intent in zip(histories, texts, intents, strict=True)
        ]

    def words(self, rows: Sequence[EncodedReply], replies: Sequence[str]) -> list[int]:
        """Return the number of words, separated by blanks, in each reply or in its part that was not truncated."""
        return [
            len((text if row.reply[-1] == self.tokenizer.end else self.tokenizer.text(row.reply)).split())
            for row, text in zip(rows, replies, strict=True)
        ]

    def lengths(self, rows: Sequence[EncodedReply]) -> list[int]:
        return [len(row.ids) + len(row.reply) for row in rows]

    def counted(self, rows: Sequence[EncodedReply]) -> int:
        return sum(len(row.reply) for row in rows)

    def forward(self, rows: Sequence[EncodedReply], label_smoothing: float = 0.0) -> Tensor:
        losses, _ = self._token_losses(rows, label_smoothing)
        return losses.sum()

    def nats(self, rows: Sequence[EncodedReply], batch_size: int) -> list[float]:
        """Return the negative log-likelihood of each reply and its end token, independent of the other rows."""
        widths = [padded_width(len(row.reply), self.max_tokens) for row in rows]
        found: dict[int, float] = {}
        for width, places in batches_of_equal_width(widths, len(rows)):

            def answer(part: Sequence[EncodedReply], context_width: int, width: int = width) -> Tensor:
                return self._row_losses(part, context_width, width)

            some = [rows[place] for place in places]
            losses = answers_alike(some, batch_size, self.max_tokens, answer)
            found |= dict(zip(places, losses.tolist(), strict=True))
        return [found[place] for place in range(len(rows))]

    @torch.inference_mode()
    def _row_losses(self, rows: Sequence[EncodedReply], context_width: int, width: int) -> Tensor:
        losses, owner = self._token_losses(rows, 0.0, context_width, width)
        return torch.zeros(len(rows), device=losses.device).index_add_(0, owner, losses)

    def _token_losses(
        self, rows: Sequence[EncodedReply], label_smoothing: float, context_width: int = 0, width: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Return the loss of each token of the replies, and the index of its row."""
        device = self.device
        pad = self.tokenizer.pad
        context = padded([row.ids for row in rows], pad, context_width).to(device)
        truth = padded([row.reply for row in rows], pad, width).to(device)
        begun = padded([(row.start, *row.reply[:-1]) for row in rows], pad, width).to(device)
        states = self.network.model(
            input_ids=context, attention_mask=(context != pad).long(), decoder_input_ids=begun, use_cache=False
        ).last_hidden_state
        real = truth != pad
        loss = nn.functional.cross_entropy(
            self._logits(states[real]), truth[real], reduction="none", label_smoothing=label_smoothing
        )
        return loss, real.nonzero()[:, 0]

    def _logits(self, states: Tensor) -> Tensor:
        """Return the logits of the tokens that a reply can have, from states without padding: the widest matrix.

        Start tokens are no output. Where embeddings are tied, the softmax would move them all in one direction.
        """
        head = self.network.get_output_embeddings()
        most = self.tokenizer.end + 1
        bias = None if head.bias is None else head.bias[:most]
        return nn.functional.linear(states, head.weight[:most], bias).float()

    def written(
        self, rows: Sequence[ReplyPrompt], width: int, config: GenerationConfig, blocked_ngrams: int, rules: list[Any]
    ) -> Tensor:
        """Return the token ids of a reply to each history, possibly with padding after them.

        Args:
            width: of the histories, which are padded to it.
            config: of the library; its tokens of padding and end, its start and its blocked n-grams are set here.
            blocked_ngrams: length of the n-grams that a reply has once at most; 0: any.
        """
        context = padded([row.ids for row in rows], self.tokenizer.pad, width).to(self.device)
        config.decoder_start_token_id = [row.start for row in rows]
        config.no_repeat_ngram_size = blocked_ngrams
        out = self.network.generate(
            input_ids=context,
            attention_mask=(context != self.tokenizer.pad).long(),
            generation_config=config,
            logits_processor=LogitsProcessorList(rules),
        )
        assert isinstance(out, Tensor)
        return out[:, 1:]

    def save(self, folder: Path, weights: Mapping[str, Tensor] | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        with quiet():
            self.network.save_pretrained(folder / NETWORK, state_dict=network_state(weights))
        self.tokenizer.save(folder)
        facts = {
            "kind": self.kind,
            "steered": self.steered,
            "parameters": self.parameter_count(),
            "max_tokens": self.max_tokens,
        }
        (folder / CONFIG).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model that `save` wrote.

        Raises:
            InputError: `folder` holds no response generator of this kind.
        """
        folder = Path(folder)
        facts = generator_facts(folder)
        if facts["kind"] != cls.kind:
            raise InputError(f"{folder}: not a {cls.kind}: check the model's URI")
        tokenizer = ReplyTokenizer.load(folder)
        with reading(folder / NETWORK, RuntimeError, SafetensorError):
            network = cls._network(str(folder / NETWORK))
        if network.config.vocab_size != tokenizer.size:
            raise InputError(f"{folder}: {network.config.vocab_size} embeddings for {tokenizer.size} tokens")
        return cls(network.float(), tokenizer, bool(facts.get("steered")), int(facts.get("max_tokens", 0))).eval()

    @classmethod
    def _network(cls, path: str) -> Any:
        kind = {"bart": NORMS["after"], "mbart": NORMS["before"]}[AutoConfig.from_pretrained(path, **LOCAL).model_type]
        return complete(kind, path, use_safetensors=True)


def generator_facts(folder: Path) -> dict[str, Any]:
    """Return the contents of a generator's ``reply_generator.json``.

    Raises:
        InputError: there is no such file, or it does not name a kind.
    """
    try:
        facts = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        return {**facts, "kind": str(facts["kind"])}
    except (AttributeError, OSError, ValueError, KeyError, TypeError) as error:
        problem = message_line(error)
        raise InputError(f"{folder}: no {CONFIG} of a reply_generator ({problem}): train one first") from None


def new_generator(tokenizer: ReplyTokenizer, sizes: ReplyNetwork, seed: int = 13) -> ReplyGenerator:
    """Return an untrained generator; the default sizes are the paper's (EDOS 5, E)."""
    kind = {"after": BartConfig, "before": MBartConfig}[sizes.norm]
    config = kind(
        vocab_size=tokenizer.size,
        d_model=sizes.hidden,
        max_position_embeddings=sizes.max_tokens,
        activation_function="gelu",
        encoder_layers=sizes.layers,
        decoder_layers=sizes.layers,
        encoder_attention_heads=sizes.heads,
        decoder_attention_heads=sizes.heads,
        encoder_ffn_dim=sizes.feed_forward,
        decoder_ffn_dim=sizes.feed_forward,
        dropout=sizes.dropout,
        attention_dropout=sizes.dropout,
        pad_token_id=tokenizer.pad,
        bos_token_id=tokenizer.start_of(None),
        eos_token_id=tokenizer.end,
        decoder_start_token_id=tokenizer.start_of(None),
        forced_eos_token_id=None,
        tie_word_embeddings=sizes.tied_embeddings,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = NORMS[sizes.norm](config)
    return ReplyGenerator(network, tokenizer).eval()
