"""The layers of each family of encoders are read from the architecture."""

import pytest
from transformers import AutoConfig, AutoModel

from conf.errors import InputError
from udfs.models.pretrained import layers_below_top

SIZES = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 3, "intermediate_size": 32, "vocab_size": 60}
FAMILIES = {
    "bert": "encoder.layer",
    "roberta": "encoder.layer",
    "xlm-roberta": "encoder.layer",
    "mpnet": "encoder.layer",
    "electra": "encoder.layer",
    "deberta-v2": "encoder.layer",
    "distilbert": "transformer.layer",
    "modernbert": "layers",
    "gpt2": "h",
    "llama": "layers",
}
OTHER_NAMES = {
    "distilbert": {"dim": 16, "n_heads": 2, "n_layers": 3, "hidden_dim": 32, "vocab_size": 60},
    "gpt2": {"n_embd": 16, "n_head": 2, "n_layer": 3, "vocab_size": 60},
    "modernbert": {**SIZES, "pad_token_id": 0},
    "albert": {**SIZES, "embedding_size": 16},
}


def encoder_of(family: str):
    return AutoModel.from_config(AutoConfig.for_model(family, **OTHER_NAMES.get(family, SIZES)))


@pytest.mark.parametrize(("family", "layers"), FAMILIES.items())
def test_each_family_has_its_layers_in_order(family, layers):
    encoder = encoder_of(family)
    below = layers_below_top(encoder)
    assert set(below) == {name for name, _ in encoder.named_parameters()}
    for number in range(3):
        inside = {depth for name, depth in below.items() if name.startswith(f"{layers}.{number}.")}
        assert inside == {2 - number}, (family, number)
    embeddings = {depth for name, depth in below.items() if name.startswith(("embeddings.", "wte.", "embed_tokens."))}
    assert embeddings == {3}


def test_what_comes_after_the_layers_counts_with_the_top():
    assert layers_below_top(encoder_of("modernbert"))["final_norm.weight"] == 0


def test_shared_layers_are_refused():
    with pytest.raises(InputError, match="layer_decay: AlbertModel has no list of 3 layers"):
        layers_below_top(encoder_of("albert"))
