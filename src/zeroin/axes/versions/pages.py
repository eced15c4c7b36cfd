"""What an index says about the files of a package: the simple API, as JSON or as HTML."""

from __future__ import annotations

import base64
import json
import netrc
import os
import ssl
import urllib.error
import urllib.request
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit, urlunsplit

from zeroin.errors import UntestableError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, "
    "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
)
_SECONDS = 30.0
_TIMES = 3
_CERTIFICATES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_NOT_HERE = (404, 410)


class File(NamedTuple):
    """One file of a release."""

    name: str
    requires_python: str = ""
    yanked: bool = False
    why_yanked: str = ""
    date: str = ""  # when it was uploaded, where the index tells


def files(
    name: str, indexes: Iterable[str], links: Iterable[str], environ: Mapping[str, str]
) -> list[File]:
    """All files of a package, from all indexes; none if no index knows it."""
    found: dict[str, File] = {}
    for index in indexes:
        address = f"{index.rstrip('/')}/{name}/"
        for one in _page(address, environ):
            known = found.get(one.name)
            if known is None or (one.date and not known.date):
                found[one.name] = one
    for link in links:
        for one in _linked(link, environ):
            found.setdefault(one.name, one)
    return list(found.values())


def date_of(name: str, version: str, indexes: Iterable[str], environ: Mapping[str, str]) -> str:
    """When a release came out, from the page about it that some indexes have; "" if none does."""
    for index in indexes:
        root = index.rstrip("/").removesuffix("/simple")
        for page in (f"{name}/{version}", name) if root.startswith("http") else ():
            try:
                kind, text = _get(f"{root}/pypi/{page}/json", environ)
                told = json.loads(text) if "json" in kind else {}
                urls = told.get("releases", {}).get(version) or told.get("urls", ())
                dates = [str(one["upload_time"])[:10] for one in urls if version in one["filename"]]
            except (UntestableError, ValueError, KeyError, TypeError, AttributeError):
                continue  # that page is nothing that an index has to have
            if dates:
                return min(dates)
    return ""


def _page(address: str, environ: Mapping[str, str]) -> Iterator[File]:
    if address.startswith(("file:", "/")):
        path = unquote(urlsplit(address).path)
        try:
            with open(os.path.join(path, "index.html"), encoding="utf-8") as file:
                yield from _html(file.read())
        except OSError:
            return  # it is not in this one
        return
    kind, text = _get(address, environ)
    if "json" in kind:
        yield from _json(text)
    else:
        yield from _html(text)


def _linked(link: str, environ: Mapping[str, str]) -> Iterator[File]:
    """Files in a folder, or on any page."""
    path = unquote(urlsplit(link).path) if link.startswith("file:") else link
    if "://" not in path:
        if os.path.isdir(path):
            yield from (File(name) for name in os.listdir(path))
        return
    _, text = _get(link, environ)
    yield from _html(text)


# --- asking -------------------------------------------------------------------------------------


def _get(address: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The kind of a page and its text; both "" if there is none."""
    request = _request(address, environ)
    problem = ""
    for _ in range(_TIMES):
        try:
            with urllib.request.urlopen(  # noqa: S310 - what is set as an index is what is asked
                request, timeout=_SECONDS, context=_context(environ)
            ) as answer:
                return str(answer.headers.get("Content-Type", "")), answer.read().decode("utf-8")
        except urllib.error.HTTPError as error:
            if error.code in _NOT_HERE:
                return "", ""
            problem = f"{error.code} {error.reason}"
            if error.code < 500:
                break
        except (OSError, ValueError) as error:
            problem = str(getattr(error, "reason", "") or error)
    raise UntestableError(
        f"the package index does not answer: {problem}",
        hint="check the network, and UV_DEFAULT_INDEX or pip's index-url",
    )


def _request(address: str, environ: Mapping[str, str]) -> urllib.request.Request:
    """With the user's name and password for it, if there are any."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    name, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not name:
        name, password = _from_netrc(parts.hostname or "", environ)
    request = urllib.request.Request(  # noqa: S310 - see above
        urlunsplit(parts._replace(netloc=host)), headers={"Accept": _ACCEPT}
    )
    if name or password:
        told = base64.b64encode(f"{name}:{password}".encode()).decode()
        request.add_header("Authorization", f"Basic {told}")
    return request


def _from_netrc(host: str, environ: Mapping[str, str]) -> tuple[str, str]:
    home = environ.get("HOME") or os.path.expanduser("~")
    try:
        found = netrc.netrc(environ.get("NETRC") or os.path.join(home, ".netrc"))
    except (OSError, netrc.NetrcParseError):
        return "", ""
    known = found.authenticators(host)
    return (known[0], known[2] or "") if known else ("", "")


def _context(environ: Mapping[str, str]) -> ssl.SSLContext:
    told = next((environ[name] for name in _CERTIFICATES if environ.get(name)), None)
    try:
        return ssl.create_default_context(cafile=told)
    except OSError as error:
        raise UntestableError(f"the certificates in {told} can't be read: {error}") from None


# --- reading ------------------------------------------------------------------------------------


def _json(text: str) -> Iterator[File]:
    for one in json.loads(text).get("files", ()):
        yanked = one.get("yanked", False)
        yield File(
            one["filename"],
            one.get("requires-python") or "",
            yanked is not False,
            yanked if isinstance(yanked, str) else "",
            (one.get("upload-time") or "")[:10],
        )


def _html(text: str) -> list[File]:
    page = _Page()
    page.feed(text)
    return page.files


class _Page(HTMLParser):
    """The links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[File] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An `a` is a file."""
        told = dict(attrs)
        if tag != "a" or not told.get("href"):
            return
        name = unquote(urlsplit(told["href"] or "").path).rpartition("/")[2]
        self.files.append(
            File(
                name,
                told.get("data-requires-python") or "",
                "data-yanked" in told,
                told.get("data-yanked") or "",
            )
        )
