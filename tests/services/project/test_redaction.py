"""Secrets are removed. Names and placeholders that only resemble one stay."""

import time

import pytest

from oracle.services.project.redaction import redact

BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"

SECRETS = {
    "a private key": (KEY, BODY),
    "a key in JSON": (KEY.replace("\n", "\\n"), BODY),
    "a key that is torn off": (KEY[:120], BODY[:40]),
    "AWS": ("id = AKIAQX7ZJ3LMNB2W4T5R", "AKIAQX7ZJ3LMNB2W4T5R"),
    "AWS secret": (
        'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzK9qLm2A"',
        "wJalrXUtnFEMI",
    ),
    "GitHub": ("ghp_" + "a1B2c3D4e5F6" * 3, "ghp_"),
    "GitHub fine-grained": ("github_pat_" + "11QWERTYU0zXcV" * 3, "github_pat_"),
    "GitLab": ("glpat-xY9zK2mN4pQ7rS1tU3vW", "glpat-"),
    "Slack": ("xoxb-209384756102-qwERty456ghi", "xoxb-"),
    "Anthropic": ("sk-ant-api03-Zq8Xw7Vu6Ts5Rq4Po3Nm2Lk1", "sk-ant"),
    "OpenAI": ("sk-proj-Zq8Xw7Vu6Ts5Rq4Po3Nm2Lk1Jh0", "sk-proj"),
    "Google": ("AIzaSyD4iE2xVSpkLLOXoyqT-RuPwywN3ScZAjk", "AIza"),
    "Stripe": ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "sk_live"),
    "npm": ("npm_" + "a1B2c3D4e5F6" * 3, "npm_"),
    "Hugging Face": ("hf_" + "qWeRtYuIoP" * 3 + "kLmN", "hf_"),
    "JWT": (f"token {JWT}", "dozjgNry"),
    "bearer": ("curl -H 'Authorization: Bearer 9f8e7d6c5b4a39281706'", "9f8e7d6c"),
    "basic": ("Authorization: Basic dXNlcjpvcGVuc2VzYW1l", "dXNlcjpv"),
    "connection string": ("postgresql://app:t0p-s3cret@db:5432/app", "t0p-s3cret"),
    "quoted password": ('password = "hunter2"', "hunter2"),
    "password in JSON": ('{"db_password": "correct-horse"}', "correct-horse"),
    "password in YAML": ("  password: s3cr3t-value", "s3cr3t"),
    "password in a shell": ("export DB_PASSWORD=correcthorse", "correcthorse"),
    "password in a dict": ("config['password'] = 'tr0ub4dor'", "tr0ub4dor"),
    "API key in code": ("API_KEY = 'f3b1c9d27ae84f60'", "f3b1c9d2"),
    "token in an address": ("https://x.test/?token=9f8e7d6c5b4a3928&a=1", "9f8e7d6c"),
    "storage account": ("AccountKey=" + "Zq8Xw7Vu6Ts5" * 5 + "==;End", "Zq8Xw7Vu"),
    "SendGrid": ("SG.qWeRtYuIoPaSdFgHjKlZ12." + "qWeRtYuIoPaS" * 4, "qWeRtYuI"),
}
HARMLESS = {
    "a git hash": "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "a UUID": "id: 123e4567-e89b-12d3-a456-426614174000",
    "a checksum": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "an identifier": "password_hash = hash_password(password)",
    "an annotation": "    password: str = Field(min_length=8)",
    "a bare annotation": "    token: str",
    "a type with a number": "  secret: int64",
    "an attribute": "token = settings.auth.token",
    "a call": "api_key = os.environ['API_KEY']",
    "a keyword argument": "connect(password=password, token=token_v2)",
    "a count of tokens": "input_tokens=1200000, output_tokens: 340000",
    "a placeholder": 'password = "<your password>"',
    "an example": "AWS_ACCESS_KEY_ID = 'AKIAIOSFODNN7EXAMPLE'",
    "a variable": "postgres://user:${DB_PASSWORD}@localhost/db",
    "the usual example": "postgres://user:password@localhost:5432/db",
    "an address with a port": "http://localhost:8080/path@2x.png",
    "your key here": 'api_key = "your-api-key-here"',
    "a shortened key": "ORACLE_KEY=sk-ant-...",
    "a label": 'password: "Enter your password"',
    "prose": "The bearer of bad-news-in-general shall not be shot.",
    "a kind of token": "TOKEN = 'identifier'",
    "a long name": "sk-learn-compatible-estimators-everywhere",
    "a sentence about keys": "A file that begins with -----BEGIN RSA PRIVATE KEY----- is a key.",
    "a constant": "MAX_TOKEN=4096",
    "a key of a map": 'key = "storage.engine.sqlite"',
}


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_taken_out(text, secret):
    assert secret in text
    redacted = redact(text)
    assert secret not in redacted
    assert "[redacted: " in redacted


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_what_only_resembles_a_secret_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize("text", [text for text, _ in SECRETS.values()], ids=SECRETS)
def test_a_second_time_changes_nothing_and_lines_stay_where_they_are(text):
    once = redact(f"before\n{text}\nafter")
    assert redact(once) == once
    assert once.count("\n") == text.count("\n") + 2
    assert once.startswith("before\n")
    assert once.endswith("\nafter")


@pytest.mark.parametrize(
    "unit",
    [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 50,
        "eyJ-eyJ.",
        "eyJaaaaaaaaaaaa.eyJaaaaaaaaaaaa.",
        "sk-",
        "password=",
        "password = '",
        "bearer ",
        "://a:",
        "://a:b",
        "secret: ",
        "token=a1",
        "authorization: bearer ",
        "export PASSWORD",
        " ",
        "A1b2",
    ],
)
def test_time_is_linear_whatever_comes(unit):
    def seconds(size):
        text = unit * (size // len(unit))
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    small = max(min(seconds(20_000) for _ in range(3)), 0.002)
    assert min(seconds(160_000) for _ in range(2)) < 24 * small
