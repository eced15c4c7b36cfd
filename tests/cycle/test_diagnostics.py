"""The first error of compilers, linters, formatters and parsers, from what they print."""

import time

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
GFORTRAN = """\
shop.f90:22:17:

   22 |     sum = sum **
      |                 1
Error: Expected exponent in expression at (1)
shop.f90:47:24:

   47 |     sum = sum + missing
      |                        1
Error: Symbol 'missing' at (1) has no IMPLICIT type
"""
OCAML = """\
File "shop.ml", line 16, characters 24-30:
16 |       let weight = item.weight in
                             ^^^^^^
Error: This expression has type item1
       There is no field weight within type item1
"""
GHC = "Main.hs:3:5: error: [GHC-88464]\n    • Variable not in scope: x\n\n  |\n3 | x\n"
JAVAC_SYMBOL = """\
Shop.java:13: error: cannot find symbol
            sum += other.weight;
                        ^
  symbol:   variable weight
  location: variable other of type Item1
1 error
"""
RUSTC_TYPES = """\
error[E0308]: mismatched types
  --> t.rs:12:20
   |
12 |     sum += ^ other.count;
   |            ^^^^^^^^^^^ expected `f64`, found `u32`

error: aborting due to 1 previous error
"""
PANIC = "thread 'main' (77) panicked at p.rs:1:43:\nindex out of bounds: 4\nnote: run with\n"
RUBY = "shop.rb:28: class/module name must be CONSTANT\nclass a\n^\nshop.rb:9: syntax error, end\n"
RUBY_RUN = (
    "r.rb:2:in `total': undefined method `price' (NoMethodError)\n\tfrom r.rb:4:in `<main>'\n"
)
LUA = "lua: l.lua:1: attempt to index a nil value (local 'x')\nstack traceback:\n\t[C]: in ?\n"
GAWK = "gawk: a.awk:79: sum +=\ngawk: a.awk:79:      ^ unexpected newline\n"
BASH = "shop.sh: line 22: syntax error near unexpected token `('\nshop.sh: line 22: `total2() {'\n"
TIDY = "line 3 column 4 - Warning: missing </b>\nline 9 column 1 - Error: <x> is not recognized!\n"
PHP = 'PHP Warning:  Odd in a.php on line 2\nPHP Parse error:  no ";" in a.php on line 3\n'
SQLITE = "Parse error near line 17: no such function: f\n  SELECT f();\n         ^--- error here\n"
JQ = "parse error: Expected separator between values at line 9, column 10\n"
JQ_FILTER = "jq: error: f/0 is not defined at <top-level>, line 1:\nf\njq: 1 compile error\n"
DOT = "Error: shop.gv: syntax error in line 13 near ']'\nError: other in line 20\n"
BLACK = "error: cannot parse: shop.py:28:16\n    for = 3\n        ^\nParseError: bad input\n"
NGINX = """\
2026/11/18 10:32:43 [emerg] 32414#32414: "listen" directive is not allowed here in ./shop.conf:64
nginx: configuration file ./shop.conf test failed
"""
STYLELINT = '\nshop.css\n  3:5  ✖  Unknown unit "pixel"   unit-no-unknown\n\n✖ 1 problem\n'
ESBUILD = '✘ [ERROR] Expected ";" but found "s"\n\n    shop.ts:8:14:\n      8 │ x\n\n1 error\n'
SQLFLUFF = (
    "L:   8 | P:   1 | LT09 | Select targets should be\n                       | alone. [layout]\n"
)
TCL = 'no stock\n    while executing\n"error {no stock}"\n    (file "shop.tcl" line 44)\n'
TCL_READING = 'got "x"\n    (reading increment)\n    invoked from within\n"incr x"\n'
PERL = """\
"my" variable $sum masks earlier declaration in same scope at shop.pl line 58.
Global symbol "$x" requires explicit package name at shop.pl line 30.
syntax error at shop.pl line 41, near "if $sum "
shop.pl had compilation errors.
"""
MAKE = "shop.mk:3: *** missing separator.  Stop.\n"
PROTOC = 'a.proto: Field "n" uses reserved number 2.\na.proto:31:17: Numbers must be positive.\n'
PROTOC_BARE = 'a.proto: Field "n" uses reserved number 2.\na.proto: Suggested numbers: 4\n'
SHELLCHECK = (
    "a.sh:18:5: warning: x appears unused. [SC2034]\na.sh:39:7: note: Double quote. [SC2086]\n"
)
SHELLCHECK_ERROR = (
    "a.sh:18:5: note: In this loop. [SC1009]\na.sh:49:5: error: Not parsed. [SC1073]\n"
)
YAMLLINT = "a.yaml\n  3:1  warning  too long  (line-length)\n  4:2  error  wrong  (colons)\n"
CMAKE_PARSE = (
    "CMake Error at a.cmake:118:\n  Parse error.\n\n  End of file.\n\nCMake Error: Error in a\n"
)
TSC_PRETTY = "a.ts:3:5 - error TS2304: Cannot find name 'x'.\n\n3 x\n  ~\n"
HADOLINT = "Dockerfile:3 DL3006 warning: Always tag the version\n"
MAVEN = "[ERROR] COMPILATION ERROR :\n[ERROR] /p/A.java:[3,5] ';' expected\n[INFO] 1 error\n"
TERRAFORM = "╷\n│ Error: Unsupported argument\n│ \n│   on main.tf line 3:\n╵\n"
PHPCS = "FILE: a.php\n  3 | ERROR | [x] Expected 1 space\n  4 | ERROR | [ ] Other\n"
ELIXIR = "** (SyntaxError) shop.ex:3:5: syntax error before: end\n    (elixir) lib/x.ex:9\n"
MYSQL = "ERROR 1064 (42000) at line 3: You have an error in your SQL syntax\n"
PSQL = 'psql:a.sql:3: ERROR:  relation "x" does not exist\npsql:a.sql:4: ERROR:  no y\n'
GO_TEST = "--- FAIL: TestTotal (0.00s)\n    a_test.go:7: got 3\n--- FAIL: TestB (0.00s)\nFAIL\n"
TEX = "(./a.tex\n! Undefined control sequence.\nl.3 \\total\n          \n! Missing $ inserted.\nl.4 x\n"
UNDER_MAKE = "sort: a.txt:2: disorder: b\nmake: *** [Makefile:4: model.bin] Error 1\n"
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
    GFORTRAN: "Error: Expected exponent in expression at (1)",
    OCAML: "Error: This expression has type item1 There is no field weight within type item1",
    GHC: "error: Variable not in scope: x",
    JAVAC_SYMBOL: "error: cannot find symbol variable weight",
    RUSTC_TYPES: "error E0308: mismatched types: expected `f64`, found `u32`",
    PANIC: "panic: index out of bounds: 4",
    RUBY: "class/module name must be CONSTANT",
    RUBY_RUN: "undefined method `price' (NoMethodError)",
    LUA: "attempt to index a nil value (local 'x')",
    GAWK: "unexpected newline",
    BASH: "syntax error near unexpected token `('",
    TIDY: "error: <x> is not recognized!",
    PHP: 'parse error: no ";" in a.php on line 3',
    SQLITE: "parse error: no such function: f",
    JQ: "parse error: Expected separator between values at line 9, column 10",
    JQ_FILTER: "error: f/0 is not defined at <top-level>, line 1:",
    DOT: "error: shop.gv: syntax error in line 13 near ']'",
    BLACK: "error: cannot parse: shop.py:28:16 ParseError: bad input",
    NGINX: 'emerg: "listen" directive is not allowed here in ./shop.conf:64',
    STYLELINT: 'Unknown unit "pixel"   unit-no-unknown',
    ESBUILD: 'error: Expected ";" but found "s"',
    SQLFLUFF: "LT09: Select targets should be alone. [layout]",
    TCL: "no stock",
    TCL_READING: 'got "x"',
    PERL: 'Global symbol "$x" requires explicit package name at shop.pl line 30.',
    MAKE: "*** missing separator.  Stop.",
    PROTOC: 'Field "n" uses reserved number 2.',
    PROTOC_BARE: 'Field "n" uses reserved number 2.',
    SHELLCHECK: "warning: x appears unused. [SC2034]",
    SHELLCHECK_ERROR: "error: Not parsed. [SC1073]",
    YAMLLINT: "error: wrong  (colons)",
    CMAKE_PARSE: "CMake Error: Parse error. End of file.",
    TSC_PRETTY: "error TS2304: Cannot find name 'x'.",
    HADOLINT: "DL3006: warning: Always tag the version",
    MAVEN: "error: ';' expected",
    TERRAFORM: "error: Unsupported argument",
    PHPCS: "error: Expected 1 space",
    ELIXIR: "syntaxerror: shop.ex:3:5: syntax error before: end",
    MYSQL: "error 1064: You have an error in your SQL syntax",
    PSQL: 'error: relation "x" does not exist',
    GO_TEST: "FAIL: TestTotal: got 3",
    TEX: "Undefined control sequence.",
    UNDER_MAKE: "disorder: b (model.bin)",
    FATAL: "fatal error: none.h: No such file or directory",
}


@pytest.mark.parametrize("text", ROWS, ids=lambda text: text.split("\n")[0][:30])
def test_the_first_error_is_what_failed(text):
    """With its kind, its code and its words, and without its place; not a warning, no summary."""
    found = find_first(text)
    assert found is not None
    assert found.message == ROWS[text]
    assert found.line in text.replace("•", "") or found.line in " ".join(
        text.replace("•", "").split()
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-18 06:30:45 ERROR: can't reach the server\nretry 2\nERROR: giving up\n",
        "/usr/bin/ld: main.o: in function `main':\nmain.c:(.text+0x5): undefined reference to `f'\n",
        "x.py:3: DeprecationWarning: old\nsomething went wrong\n",
        "make: *** [Makefile:2: all] Error 1\n",
        "error: 3 files failed\n",
        "a.c:3:5: warning: unused variable 'x'\nmain.c:(.text+0x5): undefined reference to `f'\n",
        "train.py:30: epoch 1\ntrain.py:31: epoch 2\nno stock\n",
        "line 1: sold\nline 2: sold\nno stock\n",
        "INFO: train.py:30: epoch 1\nINFO: shop.c:3: sold\nno stock\n",
        "Use of uninitialized value $x in addition (+) at p.pl line 1.\nno stock at p.pl line 2.\n",
    ],
)
def test_what_is_no_diagnostic(text):
    """Lines of a log, of a linker, and summaries tell by their end, as before."""
    assert find_first(text) is None


@pytest.mark.parametrize(
    "piece",
    ["\n", "a ", "a", "a:", ":1:1", "x error: a in b ", "a at b line 1", "a.c:1:2: warning: x\n"],
)
def test_any_output_is_read_in_no_time(piece):
    """A hundred thousand characters of anything take time in proportion to its length."""
    text = piece * (1 << 18)

    def seconds(length):
        started = time.process_time()
        find_first(text[:length])
        return time.process_time() - started

    assert seconds(1 << 17) < 100 * seconds(1 << 13) + 0.5
