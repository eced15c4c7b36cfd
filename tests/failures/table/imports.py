"""What fails before the program has really begun: syntax and imports."""

from __future__ import annotations

from .failure import Twins, python

NEEDS_MODULE = """
    import sys

    import speechkit_one


    def main():
        print(speechkit_one.load(sys.argv))


    if __name__ == "__main__":
        main()
"""

BUILDERS = {
    "reader.py": """
        def build(options):
            if not options:
                raise ValueError("no options given")
            return options
    """,
    "writer.py": """
        def build(options):
            if not options:
                raise ValueError("no options given")
            return options
    """,
}

USES_READER = """
    import reader
    import writer


    def main():
        print(writer.build({"path": "out"}), reader.build({}))


    if __name__ == "__main__":
        main()
"""

FAILURES = [
    python("module-missing-one", NEEDS_MODULE, "speechkit_one"),
    python("module-missing-two", NEEDS_MODULE.replace("_one", "_two"), "speechkit_two"),
    # No twin that fails in writer.build: which file a function lies in is no part of a failure,
    # since shrinking and bisecting move functions about (docs/explain/same-failure.md).
    python("module-build-reader", USES_READER, "ValueError", files=BUILDERS),
    python(
        "import-name",
        """
        from settings import DEPTH, fast_mode


        def main():
            print(DEPTH, fast_mode)


        if __name__ == "__main__":
            main()
        """,
        "fast_mode",
        files={"settings.py": "DEPTH = 4\nFAST = True\n"},
    ),
    python(
        "import-circular",
        """
        from loader import Loader


        def main():
            print(Loader())


        if __name__ == "__main__":
            main()
        """,
        "circular import",
        files={
            "loader.py": """
                from pipeline import Pipeline


                class Loader:
                    pipeline = Pipeline
            """,
            "pipeline.py": """
                from loader import Loader


                class Pipeline:
                    loader = Loader
            """,
        },
    ),
    python(
        "import-broken-extension",
        """
        def fast_sum(values):
            import fastops

            return fastops.sum(values)


        def main():
            print(fast_sum([1, 2, 3]))


        if __name__ == "__main__":
            main()
        """,
        "ImportError",
        files={"fastops.so": "this was fetched by a proxy that answered with a log-in page\n" * 3},
        varies=r"ImportError: (.*)fastops\.so",
    ),
    python(
        "import-fails-inside",
        """
        import registry


        def main():
            print(registry.MODELS)


        if __name__ == "__main__":
            main()
        """,
        "KeyError",
        files={
            "registry.py": """
                SIZES = {"tiny": 1, "base": 2}

                MODELS = [SIZES[name] for name in ("tiny", "base", "large")]
            """
        },
    ),
    python(
        "syntax-script",
        """
        def area(width, height):
            return width * height


        def main():
            print(area(3, 4)


        if __name__ == "__main__":
            main()
        """,
        "SyntaxError",
    ),
    python(
        "syntax-module",
        """
        import shapes


        def main():
            print(shapes.area(3, 4))


        if __name__ == "__main__":
            main()
        """,
        "SyntaxError",
        files={
            "shapes.py": """
                def area(width, height):
                    if width = 0:
                        return 0
                    return width * height
            """
        },
    ),
    python(
        "syntax-indentation",
        """
        def mean(values):
        total = sum(values)
            return total / len(values)


        if __name__ == "__main__":
            print(mean([1, 2, 3]))
        """,
        "IndentationError",
    ),
    python(
        "package-main",
        "",
        "TypeError",
        args=("-m", "scorer"),
        files={
            "scorer/__init__.py": '"""Scores."""\n',
            "scorer/__main__.py": """
                from .rank import rank


                def main():
                    print(rank({"a": 3, "b": None}))


                main()
            """,
            "scorer/rank.py": """
                from __future__ import annotations


                def rank(scores):
                    return sorted(scores, key=scores.get)
            """,
        },
    ),
    python(
        "module-json-tool",
        "",
        "Expecting",
        args=("-m", "json.tool", "settings.json"),
        files={"settings.json": '{"depth": 4,\n "rate": }\n'},
    ),
]

TWINS = [
    Twins("module-missing-one", "module-missing-two", "another module is missing"),
]
