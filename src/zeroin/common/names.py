"""Which names say that the text under them is a secret.

A *secret name* says that its text is a credential: `password`, `HF_TOKEN`, `apiKey`, `db_pass`.
Names are read word by word, so that `tokenizer`, `n_tokens`, `passthrough` and `author` stay
readable. Some names say so only together with what they hold: text called `key` has to look like
a credential, a `dsn` or a `webhook` has to be an address.
"""

from __future__ import annotations

LONGEST_NAME = 100  # characters; a longer text is the key of a dict, and no name
# What names of secrets hold, and how tokens begin (with 0 for every digit), in small letters.
NAME_STEMS = (
    *("pass", "pwd", "pw", "secret", "token", "key", "auth", "cred", "cookie", "jwt", "pswd"),
    *("session", "phrase", "bearer"),
)
BEGINNINGS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glft-", "glrt-"),
    *("glsoat-", "glptt-", "glagent-", "glcbt-", "glimt-", "gloas-", "xox", "xapp-", "hf_", "sk-"),
    *("sk_", "rk_", "npm_", "pypi-", "akia", "asia", "aiza", "ya00.", "gocspx-", "sg.", "eyj"),
    *("_v0_", "hvs.", "hvb.", "shpat_", "shpss_", "shpca_", "shppa_", "dckr_pat", "rubygems_"),
    *("figd_", "lin_api", "gsk_", "pplx-", "xai-", "nvapi-", "atatt", "atctt", "dapi", "sntry"),
    *("nrak-", "glsa_", "r0_", "whsec_", "sq0", "pmak-", ":aa", "age-secret", "-us0", "key-"),
    "tvly-",
)
SHORT = 4000  # characters up to which a text is looked at as a whole
CREDENTIAL_LENGTH = 16  # characters from which on text in one piece may be a generated key


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STRONG = _split(
    "accesskey accesstoken apikey apitoken auth authorization authtoken bearer bottoken cookie "
    "cookies credential credentials creds csrfmiddlewaretoken csrftoken identitytoken idtoken "
    "jwt keypass passcode passphrase passwd passwds password passwords passwort privatekey pswd "
    "pw pwd refreshtoken registrytoken secret secretkey secrets sessionid sessiontoken "
    "storepass usertoken"
)
# `PGPASSWORD`, `dbpasswd`, `MYAPIKEY`: glued to a word before.
_ENDINGS = ("password", "passwd", "passphrase", "apikey", "authtoken", "accesstoken", "secretkey")
_PAIRS = frozenset(
    [
        *(("access", "key"), ("api", "key"), ("private", "key"), ("session", "id")),
        *(("session", "key"), ("key", "data"), ("encryption", "key"), ("signing", "key")),
        *(("session", "cookie"), ("pass", "phrase"), ("pass", "word")),
        *(("account", "key"), ("master", "key"), ("seed", "phrase"), ("shared", "key")),
        ("license", "key"),
    ]
)
# What follows such a word where the text is about the secret, and not the secret.
_ABOUT = _split(
    "age algorithm algorithms at attempts authority backend backends budget cache check checker "
    "class classes classification cls complexity count counter description dir directory domain "
    "embedding embeddings enabled encoder encoding endpoint endpoints error errors exception "
    "expiration expired expires expiry failed field fields file filename files fixture flag "
    "flow folder form format func function generator getter handler handlers help helper "
    "helpers hint host ids idx index input inputs issuer jar kind label lang layer len length "
    "level lifetime limit location manager mask max message method methods middleware min mixin "
    "mode name names num number option parser path pattern placeholder plugin policy pool port "
    "position positions prefix prompt protocol provider providers realm reason regex required "
    "requirements reset retries role rule rules scheme scope scopes sep separator serializer "
    "settings size sock socket spec split start state status stem store strategy strength "
    "suffix table text timeout ttl type types uri url urls usage user username users validator "
    "validators vector version view warning width window"
)
# What makes of a `token` a piece of text, or a count of them.
_BEFORE_TOKEN = _split(
    "avg bos cls cur current end eos first image img last mask max min n next nl num pad per "
    "prev previous sep special start stop tok total unk unknown"
)
_AFTER_TOKEN = _ABOUT | {"id"}
# Whose `pass` is a password: `db_pass`, not `forward_pass`.
_BEFORE_PASS = _split(
    "account admin amqp api app auth basic bind broker cert client conn connection database db "
    "docker elastic email encryption es ftp git gpg http https imap influx jenkins key keystore "
    "ldap login mail mariadb master mongo mongodb mqtt mssql my mysql new nexus old ora oracle "
    "owner pg pop3 postgres postgresql proxy rabbit rabbitmq redis registry remote repo root "
    "router server service sftp site smb smtp snmp sql ssh ssl sudo svc sys test tls truststore "
    "user usr vault vpn wifi wlan zip"
)
_ADDRESSES = _split("dsn hook webhook webhooks")
# Names of environment variables in which KEY is no credential.
_OPEN_VARIABLES = _split("lessclose lessopen oldpwd pwd xauthority")


_answers: dict[str, bool] = {}  # the same few names come again in every frame


def is_secret_name(name: str) -> bool:
    """Whether text under this name is a secret, whatever it is."""
    answer = _answers.get(name)
    if answer is None:
        if len(_answers) > 1000:
            _answers.clear()
        answer = _answers[name] = _says_secret(split_name(name))
    return answer


def _says_secret(words: list[str]) -> bool:
    if not words:
        return False
    if words[-1] in _ABOUT:
        return False
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in _STRONG or word.endswith(_ENDINGS):
            return True
        if (word, after) in _PAIRS:
            return True
        if word == "token" and _names_a_token(words, at):
            return True
        if word == "pass" and not after and at and words[at - 1] in _BEFORE_PASS:
            return True
    return words == ["pass"] or words[-1] in ("sshpass", "dbpass", "userpass", "mypass")


def _names_a_token(words: list[str], at: int) -> bool:
    before, after = words[at - 1 : at], words[at + 1 : at + 2]
    return not (_BEFORE_TOKEN.intersection(before) or _AFTER_TOKEN.intersection(after))


def is_secret(name: str, text: str) -> bool:
    """Whether this text under this name is a secret: a `key` is one if it looks like one."""
    if is_secret_name(name):
        return not is_about_pass(name, text)
    words = split_name(name)
    last = words[-1] if words else ""
    if last == "key" or last.endswith("key"):
        return looks_like_credential(text)
    if last in _ADDRESSES or (last in ("url", "uri") and _ADDRESSES.intersection(words)):
        head = text[:1000]
        return "://" in head and ("@" in head or last != "dsn")
    return False


def is_about_pass(name: str, text: str) -> bool:
    """Whether a bare `pass` holds a verdict or a count, rather than a password."""
    return name.lower() == "pass" and (text.isdecimal() or text.isspace() or not text)


def is_secret_variable(name: str) -> bool:
    """Whether an environment variable is a secret: there, every KEY is one, and PWD is none."""
    if name.lower() in _OPEN_VARIABLES:
        return False
    return "KEY" in name.upper().split("_") or is_secret_name(name)


def looks_like_credential(text: str) -> bool:
    """Whether it is long, in one piece, and mixes letters and digits."""
    head = text[:1000]
    return (
        len(head) >= CREDENTIAL_LENGTH
        and not any(map(str.isspace, head))
        and any(map(str.isalpha, head))
        and any(map(str.isdigit, head))
    )


def split_name(name: str) -> list[str]:
    """Split `api_key`, `X-Api-Key`, `apiKey` and `APIKey2` into words in small letters."""
    if len(name) > LONGEST_NAME:
        return []
    known = _splits.get(name)
    if known is None:
        if len(_splits) > 1000:
            _splits.clear()
        known = _splits[name] = _split_new(name)
    return known


_splits: dict[str, list[str]] = {}


def _split_new(name: str) -> list[str]:
    spaced = ""
    for at, char in enumerate(name):
        before, after = name[at - 1 : at], name[at + 1 : at + 2]
        if not char.isalnum():
            spaced += " "
            continue
        if char.isupper() and (before.islower() or (before.isupper() and after.islower())):
            spaced += " "
        spaced += char
    words = [word.rstrip("0123456789") for word in spaced.lower().split()]
    return [word for word in words if word]
