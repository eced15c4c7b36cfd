"""The first error of compilers, linters, formatters and parsers, from what they print."""

import pytest

from zeroin.cycle.diagnostics import find_first

GCC = """\
t.c: In function 'f':
t.c:2:30: warning: unused variable 'q'
t.c:2:32: error: 'struct s' has no member named 'c'
t.c:3:18: error: expected expression before '}' token
"""
RUSTC = """\
warning: unused variable: `x`
 --> t.rs:1:3
error[E0425]: cannot find function `foo` in this scope
 --> t.rs:1:31
error: aborting due to 1 previous error; 1 warning emitted
"""
RUSTC_SYNTAX = "error: expected one of `!` or `::`, found `x`\n --> t.rs:1:5\n"
JAVAC = "A.java:1: error: ';' expected\nclass A { int x = 1 }\n1 error\n"
JAVA = """\
Exception in thread "main" java.lang.IllegalStateException: no stock
\tat Shop.sell(Shop.java:7)
Caused by: java.io.IOException: closed
"""
NODE = """\
/home/me/t.js:1
const x = ;
          ^

SyntaxError: Unexpected token ';'
    at wrapSafe (node:internal/modules/cjs/loader:1378:20)

Node.js v20.20.2
"""
GO = "# example.com/shop\n./main.go:5:2: undefined: x\n./main.go:6:2: undefined: y\n"
TSC = "a.ts(3,5): error TS2304: Cannot find name 'x'.\na.ts(4,5): error TS2304: Cannot find 'y'.\n"
MYPY = 'm.py:2: error: Incompatible return value type (got "int")  [return-value]\nFound 1 error\n'
FLAKE8 = "./a.py:1:1: F401 'os' imported but unused\n./a.py:2:80: E501 line too long\n"
PYLINT = "************* Module a\na.py:1:0: C0114: Missing module docstring (missing-docstring)\n"
RUFF = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\nFound 1 error.\n"
ESLINT = "\n/home/me/a.js\n  3:5  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error)\n"
PRETTIER = "[error] a.js: SyntaxError: Unexpected token (3:5)\n[error]   2 |\n[error] > 3 | x = ;\n"
XMLLINT = "t.xml:1: parser error : Opening and ending tag mismatch: b line 1 and a\n<a><b></a>\n"
CMAKE = "CMake Error at CMakeLists.txt:3 (message):\n  no compiler\n\n\n-- Configuring incomplete\n"
FATAL = "In file included from a.c:1:\nb.h:2:10: fatal error: none.h: No such file or directory\n"
ROWS = {
    GCC: "error: 'struct s' has no member named 'c'",
    RUSTC: "error E0425: cannot find function `foo` in this scope",
    RUSTC_SYNTAX: "error: expected one of `!` or `::`, found `x`",
    JAVAC: "error: ';' expected",
    JAVA: "IllegalStateException: no stock",
    NODE: "SyntaxError: Unexpected token ';'",
    GO: "undefined: x",
    TSC: "error TS2304: Cannot find name 'x'.",
    MYPY: 'error: Incompatible return value type (got "int")  [return-value]',
    FLAKE8: "F401: 'os' imported but unused",
    PYLINT: "C0114: Missing module docstring (missing-docstring)",
    RUFF: "F401: `os` imported but unused",
    ESLINT: "error: 'x' is not defined  no-undef",
    PRETTIER: "error: SyntaxError: Unexpected token (3:5)",
    XMLLINT: "parser error: Opening and ending tag mismatch: b line 1 and a",
    CMAKE: "CMake Error: no compiler",
    FATAL: "fatal error: none.h: No such file or directory",
}


@pytest.mark.parametrize("text", ROWS, ids=lambda text: text.split("\n")[0][:30])
def test_the_first_error_is_what_failed(text):
    """With its kind, its code and its words, and without its place; not a warning, no summary."""
    found = find_first(text)
    assert found is not None
    assert found.message == ROWS[text]
    assert found.line in text or found.message.startswith("CMake")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-18 06:30:45 ERROR: can't reach the server\nretry 2\nERROR: giving up\n",
        "/usr/bin/ld: main.o: in function `main':\nmain.c:(.text+0x5): undefined reference to `f'\n",
        "x.py:3: DeprecationWarning: old\nsomething went wrong\n",
        "make: *** [Makefile:2: all] Error 1\n",
        "error: 3 files failed\n",
    ],
)
def test_what_is_no_diagnostic(text):
    """Lines of a log, of a linker, and summaries tell by their end, as before."""
    assert find_first(text) is None
