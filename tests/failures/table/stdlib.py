"""The standard library's own errors, and those of pydantic."""

from __future__ import annotations

from .failure import Twins, python

QUERY = """
    import sqlite3


    def count(connection, table):
        return connection.execute(f"select count(*) from {table}").fetchone()


    def main():
        connection = sqlite3.connect(":memory:")
        connection.execute("create table runs (id integer)")
        print(count(connection, "runs"), count(connection, "labels"))


    if __name__ == "__main__":
        main()
"""

OPTION = """
    import configparser

    TEXT = "[train]\\nrate = 0.1\\nepochs = 3\\n"


    def read(parser, name):
        return parser.get("train", name)


    def main():
        parser = configparser.ConfigParser()
        parser.read_string(TEXT)
        print(read(parser, "rate"), read(parser, "momentum"))


    if __name__ == "__main__":
        main()
"""

SETTINGS = """
    from pydantic import BaseModel


    class Settings(BaseModel):
        rate: float
        epochs: int


    def read_settings(values):
        return Settings(**values)


    def main():
        print(read_settings({"rate": "0.1", "epochs": 3}))
        print(read_settings({"rate": 0.1}))


    if __name__ == "__main__":
        main()
"""

FAILURES = [
    python("sqlite-no-table-labels", QUERY, "labels"),
    python("sqlite-no-table-images", QUERY.replace('"labels"', '"images"'), "images"),
    python(
        "sqlite-unique",
        """
        import sqlite3


        def add_user(connection, email):
            connection.execute("insert into users (email) values (?)", (email,))


        def main():
            connection = sqlite3.connect(":memory:")
            connection.execute("create table users (email text unique)")
            for email in ["ann@example.org", "bob@example.org", "ann@example.org"]:
                add_user(connection, email)


        if __name__ == "__main__":
            main()
        """,
        "IntegrityError",
    ),
    python(
        "sqlite-locked",
        """
        import os
        import sqlite3
        import tempfile


        def write(path):
            with sqlite3.connect(path, timeout=0.05) as connection:
                connection.execute("insert into runs values (1)")


        def main():
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "runs.db")
                holder = sqlite3.connect(path, isolation_level=None)
                holder.execute("create table runs (id integer)")
                holder.execute("begin exclusive")
                write(path)


        if __name__ == "__main__":
            main()
        """,
        "locked",
    ),
    python(
        "sqlite-thread",
        """
        import sqlite3
        from concurrent.futures import ThreadPoolExecutor


        def count(connection):
            return connection.execute("select count(*) from runs").fetchone()


        def main():
            connection = sqlite3.connect(":memory:")
            with ThreadPoolExecutor(1) as pool:
                print(pool.submit(count, connection).result())


        if __name__ == "__main__":
            main()
        """,
        "same thread",
        varies=r"thread id \d+",
    ),
    python(
        "json-decode",
        """
        import json
        import sys
        from pathlib import Path


        def read_settings(path):
            return json.loads(path.read_text())


        def main():
            print(read_settings(Path(sys.argv[1])))


        if __name__ == "__main__":
            main()
        """,
        "JSONDecodeError",
        args=("main.py", "settings.json"),
        files={"settings.json": '{\n  "depth": 4\n  "rate": 0.1\n}\n'},
    ),
    python(
        "json-encode",
        """
        import json
        from datetime import datetime


        def save(state):
            return json.dumps(state, indent=2)


        def main():
            print(save({"epoch": 3, "at": datetime(2024, 5, 1)}))


        if __name__ == "__main__":
            main()
        """,
        "serializable",
    ),
    python(
        "dataclass-frozen",
        """
        from dataclasses import dataclass


        @dataclass(frozen=True)
        class Settings:
            rate: float
            epochs: int


        def halve(settings):
            settings.rate = settings.rate / 2


        def main():
            halve(Settings(rate=0.1, epochs=3))


        if __name__ == "__main__":
            main()
        """,
        "FrozenInstanceError",
    ),
    python(
        "dataclass-mutable-default",
        """
        from dataclasses import dataclass


        @dataclass
        class Run:
            name: str
            tags: list = []


        def main():
            print(Run("first"))


        if __name__ == "__main__":
            main()
        """,
        "mutable default",
    ),
    python("pydantic-missing-epochs", SETTINGS, "epochs", needs=("pydantic",)),
    python(
        "pydantic-missing-rate",
        SETTINGS.replace('{"rate": 0.1}', '{"epochs": 3}'),
        "rate",
        needs=("pydantic",),
    ),
    python(
        "pydantic-wrong-type",
        SETTINGS.replace('{"rate": 0.1}', '{"rate": 0.1, "epochs": "three"}'),
        "ValidationError",
        needs=("pydantic",),
    ),
    python(
        "pathlib-relative",
        """
        from pathlib import Path


        def key_of(path, root):
            return path.relative_to(root).as_posix()


        def main():
            root = Path.cwd() / "data"
            print(key_of(root / "train" / "a.png", root))
            print(key_of(Path.cwd() / "cache" / "b.png", root))


        if __name__ == "__main__":
            main()
        """,
        "ValueError",
        varies=r"ValueError: (.*)",
    ),
    python(
        "pathlib-not-a-directory",
        """
        from pathlib import Path


        def list_runs(folder):
            return sorted(folder.iterdir())


        def main():
            print(list_runs(Path(__file__).resolve()))


        if __name__ == "__main__":
            main()
        """,
        "NotADirectoryError",
        varies=r"NotADirectoryError: (.*)",
    ),
    python(
        "tempfile-gone",
        """
        import os
        import tempfile


        def make_cache():
            with tempfile.TemporaryDirectory(prefix="cache-") as folder:
                return folder


        def write_shard(folder):
            with open(os.path.join(folder, "shard.bin"), "wb") as stream:
                stream.write(b"shard")


        def main():
            write_shard(make_cache())


        if __name__ == "__main__":
            main()
        """,
        "FileNotFoundError",
        varies=r"directory: '(.*)shard.bin'",
    ),
    python(
        "shutil-same-file",
        """
        import shutil
        from pathlib import Path


        def back_up(path, folder):
            shutil.copy(path, folder / path.name)


        def main():
            path = Path.cwd() / "model.bin"
            path.write_bytes(b"weights")
            back_up(path, Path.cwd())


        if __name__ == "__main__":
            main()
        """,
        "SameFileError",
        varies=r"SameFileError: (.*)",
    ),
    python(
        "csv-field-limit",
        """
        import csv
        import io


        def read_table(stream):
            return list(csv.reader(stream))


        def main():
            csv.field_size_limit(100)
            print(len(read_table(io.StringIO("a,b\\n1," + "x" * 500 + "\\n"))))


        if __name__ == "__main__":
            main()
        """,
        "field larger",
    ),
    python(
        "csv-extra-column",
        """
        import csv
        import io


        def write_table(rows):
            stream = io.StringIO()
            writer = csv.DictWriter(stream, fieldnames=["image", "label"])
            writer.writeheader()
            writer.writerows(rows)
            return stream.getvalue()


        def main():
            print(write_table([{"image": "a.png", "label": 1, "score": 0.5}]))


        if __name__ == "__main__":
            main()
        """,
        "score",
    ),
    python("configparser-option-momentum", OPTION, "momentum"),
    python("configparser-option-depth", OPTION.replace('"momentum"', '"depth"'), "depth"),
    python(
        "configparser-no-header",
        """
        import configparser
        import os


        def read(path):
            parser = configparser.ConfigParser()
            parser.read(path)
            return parser


        def main():
            print(read(os.path.abspath("settings.ini")).sections())


        if __name__ == "__main__":
            main()
        """,
        "MissingSectionHeaderError",
        files={"settings.ini": "rate = 0.1\nepochs = 3\n"},
        varies=r"file: '(.*)settings.ini'",
    ),
    python(
        "argparse-invalid-int",
        """
        import argparse


        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--epochs", type=int, default=3)
            parser.add_argument("--rate", type=float, default=0.1)
            print(parser.parse_args())


        if __name__ == "__main__":
            main()
        """,
        "--epochs",
        args=("main.py", "--rate", "0.2", "--epochs", "many"),
    ),
    python(
        "argparse-required",
        """
        import argparse


        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--dataset", required=True)
            print(parser.parse_args())


        if __name__ == "__main__":
            main()
        """,
        "--dataset",
    ),
    python(
        "re-unterminated",
        """
        import re


        def split(text, pattern):
            return re.split(pattern, text)


        def main():
            print(split("a, b; c", "[,;"))


        if __name__ == "__main__":
            main()
        """,
        "unterminated character set",
    ),
    python(
        "struct-short",
        """
        import struct


        def read_header(content):
            magic, version, rows = struct.unpack("<4sHI", content[:10])
            return magic, version, rows


        def main():
            print(read_header(b"DATA\\x01\\x00"))


        if __name__ == "__main__":
            main()
        """,
        "requires a buffer",
    ),
    python(
        "zipfile-not-a-zip",
        """
        import tempfile
        import zipfile


        def members(path):
            with zipfile.ZipFile(path) as archive:
                return archive.namelist()


        def main():
            with tempfile.NamedTemporaryFile(suffix=".zip") as stream:
                stream.write(b"<html>please sign in</html>")
                stream.flush()
                print(members(stream.name))


        if __name__ == "__main__":
            main()
        """,
        "BadZipFile",
    ),
    python(
        "pickle-local",
        """
        import pickle


        def make_transform(factor):
            def transform(value):
                return value * factor

            return transform


        def save(transform):
            return pickle.dumps({"transform": transform})


        def main():
            print(len(save(make_transform(3))))


        if __name__ == "__main__":
            main()
        """,
        "make_transform",
    ),
    python(
        "pickle-truncated",
        """
        import pickle


        def restore(content):
            return pickle.loads(content)


        def main():
            content = pickle.dumps(list(range(1000)))
            print(restore(content[:500]))


        if __name__ == "__main__":
            main()
        """,
        "truncated",
    ),
    python(
        "decimal-invalid",
        """
        from decimal import Decimal


        def to_price(word):
            return Decimal(word).quantize(Decimal("0.01"))


        def main():
            print([to_price(word) for word in ["3.50", "4", "n/a"]])


        if __name__ == "__main__":
            main()
        """,
        "InvalidOperation",
    ),
    python(
        "datetime-format",
        """
        from datetime import datetime


        def parse_day(word):
            return datetime.strptime(word, "%Y-%m-%d").date()


        def main():
            print(parse_day("2024-05-01"), parse_day("01.05.2024"))


        if __name__ == "__main__":
            main()
        """,
        "does not match format",
    ),
    python(
        "datetime-aware",
        """
        from datetime import datetime, timezone


        def age(begin):
            return datetime.now(timezone.utc) - begin


        def main():
            print(age(datetime(2024, 5, 1)))


        if __name__ == "__main__":
            main()
        """,
        "offset-naive",
    ),
    python(
        "ast-malformed",
        """
        import ast


        def parse_setting(text):
            return ast.literal_eval(text)


        def main():
            print(parse_setting("[1, 2]"), parse_setting("[1, open('x')]"))


        if __name__ == "__main__":
            main()
        """,
        "malformed node",
        varies=r"malformed node.*",
    ),
    python(
        "xml-mismatch",
        """
        from xml.etree import ElementTree


        def read_feed(text):
            return ElementTree.fromstring(text).findall("item")


        def main():
            print(read_feed("<feed><item>one</item><item>two</feed>"))


        if __name__ == "__main__":
            main()
        """,
        "ParseError",
    ),
    python(
        "importlib-metadata",
        """
        from importlib import metadata


        def requirement(name):
            return f"{name}=={metadata.version(name)}"


        def main():
            print(requirement("speechkit-extras"))


        if __name__ == "__main__":
            main()
        """,
        "speechkit-extras",
    ),
]

TWINS = [
    Twins("sqlite-no-table-labels", "sqlite-no-table-images", "another table is missing"),
    Twins("pydantic-missing-epochs", "pydantic-missing-rate", "another field is missing"),
    Twins("pydantic-missing-epochs", "pydantic-wrong-type", "the field is there, its type is not"),
    Twins("configparser-option-momentum", "configparser-option-depth", "another option is missing"),
    Twins("file-missing-labels", "tempfile-gone", "reading a data file is not writing a cache"),
]
