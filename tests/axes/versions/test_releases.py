"""Releases as the page of an index tells them."""

import http.server
import json
import os
import threading

import pytest

from zeroin.axes.versions import pages, releases
from zeroin.axes.versions.pages import File
from zeroin.errors import UntestableError, UsageError

HTML = """<!DOCTYPE html><html><body>
<a href="../f/shop-1.10.tar.gz#sha256=0" data-requires-python="&gt;=3.8">shop-1.10.tar.gz</a>
<a href="https://h/shop-1.9-py3-none-any.whl" data-yanked="broken">x</a>
<a href="shop-2.0rc1-py3-none-any.whl">x</a>
<a href="shop-1.2.linux-x86_64.exe">x</a>
<a href="shop_extra-9.9-py3-none-any.whl">another package</a>
</body></html>"""
JSON = {
    "files": [
        {"filename": "shop-1.0.tar.gz", "yanked": False, "upload-time": "2024-03-02T10:00:00Z"},
        {"filename": "shop-1.0-py3-none-any.whl", "upload-time": "2024-03-01T10:00:00Z"},
        {"filename": "shop-1.1.tar.gz", "yanked": "oops", "requires-python": ">=3.9,<3.10"},
    ]
}


@pytest.fixture
def server():
    """Tells what it is asked, and answers what the test puts into `pages`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append((self.path, self.headers.get("Authorization")))
            found = self.server.pages.get(self.path)
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", found[0] if found else "text/plain")
            self.end_headers()
            self.wfile.write(found[1].encode() if found else b"no")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.pages = [], {}
    server.url = f"http://127.0.0.1:{server.server_port}/simple"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))  # then `shutdown` is heard
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_page_in_html(server):
    """Versions in their order, yanked ones as well; what is of another package is left out."""
    server.pages["/simple/shop/"] = ("text/html", HTML)
    found = releases.releases("shop", pages.files("shop", [server.url], (), {}))
    assert [one.name for one in found] == ["1.9", "1.10", "2.0rc1"]
    assert [one.yanked for one in found] == [True, False, False]
    assert found[0].why_yanked == "broken"
    assert found[1].requires_python == (">=3.8",)


def test_a_page_in_json(server):
    """With the day of the first file."""
    kind = "application/vnd.pypi.simple.v1+json"
    server.pages["/simple/shop/"] = (kind, json.dumps(JSON))
    found = releases.releases("shop", pages.files("shop", [server.url], (), {}))
    assert [(one.name, one.date, one.yanked) for one in found] == [
        ("1.0", "2024-03-01", False),
        ("1.1", "", True),
    ]


def test_several_indexes_and_a_folder(server, tmp_path):
    """All count, and one that does not know the package is no failure."""
    server.pages["/simple/shop/"] = ("text/html", HTML)
    (tmp_path / "shop-3.0-py3-none-any.whl").touch()
    other = server.url.replace("/simple", "/other")
    found = pages.files("shop", [other, server.url], [str(tmp_path)], {})
    assert [one.name for one in releases.releases("shop", found)][-1] == "3.0"


def test_name_and_password(server, tmp_path):
    """Those of the address, or of a netrc file."""
    with_name = server.url.replace("//", "//me:s%40fe@")
    pages.files("shop", [with_name], (), {})
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password s@fe\n")
    netrc.chmod(0o600)
    pages.files("shop", [server.url], (), {"NETRC": str(netrc)})
    told = [header for _, header in server.asked]
    assert told == ["Basic bWU6c0BmZQ=="] * 2


def test_nobody_answers():
    """A clear message, and the code for what can't be tested."""
    with pytest.raises(UntestableError, match="index does not answer"):
        pages.files("shop", ["http://127.0.0.1:9/simple"], (), {})


def test_the_date_from_another_page(server):
    """Some indexes tell it only there."""
    told = {"releases": {"1.0": [{"filename": "shop-1.0.tar.gz", "upload_time": "2024-03-01T1"}]}}
    server.pages["/pypi/shop/json"] = ("application/json", json.dumps(told))
    assert pages.date_of("shop", "1.0", [server.url], dict(os.environ)) == "2024-03-01"
    assert pages.date_of("shop", "2.0", [server.url], dict(os.environ)) == ""


def made(*names, **about):
    files = [File(f"shop-{name}-py3-none-any.whl", **about) for name in names]
    return releases.releases("shop", files)


def test_what_does_not_fit_a_python():
    """Too old a Python is known before; what is said about newer ones is a guess."""
    (old,) = made("1.0", requires_python=">=3.12")
    (guess,) = made("1.0", requires_python=">=2.7,<3.6")
    assert old.unfit("3.11.7") == "needs Python >=3.12"
    assert old.unfit("3.12.0") == guess.unfit("3.11.7") == ""
    both = releases.releases(
        "shop",
        [File("shop-1.0.tar.gz"), File("shop-1.0-py3-none-any.whl", requires_python=">=3.12")],
    )
    assert both[0].unfit("3.11.7") == ""


def test_between_two():
    """No pre-releases, unless they are the ends; both ends are in it."""
    known = made("1.0", "1.1", "2.0a1", "2.0", "2.1rc1", "2.1")
    row = releases.between(known, known[0], known[4])
    assert [one.name for one in row] == ["1.0", "1.1", "2.0", "2.1rc1"]
    assert [one.name for one in releases.early(known, "1.1", "2.0")] == ["2.0a1"]


def test_older_ones():
    """The newest first, without pre-releases."""
    known = made("1.0", "1.1", "2.0a1", "2.0", "2.1")
    assert [one.name for one in releases.older(known, known[3])] == ["1.1", "1.0"]


def test_what_cannot_be():
    """Each with a message of its own."""
    known = made("1.0", "1.1", "2.0")
    with pytest.raises(UsageError, match=r"no release 1\.5") as caught:
        releases.find(known, "1.5", "shop")
    assert "1.1" in caught.value.hint
    assert "2.0" in caught.value.hint
    with pytest.raises(UsageError, match="same release"):
        releases.between(known, known[0], known[0])
    with pytest.raises(UsageError, match="older than the good"):
        releases.between(known, known[2], known[0])
    with pytest.raises(UsageError, match="no version"):
        releases.find(known, "newest", "shop")
    assert releases.find(known, "==1.1", "shop").name == "1.1"
