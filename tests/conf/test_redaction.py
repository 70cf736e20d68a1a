"""Canary secrets, which no text that leaves the process may show."""

import time

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.redaction import redacted, without_user_info
from etl.pipeline.tables.hidden_secrets import redacted_text, without_secrets
from udfs.failures import error_line

CANARY = "c4nary-Tweets"
SECRET = (
    f"s3://AKIAABCDEFGHIJKLMNOP:{CANARY}/a+x@bucket/films/a.xml",
    f"https://user:{CANARY}@host:80/p?x=1",
    f"cannot list s3://b/x?access_key=AKIA1&secret_key={CANARY}&region=eu: denied",
    f"https://account.blob/x?sv=1&sig={CANARY}%3D",
    f"{{'Authorization': 'Bearer {CANARY}'}}",
    f'{{"authorization": "Basic {CANARY}=="}}',
    f"b'Authorization': b'Bearer {CANARY}'",
    f'headers: [("authorization", "{CANARY}")]',
    f"AUTHORIZATION={CANARY}",
    f"Cookie: session={CANARY}",
    f"the server got Bearer {CANARY}",
    f"x-api-key: {CANARY}",
    f"password={CANARY} and more",
    f'"password" : "{CANARY}"',
    f"fs.s3a.secret.key={CANARY}, fs.s3a.access.key={CANARY}",
    f"AccountKey={CANARY}==;EndpointSuffix=x",
    f"api_key='{CANARY}'",
    f"token: {CANARY}",
    f"Incorrect API key provided: sk-{CANARY}123",
    f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY.replace('-', '')}\n-----END RSA PRIVATE KEY-----",
    "hf_1C4naryTweets4567890",
    "dapi0c4naryTweets90123456789abcdef",
    "AKIAC4NARYTWEETS0123",
    "ghp_1C4naryTweets4567890",
    "eyJhbGciOiJIUzI1NiJ9.c4naryTweets.c4naryTweets",
)
PLAIN = (
    "https://host:8080/path/a@b",
    "git@github.com:a/b",
    "user@example.org said http://x.y/z",
    "the bearer of bad news",
    "max_tokens=300, tokenizer=roberta",
    "a token of love",
    "key.jsonl",
    "the key to the door",
    "it 's a secret .",
    "a/b/token/c.xml",
    "s3://bucket/a:b/c@d.xml",
    "row 3 has 5 tokens: too long",
    "",
    "file:/x/passwords/a.csv",
)


@pytest.mark.parametrize("text", SECRET)
def test_secrets_are_hidden(text: str) -> None:
    assert "tweets" not in redacted(text).lower().replace("-", "")
    assert "***" in redacted(text)
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_stay(text: str) -> None:
    assert redacted(text) == without_user_info(text) == text


def test_addresses_keep_their_place() -> None:
    assert redacted(SECRET[0]) == without_user_info(SECRET[0]) == "s3://***@bucket/films/a.xml"
    assert without_user_info(SECRET[1]) == "https://***@host:80/p?x=1"
    assert without_user_info("s3://b/token=abcdef/a.xml?secret_key=x&region=eu") == (
        "s3://b/token=abcdef/a.xml?secret_key=***&region=eu"
    )


def test_named_values_and_those_of_the_environment_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    assert redacted("it says plainword", "plainword", None) == "it says ***"
    monkeypatch.setenv("OPENAI_API_KEY", "plain words of an odd key")
    monkeypatch.setenv("CACHE_KEY", "edos-lakehouse")
    assert redacted("edos-lakehouse: got plain words of an odd key!") == "edos-lakehouse: got ***!"


def test_errors_are_redacted() -> None:
    for text in SECRET:
        assert "tweets" not in f"{InputError(text)}{error_line(ValueError(text))}".lower().replace("-", "")
    assert error_line(ValueError("echo: odd"), "odd") == "ValueError: echo: ***"
    long = error_line(ValueError("x" * 250 + f" password={CANARY * 20}"))
    assert len(long) <= 300
    assert CANARY not in long


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "key" * 100_000,
        "://" * 100_000,
        "a.-" * 100_000,
        "=:\"'" * 75_000,
        "password=" * 30_000,
        "bearer " * 40_000,
        "-----BEGIN PRIVATE KEY-----" * 9_999,
    ],
)
def test_hostile_texts_take_little_time(text: str) -> None:
    started = time.process_time()
    redacted(text)
    assert time.process_time() - started < 5


def test_spark_hides_the_same(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [(text, text, text) for text in (*SECRET, *PLAIN)], "text string, detail string, source string"
    )
    found = without_secrets(rows.withColumn("all", redacted_text(F.col("text")))).collect()
    assert [row.all for row in found] == [row.detail for row in found] == [redacted(row.text) for row in found]
    assert [row.source for row in found] == [without_user_info(row.text) for row in found]


def test_control_characters_of_messages_are_seen(spark: SparkSession) -> None:
    text = "a\0b\x1b[2J\r\n\x7f\x85é"
    (row,) = without_secrets(spark.createDataFrame([(text, text)], "detail string, text string")).collect()
    assert (row.detail, row.text) == ("a\u2400b\u241b[2J\u240d\u240a\u2421\ufffdé", text)
