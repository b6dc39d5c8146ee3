"""Which files hold secrets, by their names alone. They are not read, listed, indexed or sent."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import Final

_FOLDERS: Final = frozenset({".ssh", ".aws", ".gnupg", ".azure", ".gcloud", ".kube", ".docker"})
# Words such as `credentials` make a secret of a data file only: `credentials.py` is code.
_DATA_LISTED: Final = "json ini toml yaml yml xml csv txt cfg conf env properties"
_DATA: Final = tuple(_DATA_LISTED.split())
_WORDS: Final = (
    "credential",
    "credentials",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "apikey",
    "apikeys",
    "api[-_.]key",
    "api[-_.]keys",
)
_NAMES: Final = (
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    # Keys and certificates.
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.p8",
    "*.ppk",
    "*.der",
    "*.asc",
    "*.gpg",
    "*.pgp",
    "*.age",
    "*.ovpn",
    "*_rsa",
    "*_ed25519",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    # State and variables of Terraform, which may hold passwords in clear text.
    "*.tfstate",
    "*.tfstate.backup",
    "*.tfvars",
    # Files in which programs keep a user's logins.
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".vault-token",
    ".s3cfg",
    ".boto",
    "kubeconfig",
    "wallet.dat",
    "credentials",
    ".credentials",
    "secrets",
    *(f"*{word}.{kind}" for word in _WORDS for kind in _DATA),
    "secring.*",
    "known_hosts",
    "authorized_keys",
    "shadow",
    "client_secret*.json",
    "service[-_]account*.json",
    "serviceaccount*.json",
)
# Exceptions: public keys, and templates that projects commit for others to fill in.
_HARMLESS: Final = (
    "*.pub",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
)


def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)))


_SECRET: Final = _any_of(_NAMES)
_FINE: Final = _any_of(_HARMLESS)


@lru_cache(maxsize=20_000)
def is_secret_file(path: str) -> bool:
    """`path` has `/` between its parts. Upper and lower case are the same."""
    *folders, name = path.casefold().split("/")
    if not _FOLDERS.isdisjoint(folders):
        return True
    return bool(_SECRET.match(name)) and not _FINE.match(name)
