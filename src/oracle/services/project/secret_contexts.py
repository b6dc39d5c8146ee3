"""Secrets that are known by the text around them, in headers, addresses, commands, SQL and XML."""

from __future__ import annotations

from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.project.secret_shapes import is_random_key, shape
from oracle.services.project.secret_values import (
    is_random,
    is_real,
    is_real_key,
    is_real_password,
    is_stand_in,
)


def _is_header(value: str) -> bool:
    return not is_stand_in(value) and is_real(value)


def _is_token(value: str) -> bool:
    return is_random_key(value) or is_real_key(value)


def _is_cookie(value: str) -> bool:
    """A cookie that identifies somebody, by its name or because it is random."""
    return not is_stand_in(value) and any(
        is_random(part.partition("=")[2]) or _SESSION.match(part.strip())
        for part in value.split(";")
    )


_SESSION: Final = lazy_pattern(r"(?i)[\w.-]{0,30}(?:sess|sid|auth|token|jwt)[\w.-]{0,30}=\S{6}")

CONTEXTS: Final = (
    shape(
        "authorization",
        "authorization",
        r"(?i)authorization[\"'`]?\s{0,5}[:=,]\s{0,5}[\"'`]?(?:basic|bearer|token|apikey|digest"
        r"|negotiate|key|hawk)\s{1,5}(?P<secret>[A-Za-z0-9._~+/=:-]{6,8000})",
        _is_header,
    ),
    shape(
        "authorization",
        '-key: -token: -secret: -auth: -key" -token" -secret" -auth" -key\' -token\' -key= -token=',
        r"(?i)(?<![\w-])x-(?:[a-z]{1,20}-){0,3}(?:key|token|secret|auth)"
        r"[\"'`]?\s{0,5}[:=,]\s{0,5}[\"'`]?(?P<secret>[A-Za-z0-9._~+/=:-]{8,8000})",
        _is_token,
    ),
    shape(
        "bearer token",
        "bearer",
        r"(?i)(?<!\w)bearer\s{1,5}(?P<secret>[A-Za-z0-9._~+/=-]{12,8000})",
        _is_token,
    ),
    shape(
        "cookie",
        "cookie",
        r"(?i)(?<![\w-])(?:set-)?cookies?[\"'`]?\s{0,5}[:=]\s{0,5}[\"'`]?"
        r"(?P<secret>[^\s=;\"'`]{1,100}=[^\r\n\"'`]{6,8000})",
        _is_cookie,
    ),
    shape(
        # In an address: `postgresql://user:password@host`. A password may hold an `@` itself.
        "password",
        "://",
        r"://[^\s/:@'\"<>`\\]{0,200}+:(?P<secret>[^\s/'\"<>`\\]{1,200})(?=@[\w\[$\{%.-])",
        is_real,
    ),
    shape(
        "token",
        "://",
        r"://(?P<secret>[^\s/:@'\"<>`\\]{16,300}+)(?=@)",
        is_random_key,
    ),
    shape(
        "password",
        "·-u --user· --user= --proxy-user",
        r"(?<![\w-])(?:-u|--user|--proxy-user)[ \t=]{0,3}[\"']?[^\s:\"'/]{1,100}:"
        r"(?P<secret>[^\s\"'/]{4,200}+)",
        is_real_password,
        also=r"-u(?:ser)?[ \t=]{0,3}[\"']?[^\s:\"'/]{1,100}:",
    ),
    shape(
        "password",
        "az·login ldap zip· 7z· sshpass· "
        "mysql·- mysqldump·- mysqladmin·- mariadb·- docker·login redis-cli·",
        r"(?<![\w-])(?:sshpass[ \t]{1,5}-p[ \t]?|docker[ ]login[^\n|;]{0,200}?[ \t]-p[ \t]"
        r"|az[ ]login[^\n|;]{0,200}?[ \t](?:-p|--password)[ \t]"
        r"|ldap[a-z]{3,8}[^\n|;]{0,200}?[ \t]-w[ \t]?|(?:un)?zip[^\n|;]{0,200}?[ \t]-P[ \t]?"
        r"|7z[^\n|;]{0,200}?[ \t]-p|redis-cli[^\n|;]{0,200}?[ \t]-a[ \t]?"
        r"|(?:mysql(?:dump|admin)?|mariadb)[^\n|;]{0,200}?[ \t]-p)"
        r"[\"']?(?P<secret>[^\s\"'-][^\s\"']{3,200}+)",
        is_real_password,
        also=r"[ \t]-(?:[pwa]|-password)",
    ),
    shape("ngrok token", "add-authtoken", r"add-authtoken[ ](?P<secret>\w{30,60})"),
    # In the order of a file of logins: `machine host login name password secret`.
    shape(
        "password",
        "login",
        r"(?i)(?<!\w)login[ \t\n]{1,10}\S{1,100}[ \t\n]{1,10}password[ \t\n]{1,10}"
        r"(?P<secret>\S{3,300}+)",
        is_real,
        also=r"password",
    ),
    # SQL: `IDENTIFIED BY 'secret'`, `WITH PASSWORD 'secret'`.
    shape(
        "password",
        "identified·by identified·with identified·as password·' password·\"",
        # In small letters it is a sentence, if it is not after the name of a user.
        r"(?:IDENTIFIED[ \t]{1,5}(?:WITH[ \t]\S{1,60}[ \t]{1,5})?(?:BY|AS)"
        r"|(?i:user|to)[ \t]{1,5}\S{1,80}[ \t]{1,5}(?i:identified[ \t]{1,5}(?:by|as))"
        r"|(?i:password))[ \t]{1,5}"
        r"[\"'](?P<secret>[^'\"\n]{4,200}+)[\"']",
        is_real_password,
        also=r"(?:by|as|password)[ \t]{1,5}[\"']",
    ),
    # `auth=("bob", "secret")`, `ConvertTo-SecureString "secret"`.
    shape(
        "password",
        "auth",
        r"(?i)(?<!o)auth(?:[\"']?\s{0,3}[=:]\s{0,3}[(\[]|\()\s{0,3}[\"'][^\"'\n]{1,60}[\"']"
        r"\s{0,3},\s{0,3}[\"'](?P<secret>[^\"'\n]{4,200}+)[\"']",
        is_real_password,
        also=r"auth(?:[\"']?\s{0,3}[=:]\s{0,3}[(\[]|\()",
    ),
    shape(
        "password",
        "convertto-securestring",
        r"(?i)ConvertTo-SecureString[ ](?:-String[ ])?[\"'](?P<secret>[^\"'\n]{4,200}+)[\"']",
        is_real_password,
    ),
    # XML: `<password>secret</password>`, `key="Password" value="secret"`.
    shape(
        "password",
        "pass pwd",
        r"(?i)<[\w:.-]{0,40}(?:pass(?:word|wd|phrase)?|pwd)(?:\s[^<>]{0,100})?>\s{0,10}"
        r"(?P<secret>[^\s<>$]{3,300}+)\s{0,10}</",
        is_real_password,
    ),
    shape(
        "secret",
        "key> token> secret>",
        r"(?i)<[\w:.-]{0,40}(?:key|token|secret)(?:\s[^<>]{0,100})?>\s{0,10}"
        r"(?P<secret>[^\s<>$]{8,2000}+)\s{0,10}</",
        is_random_key,
    ),
    shape(
        "password",
        "\"·value= '·value= \"·content= '·content=",
        r"(?i)(?:key|name|id)\s?=\s?[\"'][\w:.-]{0,40}(?:pass(?:word|wd|phrase)?|pwd|secret|token"
        r"|api[_-]?key)[\"'] (?:value|content)=[\"'](?P<secret>[^\"'\n<>]{4,500}+)[\"']",
        is_real_password,
    ),
    # An entry with its value first: `value: secret`, and `name: DB_PASSWORD` on the next line.
    shape(
        "password",
        "value",
        r"(?i)(?<![\w-])[\"']?value[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<secret>[^\s\"']{4,200}+)[\"']?,?"
        r"(?:\r?\n\+?[ \t]{1,40}|[ \t]{0,3})[\"']?(?:name|key)[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
        r"[\w.-]{0,40}"
        r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key)[\"']?(?=[\s,}\])]|\Z)",
        is_real_password,
        also=r"value[\"']?\s{0,3}[:=]\s{0,3}[\"']?[^\s\"']{4,200}[\"']?,?"
        r"(?:\r?\n\+?[ \t]{1,40}|[ \t]{0,3})[\"']?(?:name|key)",
    ),
    # Compared: `"secret" == password`, `"secret".equals(password)`, `strcmp(password, "secret")`.
    shape(
        "password",
        "== != .equals",
        r"(?<![\w\"'])[bruf]?[\"'](?P<secret>[^\"'\s]{4,200}+)[\"']\s{0,3}"
        r"(?:[=!]==?\s{0,3}|\.\s?equals\w{0,12}\(\s{0,3})(?i:[\w.$>-]{0,40}?"
        r"(?:password|passwd|passphrase|passwort|pwd))(?![\w.(\[])",
        is_real_password,
        also=r"[\"']\s{0,3}(?:[=!]==?|\.\s?equals)[^\"']{0,80}?(?:pass|pwd)",
    ),
    shape(
        "password",
        "cmp( compare hash_equals checkpw(",
        r"(?i)(?:strn?(?:case)?cmp|memcmp|compare_digest|(?:secure_)?compare|hash_equals|checkpw)\(\s{0,3}"
        r"[^,()\n\"']{0,60}pass[^,()\n\"']{0,20},\s{0,3}b?[\"'](?P<secret>[^\"'\n]{4,200}+)[\"']",
        is_real_password,
        also=r"(?:cmp|compare|compare_digest|hash_equals|checkpw)\(\s{0,3}[^,()\n\"']{0,60}pass",
    ),
    # Given to a login: `smtp.login("bob", "secret")`, `Fernet(b"…")`.
    shape(
        "password",
        ".login(",
        r"\.login\(\s{0,10}[\"'][^\"'\n]{1,100}[\"']\s{0,5},\s{0,10}"
        r"[\"'](?P<secret>[^\"'\n]{4,200}+)[\"']",
        is_real_password,
    ),
    shape("Fernet key", "fernet(", r"Fernet\(\s{0,5}b?[\"'](?P<secret>[\w-]{43}=)[\"']"),
    # A line of `.pgpass`: `host:5432:database:user:secret`.
    shape(
        "password",
        ":5432: :*: :5433: :6432:",
        r"^[\w.*-]{1,100}:(?:\d{4,5}|\*):[\w.*-]{1,60}:[\w.*@-]{1,60}:"
        r"(?P<secret>[^\s:]{4,200})[ \t]{0,5}\r?$",
        is_real_password,
    ),
    shape("password", "$6$ $5$ $y$", r"\$(?:5|6|y)\$[\w./=$]{20,200}"),
    # The secret numbers of a key in JSON (JWK) and XML.
    shape(
        "private key",
        "kty",
        r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,5}:\s{0,5}\"(?P<secret>[\w-]{20,1000})\"",
    ),
    shape(
        "private key",
        "<d> <p> <q> <inverseq>",
        r"<(?:D|P|Q|DP|DQ|InverseQ)>\s{0,10}(?P<secret>[A-Za-z0-9+/=]{20,1000})\s{0,10}</",
    ),
)
