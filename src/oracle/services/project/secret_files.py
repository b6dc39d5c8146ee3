"""Which files hold secrets, by their names alone. They are not read, listed, indexed or sent.

The lists follow those of secret scanners, of templates for `.gitignore` and of backup tools.
"""

from __future__ import annotations

import re
import unicodedata
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.hidden_characters import visible

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Folders in which programs keep logins and keys. Everything in them is left out.
_FOLDERS: Final = """
.ssh .aws .gnupg .azure .gcloud .kube .docker .oci .aliyun .bluemix .fly .vercel .netlify .heroku
.terraform.d .chef .password-store .1password .bitwarden keyrings .keychain .mozilla .thunderbird
.config/gcloud .config/gh .config/hub .config/op .config/doctl .config/rclone .config/sops
.config/configstore .config/containers .local/share/keyrings google-chrome chromium .sops
.snowsql .ibmcloud .huggingface .dbeaver .config/wrangler .wrangler/config .dbeaver-data-sources
.kaggle letsencrypt/live letsencrypt/archive etc/ssl/private etc/wireguard
"""
# Folders with a telling name. Only files of data in them are left out: `secrets/client.py` is code.
_DATA_FOLDERS: Final = """
secret secrets credential credentials creds private_keys private-keys privatekeys .secrets .secret
.credentials passwords keys/private vault/secrets
"""
_DATA: Final = """
json json5 jsonc ini toml yaml yml xml csv tsv txt cfg conf config env properties props plist sql
dump dat bin db sqlite enc asc b64 list lst hcl tfvars
"""
# Words such as `credentials` make a secret of a file of data only: `credentials.py` is code.
_WORDS: Final = """
credential credentials creds secret secrets password passwords passwd passphrase apikey apikeys
api[-_.]key api[-_.]keys access[-_.]key access[-_.]keys accesskey accesskeys private[-_.]key
private[-_.]keys privatekey secret[-_.]key secretkey auth[-_.]token access[-_.]token
refresh[-_.]token oauth[-_.]token oauth2[-_.]token master[-_.]key encryption[-_.]key signing[-_.]key
recovery[-_.]codes backup[-_.]codes service[-_.]account serviceaccount kubeconfig
"""
_NAMES: Final = """
.env .env.* .env-* .env_* *.env env.local env.production env.prod .envrc .envrc.* .flaskenv
.dev.vars .dev.vars.* *.secret *.secrets *.credentials

id_rsa* id_dsa* id_ecdsa* id_ed25519* id_xmss* *_rsa *_dsa *_ecdsa *_ed25519 *-rsa *-ed25519 *.pem
*.key *.p12 *.pfx *.p8 *.ppk *.der *.pkcs12 *.pk8 *.asc *.gpg *.pgp *.age *.jks *.keystore *.bks
*.truststore *.keychain *.keychain-db *.kdb *.kdbx *.agilekeychain *.opvault *.1pif *.psafe3
*.enpassdb *.walletx *.mobileprovision *.provisionprofile *.snk *.skr *.ovpn secring.* *.tblk
wg[0-9].conf wg[0-9][0-9].conf wg-*.conf wireguard*.conf *.wgconf *.vpn *.mobileconfig known_hosts
known_hosts.* authorized_keys authorized_keys2 ssh_host_*_key private.txt private[-_]key
*[-_.]private[-_]key *.private keyfile dhparam*.pem ansible[-_]vault kube-config aws-credentials
.gradle/gradle.properties mnemonic.txt recovery-key.txt vault[-_.]pass vault[-_.]pass.*
.vault[-_.]pass* .vault-token vault.key *[-_.]vault.yml *[-_.]vault.yaml vault.yml vault.yaml
.sops.key keys.txt

*.tfstate *.tfstate.* *.tfvars *.tfvars.json .terraformrc terraform.rc credentials.tfrc.json
pulumi.*.yaml.bak .pulumi-credentials

.netrc _netrc .netrc.* .authinfo* .pgpass pgpass.conf pg_service.conf .pg_service.conf .my.cnf
.mylogin.cnf .mongorc.js .mongoshrc.js .redisclirc .npmrc .pypirc pip.conf .pip.conf
.bundle/config .cargo/credentials* .m2/settings*.xml settings-security.xml .sbt/credentials
.ivy2/.credentials .composer/auth.json auth.json auth.toml .htpasswd .htdigest htpasswd
.git-credentials .gitcookies .git-askpass .gitlab-token .dockercfg .dockerconfigjson
dockerconfig.json .docker-credentials config.docker.json .s3cfg .boto .rclone.conf rclone.conf
.passwd-s3fs passwd-s3fs .tugboat .doctlcfg .fog knife.rb .hub .gh_token .github_token
.credentials .credentials.json credentials secrets .secrets .secret .secrets.* .passwd passwd
shadow shadow- gshadow master.passwd sudoers .cvspass .remote-sync.json sftp-config.json sftp.json
.ftpconfig ftpconfig .ftp-deploy* recentservers.xml sitemanager.xml filezilla.xml webservers.xml
datasources.local.xml datagrip*.xml ws_ftp.ini winscp.ini *.rdp *.rdg *.remmina *.ica confcons.xml
proftpdpasswd ventrilo_srv.ini http-client.private.env.json http-client.env.json
*.postman_environment.json *.insomnia.json .mcp.json mcp.json mcp_config.json mcp_settings.json
claude_desktop_config.json .claude.json kubeconfig kubeconfig.* *.kubeconfig kubeconfig-*
*-kubeconfig kube.config admin.conf client_secret*.json client-secret*.json
service[-_]account*.json serviceaccount*.json gcp[-_]*key*.json gcloud*.json
google[-_]credentials*.json application_default_credentials.json access_tokens.db
legacy_credentials firebase-adminsdk*.json *-firebase-adminsdk*.json google-services.json
googleservice-info.plist azureauth.json azureprofile.json accesstokens.json msal_token_cache.*
publishsettings *.publishsettings *.azurepubxml *.pubxml.user aws_credentials rootkey.csv
*[-_]accesskeys.csv accesskeys.csv credentials.csv .s3cmd .elasticbeanstalk_credentials
heroku.json .herokurc .vercel-token .netlify-token .sentryclirc .snyk-token master.key
credentials.yml.enc *.yml.enc database.yml.local secrets.yml local_settings.py wp-config.php
wp-config-*.php localsettings.php configuration.php.bak parameters.local.yml
jenkins*.credentials.xml credentials.xml hudson.util.secret initialadminpassword .travis.token
.circleci-token codecov.token logins.json key3.db key4.db cert8.db cert9.db signons.sqlite
cookies.sqlite cookies.txt login?data web?data *.cookies cookies.json *_cookies.txt wallet.dat
wallet.json keystore.json utc--* *.wallet seed.txt *_history .*_history .histfile .zhistory
.lesshst .viminfo .node_repl_history .python_history .irb-history .irb_history .pry_history
.mysql_history .psql_history .rediscli_history .sqlite_history .dbshell consolehost_history.txt
fish_history .histdb .bashrc.local .zshenv.local .bash_sessions *.dump *.sql.gz dump.sql
*[-_.]dump.sql backup.sql *[-_.]backup.sql *.pgdump *.bak.sql dump.rdb *.ldif *.pcap *.pcapng
*.har *.keytab krb5cc_* .k5login *.kirbi ntds.dit sam.hive token.json token.pickle token.txt
.databrickscfg doctl.yaml .flyctl.yml .circleci/cli.yml .dbt/profiles.yml
credentials-config.json kaggle.json .msmtprc .esmtprc .fetchmailrc .offlineimaprc .mbsyncrc
.getmailrc .muttrc .curlrc .wgetrc .condarc *.agekey .*.vars .config/hub
keystore.properties signing.properties wpa_supplicant*.conf deploy_key deploy-key *[-_]deploy_key
*[-_]deploy-key *vault[-_]password encrypted_data_bag_secret docker-config.json .huggingface-token
.token .tokens *.token *.jwt *.session .slack-token .telegram-token .*[-_]api[-_]key .*[-_]token
*vault[-_]pass .smbcredentials .s3curl ngrok.yml ngrok.yaml tfplan *.tfplan cwallet.sso
.config/stripe/config.toml .stripe/config.toml
"""
# Exceptions: public keys, and templates that projects commit for others to fill in.
_HARMLESS: Final = """
*.pub *.example *.sample *.template *.tmpl *.tpl *.dist *.defaults *.example.* *.sample.*
*.template.* *.schema.json *.dist.* *-example.* *-sample.* *_example.* *.md *.rst *.html example.*
sample.*
"""
# Endings of copies that editors, patches and people make. A copy of a secret is one.
_COPY: Final = lazy_pattern(
    r"(?:~\d*|\.~\d+~|\.(?:bak|backup|back|bkp|old|orig|original|save|saved|sav|copy|tmp|temp|prev"
    r"|rej|disabled|disable|off|swp|swo|swn|swx|un~|dpkg-(?:old|dist|new)|rpm(?:save|new|orig)"
    r"|ucf-(?:old|dist)|\d{1,14}|\d{4}-\d\d-\d\d|gz|bz2|xz|zst|zip|7z|enc|decrypted|dec|plain|txt|yml"
    r"|yaml|json)|[._-](?:prod(?:uction)?|dev(?:elopment)?|stag(?:e|ing)|test|local|live|ci|admin|db)"
    r"|[ _-](?:copy|backup|bak|old|orig|new|save|\d{1,8})|[ ]?\(\d{1,3}\)"
    r"|[ ]?\(copy(?: \d+)?\)| - copy)\Z"
)
_BEFORE_A_COPY: Final = lazy_pattern(r"\A(?:copy of |backup[-_ ]of[-_ ]|\.#|#|\.~lock\.)")
_MOST_ENDINGS: Final = 4


def _globs(listed: str) -> tuple[str, ...]:
    # A blank inside a name is written as `?`.
    return tuple(word.replace("?", " ") for word in listed.split())


def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    return lazy_pattern("|".join(f"(?P<g{n}>{translate(glob)})" for n, glob in enumerate(globs)))


_IN_ANY_FOLDER: Final = tuple(glob for glob in _globs(_NAMES) if "/" not in glob)
_EXACT: Final = frozenset(glob for glob in _IN_ANY_FOLDER if not re.search(r"[*\[]", glob))
_BY_NAME: Final = tuple(glob for glob in _IN_ANY_FOLDER if glob not in _EXACT)
_BY_PATH: Final = tuple(f"*/{glob}" for glob in _globs(_NAMES) if "/" in glob)
_SECRET: Final = _any_of(_BY_NAME)
_SECRET_PATH: Final = _any_of(_BY_PATH)
_FINE: Final = _any_of(_globs(_HARMLESS))
_WORD: Final = lazy_pattern(
    rf".*(?P<word>{'|'.join(_globs(_WORDS))})(?:\.(?P<kind>{'|'.join(_globs(_DATA))}))?"
)
# A wildcard does not make a secret of code, except for settings that are written as code.
_CODE: Final = lazy_pattern(
    r"(?!\.env).*\.(?:py|pyi|js|mjs|cjs|jsx|ts|tsx|go|rs|java|kt|scala|c|h|cc|cpp|hpp|cs|rb|php|swift"
    r"|m|mm|lua|sh|bash|zsh|ps1|vue|svelte|css|scss|ex|exs|erl|hs|ml|clj|dart|r|jl|pl|proto|tf)"
)
_SECRET_FOLDERS: Final = tuple(f"/{folder}/" for folder in _globs(_FOLDERS))
_SECRET_DATA: Final = tuple(f"/{folder}/" for folder in _globs(_DATA_FOLDERS))
_DATA_FILE: Final = lazy_pattern(rf"[^.]+|.*\.(?:{'|'.join(_globs(_DATA))})")


@dataclass(frozen=True, kw_only=True)
class SecretFiles:
    """The files that hold secrets: ours, and those that the settings add or allow.

    A pattern has the form of a line in `.gitignore`: without a slash it is a name, with one a path
    from the project's root. `hard_links` says which files with several names are read: those whose
    names are all inside the project, or all of them.
    """

    added: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    hard_links: Literal["inside", "all"] = "inside"

    def rule_for(self, path: str) -> str | None:
        """The pattern that makes a path a secret, or None. `path` has `/` between its parts."""
        return _rule_for(self, path)


OURS: Final = SecretFiles()


def is_secret_file(path: str) -> bool:
    return OURS.rule_for(path) is not None


@lru_cache(maxsize=20_000)
def _rule_for(secrets: SecretFiles, path: str) -> str | None:
    # Other spellings of the same letters, such as full-width ones, are the same name on some disks.
    # Nobody sees characters such as a zero-width space, so they make no other name.
    folded = unicodedata.normalize("NFKC", visible(path)).casefold().strip("/")
    if _matching(secrets.allowed, folded):
        return None
    return _matching(secrets.added, folded) or _our_rule(folded)


def _our_rule(path: str) -> str | None:
    rooted = f"/{path}"
    for folder in _SECRET_FOLDERS:
        if folder in rooted:
            return folder.strip("/") + "/"
    name = path.rpartition("/")[2].strip()
    if _FINE.match(name):
        return None
    for folder in _SECRET_DATA:
        if folder in rooted and _DATA_FILE.fullmatch(name):
            return folder.strip("/") + "/"
    if found := _SECRET_PATH.match(rooted):
        return _glob(found, _BY_PATH).removeprefix("*/")
    for candidate in _originals(name):
        if not _FINE.match(candidate) and (rule := _rule_of_name(candidate)):
            return rule
    return None


def _rule_of_name(name: str) -> str | None:
    if name in _EXACT:
        return name
    if _CODE.fullmatch(name):
        return None
    if found := _SECRET.match(name):
        return _glob(found, _BY_NAME)
    # Without an ending the whole name has to be the word.
    word = _WORD.fullmatch(name)
    if word and (word["kind"] or word["word"] == name):
        return f"*{word['word']}.{word['kind']}" if word["kind"] else name
    return None


def _glob(found: re.Match[str], globs: tuple[str, ...]) -> str:
    assert found.lastgroup is not None
    return globs[int(found.lastgroup[1:])]


def _originals(name: str) -> list[str]:
    """The name, and the names of which it may be a copy: `.env` for `.env~` and `.env.bak.gz`."""
    names = [name, _BEFORE_A_COPY.sub("", name).rstrip("#")]
    # A swap file of vim is hidden: `.credentials.json.swp` belongs to `credentials.json`.
    for _ in range(_MOST_ENDINGS):
        shorter = _COPY.sub("", names[-1])
        if shorter == names[-1] or not shorter:
            break
        names.append(shorter)
    return [*names, *(each[1:] for each in names if re.match(r"\.[^.]", each) and each != name)]


def _matching(patterns: tuple[str, ...], path: str) -> str | None:
    for pattern in patterns:
        if _compiled(pattern).match_file(path):
            return pattern
    return None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> GitIgnoreSpec:
    from oracle.services.project.ignore_patterns import ignore_spec

    return ignore_spec([unicodedata.normalize("NFKC", pattern).casefold()])
