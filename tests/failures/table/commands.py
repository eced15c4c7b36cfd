"""Commands that are not Python, or start Python only at their end."""

from __future__ import annotations

from .failure import Twins, command

COMPILE = """
    #include <stdio.h>

    static int area(int width, int height) {
        return widht * height;
    }

    int main(void) {
        printf("%d\\n", area(3, 4));
        return 0;
    }
"""

LINK = """
    void render(int scene);

    int main(void) {
        render(3);
        return 0;
    }
"""

FAILURES = [
    command(
        "sh-unset-variable",
        ["sh", "train.sh"],
        "DATA_FOLDER",
        files={
            "train.sh": """
                set -eu
                echo preparing
                ls "$DATA_FOLDER"
            """
        },
        varies=r"train.sh: \D*\d+",
    ),
    command(
        "sh-not-found-mkdata",
        ["sh", "data.sh"],
        "mkdata",
        files={"data.sh": "set -e\necho preparing\nmkdata --all\n"},
    ),
    command(
        "sh-not-found-mkmodel",
        ["sh", "data.sh"],
        "mkmodel",
        files={"data.sh": "set -e\necho preparing\nmkmodel --all\n"},
    ),
    command(
        "sh-starts-python",
        ["sh", "job.sh", "{python}"],
        "LookupError",
        files={
            "job.sh": """
                set -e
                echo "job begins"
                "$1" "$PWD/job.py" --node 3
                echo "job ends"
            """,
            "job.py": """
                import sys


                def reserve(node):
                    raise LookupError(f"node {node} is not in the pool")


                reserve(sys.argv[2])
            """,
        },
    ),
    command(
        "sh-own-message",
        ["sh", "deploy.sh"],
        "still running",
        files={
            "deploy.sh": """
                fail() {
                    echo "deploy: $1 (pid $$)" >&2
                    exit 12
                }

                test -e lock || touch lock
                test -e lock && fail "another deploy is still running"
            """
        },
        varies=r"pid \d+",
    ),
    command(
        "make-recipe",
        ["make", "--no-print-directory"],
        "model.bin",
        files={
            "Makefile": """
                all: model.bin

                model.bin: weights.txt
                \tsort --check weights.txt
                \tcp weights.txt model.bin
            """,
            "weights.txt": "b\na\n",
        },
        needs=("bin:make",),
        varies=r"Makefile:\d+",
    ),
    command(
        "make-no-rule",
        ["make", "report"],
        "labels.csv",
        files={
            "Makefile": """
                report: labels.csv
                \tcp labels.csv report
            """
        },
        needs=("bin:make",),
    ),
    command(
        "make-starts-python",
        ["make", "PYTHON={python}", "check"],
        "NotImplementedError",
        files={
            "Makefile": """
                check:
                \t$(PYTHON) check.py
            """,
            "check.py": """
                def compare(old, new):
                    raise NotImplementedError("comparing is not written yet")


                compare("a", "b")
            """,
        },
        needs=("bin:make",),
    ),
    command(
        "gcc-undeclared-widht",
        ["gcc", "-c", "area.c"],
        "widht",
        files={"area.c": COMPILE},
        needs=("bin:gcc",),
        varies=r"area.c:\d+:\d+: error",
    ),
    command(
        "gcc-undeclared-heigth",
        ["gcc", "-c", "area.c"],
        "heigth",
        files={"area.c": COMPILE.replace("widht * height", "width * heigth")},
        needs=("bin:gcc",),
        varies=r"area.c:\d+:\d+: error",
    ),
    command(
        "gcc-link-render",
        ["gcc", "-o", "view", "view.c"],
        "render",
        files={"view.c": LINK},
        needs=("bin:gcc",),
        varies=r"\S+\.o:",
    ),
    command(
        "gcc-link-resize",
        ["gcc", "-o", "view", "view.c"],
        "resize",
        files={"view.c": LINK.replace("render", "resize")},
        needs=("bin:gcc",),
        varies=r"\S+\.o:",
    ),
    command(
        "git-unknown-branch",
        ["sh", "-c", "git init -q . && git checkout release-candidate"],
        "release-candidate",
        needs=("bin:git",),
    ),
    command(
        "git-no-remote-upstream",
        ["sh", "-c", "git init -q . && git fetch upstream"],
        "upstream",
        needs=("bin:git",),
    ),
    command(
        "git-no-remote-mirror",
        ["sh", "-c", "git init -q . && git fetch mirror"],
        "mirror",
        needs=("bin:git",),
    ),
    command("cat-missing", ["cat", "results.txt"], "results.txt"),
    command(
        "cat-missing-absolute",
        ["sh", "-c", 'cat "$PWD/scores.txt"'],
        "scores.txt",
        varies=r"cat: (.*)scores.txt",
    ),
    command(
        "grep-nothing",
        ["grep", "accuracy", "run.log"],
        "1",
        files={"run.log": "epoch 1\nepoch 2\n"},
    ),
    command(
        "awk-syntax",
        ["awk", "-f", "mean.awk", "values.txt"],
        "syntax error",
        files={
            "mean.awk": """
                { total += ) }
                END { print total / NR }
            """,
            "values.txt": "1\n2\n",
        },
        needs=("bin:awk",),
    ),
    command(
        "diff-golden",
        ["diff", "-u", "expected.txt", "actual.txt"],
        "1",
        files={"expected.txt": "a\nb\nc\n", "actual.txt": "a\nB\nc\n"},
        needs=("bin:diff",),
        varies=r"--- expected.txt.*",
    ),
    command(
        "tar-damaged",
        ["tar", "-xzf", "data.tar.gz"],
        "tar",
        files={"data.tar.gz": "<html>please sign in</html>\n"},
        needs=("bin:tar",),
    ),
    command(
        "perl-die",
        ["perl", "clean.pl"],
        "no rows",
        files={
            "clean.pl": """
                use strict;

                sub clean {
                    my @rows = @_;
                    die "no rows to clean" unless @rows;
                }

                clean();
            """
        },
        needs=("bin:perl",),
        varies=r"line \d+",
    ),
]

TWINS = [
    Twins("sh-not-found-mkdata", "sh-not-found-mkmodel", "another command is missing"),
    Twins("gcc-undeclared-widht", "gcc-undeclared-heigth", "another name is undeclared"),
    Twins("gcc-link-render", "gcc-link-resize", "another name is undefined"),
    Twins("git-no-remote-upstream", "git-no-remote-mirror", "another remote is missing"),
    Twins("cat-missing", "cat-missing-absolute", "another file is missing"),
    Twins("make-recipe", "make-no-rule", "a recipe failed; there is no recipe"),
    Twins("grep-nothing", "diff-golden", "silence; a difference"),
]
