"""Forms of assignments: what can be between a name and its secret."""

P = "tr0ub4dor"
K = "XuDL7DxtpYlSXp"

PASSWORDS = (
    'password: str = "{}"', 'let password: &str = "{}";', "const password: string = '{}';",
    'var password string = "{}"', 'char password[] = "{}";', 'char password[32] = "{}";',
    '- name: DB_PASSWORD\n  value: "{}"', '{{"name": "DB_PASSWORD", "value": "{}"}}',
    '<property name="password">{}</property>', "<key>Password</key>\n<string>{}</string>",
    '<input type="password" value="{}">', 'variable "db_password" {{\n  default = "{}"\n}}',
    'password = os.getenv("P") or "{}"', 'password = process.env.PW || "{}"',
    "password = env.PW ?? '{}'", 'password = "abcd" + "{}"', 'password = (\n    "{}"\n)',
    "password:\n  {}", '{{"passwords": ["{}"]}}', 'auth=("bob", "{}")',
    "ENV DB_PASSWORD {}", "setenv DB_PASSWORD {}", "requirepass {}", "setx DB_PASSWORD {}",
    "set -x DB_PASSWORD {}", "db_pw={}", "psk={}", "my_very_long_password_for_x={}",
    "**Password:** {}", "password: !!str {}", 'IDENTIFIED BY "{}"',
    'x = "{{\\\\\\"password\\\\\\": \\\\\\"{}\\\\\\"}}"', "password：{}", "pass\u200bword={}",
    "az login -u me -p {}", "curl -uadmin:{} http://x", "zip -P {} a.zip b", "ldapsearch -x -w {}",
    'ConvertTo-SecureString "{}" -AsPlainText',
)  # fmt: skip
KEYS = (
    "api_key={}", "token: {}", 'client_secret = "{}"', "X-Api-Key: {}", "http://x/?access_token={}",
    'const apiKey: string = "{}";', '{{"tokens": ["{}"]}}', 'AWS_SECRET_ACCESS_KEY = "{}"',
    '{{"name": "Authorization", "value": "Bearer {}"}}', "GITHUB_PAT={}", "session_id={}",
    "aws configure set aws_secret_access_key {}", "npm config set //r.test/:_authToken {}",
    '- name: API_KEY\n  value: "{}"',
)  # fmt: skip
GENERATED = (K, "jTpwrkcrOg258LewmCNy", "QzWkvTbnXpLr", "hk3vq9zt2mxw")
ODD_PASSWORDS = (
    ("password=aB$c9,d;e%f", "aB$c9,d;e%f"), ("password: x{9}kLm$2", "x{9}kLm$2"),
    ('password = "$ecret99"', "$ecret99"), ('password = "<pa55word>"', "<pa55word>"),
    ('password = "my_pass_99"', "my_pass_99"), ('password = "1234567890"', "1234567890"),
    (f"apiVersion: v1\nkind: Secret\nstringData:\n  user: mangosteen\n  o: {P}\n", "mangosteen"),
    ("kind: Secret\nmetadata:\n  name: x\ndata:\n  a: bWFuZ29zdGVlbg==\n", "bWFuZ29zdGVlbg=="),
)  # fmt: skip
_R = "Vb7Qm2Xc9Lz4Hk8Wd3Tn6Py1Rs5Gj0Fu2EaB4oKi"
_HEX = "3b9d5c7e1f2a4860b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4"
_UUID = "3b9d5c7e-1f2a-4860-b7c8-d9e0f1a2b3c4"
SHAPES = (
    f"sqp_{_HEX[:40]}", f"squ_{_HEX[:40]}", f"CCIPAT_{_R[:22]}_{_HEX[:40]}", f"bkua_{_R}",
    f"pcsk_{_R[:6]}_{_R}{_R[:20]}", f"phx_{_R}", f"sdk-{_UUID}", f"api-{_UUID}",
    f"vercel_blob_rw_{_R[:16]}_{_R[:30]}", f"hcaik_01{_HEX}", f"dbtc_{_R}",
    f"pk_1234567_{_R.upper()[:32]}", f"re_{_R[:8]}_{_R[8:32]}", f"napi_{_HEX}", f"tgp_v1_{_R}xyz",
    f"csk-{_HEX[:48]}", f"sk_{_HEX[:48]}", f"apify_api_{_R[:36]}", f"fc-{_HEX[:32]}",
    f"jina_{_R}{_R[:20]}", f"e2b_{_HEX[:40]}", f"pa-{_R}abc", f"WPL_AP1.{_R[:16]}.{_R[:8]}==",
    f"{_R}{_R[:36]}AZDO4xYz", f"cmVmdGtuOj{_R}{_R[:14]}", f"ngrok config add-authtoken 2{_R}",
    f"AAAAabc12-_:APA91b{_R * 3}{_R[:14]}", f"https://hooks.zapier.com/hooks/catch/123456/{_R[:7]}/",
)  # fmt: skip
SECRETS = (
    *((text, text[-12:-1]) for text in SHAPES if "zapier" not in text),
    (SHAPES[-1], _R[:7]),
    *((form.format(P), P) for form in PASSWORDS),
    *((form.format(key), key) for form in KEYS for key in GENERATED),
    *ODD_PASSWORDS,
)
HARMLESS = (
    "'OAuth': ('oauth_get_sbs', 'oauth_urlencode'),",
    "'//r.test:auth': 'x', '//r.test:always': true",
    "KEYWORDS = ['if', 'pass', 'raise', 'else1']", "'pwd', 'ls -l2', 'cd'", "GIT_ASKPASS: 'echo'",
    "password: str = Field(default=None)", "password: Optional[str] = None", "password: str = ''",
    "token: Token = next_token()", "def f(password: str = 'password'): ...",
    "password:\n  type: string\n  minLength: 8", 'token = "identifier_name"', "pattern = pat",
    "pat = re.compile('a1')", "sort_key = 'createdAtTimestamp'",
    '<input name="password" type="text">', 'tokens: ["BEGIN", "END"]',
    "kind: ConfigMap\ndata:\n  a: b\n",
    "session_id = uuid4()",
    "pw = getpass()", 'api_key = "DEFAULT_API_KEY"', "auth=(user, password)",
    "SECRET_NAME = 'database-credentials'", 'token_type = "ObjectIdentifier"',
)  # fmt: skip
