"""Labelled texts in which a password is near its name, in forms that no list of forms has."""

_X = "kR7tw2QmZ9bV4xLc"

SECRETS: tuple[tuple[str, str], ...] = tuple(
    (form.replace("@", _X), _X)
    for form in (
        # pieces
        'password = "" + "@"',
        'password = "ab" + "@"',
        'password = ("ab"\n            "@")',
        'password = "".join(["ab", "@"])',
        'password = "ab"\npassword += "@"',
        'password = "{}{}".format("ab", "@")',
        # lines that go on
        'password = \\\n    "@"',
        "export DB_PASSWORD=\\\n@",
        "spring.datasource.password=\\\n  @",
        'password = """\n@\n"""',
        # literals of languages
        'std::string password{"@"};',
        'PASSWORD = new String("@");',
        'Password: []byte("@"),',
        'const PASSWORD: &[u8] = b"@";',
        'let password = r#"@"#;',
        "my $password = q{@};",
        "password = %q(@)",
        "password = [[@]]",
        'val password: String by lazy { "@" }',
        '(def password (str "@"))',
        # data
        "passwords:\n  - @\n  - x",
        '"password": {\n  "value": "@"\n}',
        "password: &pw @",
        "COPY users (name, password) FROM stdin;\nbob\t@\n\\.",
        "<tr><td>Password</td><td>@</td></tr>",
        "<dt>Password</dt><dd>@</dd>",
        # prose
        "- **password**: `@`",
        "Our admin password is: @",
        "Password for admin: @",
        "Password (admin): @",
        "## Password\n\n@\n",
        "## Password\n\n```\n@\n```\n",
        # what is used otherwise
        'password = var.x != "" ? var.x : "@"',
        "DB_PASSWORD: ${{ secrets.X || '@' }}",
        # other languages
        *("lösenord: @", "şifre: @", "parola: @", "密码是 @", "salasana: @", "heslo: @"),
    )
)

HARMLESS: tuple[str, ...] = (
    '{"password": "", "id": "kR7tw2QmZ9bV4xLc"}',
    'login(password, request_id="kR7tw2QmZ9bV4xLc")',
    'password = read()\nversion = "kR7tw2QmZ9bV4xLc"',
    'check_password(user, "correct")',
    "Password for admin: required",
    "Password (min. 8 characters): required",
    "## Password\n\nEnter it twice.\n",
    "## Passwords\n\nthey are stored in 2 places\n",
    'password_field = form.add("password", label=_("Password"))',
    "<td>Password</td><td>optional</td>",
    "COPY users (name, password) FROM stdin;\nbob\t\\N\n\\.",
)
