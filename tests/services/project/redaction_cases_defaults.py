"""Secrets as default values, in pairs on two lines, and as lines of a key without its frame."""

_V = "Xk29fjQpLm3vBqq"
_LINES = (
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu",
    "NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ",
    "qgtzJ6GR3eqoYSW9b9UMvkBpZODSctWSNGj3P7jRFDO5VoTwCQAWbFnOjDfH5Ulg",
)
_BODY = "\n".join(_LINES)
_HASHES = "\n".join(f"{n:064x}"[::-1] for n in (0x3B9D5C7E1F2A, 0x1234ABCD, 0xFEDCBA98, 0xABC))

_DEFAULTS = (
    'PASS = os.environ.get("PASS", "{}")',
    'PASS = os.environ.get(\n    "PASS",\n    "{}",\n)',
    'x = os.getenv("DB_PASSWORD", "{}")',
    "x = os.getenv('DB_PASSWORD', default='{}')",
    'PASSWORD = os.getenv("DATABASE", "{}")',
    'os.environ.setdefault("DB_PWD", "{}")',
    'const p = process.env.DB_PASSWORD || "{}";',
    "const p = process.env[\"DB_PASSWORD\"] ?? '{}';",
    'process.env.DB_PASSWORD ||\n    "{}"',
    'ENV.fetch("PASS", "{}")',
    'ENV.fetch("DB_PASSWORD") {{ "{}" }}',
    "ENV['DB_PASSWORD'] || '{}'",
    "getenv('DB_PASSWORD') ?: '{}';",
    'config("SECRET_KEY", default="{}")',
    'env("DB_PASSWORD", "{}")',
    'System.getenv().getOrDefault("DB_PASSWORD", "{}")',
    'env.getProperty("db.password", "{}");',
    'viper.SetDefault("db.password", "{}")',
    'p = env["DB_PASSWORD"] if "DB_PASSWORD" in env else "{}"',
    'password = given if given else "{}"',
    'std::env::var("DB_PASSWORD").unwrap_or("{}".to_string())',
    'std::env::var("DB_PASSWORD").unwrap_or_else(|_| "{}".into())',
    '{{{{ .Values.password | default "{}" }}}}',
    'parser.add_argument("--password", help="for the db", default="{}")',
    'password: str = Field(default="{}")',
    'password = SecretStr("{}")',
    "X=${{DB_PASSWORD:-{}}}",
)
_PAIRS = (
    "env:\n  - name: DB_PASSWORD\n    value: {}\n",
    '- name: DB_PASSWORD\n  value: "{}"\n',
    "- name: API_TOKEN\n  description: for the api\n  value: {}\n",
    "+- name: DB_PASSWORD\n+  value: {}\n",
    "    value: {}\n    name: DB_PASSWORD\n",
    "Key: DB_PASSWORD\nValue: {}\n",
    'environment {{\n  name  = "DB_PASSWORD"\n  value = "{}"\n}}',
)

SECRETS: tuple[tuple[str, str], ...] = (
    *((text.format(_V), _V) for text in (*_DEFAULTS, *_PAIRS)),
    ("- name: DB_PASSWORD\n  value: correcthorse\n", "correcthorse"),
    ("- name: A_PASSWORD\n  value: tr0ub4dor\n- name: B_PASSWORD\n  value: x9\n", "tr0ub4dor"),
    (_BODY, _LINES[1]),
    (_BODY + "\nabcDEF0123==", "abcDEF0123"),
    ("@@ -8,4 +8,4 @@\n " + "\n ".join(_LINES[:2]) + "\n-" + "\n+".join(_LINES[2:]), _LINES[3]),
    ("\n".join(f"{n}  {line}" for n, line in enumerate(_LINES, 10)), _LINES[0]),
    ("\n".join(f'    "{line}\\n"' for line in _LINES), _LINES[2]),
)

HARMLESS: tuple[str, ...] = (
    'colors.get("PASS", "green")',
    '("PASS", "FAIL")',
    'password = request.form.get("pwd_field")',
    'password = os.environ.get("PGPASS")',
    'password = getpass("Password for the server: ")',
    'parser.add_argument("--password", help="for the db", default=None)',
    'def f(password, kind, default="plain"):',
    'config("SECRET_KEY", default="changeme")',
    'token = given or "Bearer"',
    'if (password) { "use strict" }',
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n",
    "- name: DB_PASSWORD\n  value: ${DB_PASSWORD}\n",
    "- name: DB_HOST\n  value: postgres17.internal\n- name: DB_PASSWORD\n  valueFrom: x\n",
    "- name: DB_USER\n  value: service17\n",
    _HASHES,
    f"-----BEGIN CERTIFICATE-----\n{_BODY}\n-----END CERTIFICATE-----",
    f"-----BEGIN PUBLIC KEY-----\n{_BODY}\nabcDEF0123==\n-----END PUBLIC KEY-----",
    "\n".join(_LINES[:2]),
)
