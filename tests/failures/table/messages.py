"""Messages that hold something else in every run, and are the same failure all the same."""

from __future__ import annotations

from .failure import python

FAILURES = [
    python(
        "says-pid",
        """
        import os


        def claim(owner):
            raise PermissionError(f"process {os.getpid()} may not claim the lease of {owner}")


        def main():
            claim("scheduler")


        if __name__ == "__main__":
            main()
        """,
        "PermissionError",
        varies=r"process \d+ may",
    ),
    python(
        "says-port",
        """
        import socket


        def serve(listener):
            host, port = listener.getsockname()
            raise RuntimeError(f"nobody connected to {host}:{port}")


        def main():
            with socket.create_server(("127.0.0.1", 0)) as listener:
                serve(listener)


        if __name__ == "__main__":
            main()
        """,
        "nobody connected",
        varies=r"connected to 127.0.0.1:\d+",
    ),
    python(
        "says-clock",
        """
        import time


        def check_lease(until):
            now = time.time()
            if now > until:
                raise RuntimeError(f"lease ran out, it is {now} already")


        def main():
            check_lease(1_700_000_000)


        if __name__ == "__main__":
            main()
        """,
        "lease ran out",
        varies=r"it is [\d.]+",
    ),
    python(
        "says-date",
        """
        from datetime import datetime


        def partition(day, known):
            if day not in known:
                raise LookupError(f"no partition for {day:%Y-%m-%d}")


        def main():
            partition(datetime.now(), known=[])


        if __name__ == "__main__":
            main()
        """,
        "no partition",
        varies=r"partition for \d+-\d+-\d+",
    ),
    python(
        "says-date-in-words",
        """
        import time


        def renew(certificate):
            raise RuntimeError(f"certificate of {certificate} was revoked on {time.ctime()}")


        def main():
            renew("node-a")


        if __name__ == "__main__":
            main()
        """,
        "revoked",
        varies=r"revoked on \w+ \w+",
    ),
    python(
        "says-duration",
        """
        import time


        def query(budget):
            begin = time.perf_counter()
            time.sleep(0.02)
            took = time.perf_counter() - begin
            if took > budget:
                raise TimeoutError(f"query took {took:.9f}s, allowed are {budget}s")


        def main():
            query(0.01)


        if __name__ == "__main__":
            main()
        """,
        "query took",
        varies=r"took [\d.]+s",
    ),
    python(
        "says-address",
        """
        class Batch:
            pass


        def collate(batch):
            raise TypeError(f"cannot collate {batch!r}")


        def main():
            collate(Batch())


        if __name__ == "__main__":
            main()
        """,
        "cannot collate",
        varies=r"collate <.*>",
    ),
    python(
        "says-temporary-file",
        """
        import tempfile


        def parse(stream):
            if not stream.read():
                raise EOFError(f"nothing in {stream.name}")


        def main():
            with tempfile.NamedTemporaryFile("r", suffix=".json") as stream:
                parse(stream)


        if __name__ == "__main__":
            main()
        """,
        "nothing in",
        varies=r"nothing in (.*)\.json",
    ),
    python(
        "says-checkout",
        """
        from pathlib import Path

        HERE = Path(__file__).resolve().parent


        def read_vocabulary(folder):
            return (folder / "vocabulary.txt").read_text().split()


        def main():
            print(read_vocabulary(HERE / "assets"))


        if __name__ == "__main__":
            main()
        """,
        "FileNotFoundError",
        varies=r"directory: '(.*)vocabulary.txt'",
    ),
    python(
        "says-checkout-unquoted",
        """
        import os


        def find_project(start):
            if not os.path.exists(os.path.join(start, "project.toml")):
                raise RuntimeError(f"there is no project in {start} or above it")


        def main():
            find_project(os.getcwd())


        if __name__ == "__main__":
            main()
        """,
        "no project",
        varies=r"project in .* or above",
    ),
    python(
        "says-home",
        """
        import os


        def read_token():
            path = os.path.expanduser("~/.labelhub/token")
            if not os.path.exists(path):
                raise RuntimeError(f"log in first: {path} is not there")


        def main():
            read_token()


        if __name__ == "__main__":
            main()
        """,
        "log in first",
        varies=r"log in first: (.*) is not",
    ),
    python(
        "says-uuid",
        """
        import uuid


        def publish(run):
            raise ConnectionError(f"run {run} was refused by the tracker")


        def main():
            publish(uuid.uuid4())


        if __name__ == "__main__":
            main()
        """,
        "refused by the tracker",
        varies=r"run [0-9a-f-]+ was",
    ),
    python(
        "says-set",
        """
        KNOWN = {"image", "label"}


        def check_columns(columns):
            extra = set(columns) - KNOWN
            if extra:
                raise ValueError(f"unexpected columns: {extra}")


        def main():
            check_columns(["image", "label", "width", "height", "depth", "camera", "author"])


        if __name__ == "__main__":
            main()
        """,
        "unexpected columns",
        varies=r"columns: \{.*\}",
    ),
    python(
        "says-digest",
        """
        import hashlib
        import os


        def verify(content, expected):
            digest = hashlib.sha256(content).hexdigest()
            if digest != expected:
                raise ValueError(f"download is damaged: digest {digest}, expected {expected}")


        def main():
            verify(os.urandom(64), "b" * 64)


        if __name__ == "__main__":
            main()
        """,
        "download is damaged",
        varies=r"digest [0-9a-f]+",
    ),
    python(
        "says-line",
        """
        import inspect


        def unfinished(what):
            caller = inspect.currentframe().f_back
            where = f"{caller.f_code.co_filename}:{caller.f_lineno}"
            raise NotImplementedError(f"{what} is still to be done, see {where}")


        def main():
            unfinished("resuming")


        if __name__ == "__main__":
            main()
        """,
        "still to be done",
        varies=r"see \S.*main\.py:\d+",
    ),
    python(
        "says-elapsed",
        """
        from datetime import datetime, timedelta


        def check_age(begin, limit):
            age = datetime.now() - begin
            if age > limit:
                raise TimeoutError(f"the lock is held for {age}, more than {limit}")


        def main():
            check_age(datetime(2024, 5, 1), timedelta(hours=1))


        if __name__ == "__main__":
            main()
        """,
        "the lock is held",
        varies=r"held for \d.*, more",
    ),
    python(
        "says-timestamp",
        """
        from datetime import datetime


        def append(last, entry):
            if entry < last:
                raise ValueError(f"entry of {entry.isoformat()} comes too late")


        def main():
            now = datetime.now().astimezone()
            append(now.replace(year=now.year + 4), now)


        if __name__ == "__main__":
            main()
        """,
        "comes too late",
        varies=r"entry of \d\S+",
    ),
    python(
        "says-date-of-mail",
        """
        from email.utils import formatdate


        def accept(message):
            raise ValueError(f"message of {message['Date']} is not signed")


        def main():
            accept({"Date": formatdate(localtime=True)})


        if __name__ == "__main__":
            main()
        """,
        "not signed",
        varies=r"message of \w+, .*",
    ),
    python(
        "says-handle",
        """
        class Stream:
            def handle(self):
                return f"{id(self):x}"


        def release(stream):
            raise BufferError(f"stream {stream.handle()} is still in use")


        def main():
            release(Stream())


        if __name__ == "__main__":
            main()
        """,
        "still in use",
        varies=r"stream [0-9a-f]+ is",
    ),
    python(
        "says-temporary-folder",
        """
        import os
        import tempfile


        def newest_run(folder):
            runs = os.listdir(folder)
            if not runs:
                raise LookupError(f"no runs in {folder}")
            return max(runs)


        def main():
            with tempfile.TemporaryDirectory(prefix="runs-") as folder:
                print(newest_run(folder))


        if __name__ == "__main__":
            main()
        """,
        "no runs in",
        varies=r"no runs in /.*",
    ),
    python(
        "says-measured-loss",
        """
        import random


        def check(losses):
            loss = sum(losses) / len(losses)
            if loss > 0.1:
                raise ArithmeticError(f"loss went up to {loss:.3e} after {len(losses)} steps")


        def main():
            check([1 + random.random() for _ in range(random.randint(5, 50))])


        if __name__ == "__main__":
            main()
        """,
        "loss went up",
        varies=r"up to \S+ after \d+",
    ),
]
