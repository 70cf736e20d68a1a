"""A secret of any form, anywhere in a text, is hidden, in time that grows with the text alone."""

import base64
import random

import pytest

from conf.redaction import redacted, without_secrets_of_the_run

SEED = 48_09
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789"


def _secret(choose: random.Random) -> str:
    return "".join(choose.choices(_LETTERS, k=choose.randint(20, 60))) + "7"


FORMS = (
    "Authorization: Bearer {}",
    "Authorization: Basic {basic}",
    "headers={{'authorization': 'Basic {basic}'}}",
    "basic {basic}",
    "Cookie: lang=en; session={}",
    "Set-Cookie: sid={}; Path=/; HttpOnly",
    "https://bucket.example.org/a?X-Amz-Algorithm=A&X-Amz-Signature={}&x=1",
    "https://blob.example.org/c?sv=2022&sig={}",
    "GET /c?sig={} HTTP/1.1",
    "https://cdn.example.org/a?Expires=1&Signature={}&Key-Pair-Id=K",
    "https://user:{}@example.org/x",
    "password={}",
    '"api_key": "{}"',
    "hf_{}",
    "sk-{}",
    "ghp_{}",
    "OPENAI_API_KEY={}",
)
AROUND = ("", "error: ", "\n", "é\u2028", "hf_-" * 50, "key " * 20, "://" * 30, "{'a': [", "cookie ", "-" * 200)


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_anywhere_is_hidden(form: str) -> None:
    choose = random.Random(f"{SEED}|{form}")
    for _ in range(300):
        secret = _secret(choose)
        basic = base64.b64encode(f"user:{secret}".encode()).decode()
        text = f"{choose.choice(AROUND)} {form.format(secret, basic=basic)} {choose.choice(AROUND)}"
        shown = redacted(text)
        assert secret not in shown
        assert basic.rstrip("=") not in shown


@pytest.mark.parametrize("form", ["{}", "x{}y", "é {}\n", "['{}']", f"a={{}}{'b' * 500}"])
def test_a_known_value_is_hidden_without_any_form(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    secret = _secret(random.Random(SEED))
    monkeypatch.setenv("SOME_SERVICE_TOKEN", secret)
    assert secret not in redacted(form.format(secret))
    assert without_secrets_of_the_run(form.format(secret)) == form.format("***")


@pytest.mark.parametrize("text", ["the basic idea is simple", "basic information", "cookies are baked at 180 C"])
def test_plain_words_stay(text: str) -> None:
    assert redacted(text) == text
