"""The rules that find secrets in text by their name or their form; each gives spans.

Every pattern is bounded or begins at the edge of a word, so that the time is linear in the text.
"""

from __future__ import annotations

import re

from .commands import TOOLS, find_in_words, is_secret_flag
from .names import (
    BEGINNINGS,
    NAME_STEMS,
    SHORT,
    is_secret_name,
    looks_like_credential,
    split_name,
)
from .values import is_file_name, is_flag_value, is_metavariable, is_placeholder, is_secret_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

_ZEROS = dict.fromkeys(range(49, 58), 48)
# Tokens that their own form gives away.
_TOKENS = (
    r"(?<![A-Za-z0-9])(?:"
    r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}"
    r"|gl(?:pat|dt|ft|rt|soat|ptt|agent|cbt|imt|oas)-[\w-]{16,}"
    r"|xox[abceoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,}"
    r"|hf_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{20,}|pypi-AgE[\w-]{16,}"
    r"|sk-(?=[\w-]*\d)(?:proj-|ant-|or-|svcacct-|admin-|live-|test-)?[\w-]{10,}"
    r"|[sr]k_(?:live|test|prod)_\w{10,}|whsec_[\w+/=]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[\w-]{30,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{16,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)*"
    r"|do[opr]_v1_[a-f0-9]{32,}|hv[bs]\.[\w-]{20,}|shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{16,}"
    r"|dckr_pat_[\w-]{16,}|rubygems_[a-f0-9]{16,}|figd_[\w-]{20,}|lin_api_\w{20,}"
    r"|gsk_\w{20,}|pplx-\w{20,}|xai-\w{20,}|nvapi-[\w-]{20,}|r8_\w{30,}|tvly-[\w-]{16,}"
    r"|AT[AC]TT3[\w=-]{20,}|dapi[a-f0-9]{32}|sntry[su]_[\w=+/-]{20,}|NRAK-[A-Z0-9]{20,}"
    r"|glsa_\w{20,}|sq0(?:atp|csp|idp)-[\w-]{20,}|PMAK-[\w-]{20,}|key-[0-9a-f]{32}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{20,}|\d{8,10}:AA[\w-]{30,}|[0-9a-f]{32}-us\d{1,2}\b"
    r"|[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}"
    r")"
)
_KEY_BLOCK = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(.{0,20000}?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
_HOOKS = (
    r"(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
    r"|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/"
    r"|(?:outlook|[\w-]+\.webhook)\.office\.com/webhook\w*/"
    r"|hooks\.zapier\.com/hooks/catch/|maker\.ifttt\.com/trigger/[\w-]+/(?:json/)?with/key/"
    r"|api\.telegram\.org/bot|chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?"
    r"|open\.feishu\.cn/open-apis/bot/v2/hook/)([\w./:=&%@-]{8,})"
)
_URL = r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{1,30})://([^\s\"'<>`\\|]+)"
_WEB = ("http", "https", "git+https", "git+http", "ws", "wss", "ftp")
_WITHOUT_SCHEME = (
    r"(?<![\w/:@.+-])[\w.-]{1,60}:([^\s:@/\"'<>]{3,100})@(?:tcp|unix)?\(?"
    r"(?:localhost|[\w-]+(?:\.[\w-]+)+|(?<=tcp\()[\w.-]+|(?<=unix\()[\w./-]+)(?::\d{2,5}\b|\))"
)
# `name=`, `"name": `, `name => `; the name may be a path as in `spring.datasource.password`.
_ASSIGNED = (
    r"(?<![\w.-])([\w.-]{1,100})(\\{0,2}[\"']?\]?)([ \t]{0,4})(=>|:=|==|!=|=|:)([ \t]{0,8})"
    r"(?:([bBrRfFuU]{0,2})(\\{0,2}[\"'`])|)"
)
LONGEST_PATH = 200  # characters before a name that may be the path to it
_BARE = r"[^\s\"'`&,;)}\]<>|\\]+"
_LINE_VALUE = r"[^\s\"'`][^\s]*(?=[ \t]*(?:\r?\n|\Z))"
_XML = r"<([\w:.-]{1,100})(?:\s[^<>]{0,200})?>([^<>\n]{1,1000})</\1>"
_XML_ATTRIBUTES = r"\b(?:key|name)=[\"']([\w.:-]{1,100})[\"']\s+value=[\"']([^\"'\n]{1,1000})[\"']"
_SCHEME = (
    r"(?i)(Bearer|Basic|Token|Digest|ApiKey|Negotiate|JWT|Key|GenieKey|Bot|AWS4-HMAC-SHA256)[ ]+"
)
_BEARER = r"(?i)\b(bearer)[ \t]+([A-Za-z0-9._~+/-]{8,}=*)"
_BASIC = r"\bBasic ([A-Za-z0-9+/]{8,}={0,2})(?![\w+/=-])"
_NETRC = r"(?m)\blogin[ \t]+\S+\s+password[ \t]+(\S+)|^[ \t]*password[ \t]+(\S+)[ \t]*$"
_FLAGGED = (
    r"(?<![\w-])(--?[A-Za-z][\w.-]{1,60})(?:[ \t]+|=)"
    r"([^\s\"'=|;&)][^\s\"'`|;&)]*|\"[^\"\n]*\"|'[^'\n]*')"
)
_TOOL = (
    r"(?<![\w.-])(?:"
    + "|".join(sorted(map(re.escape, TOOLS), key=lambda tool: (-len(tool), tool)))
    + r")(?=[ \t])(?:\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|[^\n|;&\"'])*"
)
_SHELL_WORD = r"\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|[^\s\"']+"
_QUOTED_WORD = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_QUOTED_LIST = rf"[\[(]\s*(?:{_QUOTED_WORD})\s*(?:,\s*(?:{_QUOTED_WORD})\s*){{1,200}}"
_SIGNED = (
    r"[?&](?:sig|sign|signature|X-Amz-Signature|X-Goog-Signature|X-Amz-Credential|hmac|key|auth)="
    r"([^&\s\"'<>#]{8,})"
)


def find_spans(text: str) -> list[Span]:
    """Give where secrets stand, in order and without overlap.

    A rule is only asked, and its patterns only compiled, where what it looks for may be.
    """
    low = text.lower()
    spans: list[Span] = []
    if "-----begin" in low:
        spans += find_key_blocks(text)
    if has_beginning(low):
        spans += [found.span() for found in re.finditer(_TOKENS, text)]
    if "://" in text:
        if "@" in text:
            spans += _in_urls(text)
        if "hook" in low or "telegram" in low or "chat.google" in low or "ifttt" in low:
            spans += [found.span(1) for found in re.finditer(_HOOKS, text)]
        if "?" in text:
            spans += [found.span(1) for found in re.finditer(_SIGNED, text)]
    if "@" in text and ":" in text:
        for found in re.finditer(_WITHOUT_SCHEME, text):
            if not found[1].isdecimal() and not is_placeholder(found[1]):
                spans.append(found.span(1))
    is_named = any(stem in low for stem in NAME_STEMS)
    if is_named and ("=" in text or ":" in text):
        spans += _assigned(text)
    if "bearer" in low or "basic" in low:
        spans += _headers(text)
    if "password" in text:
        spans += _in_netrc(text)
    if is_named and ("</" in text or "value=" in text):
        spans += _in_markup(text)
    if is_named and "-" in text:
        spans += _flagged(text)
    if " -" in text or " /p:" in text or "login" in low or "sqlplus" in low or "set" in low:
        spans += _in_lines_of_shell(text)
    if ("'" in text or '"' in text) and ("[" in text or "(" in text) and "-" in text:
        spans += _in_lists(text)
    return merge_spans(spans)


def has_beginning(low: str) -> bool:
    """Whether a token may begin in a text in small letters."""
    plain = low.translate(_ZEROS) if any(map(str.isdigit, low[:SHORT])) else low
    if len(plain) > SHORT or any(one in plain for one in BEGINNINGS):
        return True
    return re.search(r"[mno][\w-]{23,25}\.[\w-]{6}\.", low) is not None


def merge_spans(spans: list[Span]) -> list[Span]:
    """Give spans in order; those that overlap become one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def find_key_blocks(text: str) -> list[Span]:
    """Give the bodies of private keys, also of one that was cut."""
    found = (match.span(1) for match in re.finditer(_KEY_BLOCK, text, re.DOTALL))
    return [(start, end) for start, end in found if text[start:end].strip("\\nr \t\r\n.…")]


# --- addresses ------------------------------------------------------------------------------


def _in_urls(text: str) -> Iterator[Span]:
    for found in re.finditer(_URL, text):
        scheme, rest = found[1].lower(), found[2]
        user = rest[: _user_end(scheme, rest)]
        if not user:
            continue
        name, colon, password = user.partition(":")
        start = found.start(2)
        if colon and password and user[len(name) :] != ":x-oauth-basic":
            if not is_placeholder(password):
                yield start + len(name) + 1, start + len(user)
        elif (
            name and scheme in _WEB and (colon or _is_token_user(name)) and not is_placeholder(name)
        ):
            yield start, start + len(name)


def _user_end(scheme: str, rest: str) -> int:
    """Where `user:password` ends; a password may hold `/`, `@`, `?` and `#`."""
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    last = rest.rfind("@")
    if last < 0:
        return 0
    if "@" in authority:
        end = authority.rfind("@")
        host = authority[end + 1 :]
        if ":" not in authority[:end] or last < len(authority):
            return end
        is_host = "." in host or ":" in host or host in ("localhost", "") or host.startswith("[")
        later = rest.partition("?")[0].rfind("@")
        if later > end and (not is_host or (scheme not in _WEB and scheme != "ssh")):
            return later
        return end
    host, colon, port = authority.partition(":")
    if not colon or re.match(r"\d{0,5}$", port):
        return 0
    return last if re.match(r"[\w.\[\]-]+(?:[:/?,]|$)", rest[last + 1 :]) else 0


def _is_token_user(name: str) -> bool:
    """Whether `https://NAME@host` gives a token rather than a user."""
    return (
        any(map(str.isdigit, name))
        or len(name) >= 16
        or is_secret_name(name)
        or (name.isupper() and len(name) > 3)
    )


# --- names ----------------------------------------------------------------------------------


def _assigned(text: str) -> Iterator[Span]:
    for found in re.finditer(_ASSIGNED, text):
        name = found[1]
        words = split_name(name)
        last = words[-1] if words else ""
        if not is_secret_name(name) and not last.endswith("key"):
            continue
        if found[4] == ":" and not found[7] and _is_place(text, found, name):
            continue
        before = text[found.start() - 1 : found.start()]
        if before in ("'", '"') and before not in found[2] and before == found[7]:
            continue  # `ask('Password:')`
        yield from _value_after(text, found, name)


def _is_place(text: str, found: re.Match[str], name: str) -> bool:
    """Whether `name:` is part of an address or a path, or of `path.py:12` and `path.py::test`."""
    follows = text[found.end(4) : found.end(4) + 1]
    path = re.search(r"[\w.~/-]*/$", text[max(0, found.start() - LONGEST_PATH) : found.start()])
    return (
        follows == ":"
        or (path is not None and (path[0][0] in "/~." or not follows.isspace()))
        or (is_file_name(name) and "." in name)
    )


def _value_after(text: str, found: re.Match[str], name: str) -> Iterator[Span]:
    """Give the value after `name=`, if it is one."""
    start, quote = found.end(), found[7]
    if found[6] and text.find(quote, start, _quote_end(text, start, quote) + 1) < 0:
        start, quote = found.end(5), ""  # `a=b'`: the quote is of what stands around
    if found[4] in ("==", "!=") and not quote:
        return
    if quote:
        end = _quote_end(text, start, quote)
    else:
        whole = re.compile(_LINE_VALUE).match(text, start) if _is_alone(text, found) else None
        if whole is not None and re.search(r"[&;][\w .-]+=|[,;)]$", whole[0]) is not None:
            whole = None  # the first of several, or an argument
        stop = r"[^#&\s\"'<>]+" if text[found.start() - 1 : found.start()] in ("?", "&") else _BARE
        bare = whole or re.compile(stop).match(text, start)
        if bare is None or (found[4] == ":" and text.startswith("//", start)):
            return
        end = bare.end()
    value = text[start:end]
    low = name.lower()
    if found[4] in ("==", "!=") and value.isalpha():
        return
    if low == "pass" and found[4] == ":" and not quote:
        return
    if low.endswith(("authorization", "auth")) or "header" in low:
        scheme = re.match(_SCHEME, text[start:])
        if scheme is not None:
            start += scheme.end()
            end = end if quote else _word_end(text, start)
            rest = text[start:end]
            if rest and not is_placeholder(rest) and re.match(r"[\w.-]+[(\[]", rest) is None:
                yield start, end
            return
    if low in ("cookie", "set-cookie") and found[4] == ":" and "=" in value:
        yield from _cookies(text, start, low, quote)
        return
    if "phrase" in low and not quote and found[5]:
        end = start + len(text[start:].partition("\n")[0].rstrip("\r"))
        end = end if is_secret_value(name, value, quoted=False, spaced=True) else start
        yield start, end
        return
    if low.endswith("auth") and not quote and found[5]:  # prose, and the name of a logger
        if ":" in value or looks_like_credential(value):
            yield start, end
        return
    spaced = found[4] == "=" and (bool(found[5]) or bool(found[3]))
    if is_secret_value(name, value, quoted=bool(quote), spaced=spaced):
        yield start, end


def _is_alone(text: str, found: re.Match[str]) -> bool:
    """Whether `name=value` is all there is in its line, as in a dotenv file and in `env`."""
    before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    return before.strip(" \t-") in ("", "export", "set", "ENV", "ARG") and found[4] in "=:"


def _quote_end(text: str, start: int, quote: str) -> int:
    """Where a quoted text ends: at its quote, or where the line was cut."""
    at = start
    while True:
        end = text.find(quote, at)
        line = text.find("\n", at)
        if end < 0 or 0 <= line < end:
            return len(text) if line < 0 else line
        slashes = len(text[start:end]) - len(text[start:end].rstrip("\\"))
        if len(quote) > 1 or slashes % 2 == 0:
            return end
        at = end + 1


def _word_end(text: str, start: int) -> int:
    found = re.compile(
        r"[^\s\"'`,;)}\]<>]+(?: *= *\"[^\"\n]*\"(?:, *[\w-]+=\"?[^\",\n]*\"?)*)?"
    ).match(text, start)
    return found.end() if found is not None else start


def _cookies(text: str, start: int, name: str, quote: str | None) -> Iterator[Span]:
    line = text[start:].partition("\n")[0]
    if quote:
        line = line.partition(quote)[0]
    for found in re.finditer(r"([\w!#$%&*+.^|~-]+)=([^;\s\"']*)", line):
        yield start + found.start(2), start + found.end(2)
        if name == "set-cookie":
            return


def _headers(text: str) -> Iterator[Span]:
    for found in re.finditer(_BEARER, text):
        value = found[2]
        if any(map(str.isdigit, value)) or len(value) >= 24:
            yield found.span(2)
    for found in re.finditer(_BASIC, text):
        import binascii

        try:
            said = binascii.a2b_base64(found[1] + "=" * (-len(found[1]) % 4))
        except ValueError:
            continue
        if b":" in said:
            yield found.span(1)


def _in_netrc(text: str) -> Iterator[Span]:
    for found in re.finditer(_NETRC, text):
        if found[1]:
            yield found.span(1)
        elif not found[2].isalpha() and not is_placeholder(found[2]):
            yield found.span(2)


def _in_markup(text: str) -> Iterator[Span]:
    for pattern in (_XML, _XML_ATTRIBUTES):
        for found in re.finditer(pattern, text):
            name, value = found[1].rpartition(":")[2], found[2].strip()
            if is_secret_name(name) and not is_placeholder(value):
                yield found.span(2)


# --- commands -------------------------------------------------------------------------------


def _flagged(text: str) -> Iterator[Span]:
    """`--password VALUE` in a line that shows a command."""
    for found in re.finditer(_FLAGGED, text):
        flag, value, (start, end) = found[1], found[2], found.span(2)
        if not is_secret_flag(flag):
            continue
        if value[0] in "\"'":
            value, start, end = value[1:-1], start + 1, end - 1
        else:
            bare = value.rstrip(",]}")
            value, end = bare, end - len(value) + len(bare)
            if value.startswith("-") or is_metavariable(flag, value):
                continue
        if is_flag_value(flag.lstrip("-"), value):
            yield start, end


def _in_lines_of_shell(text: str) -> Iterator[Span]:
    """Commands of tools whose flags we know."""
    for found in re.finditer(_TOOL, text):
        words = list(re.finditer(_SHELL_WORD, found[0]))
        yield from _of_words([(w[0], found.start() + w.start()) for w in words])


def _in_lists(text: str) -> Iterator[Span]:
    """Commands as lists of words, as Python and JSON write them."""
    for found in re.finditer(_QUOTED_LIST, text):
        words = list(re.finditer(_QUOTED_WORD, found[0]))
        yield from _of_words([(w[0], found.start() + w.start()) for w in words])


def _of_words(words: list[tuple[str, int]]) -> Iterator[Span]:
    plain: list[tuple[str, int]] = []
    for word, start in words:
        is_quoted = len(word) > 1 and word[0] in "\"'" and word[-1] == word[0]
        plain.append((word[1:-1], start + 1) if is_quoted else (word, start))
    for number, (start, end) in find_in_words([word for word, _ in plain]):
        shift = plain[number][1]
        yield shift + start, shift + end
