"""A tiny encoder of each family, and a tiny language model: random weights, tokenizers made here, saved as folders."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    MPNetConfig,
    MPNetModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

WORDS = [
    "i",
    "we",
    "you",
    "he",
    "she",
    "it",
    "the",
    "a",
    "is",
    "was",
    "am",
    "are",
    "so",
    "very",
    "not",
    "and",
    "but",
    "when",
    "did",
    "do",
    "what",
    "why",
    "how",
    "my",
    "your",
    "dog",
    "cat",
    "rain",
    "sun",
    "happy",
    "glad",
    "joy",
    "great",
    "sad",
    "cry",
    "lost",
    "alone",
    "angry",
    "mad",
    "hate",
    "shout",
    "afraid",
    "scared",
    "dark",
    "ghost",
    "thank",
    "thanks",
    "agree",
    "yes",
    "no",
    "sure",
    "right",
    "really",
    "tell",
    "me",
    "more",
    "about",
    "that",
    "day",
    "night",
    "home",
    "school",
    "work",
    "friend",
    "money",
    "game",
    "went",
    "came",
    "got",
    "gave",
    "##s",
    "##ing",
    "##ed",
    ".",
    ",",
    "?",
    "!",
]
SIZE = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 130,
}


def tiny_encoder(
    folder: Path,
    family: str = "bert",
    seed: int = 1,
    words: Sequence[str] = WORDS,
    size: Mapping[str, int] | None = None,
) -> Path:
    """A two-layer encoder with random weights; padding is id 0 for BERT, 1 for the others, as in theirs.

    Args:
        words: the tokenizer's vocabulary, besides the special tokens.
        size: arguments of the configuration in place of the tiny ones.
    """
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    if family == "bert":
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {token: index for index, token in enumerate([*special, *words])}
    names = ["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"]
    order = special if family == "bert" else [special[1], special[3], special[0], special[2], special[4]]
    tokens = dict(zip(names, order, strict=True))
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=tokens["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    first = tokens["cls_token"]
    last = tokens["sep_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B {last}",
        special_tokens=[(first, vocabulary[first]), (last, vocabulary[last])],
    )
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **tokens).save_pretrained(folder)
    pad = vocabulary[tokens["pad_token"]]
    options = {"vocab_size": len(vocabulary), "pad_token_id": pad, **SIZE, **(size or {})}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if family == "bert":
            encoder = BertModel(BertConfig(**options))
        elif family == "roberta":
            encoder = RobertaModel(RobertaConfig(**options))
        else:
            encoder = MPNetModel(MPNetConfig(**options))
    encoder.save_pretrained(folder)
    return folder


CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }} {{ message['content'] }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant {% endif %}"
)


def tiny_language_model(
    folder: Path,
    seed: int = 1,
    positions: int = 512,
    words: Sequence[str] = WORDS,
    size: Mapping[str, int] | None = None,
) -> Path:
    """A two-layer decoder with random weights and a chat template, which pads with the token that ends an answer.

    Args:
        words, size: see `tiny_encoder`.
    """
    special = ["<unk>", "<|im_start|>", "<|im_end|>"]
    vocabulary = {token: index for index, token in enumerate([*special, "user", "assistant", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
    )
    fast.chat_template = CHAT
    fast.save_pretrained(folder)
    tiny = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    options = {"vocab_size": len(vocabulary), "max_position_embeddings": positions, **tiny, **(size or {})}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = LlamaConfig(bos_token_id=1, eos_token_id=2, pad_token_id=2, initializer_range=0.5, **options)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder
