"""Training of the danger classifier: low-rank changes of a sentence encoder, and a head.

Lines are varied as they are typed (case, apostrophes, words before and after), and joined, since the gate reads lines
together.
"""

import math
import random
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from etl.safety.classifier import BIAS, DOWN, HEAD, UP
from etl.safety.examples import MAX_TOKENS
from etl.safety.lines import DangerLine
from udfs.models.batches import mean_pooled

RANK = 8
STRENGTH = 2.0
FIRST_LAYER = 3
"""The first block of the encoder that is changed; lower ones stay frozen, which halves the time."""
DROPOUT = 0.1
EPOCHS = 4.0
BATCH_SIZE = 48
LEARNING_RATE = 1.5e-3
WARM_UP = 0.06
SMOOTHING = 0.04
MOST_COSINE = 0.7
JOINED = 0.25
"""Joined texts a line; two of three are of harmless lines alone."""
BEFORE = (
    "honestly",
    "idk",
    "hey",
    "ok so",
    "um",
    "well",
    "so",
    "hi",
    "hello",
    "sorry",
    "look",
    "I mean",
    "please",
    "yes",
    "no",
    "lol",
)
AFTER = ("lol", "idk", "sorry", "please help", "I think", "you know", "so yeah", "haha", "what should I do", "thanks")
"""Of lines of danger and of harmless ones alike."""

Example = tuple[str, bool]


class Adapted(nn.Module):
    """A frozen linear layer with a change of low rank."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer
        self.down = nn.Parameter(torch.randn(rank, layer.in_features) / math.sqrt(layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, rank))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, states: Tensor) -> Tensor:
        change = (self.dropout(states) @ self.down.T) @ self.up.T
        return torch.as_tensor(self.layer(states) + STRENGTH * change)


class Trained(NamedTuple):
    """The encoder in training, its layers by name, and the head."""

    encoder: nn.Module
    layers: dict[str, Adapted]
    head: nn.Linear

    @classmethod
    def of(cls, encoder: nn.Module, rank: int = RANK, first: int = FIRST_LAYER) -> "Trained":
        """Freeze an encoder, and give each linear layer of its blocks from one on a change."""
        encoder.requires_grad_(False)
        modules = ((re.search(r"layers?\.(\d+)\.", name), name, one) for name, one in encoder.named_modules())
        names = [
            name for place, name, one in modules if isinstance(one, nn.Linear) and place and int(place[1]) >= first
        ]
        layers = {}
        for name in names:
            layer = encoder.get_submodule(name)
            assert isinstance(layer, nn.Linear)
            above, _, last = name.rpartition(".")
            layers[name] = Adapted(layer, rank)
            setattr(encoder.get_submodule(above), last, layers[name])
        size = next(encoder.parameters()).shape[-1]
        head = nn.Linear(size, 1)
        nn.init.zeros_(head.bias)
        return cls(encoder, layers, head)

    def parameters(self) -> list[nn.Parameter]:
        return [*self.head.parameters(), *(one for layer in self.layers.values() for one in (layer.down, layer.up))]

    def logits(self, batch: dict[str, Tensor]) -> Tensor:
        states = mean_pooled(self.encoder(**batch).last_hidden_state, batch["attention_mask"])
        return torch.as_tensor(self.head(nn.functional.dropout(states, DROPOUT, self.encoder.training)).squeeze(-1))

    def weights(self) -> dict[str, Tensor]:
        """Return what `TunedEncoder` adds to the encoder, in half precision."""
        found = {HEAD: self.head.weight[0], BIAS: self.head.bias[0]}
        for name, layer in self.layers.items():
            found |= {name + DOWN: layer.down, name + UP: STRENGTH * layer.up}
        return {name: value.detach().half() for name, value in found.items()}


def tuned(
    encoder: nn.Module,
    tokenizer: Any,
    examples: Sequence[Example],
    epochs: float = EPOCHS,
    seed: int = 0,
    first: int = FIRST_LAYER,
) -> dict[str, Tensor]:
    """Return the weights that tell the examples of danger from the others.

    Args:
        first: of the encoder's blocks that are changed.
    """
    torch.manual_seed(seed)
    chance = random.Random(seed)
    model = Trained.of(encoder, first=first)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.01)
    done = 0
    total = 0
    encoder.train()
    for epoch in range(math.ceil(epochs)):
        batches = _batches(varied(examples, chance), tokenizer, chance)
        total = total or max(1, int(len(batches) * epochs))
        losses = []
        for batch, truths in batches[: total - done]:
            done += 1
            rate = LEARNING_RATE * min(1.0, done / (WARM_UP * total)) * max(0.02, 1 - done / total)
            for group in optimizer.param_groups:
                group["lr"] = rate
            with torch.autocast("cpu", torch.bfloat16):
                logits = model.logits(batch)
            targets = truths * (1 - 2 * SMOOTHING) + SMOOTHING
            loss = nn.functional.binary_cross_entropy_with_logits(logits.float(), targets)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: {len(losses)} batches, loss {sum(losses) / max(1, len(losses)):.4f}", flush=True)
    return model.weights()


@torch.inference_mode()
def far(
    encoder: nn.Module, tokenizer: Any, lines: Sequence[DangerLine], judged: Sequence[str], most: float = MOST_COSINE
) -> list[DangerLine]:
    """Return the lines whose cosine to each judged text, under the encoder as it comes, is below this."""

    def vectors(texts: Sequence[str]) -> Tensor:
        found = torch.empty(len(texts), next(encoder.parameters()).shape[-1])
        places = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(places), BATCH_SIZE):
            some = places[start : start + BATCH_SIZE]
            batch = tokenizer(
                [texts[place] for place in some],
                padding=True,
                truncation=True,
                max_length=MAX_TOKENS,
                return_tensors="pt",
            )
            states = mean_pooled(encoder(**batch).last_hidden_state, batch["attention_mask"])
            found[some] = nn.functional.normalize(states, dim=-1)
        return found

    encoder.eval()
    nearest = (vectors([line.text for line in lines]) @ vectors(judged).T).max(1).values
    return [line for line, cosine in zip(lines, nearest.tolist(), strict=True) if cosine < most]


def varied(examples: Sequence[Example], chance: random.Random) -> list[Example]:
    """Return the examples as they might be typed, and some of them joined: with danger where a part has it."""
    found = [(typed(text, chance), danger) for text, danger in examples]
    harmless = [text for text, danger in examples if not danger]
    dangerous = [text for text, danger in examples if danger]
    if len(harmless) < 3 or not dangerous:
        return found
    for place in range(int(JOINED * len(examples))):
        between = chance.choice((" ", " ", ". ", ", "))
        danger = place % 3 == 0
        parts = chance.sample(harmless, 1 if danger else chance.choice((2, 2, 3)))
        if danger:
            parts.insert(chance.randint(0, 1), chance.choice(dangerous))
        found.append((typed(between.join(parts), chance), danger))
    return found


def typed(text: str, chance: random.Random) -> str:
    """Return a text with or without capitals, apostrophes and points, and sometimes a word before or after."""
    if chance.random() < 0.15:
        text = chance.choice(BEFORE) + chance.choice((" ", ", ")) + text
    if chance.random() < 0.08:
        text = text + chance.choice((" ", ", ")) + chance.choice(AFTER)
    if chance.random() < 0.2:
        text = text.lower()
    if chance.random() < 0.15:
        text = text.replace("'", "")
    if chance.random() < 0.1:
        text = re.sub("[,.?!]", "", text)
    return text + chance.choice((".", "!", "?", "...")) if chance.random() < 0.15 else text


def _batches(
    examples: Sequence[Example], tokenizer: Any, chance: random.Random
) -> list[tuple[dict[str, Tensor], Tensor]]:
    """Return batches of examples of like lengths, in any order."""
    ids = tokenizer([text for text, _ in examples], truncation=True, max_length=MAX_TOKENS)["input_ids"]
    places = list(range(len(examples)))
    chance.shuffle(places)
    groups = []
    for start in range(0, len(places), BATCH_SIZE * 20):
        alike = sorted(places[start : start + BATCH_SIZE * 20], key=lambda place: len(ids[place]))
        groups += [alike[first : first + BATCH_SIZE] for first in range(0, len(alike), BATCH_SIZE)]
    chance.shuffle(groups)
    found = []
    for group in groups:
        batch = tokenizer.pad({"input_ids": [ids[place] for place in group]}, return_tensors="pt")
        found.append((dict(batch), torch.tensor([float(examples[place][1]) for place in group])))
    return found
