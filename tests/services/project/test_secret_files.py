from oracle.services.project.secret_files import is_secret_file
from tests.tables import each_row


@each_row(
    "path",
    [
        ".env",
        ".env.production",
        "deploy/prod.env",
        "id_rsa",
        "keys/id_ed25519",
        "tls/server.PEM",
        "tls/server.key",
        ".netrc",
        ".npmrc",
        "home/.ssh/config",
        ".aws/credentials",
        "gcp-credentials.json",
        "config/secrets.yaml",
        "service-account-prod.json",
        "client_secret_123.json",
        "infra/terraform.tfstate",
        "deploy_rsa",
        "api-keys.json",
        "passwords.txt",
        "mail.gpg",
        ".openai_api_key",
        ".anthropic_api_key",
        ".hf_token",
        "oauth2_token.json",
        "ansible_vault_pass",
        ".smbcredentials",
        ".s3curl",
        "ngrok.yml",
        "tfplan",
        "prod.tfplan",
        ".config/stripe/config.toml",
        "cwallet.sso",
        "Login Data",
    ],
)
def test_a_file_of_secrets_is_known_by_its_name(path):
    assert is_secret_file(path)


@each_row(
    "path",
    [
        ".env.example",
        "id_rsa.pub",
        "src/credentials.py",
        "src/secrets.py",
        "docs/secrets.md",
        "src/keys.ts",
        "environment.yml",
        "src/env.py",
        "monkey.txt",
        "design/tokens.json",
        "src/api_key.py",
        "config.toml",
    ],
)
def test_code_and_documents_about_secrets_are_none(path):
    assert not is_secret_file(path)
