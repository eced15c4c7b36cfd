"""Sockets and HTTP, all of it on 127.0.0.1 with ports the system chooses."""

from __future__ import annotations

from .failure import Twins, python

SERVER = {
    "server.py": """
        import threading
        import time
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


        class Pages(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/slow":
                    time.sleep(1)
                status = {"/page": 200, "/slow": 200, "/broken": 500}.get(self.path, 404)
                body = b"<html>please sign in</html>"
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass


        def start():
            server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            return f"http://127.0.0.1:{server.server_address[1]}"
    """
}

CLOSED_PORT = """
    import socket


    def closed_port():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            return listener.getsockname()[1]
"""

STATUS = """
    import requests
    import server


    def fetch(url):
        answer = requests.get(url, timeout=5)
        answer.raise_for_status()
        return answer.text


    def main():
        base = server.start()
        print(fetch(base + "/page"), fetch(base + "/missing"))


    if __name__ == "__main__":
        main()
"""

FAILURES = [
    python(
        "requests-refused",
        """
        import requests
        from ports import closed_port


        def fetch_labels(base):
            return requests.get(base + "/labels.json", timeout=5).json()


        def main():
            print(fetch_labels(f"http://127.0.0.1:{closed_port()}"))


        if __name__ == "__main__":
            main()
        """,
        "ConnectionError",
        files={"ports.py": CLOSED_PORT},
        needs=("requests",),
        varies=r"port=\d+",
    ),
    python(
        "requests-404",
        STATUS,
        "HTTPError",
        files=SERVER,
        needs=("requests",),
        varies=r"url: \S+",
    ),
    python(
        "requests-500",
        STATUS.replace("/missing", "/broken"),
        "HTTPError",
        files=SERVER,
        needs=("requests",),
        varies=r"url: \S+",
    ),
    python(
        "requests-not-json",
        """
        import requests
        import server


        def fetch_labels(base):
            return requests.get(base + "/page", timeout=5).json()


        def main():
            print(fetch_labels(server.start()))


        if __name__ == "__main__":
            main()
        """,
        "JSONDecodeError",
        files=SERVER,
        needs=("requests",),
    ),
    python(
        "requests-timeout",
        """
        import requests
        import server


        def fetch(url):
            return requests.get(url, timeout=0.1).text


        def main():
            print(fetch(server.start() + "/slow"))


        if __name__ == "__main__":
            main()
        """,
        "ReadTimeout",
        files=SERVER,
        needs=("requests",),
        varies=r"port=\d+",
    ),
    python(
        "urllib-404",
        """
        from urllib.request import urlopen

        import server


        def download(url):
            with urlopen(url, timeout=5) as answer:
                return answer.read()


        def main():
            print(download(server.start() + "/weights.bin"))


        if __name__ == "__main__":
            main()
        """,
        "HTTPError",
        files=SERVER,
    ),
    python(
        "urllib-refused",
        """
        from urllib.request import urlopen

        from ports import closed_port


        def download(url):
            with urlopen(url, timeout=5) as answer:
                return answer.read()


        def main():
            print(download(f"http://127.0.0.1:{closed_port()}/weights.bin"))


        if __name__ == "__main__":
            main()
        """,
        "URLError",
        files={"ports.py": CLOSED_PORT},
    ),
    python(
        "urllib-unknown-scheme",
        """
        from urllib.request import urlopen


        def download(url):
            with urlopen(url) as answer:
                return answer.read()


        def main():
            print(download("bucket://weights/latest"))


        if __name__ == "__main__":
            main()
        """,
        "unknown url type",
    ),
    python(
        "socket-refused",
        """
        import socket

        from ports import closed_port


        def connect(port):
            return socket.create_connection(("127.0.0.1", port), timeout=5)


        def main():
            with connect(closed_port()) as connection:
                print(connection.getpeername())


        if __name__ == "__main__":
            main()
        """,
        "ConnectionRefusedError",
        files={"ports.py": CLOSED_PORT},
    ),
    python(
        "socket-in-use",
        """
        import socket


        def listen(port):
            try:
                return socket.create_server(("127.0.0.1", port))
            except OSError as error:
                raise RuntimeError(f"port {port} is taken by another server") from error


        def main():
            first = listen(0)
            second = listen(first.getsockname()[1])
            print(first, second)


        if __name__ == "__main__":
            main()
        """,
        "RuntimeError",
        varies=r"port \d+ is taken",
    ),
    python(
        "socket-timeout",
        """
        import socket


        def receive(connection):
            connection.settimeout(0.05)
            return connection.recv(100)


        def main():
            with socket.create_server(("127.0.0.1", 0)) as listener:
                with socket.create_connection(listener.getsockname()) as connection:
                    print(receive(connection))


        if __name__ == "__main__":
            main()
        """,
        "timed out",
    ),
]

TWINS = [
    Twins("requests-404", "requests-500", "the page is not there; the server broke"),
    Twins("requests-refused", "urllib-refused", "another exception type, another function"),
]
