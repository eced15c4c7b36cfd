"""Which text after a secret name is a value, and which is code, a placeholder or a remark."""

from __future__ import annotations

import re

from .names import CREDENTIAL_LENGTH, is_secret_name, looks_like_credential, split_name


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What stands where a value would, and says something about it, or is the name of a type.
_REMARKS = _split(
    "a absent accepted added all also an and any anystr are argument as at authentication bad "
    "be been blank bool but by bytes callable can cannot changed class code could default "
    "denied deprecated dict did disabled does doesn't don't each either empty enabled error "
    "expected expired expires expiring failed failure false field file float for forbidden "
    "format found from function generated getpass given had has have hidden if ignored in "
    "incorrect instead int integer invalid is isn't it its keyword lambda leaked length list "
    "loaded long lost managed masked may mismatch missing must new nil no none not null object "
    "of off ok okay old omitted on only optional or parameter pass passed path printed prompt "
    "protected provided read redacted refused rejected removed renewed repr required reset "
    "revoked rotated same saved secretstr sent set shall short should skipped so some str "
    "string succeeded success text than that the their then there this to too true tuple type "
    "undefined union unknown unset until update updated use used using valid value verified was "
    "were when where which will with without wrong yes you your"
)
_AUTH_KINDS = _split(
    "anonymous apikey aws aws4-hmac-sha256 basic bearer both cert certificate client digest "
    "disable gssapi hawk iam jwt kerberos key ldap local md5 negotiate ntlm oauth oauth10a "
    "oauth2 oidc pam peer plain publickey saml scram-sha-1 scram-sha-256 token trust user"
)
_HOLDERS = _split(
    "app args argv cfg cls cmd conf config context credentials creds ctl ctx data django env "
    "environ event flask form g headers info kwargs np obj opt options opts os p params parser "
    "payload process req request res resp response self settings state sys this tokenizer torch "
    "user"
)
# `${TOKEN}`, `$TOKEN`, `%(token)s`, `{token}`, `{{ token }}`, `<token>`, `****`, `...`, `xxxx`.
_PLACEHOLDER = (
    r"\$\{|\$\(|\$[A-Z_][A-Z0-9_]*$|\$\W?$|%\(?[\w.]*\)?[sdr]?%?$|\{[^\"']{0,60}\}?$|<|\*+$"
    r"|\.{2,}$|[xX]{3,}$|…|\[(?:redacted|filtered|masked|hidden)"
    r"|\(?(?:redacted|hidden|masked|unset|not set)\)?$|-+$|_+$"
)
_CODE = r"[A-Za-z_][\w.:]*[(\[]|\*\*|lambda\b|not |await |yield |\(|\[|@"
_DOTTED = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$"
_PATH = r"(?:[A-Za-z]:\\|~?/|\.{1,2}/)[\w.@ /\\-]*$"
_FILE = (
    r"[\w.@+~ /\\:-]*\.(?:json|ya?ml|toml|ini|cfg|conf|env|txt|pem|key|crt|cer|p12|pfx|jks|pub|py"
    r"|sh|log|csv|db|sqlite|gpg|asc|md|netrc|xml|html|enc|pkl|bin)$"
)


def is_placeholder(value: str) -> bool:
    """Whether it only stands for a value: `${TOKEN}`, `****`, `<token>`, or is empty."""
    if not value or re.match(_PLACEHOLDER, value) is not None:
        return True
    return value[0] == "$" and is_secret_name(value[1:])


def is_file_name(value: str) -> bool:
    """Whether it says where something is: `./creds.json`, `/etc/ssl/key.pem`."""
    if re.match(_FILE, value) is not None:
        return True
    if re.match(_PATH, value) is None:
        return False
    return value[0] in "~." or not any(
        len(part) > 20 and _is_generated(part) for part in value.split("/")
    )


def is_secret_value(name: str, value: str, *, quoted: bool, spaced: bool) -> bool:
    """Whether the text after `name=` is the secret that the name promises.

    `quoted`: it stood in quotes. `spaced`: a blank stood before it, as in code and in prose.
    """
    if is_placeholder(value) or value.lower() == name.lower():
        return False
    words = split_name(name)
    last = words[-1] if words else ""
    if re.match(_FILE, value) is not None or value.startswith(
        ("/run/secrets/", "/var/run/secrets/")
    ):
        return False
    if not is_secret_name(name):
        return _is_open_name_secret(last, value)
    if last in ("pwd", "pw") and value.startswith(("/", "~", "./")):
        return False
    if last in ("auth", "authorization") and value.lower().partition(" ")[0] in _AUTH_KINDS:
        return False
    if words == ["pass"] and (value.isdecimal() or len(value) < 3):
        return False
    if last in ("auth", "cookie", "cookies", "credentials", "credential") and is_file_name(value):
        return False
    if quoted:
        if value.isidentifier() and not any(map(str.isdigit, value)) and is_secret_name(value):
            return False  # the name of a field or a variable
        return len(value) > 1 and value.lower() not in (
            "none",
            "null",
            "true",
            "false",
            "str",
            "string",
        )
    low = value.lower().rstrip(".,;:!?")
    if low in _REMARKS:
        return False
    if last in ("cookie", "cookies", "credentials") and value.isalpha():
        return False
    if re.match(_CODE, value) is not None or re.match(r"\d{1,3}$|-[\d.]+$", value) is not None:
        return False
    if re.match(_DOTTED, value) is not None:
        first = value.partition(".")[0]
        last = value.rpartition(".")[2]
        return not (first in (*_HOLDERS, name) or first.isupper() or is_secret_name(last))
    if value.isidentifier() and not any(map(str.isdigit, value)):
        if is_secret_name(value) or "token" in low or "pass" in low:
            return False
        return not (spaced and len(value) < 4)
    return True


def is_flag_value(name: str, value: str) -> bool:
    """Whether the word after `--name` is a secret."""
    words = split_name(name)
    last = words[-1] if words else ""
    if is_placeholder(value) or is_file_name(value):
        return False
    if last in ("key", "keys") and not is_secret_name(name):
        return _is_generated(value)
    return not (last == "auth" and value.lower() in _AUTH_KINDS)


def is_metavariable(name: str, value: str) -> bool:
    """Whether a word after `--name` in a text is `NAME` of a help, or goes on with a sentence."""
    low = value.lower().rstrip(".,;:!?)")
    return (
        low in _REMARKS
        or (value.isupper() and value.replace("_", "").replace("-", "").isalpha())
        or low == name.lower().lstrip("-")
        or low in ("option", "options", "argument", "flag", "flags", "parameter", "value")
        or value.startswith(("[", "|", ")", "]", "(", "=", ".", ","))
    )


def _is_open_name_secret(last: str, value: str) -> bool:
    """Whether text under `key` is a credential."""
    if last != "key" and not last.endswith("key"):
        return False
    if re.match(_CODE, value) is not None or re.match(_DOTTED, value) is not None:
        return False
    return looks_like_credential(value) and _is_generated(value)


def _is_generated(value: str) -> bool:
    """Whether nobody would write it by hand: letters and digits mixed, no words with numbers."""
    if any(map(str.isspace, value)) or not any(map(str.isdigit, value)):
        return False
    if not any(map(str.isalpha, value)):
        return False
    if (
        re.match(r"(?:[A-Za-z]+\d{0,3}|\d+)(?:[_./:-](?:[A-Za-z]+\d{0,3}|\d+))*$", value)
        is not None
    ):
        return False  # `layer_12`, `train/step-3`, `model.layers.12.weight`
    return re.match(r"\d+[,.]?\d*[a-z]?(?:,\d+[a-z]*)?$", value) is None and (
        len(value) >= CREDENTIAL_LENGTH or value.count("/") < 2
    )
