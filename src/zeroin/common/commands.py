"""Which words of a command are secrets: by the name of a flag, and by what a tool's flags mean.

`-p` is a password for sshpass, a port for psql and docker run, and `make parents` for mkdir, so
short flags are read by the tool they are given to.
"""

from __future__ import annotations

import re

from .names import is_secret_name, split_name
from .values import is_flag_value, is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Span = tuple[int, int]


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MYSQL = _split("mariadb mariadb-dump mysql mysqladmin mysqlcheck mysqldump mysqlimport mysqlsh")
_MONGO = _split("mongo mongodump mongoexport mongoimport mongorestore mongosh mongostat")
_LDAP = _split("ldapadd ldapcompare ldapdelete ldapmodify ldappasswd ldapsearch ldapwhoami")
_LOGIN = _split("az buildah crane docker helm nerdctl oc oras podman skopeo")
_SQL_SERVER = _split("bcp osql sqlcmd tsql")

# Tool → flags whose next word is the secret.
_NEXT: dict[str, frozenset[str]] = {
    "sshpass": _split("-p"),
    "redis-cli": _split("--pass -a"),
    "zip": _split("-P"),
    "unzip": _split("-P"),
    "twine": _split("-p"),
    "rdesktop": _split("-p"),
    "lftp": _split("-p"),
    "ncftp": _split("-p"),
    "mosquitto_pub": _split("-P"),
    "mosquitto_sub": _split("-P"),
    "mosquitto_rr": _split("-P"),
    "ssh-keygen": _split("-N -P"),
    "openssl": _split("-K -k"),
    "gpg": _split("--passphrase"),
    "keytool": _split("-deststorepass -keypass -srcstorepass -storepass"),
    "jarsigner": _split("-keypass -storepass"),
    "snmpwalk": _split("-A -X -c"),
    "snmpget": _split("-A -X -c"),
    "curl": _split("--oauth2-bearer --pass --proxy-pass --tlspassword"),
    "influx": _split("-password"),
    **dict.fromkeys(_MONGO, _split("-p")),
    **dict.fromkeys(_LDAP, _split("-w")),
    **dict.fromkeys(_SQL_SERVER, _split("-P")),
}
# Tool → flags that the secret may be glued to: `mysql -pSECRET`.
_GLUED: dict[str, tuple[str, ...]] = {
    "sshpass": ("-p",),
    "7z": ("-p",),
    "7za": ("-p",),
    "7zr": ("-p",),
    "rar": ("-hp", "-p"),
    "unrar": ("-p",),
    "zip": ("-P",),
    "unzip": ("-P",),
    "xfreerdp": ("/p:",),
    **dict.fromkeys(_MYSQL, ("-p",)),
    **dict.fromkeys(_MONGO, ("-p",)),
    **dict.fromkeys(_SQL_SERVER, ("-P",)),
    **dict.fromkeys(_LDAP, ("-w",)),
}
# Tool → flags whose value is `user:password`, and the character between the two.
_USER: dict[str, tuple[frozenset[str], str]] = {
    "curl": (_split("--cert --proxy-user --user -E -U -u"), ":"),
    "http": (_split("--auth -a"), ":"),
    "https": (_split("--auth -a"), ":"),
    "xh": (_split("--auth -a"), ":"),
    "lftp": (_split("--user -u"), ","),
    "smbclient": (_split("--user -U"), "%"),
    "smbget": (_split("--user -U"), "%"),
    "rpcclient": (_split("--user -U"), "%"),
    "net": (_split("--user -U"), "%"),
    "wget": (_split("--user"), ":"),
    "ab": (_split("-A -P"), ":"),
    "jenkins-cli": (_split("-auth"), ":"),
}
TOOLS = frozenset(
    [*_NEXT, *_GLUED, *_USER, *_LOGIN, "htpasswd", "aws", "npm", "wandb", "sqlplus", "vault", "gh"]
)
# Flags that are no secrets though their names say so: a mode, a choice, or a place.
_OPEN_TOOLS = _split(
    "docker podman ps psql pg_dump pg_restore ssh scp rsync kubectl git sort systemctl journalctl "
    "nmap mkdir cp lsof top su sudo tar uv pytest nc pgrep pkill cargo make"
)
_OPEN_FLAGS = _split(
    "--ask-become-pass --ask-pass --ask-password --ask-vault-pass --auth-mode --auth-type --no- "
    "auth --no-password --pass --passwd-file --password-stdin --require-auth --skip-auth --use- "
    "auth --with-auth"
)
_FLAG = r"--?[A-Za-z][\w.-]*$"


def find_in_words(words: Sequence[str]) -> list[tuple[int, Span]]:
    """Give the secrets among the words of a command: the number of the word, and where in it."""
    found: list[tuple[int, Span]] = []
    tool = ""
    for number, word in enumerate(words):
        base = word.rpartition("/")[2]
        if base in TOOLS | _OPEN_TOOLS and not word.startswith("-"):
            tool = base
            found += _positional(tool, words, number)
        before = words[number - 1] if number else ""
        span = _span_of(tool, before, word, words)
        if span is not None and span[1] > span[0]:
            found.append((number, span))
    return sorted(set(found))


def is_secret_flag(word: str) -> bool:
    """Whether the word after this flag is a secret, whatever the tool."""
    if not word.startswith("-") or word in _OPEN_FLAGS - {"--pass"}:
        return False
    if re.match(_FLAG, word) is None or (not word.startswith("--") and len(word) < 4):
        return False
    name = word.lstrip("-")
    return is_secret_name(name) or split_name(name)[-1:] in (["key"], ["pass"], ["dsn"])


def _span_of(tool: str, before: str, word: str, words: Sequence[str]) -> Span | None:
    """Tell which part of a word is secret, given the tool and the word before."""
    value = _flag_value_span(before, word)
    if value is not None:
        return value
    if before in _NEXT.get(tool, ()):
        return _unless_placeholder(word, 0)
    if tool in _LOGIN and "login" in words and before == "-p" and not _is_next_flag(word):
        return _unless_placeholder(word, 0)
    for flag in _GLUED.get(tool, ()):
        if word.startswith(flag) and len(word) > len(flag) and not word.startswith("--"):
            return _unless_placeholder(word, len(flag))
    if tool in _USER:
        flags, between = _USER[tool]
        if before in flags:
            return _after(word, between, 0)
        for flag in flags:
            glued = flag + "=" if flag.startswith("--") else flag
            if word.startswith(glued) and len(word) > len(glued):
                return _after(word, between, len(glued))
    if before == "-u" and not tool and re.match(r"[\w.@+-]+:(?!\d+$)[^/\s]", word) is not None:
        return _after(word, ":", 0)
    if before == "-p" and not tool and _is_login(words) and not word.isdecimal():
        return _unless_placeholder(word, 0)
    if tool == "curl" and before in ("-b", "--cookie") and "=" in word:
        return (0, len(word))
    if tool == "openssl" and word.startswith("pass:"):
        return (5, len(word))
    return None


def _flag_value_span(before: str, word: str) -> Span | None:
    flag, equals, value = word.partition("=")
    if equals and is_secret_flag(flag):
        return (len(flag) + 1, len(word)) if is_flag_value(flag.lstrip("-"), value) else (0, 0)
    if "=" not in before and is_secret_flag(before) and not _is_next_flag(word):
        return (0, len(word)) if is_flag_value(before.lstrip("-"), word) else (0, 0)
    return None


def _positional(tool: str, words: Sequence[str], at: int) -> list[tuple[int, Span]]:
    """Secrets that stand without a flag: `aws configure set aws_secret_access_key VALUE`."""
    rest = list(words[at + 1 :])
    if "set" in rest[:3]:
        name = rest.index("set") + 1
        if name + 1 < len(rest) and is_secret_name(rest[name]):
            return [(at + 2 + name, (0, len(rest[name + 1])))]
    if tool in ("wandb", "vault") and "login" in rest[:1]:
        for number, word in enumerate(rest[1:], at + 2):
            if not word.startswith("-") and len(word) >= 16 and any(map(str.isdigit, word)):
                return [(number, (0, len(word)))]
    if tool == "htpasswd" and any(w.startswith("-") and "b" in w for w in rest):
        plain = [n for n, w in enumerate(rest, at + 1) if not w.startswith("-")]
        if len(plain) >= 2:
            last = plain[2] if len(plain) > 2 else plain[1]
            return [(last, (0, len(words[last])))]
    if tool == "sqlplus":
        for number, word in enumerate(rest, at + 1):
            match = re.match(r"[\w$#]+/(.+?)(?:@[^@]*)?$", word)
            if match is not None and not word.startswith(("-", "/", "@")):
                return [(number, match.span(1))]
    return []


def _is_login(words: Sequence[str]) -> bool:
    """Whether a user is named as well: `tool -u ada -p VALUE`."""
    return any(one in ("-u", "-U", "--user", "--username", "--login") for one in words)


def _is_next_flag(word: str) -> bool:
    return re.match(r"--?[A-Za-z][\w-]*(?:=|$)", word) is not None and not (
        word[1:2] != "-" and len(word) > 6
    )


def _after(word: str, between: str, start: int) -> Span | None:
    at = word.find(between, start)
    return None if at < 0 else _unless_placeholder(word, at + 1)


def _unless_placeholder(word: str, start: int) -> Span | None:
    return None if is_placeholder(word[start:]) else (start, len(word))
