"""What keys and tokens of known services look like: one row for each.

The prefixes and lengths are public facts, found in the services' own documentation and in the rule
lists of scanners such as gitleaks, detect-secrets and trufflehog.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.secret_values import is_random, is_stand_in


def _is_key(value: str) -> bool:
    return not is_stand_in(value)


def is_random_key(value: str) -> bool:
    """For prefixes that ordinary words have too, such as `sk-`."""
    is_long = len(value) >= 32 and "-" not in value[3:] and any(map(str.isdigit, value))
    return not is_stand_in(value) and (is_long or is_random(value))


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A kind of secret. The group `secret` of a match, or else all of it, is replaced.

    `is_secret` may still refuse a match, such as a placeholder. One of `marks`, in lower case, is
    in every text that can match, and what `also` finds in lower case. Looking for these first is
    enough for most texts, and far faster than the pattern.
    """

    name: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool] = _is_key
    also: re.Pattern[str] | None = None


def shape(
    name: str,
    marks: str,
    pattern: str,
    is_secret: Callable[[str], bool] = _is_key,
    *,
    also: str = "",
) -> Shape:
    """`marks` are separated by blanks; a blank inside one is written as `·`."""
    words = tuple(mark.replace("·", " ") for mark in marks.split())
    return Shape(
        name=name,
        marks=words,
        pattern=lazy_pattern(pattern, re.M),
        is_secret=is_secret,
        also=lazy_pattern(also) if also else None,
    )


class Shapes:
    """Finds out which shapes a text can have at all."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._shapes = shapes
        # By mark, because several shapes share one, and looking for it is most of the work.
        self._by_mark: dict[str, list[int]] = {}
        for number, each in enumerate(shapes):
            for mark in each.marks:
                self._by_mark.setdefault(mark, []).append(number)
        self._of_letters = [mark for mark in self._by_mark if mark.isalpha()]
        self._of_others = [mark for mark in self._by_mark if not mark.isalpha()]

    @property
    def marks(self) -> Collection[str]:
        return self._by_mark.keys()

    def possible(self, folded: str, marks: Collection[str] | None = None) -> list[Shape]:
        """In their order. The text is in lower case. `marks` has those that are in it."""
        if marks is None:
            marks = [mark for mark in self._by_mark if mark in folded]
        return self._having(self._by_mark.keys() & marks, folded)

    def possible_in(self, words: Sequence[str]) -> list[Shape]:
        """Those that one of the words can have."""
        # Most words have letters only, and most marks have a sign or a digit.
        others = "\n".join([word for word in words if not word.isalpha()]).lower()
        folded = "\n".join(words).lower()
        marks = [mark for mark in self._of_letters if mark in folded]
        marks += [mark for mark in self._of_others if mark in others]
        return self._having(marks, folded)

    def _having(self, marks: Iterable[str], folded: str) -> list[Shape]:
        numbers = sorted({number for mark in marks for number in self._by_mark[mark]})
        shapes = (self._shapes[number] for number in numbers)
        return [each for each in shapes if each.also is None or each.also.search(folded)]


# The start of a word or of its part after `_`, an escape such as `\n`, `%3D` or `=3D`, or a single
# `-`, as in a diff. A hyphen elsewhere is part of the word: a long word is matched from its start.
_START: Final = (
    r"(?:(?<![A-Za-z0-9-])|(?<=\\[nrt])|(?<=[%=][0-9A-Fa-f][0-9A-Fa-f])|(?<=^-)|(?<=[^\w-]-))"
)
_END: Final = r"(?![A-Za-z0-9])"
_UNMISTAKABLE: Final = lazy_pattern(r"\S{2,}[_.$~-]|\S{8,}")


def _prefixed(
    name: str,
    marks: str,
    pattern: str,
    is_secret: Callable[[str], bool] = _is_key,
    *,
    also: str = "",
) -> Shape:
    # A prefix that nothing else has is found in the middle of a word too.
    is_anywhere = is_secret is _is_key and all(map(_UNMISTAKABLE.fullmatch, marks.split()))
    whole = f"{'' if is_anywhere else _START}(?:{pattern}){_END}"
    return shape(name, marks, whole, is_secret, also=also)


_HEX_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

# Every quantifier has an upper bound, so a text costs at most a fixed number of steps for each of
# its characters.
VENDORS: Final = (
    # clouds
    shape(
        "AWS key",
        "akia asia abia acca a3t",
        rf"(?:{_START}|(?<=[a-z]))(?:A3T[A-Z0-9]|A(?:KIA|SIA|BIA|CCA))[A-Z0-9]{{16}}{_END}",
    ),
    _prefixed(
        "AWS key",
        "absk bedrock-api-key-",
        r"ABSK[A-Za-z0-9+/]{100,270}={0,2}|bedrock-api-key-[\w+/=-]{20,2000}",
    ),
    _prefixed("AWS key", "amzn.mws.", rf"amzn\.mws\.{_HEX_UUID}"),
    _prefixed(
        "Google key",
        "aiza gocspx- ya29. 1//0",
        r"AIza[\w-]{35}|GOCSPX-[\w-]{20,40}|ya29\.[\w-]{20,1000}|1//0[\w-]{40,200}",
    ),
    shape("Azure secret", "q~", r"(?<![\w~.-])(?P<secret>[\w~.]{3}\dQ~[\w~.-]{31,34})(?![\w~.-])"),
    shape(
        "Azure key",
        "accountkey sharedaccesskey",
        r"(?i)(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/=]{40,200})",
    ),
    shape(
        "signature of an address",
        "sig= signature=",
        r"[?&](?:sig|X-(?:Amz|Goog)-Signature)=(?P<secret>[A-Za-z0-9%+/=]{40,200})",
    ),
    _prefixed("Alibaba key", "ltai", r"LTAI[A-Za-z0-9]{12,20}"),
    _prefixed("Tencent key", "akid", r"AKID[A-Za-z0-9]{32}"),
    _prefixed("Yandex key", "aqvn", r"AQVN[\w-]{35,38}", is_random_key),
    _prefixed("DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _prefixed("Heroku key", "hrku-", r"HRKU-[\w-]{36,64}"),
    _prefixed(
        "Fly.io token", "fo1_ fm1 fm2_", r"fo1_[\w-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{80,2000}={0,3}"
    ),
    _prefixed("Scaleway key", "scw", r"SCW[A-Z0-9]{17}"),
    _prefixed("Cloudflare key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    _prefixed("Vercel token", "vc", r"vc[apikr]_[A-Za-z0-9]{20,100}", also="vc[apikr]_"),
    _prefixed("Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36,60}"),
    _prefixed("Render key", "rnd_", r"rnd_[A-Za-z0-9]{20,60}"),
    _prefixed("Supabase key", "sbp_ sb_secret_", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,100}"),
    _prefixed("PlanetScale key", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}"),
    _prefixed("Databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _prefixed("Snowflake token", "ver:1-hint:", r"ver:1-hint:\d{3,30}-ETMs[\w+/=-]{20,500}"),
    # code hosts and registries
    _prefixed(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{22,255}",
    ),
    _prefixed(
        "GitLab token",
        "glpat- glptt- gldt- glrt- glcbt- glffct- glft- glimt- glagent- gloas- glsoat- gr1348941 "
        "_gitlab_session=",
        r"gl(?:pat|ptt|dt|rt|cbt|ffct|ft|imt|agent|oas|soat)-[\w.-]{20,300}|GR1348941[\w-]{20,40}|_gitlab_session=[0-9a-z]{32}",
    ),
    _prefixed("Bitbucket token", "atbb atctt", r"ATBB[A-Za-z0-9]{28,40}|ATCTT3[\w=-]{60,300}"),
    _prefixed("Atlassian token", "atatt", r"ATATT3[\w=-]{20,300}"),
    _prefixed("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _prefixed("PyPI token", "pypi-", r"pypi-[\w-]{16,500}", is_random_key),
    _prefixed("RubyGems key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _prefixed("crates.io token", "cio", r"cio[A-Za-z0-9]{32}", is_random_key),
    _prefixed("NuGet key", "oy2", r"oy2[a-z0-9]{43}"),
    _prefixed("Clojars token", "clojars_", r"CLOJARS_[a-z0-9]{60}"),
    _prefixed("Docker token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,60}"),
    _prefixed("Artifactory key", "akcp cmvmd", r"AKCp[A-Za-z0-9]{60,75}|cmVmd[A-Za-z0-9]{59}"),
    _prefixed("oracle token", "oracle_", r"oracle_[0-9a-f]{10}_[\w-]{43}"),
    # models
    _prefixed(
        "API key",
        "sk-",
        r"sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|or-)?[\w-]{20,300}",
        is_random_key,
    ),
    shape(
        "API key",
        "sk-ant- sk-proj- sk-svcacct- sk-or-v1-",
        r"sk-(?:ant|proj|svcacct|or-v1)-[\w-]{20,300}",
        is_random_key,
    ),
    _prefixed(
        "Hugging Face token", "hf_ api_org_", r"hf_[A-Za-z0-9]{30,60}|api_org_[A-Za-z0-9]{30,60}"
    ),
    _prefixed("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
    _prefixed("xAI key", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
    _prefixed("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
    _prefixed("Replicate token", "r8_", r"r8_[A-Za-z0-9]{30,50}"),
    _prefixed("NVIDIA key", "nvapi-", r"nvapi-[\w-]{40,100}"),
    _prefixed("Fireworks key", "fw_", r"fw_[A-Za-z0-9]{22,40}", is_random_key),
    _prefixed("LangSmith key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _prefixed("Tavily key", "tvly-", r"tvly-[\w-]{20,255}"),
    _prefixed("Brave key", "bsa", r"BSA[A-Za-z0-9_-]{24,32}", is_random_key),
    # chat and mail
    _prefixed(
        "Slack token",
        "xox xapp- xwfp-",
        r"xox[abceoprs](?:\.xox[bp])?-[\w-]{10,300}|xapp-[\w-]{20,300}|xwfp-[\w-]{20,300}",
    ),
    shape(
        "Slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Z]\w{6,20}/[\w-]{6,30}/[\w/-]{16,80})",
    ),
    shape(
        "Discord webhook",
        "/webhooks/",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/(?P<secret>\d{15,22}/[\w-]{40,100})",
    ),
    shape(
        "Teams webhook",
        "webhook.office.com",
        r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{60,300})",
    ),
    _prefixed(
        "Discord token",
        ".",
        r"[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}",
        is_random_key,
        also=r"\.[\w-]{6}\.[\w-]{27}",
    ),
    _prefixed("Telegram token", ":aa", r"(?:bot)?\d{8,10}:AA[\w-]{32,34}"),
    _prefixed("SendGrid key", "sg.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _prefixed(
        "Mailgun key",
        "key- mailgun",
        r"(?:pub)?key-[a-f0-9]{32}|[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}",
    ),
    _prefixed("Mailchimp key", "-us", r"[a-f0-9]{32}-us\d{1,2}"),
    _prefixed("Brevo key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _prefixed("Twilio key", "sk", r"SK[0-9a-f]{32}", also="sk[0-9a-f]{32}"),
    _prefixed("Facebook token", "eaa", r"EAA[A-Za-z0-9]{80,400}"),
    # payment and shops
    _prefixed(
        "Stripe key",
        "sk_ rk_ whsec_",
        r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9+/=]{24,255}",
    ),
    _prefixed(
        "Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"
    ),
    _prefixed("Square token", "sq0 eaaa", r"sq0(?:atp|csp|idp)-[\w-]{22,60}|EAAA[\w-]{60}"),
    _prefixed(
        "PayPal token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    _prefixed("Razorpay key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,24}"),
    _prefixed("Flutterwave key", "flwseck", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?"),
    _prefixed("Plaid token", "access-", rf"access-(?:sandbox|development|production)-{_HEX_UUID}"),
    _prefixed("EasyPost key", "ezak ezt", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _prefixed("Duffel token", "duffel_", r"duffel_(?:test|live)_[\w=-]{43}"),
    # operations
    _prefixed(
        "Vault token",
        "hvs. hvb. hvr. =s. :s.",
        r"hv[sbr]\.[\w-]{24,300}|s\.[A-Za-z0-9]{24}",
        is_random_key,
    ),
    _prefixed("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"),
    _prefixed(
        "Doppler token",
        "dp.",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    _prefixed(
        "Grafana token",
        "glc_ glsa_ eyjrijoi",
        r"glc_[A-Za-z0-9+/]{32,400}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{70,400}={0,3}",
    ),
    _prefixed(
        "New Relic key",
        "nrak- nrii- nrjs- nral",
        r"NRAK-[A-Z0-9]{27}|NRII-[\w-]{32}|NRJS-[a-f0-9]{19}|[a-f0-9]{36}NRAL",
    ),
    _prefixed("Dynatrace token", "dt0", r"dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    _prefixed(
        "Sentry token", "sntrys_ sntryu_", r"sntrys_eyJ[\w+/=-]{40,1000}|sntryu_[a-f0-9]{64}"
    ),
    _prefixed("Pulumi token", "pul-", r"pul-[a-f0-9]{40}"),
    _prefixed("Prefect token", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    _prefixed("Postman key", "pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _prefixed("Octopus key", "api-", r"API-[A-Z0-9]{25,32}"),
    _prefixed("OpenShift token", "sha256~", r"sha256~[\w-]{43}"),
    _prefixed(
        "Harness key", "pat. sat.", r"(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"
    ),
    _prefixed(
        "Sourcegraph token",
        "sgp_ slk_",
        r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}|slk_[a-f0-9]{64}",
    ),
    _prefixed("Tailscale key", "tskey-", r"tskey-[a-z]{2,10}-[\w-]{10,100}"),
    _prefixed(
        "1Password token",
        "ops_eyj a3-",
        r"ops_eyJ[A-Za-z0-9+/]{100,2000}={0,3}|A3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}",
    ),
    _prefixed("age key", "age-secret-key-", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58,4000}"),
    _prefixed(
        "Bitwarden token", "0.", rf"0\.{_HEX_UUID}\.[A-Za-z0-9+/=]{{20,80}}:[A-Za-z0-9+/=]{{20,40}}"
    ),
    # tools for teams
    _prefixed("Notion token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}"),
    _prefixed("Linear key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _prefixed("Figma token", "figd_ figo", r"fig(?:d|or?|our?)_[\w-]{30,100}"),
    _prefixed(
        "Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", also=r"pat[a-z0-9]{14}\."
    ),
    _prefixed("HubSpot token", "pat-", rf"pat-(?:na|eu)\d-{_HEX_UUID}"),
    _prefixed("Typeform token", "tfp_", r"tfp_[\w.=-]{40,70}"),
    _prefixed("Contentful token", "cfpat-", r"CFPAT-[\w-]{43}"),
    _prefixed("Adobe secret", "p8e-", r"p8e-[A-Za-z0-9]{32}"),
    _prefixed("Dropbox token", "sl.", r"sl\.(?:u\.)?[\w-]{120,1500}"),
    _prefixed(
        "Asana token",
        "0/ 1/ 2/",
        r"[012]/\d{12,20}(?:/\d{12,20})?:[a-f0-9]{32}",
        also=r"[012]/\d{12}",
    ),
    _prefixed("Frame.io token", "fio-u-", r"fio-u-[\w=-]{64}"),
    _prefixed("Infracost key", "ico-", r"ico-[A-Za-z0-9]{32}"),
    _prefixed("ReadMe key", "rdme_", r"rdme_[a-z0-9]{70}"),
    _prefixed("Shippo token", "shippo_", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    _prefixed("MaxMind key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _prefixed("Mapbox token", "sk.eyj", r"sk\.eyJ[\w-]{20,200}\.[\w-]{20,40}"),
    # more services with a prefix of their own
    _prefixed("SonarQube token", "sqp_ squ_ sqa_", r"sq[pua]_[a-f0-9]{40}"),
    _prefixed("CircleCI token", "ccipat_", r"CCIPAT_[A-Za-z0-9]{15,30}_[a-f0-9]{30,64}"),
    _prefixed("Buildkite token", "bkua_ bkct_", r"bk(?:ua|ct)_[A-Za-z0-9]{30,60}"),
    _prefixed("Pinecone key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,100}"),
    _prefixed("PostHog key", "phx_ phs_", r"ph[xs]_[A-Za-z0-9]{32,60}"),
    _prefixed("LaunchDarkly key", "sdk- api-", rf"(?:sdk|api)-{_HEX_UUID}"),
    _prefixed("Vercel token", "vercel_blob_rw_", r"vercel_blob_rw_[A-Za-z0-9_]{20,100}"),
    _prefixed("Honeycomb key", "hcaik_ hcalk_ hcamk_", r"hca[ilm]k_[a-z0-9]{26,100}"),
    _prefixed("dbt token", "dbtc_ dbtu_", r"dbt[cu]_[\w=-]{20,100}"),
    _prefixed("ClickUp token", "pk_", r"pk_\d{5,12}_[A-Z0-9]{32}"),
    _prefixed("Resend key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,30}", is_random_key),
    _prefixed("Neon key", "napi_", r"napi_[a-z0-9]{40,80}"),
    _prefixed("Together key", "tgp_v1_", r"tgp_v1_[\w-]{40,60}"),
    _prefixed("Cerebras key", "csk-", r"csk-[a-z0-9]{40,60}"),
    _prefixed("ElevenLabs key", "sk_", r"sk_[a-f0-9]{48}"),
    _prefixed("Apify token", "apify_api_", r"apify_api_[A-Za-z0-9]{30,50}"),
    _prefixed("Firecrawl key", "fc-", r"fc-[a-f0-9]{32}"),
    _prefixed("Jina key", "jina_", r"jina_[A-Za-z0-9_-]{50,80}"),
    _prefixed("E2B key", "e2b_", r"e2b_[a-f0-9]{40}"),
    _prefixed("Voyage key", "pa-", r"pa-[\w-]{40,50}", is_random_key),
    _prefixed("LinkedIn secret", "wpl_ap1.", r"WPL_AP1\.[\w=.-]{16,60}"),
    _prefixed("Azure DevOps token", "azdo", r"[A-Za-z0-9]{60,80}AZDO[A-Za-z0-9]{4}"),
    _prefixed("ReadMe key", "rdme_", r"rdme_[a-zA-Z0-9]{60,80}"),
    _prefixed("Scalingo token", "tk-us-", r"tk-us-[\w-]{48}"),
    _prefixed("SettleMint token", "sm_pat_ sm_aat_ sm_sat_", r"sm_[aps]at_[A-Za-z0-9]{16}"),
    _prefixed("42 secret", "s-s4t2", r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    _prefixed("Elastic key", "essu_", r"essu_[\w=+/-]{40,100}"),
    _prefixed("Endor Labs key", "endr+", r"endr\+[A-Za-z0-9-]{16,40}", is_random_key),
    _prefixed("Lob key", "live_ test_", r"(?:live|test)_[a-f0-9]{35}"),
    _prefixed("WakaTime key", "waka_", rf"waka_{_HEX_UUID}"),
    _prefixed("JFrog token", "cmvmdgtuoj", r"cmVmdGtuOj[A-Za-z0-9+/=]{40,80}"),
    _prefixed("Firebase key", ":apa91b", r"AAAA[\w-]{7}:APA91b[\w-]{100,160}"),
    shape(
        "Zapier hook",
        "hooks.zapier.com",
        r"hooks\.zapier\.com/hooks/catch/(?P<secret>\d{3,12}/[A-Za-z0-9]{5,20})",
    ),
    # formats
    _prefixed(
        "JWT",
        "eyj",
        r"eyJ[\w-]{8,8000}\.eyJ[\w-]{4,8000}\.[\w-]{0,2000}|eyJ[\w-]{10,4000}(?:\.[\w-]{10,8000}){4}",
    ),
    _prefixed("crypto key", "xprv", r"xprv[A-Za-z0-9]{100,112}"),
)
