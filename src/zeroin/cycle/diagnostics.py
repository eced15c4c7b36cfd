"""The first error that a compiler, linter, formatter or parser reports.

These tools print one diagnostic after the other, each with its place, and a summary at the end.
What failed is the first of them: the rest often follows from it, and a smaller payload that makes
another one come first fails in another way.
"""

from __future__ import annotations

import re

from zeroin.cycle.printed import says_error
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MILD = ("warning", "note", "help", "info", "hint", "remark", "style", "convention", "refactor")
_KIND = rf"(?P<kind>(?:[a-z]+ )*error|{'|'.join(_MILD)})"
_PROGRAM = r"(?:[\w.+-]+: ?)?"
_FILE = r"(?P<file>[^\s:][^:\n]*)"
_SOURCE = r"(?P<file>[^\s:]+\.\w+)"  # a name that can't be a word of a sentence
_LINE = r":\d+(?:[:.]\d+)*(?:-\d+(?:[:.]\d+)*)?"  # of `3`, `3:5` or `3.5-4.2`
_AT_LINE = r"line \d+(?:[,:]? col(?:umn)?:? \d+)?"
_SAID = r"(?P<message>\S.*)$"
_TIME = r"\d{4}/\d\d/\d\d [\d:]+"

# Diagnostics that are lines, those that say most before those that say less.
_SHAPES = tuple(
    map(
        re.compile,
        (
            # gcc, clang, javac, mypy, xmllint, nasm, bison: `t.c:3:8: fatal error: no such file`
            rf"(?i)^\s*{_PROGRAM}{_FILE}{_LINE}:\s*{_KIND} ?(?P<code>[A-Z]+\d+)? ?:\s*{_SAID}",
            # tsc, MSVC: `a.ts(3,5): error TS2304: Cannot find name`
            rf"(?i)^\s*(?P<file>[^\s(]+)\(\d+(?:,\d+)?\)\s?:\s*{_KIND}\s*(?P<code>\w+)?:\s*{_SAID}",
            # tsc on a terminal: `a.ts:3:5 - error TS2304: Cannot find name`
            rf"^{_FILE}:\d+:\d+ - (?P<kind>error) (?P<code>TS\d+): {_SAID}",
            # flake8, pylint, hadolint: `a.py:1:8: F401 'os' imported but unused`
            rf"^\s*{_FILE}:\d+(?::\d+)?:?\s+(?P<code>[A-Z]{{1,5}}\d{{1,5}})\b[/\w-]*:?\s+{_SAID}",
            # rustc: `error[E0425]: cannot find value`
            rf"^(?P<kind>error)\[(?P<code>\w+)\]:\s+{_SAID}",
            # prettier: `[error] a.js: SyntaxError: Unexpected token (3:5)`
            r"^\[(?P<kind>error)\] \S+: (?P<message>\w*Error: \S.*)$",
            # maven, checkstyle: `[ERROR] /home/me/A.java:[3,5] cannot find symbol`
            rf"^\[(?P<kind>ERROR|WARN)\w*\] (?P<file>\S+?):(?:\[\d+,\d+\]|\d+(?::\d+)?:) {_SAID}",
            # terraform: `│ Error: Unsupported argument`
            rf"^[│|] (?P<kind>Error|Warning): {_SAID}",
            # phpcs: `  3 | ERROR | [x] Expected 1 space`
            rf"^\s*\d+ \| (?P<kind>ERROR|WARNING) \| (?:\[.\] )?{_SAID}",
            # elixir: `** (SyntaxError) shop.ex:3:5: syntax error before: end`
            rf"^\*\* \((?P<kind>\w+)\) {_SAID}",
            # mysql: `ERROR 1064 (42000) at line 3: You have an error in your SQL syntax`
            rf"^(?P<kind>ERROR) (?P<code>\d+) \(\w+\) at line \d+: {_SAID}",
            # esbuild: `✘ [ERROR] Unexpected ";"`
            rf"^\S \[(?P<kind>ERROR|WARNING)\] {_SAID}",
            # nginx: `nginx: [emerg] unknown directive "x" in shop.conf:3`
            rf"^(?:nginx:|{_TIME}) \[(?P<kind>emerg|alert|crit|error|warn)\] (?:\d+#\d+: )?{_SAID}",
            # eslint, yamllint, stylelint: `  3:5  error  'x' is not defined  no-undef`
            rf"(?i)^\s*\d+:\d+\s+(?P<kind>error|warning|✖|×|⚠|‼)\s+{_SAID}",
            # sqlfluff: `L:   2 | P:   1 | LT02 | Expected indent of 4 spaces.`
            rf"^L:\s*\d+ \| P:\s*\d+ \|\s*(?P<code>\w+) \| {_SAID}",
            # php: `PHP Parse error:  syntax error, unexpected token ";" in shop.php on line 3`
            r"(?i)^(?:PHP )?(?P<kind>(?:\w+ )+error): +(?P<message>\S.* in \S+(?: on line |:)\d+)$",
            # sqlite: `Parse error near line 3: no such table: shop`
            rf"(?i)^(?P<kind>(?:\w+ )?error):? near line \d+: {_SAID}",
            # jq: `parse error: Expected value before ',' at line 2, column 9`
            r"^(?:\w+: )?(?P<kind>(?:\w+ )?error): (?P<message>\S.* at (?:line \d|<top-level>).*)$",
            # dot, black: `Error: a.gv: syntax error in line 3`, `error: cannot parse: a.py:3:9`
            r"(?i)^(?P<kind>error): (?P<message>\S.*(?:\bline \d+\b|:\d+:\d+$).*)$",
            # tidy: `line 3 column 1 - Error: <x> is not recognized!`
            rf"(?i)^(?:\S+: )*{_AT_LINE}\s*[:-]\s+{_KIND}: {_SAID}",
            # go: `./main.go:5:2: undefined: x`
            rf"^\s*(?:vet: )?{_SOURCE}:\d+:\d+:\s+{_SAID}",
        ),
    )
)
# The same with less to know them by: programs log lines that look so.
_TERSE = (
    # bash: `shop.sh: line 3: syntax error near unexpected token`
    re.compile(rf"(?i)^(?P<file>\S*?)(?:: )?\b{_AT_LINE}\s*[:-]\s+{_SAID}"),
    # lua, gawk: `lua: shop.lua:3: unexpected symbol near`, `gawk: a.awk:3:  ^ no newline`
    re.compile(rf"^(?!(?:INFO|DEBUG)\b)[\w.+-]+: (?P<file>[^\s:]+):\d+:(?: |\s+\^ ){_SAID}"),
    # ruby, make: `shop.rb:3: syntax error, unexpected end`, `Makefile:3: *** missing separator`
    re.compile(rf"^(?P<file>[^\s:]+\.\w+|[Mm]akefile):\d+:(?:in [`'][^`']*':)? {_SAID}"),
)
_WRONG = re.compile(r"\*\*\* |\b(?:un)?expected\b|\bunterminated\b|\(\w+Error\)$", re.IGNORECASE)
# Of gawk: the line of the program, above the one that points into it.
_POINTED = re.compile(r"^[\w.+-]+: [^\s:]+:\d+:\s+\^ ")
# `F401 [*] 'os' imported but unused`, `error: expected ';'`, with the place on the line below
_ABOVE = re.compile(
    r"^(?P<code>[A-Z]{1,5}\d{1,5}|error(?:\[\w+\])?|[a-z-]+)(?:: | )\s*(?:\[\*\]\s+)?"
    r"(?P<message>\S.*)$"
)
_ARROW = re.compile(r"^\s*-->\s+\S+:\d+")
_LABEL = re.compile(r"^\s+\|[\s|_^-]*\^ (?P<label>\S.*)$")  # what rustc says where it points at
# `TypeError: x is not a function`, `Exception in thread "main" java.lang.RuntimeException: no`,
# with the calls on the lines below
_THROWN = re.compile(
    r"^(?:Exception in thread \S+ |Uncaught )?(?P<kind>[\w.$]*(?:Error|Exception))(?: \[\w+\])?"
    r"(?:: (?P<message>\S.*))?$"
)
_CALL = re.compile(r"^\s+at \S")
# Of tcl, below what it says.
_EXECUTING = re.compile(
    r"^(?: {4}\(.*\)\n)? {4}(?:while executing|invoked from within|while compiling)$", re.MULTILINE
)
# `thread 'main' panicked at src/main.rs:2:5:`, with its message on the line below
_PANIC = re.compile(r"^thread .* panicked at \S+:\d+:\d+:$")
# `CMake Error at CMakeLists.txt:3 (message):`, with its message on the lines below
_CMAKE = re.compile(r"^CMake Error at \S+:\d+(?: \((?P<code>\w+)\))?:\s*$")
# gfortran, ocaml: a place, lines of the source, and then the error
_PLACE = re.compile(r'^(?:\S+:\d+:\d+:|File "[^"]+", lines? \d+.*:)$')
_BELOW = re.compile(r"^(?P<kind>(?:Fatal )?Error|Warning)(?: \d+ \[[\w-]+\])?: (?P<message>\S.*)$")
_BELOW_WITHIN = 12  # lines
_WIDEST = 2000  # characters of a line that are looked at
_BEHIND = 40  # lines that may belong to a diagnostic
# ghc: `Main.hs:3:5: error:`, with its message on the lines below
_HEADING = re.compile(rf"^[^\s:]+{_LINE}: {_KIND}:(?: \[[^\]]+\])*$", re.IGNORECASE)
# javac, black: `  symbol:   variable x`, `ParseError: bad input`, below lines of the source
_DETAIL = re.compile(r"^(?:  (?:symbol|reason): +)?(?P<detail>(?<= )\S.*|\w+Error: \S.*)$")
_DETAIL_WITHIN = 7  # lines
# go test: `--- FAIL: TestTotal (0.00s)`, with what was wrong on the lines below
_GO_TEST = re.compile(r"^\s*--- FAIL: (?P<test>\S+)")
# TeX: `! Undefined control sequence.`, and `l.3 \total` further below
_TEX = re.compile(r"^! (?P<message>\S.*)$")
_TEX_LINE = re.compile(r"^l\.\d+ ")
# perl: `syntax error at shop.pl line 3, near "}"`; warnings look the same, and come first
_PERL = re.compile(r"^(?P<message>\S.*) at \S+ line \d+(?:\.|, .*)$")
_PERL_ENDED = re.compile(r"compilation errors?\b|has too many errors", re.IGNORECASE)
_PERL_WARNING = re.compile(
    r" masks earlier declaration| used only once| redefined\b|^Useless use|^Possible |"
    r"^Scalar value| found where operator expected|^Found = in|^Unquoted string|^Applying |"
    r"^Statement unlikely|"
    r"^Use of uninitialized|deprecated|interpreted as|isn't numeric|^Odd number|mismatch"
)
# make: `make: *** [Makefile:4: model.bin] Error 1`
_MAKE = re.compile(
    r"^\w*make(?:\[\d+\])?: \*\*\* \[(?:[^\s:]+:\d+: )?(?P<target>[^\]]+)\] Error \d+"
)
# protoc: `shop.proto: Field "count" uses reserved number 2.`
_UNPLACED = re.compile(rf"^{_SOURCE}: (?P<message>\S.*[^:\s])$")
# What only counts or ends others.
_SUMMARY = re.compile(
    r"aborting due to|could not compile|previous errors?\b|too many errors|^\d+ errors?\b|"
    r"errors? generated|no errors? found",
    re.IGNORECASE,
)


class Diagnostic(NamedTuple):
    """One error as a tool has reported it."""

    line: str  # as it was printed
    message: str  # its kind, its code and its words, without the place
    is_mild: bool = False  # a warning: what failed only if there is no error
    file: str = ""


def find_first(text: str) -> Diagnostic | None:
    """Give the first error of a tool's output, from which colours were taken; None without one.

    Linters fail of warnings, too: then the first of those it is.
    """
    lines = [line[:_WIDEST] for line in text.split("\n")]
    warnings = []
    for one in _each(lines):
        if not one.is_mild:
            return _with_target(_unplaced_before(lines, one) or one, lines)
        warnings.append(one)
    if not warnings:
        return _of_one_file(lines)
    told = {one.line for one in warnings}
    is_all = not any(says_error(line) for line in lines if line.strip() not in told)
    return warnings[0] if is_all else None


def _each(lines: Sequence[str]) -> Iterator[Diagnostic]:
    is_perl = any(_PERL_ENDED.search(line) for line in lines[-3:])
    place_at = -_BELOW_WITHIN
    for number, line in enumerate(lines):
        if not line:
            continue
        behind = lines[number + 1 : number + 1 + _BEHIND]
        following = behind[0] if behind else ""
        if _PLACE.match(line):
            place_at = number
        if _CMAKE.match(line):
            words = " ".join(_indented(behind))
            yield Diagnostic(f"{line.strip()} {words}", f"CMake Error: {words}")
        elif _PANIC.match(line):
            yield Diagnostic(f"{line.strip()} {following.strip()}", f"panic: {following.strip()}")
        elif match := _HEADING.match(line):
            words, kind = " ".join(_indented(behind)), match["kind"].lower()
            yield Diagnostic(f"{line.strip()} {words}", f"{kind}: {words}", kind in _MILD)
        elif match := _GO_TEST.match(line):
            words = next(_indented(behind), "")
            words = re.sub(r"^\S+:\d+: ", "", words)
            yield Diagnostic(line.strip(), f"FAIL: {match['test']}: {words}")
        elif (match := _TEX.match(line)) and any(map(_TEX_LINE.match, behind[:_BELOW_WITHIN])):
            yield Diagnostic(line.strip(), match["message"])
        elif _EXECUTING.match("\n".join(behind[:2])) and not line.startswith((" ", '"')):
            yield Diagnostic(line.strip(), line.strip())
        elif (match := _THROWN.match(line)) and _CALL.match(following):
            kind, message = match["kind"].rpartition(".")[2], match["message"] or ""
            yield Diagnostic(line.strip(), f"{kind}: {message}".removesuffix(": "))
        elif (match := _ABOVE.match(line)) and _ARROW.match(following):
            yield _with_label(match, behind[1:])
        elif number - place_at < _BELOW_WITHIN and (match := _BELOW.match(line)):
            words = " ".join([match["message"], *_indented(behind)])
            is_mild = match["kind"] == "Warning"
            yield Diagnostic(line.strip(), f"{match['kind']}: {words}", is_mild)
        elif is_perl and (match := _PERL.match(line)):
            if not _PERL_WARNING.search(line):
                yield Diagnostic(line.strip(), line.strip())
        elif not _POINTED.match(following) or _POINTED.match(line):
            yield from _read_line(line, behind)


def _read_line(line: str, behind: Sequence[str]) -> Iterator[Diagnostic]:
    match = next((found for shape in _SHAPES if (found := shape.match(line))), None)
    if match is None:
        match = next((found for shape in _TERSE if (found := shape.match(line))), None)
        if match is not None and not _is_complaint(match):
            return
    if match is None or _SUMMARY.search(match["message"]):
        return
    groups = match.groupdict(default="")
    kind = " ".join(groups.get("kind", "").lower().split())
    is_mild = kind in (*_MILD, "warn", "⚠", "‼") or (
        not kind and match["message"].lower().startswith(_MILD)
    )
    head = " ".join(filter(None, (kind.strip("✖×"), groups.get("code"))))
    message = " ".join([match["message"].strip(), *_details(behind)])
    worded = f"{head}: {message}" if head else message
    yield Diagnostic(line.strip(), worded, is_mild, groups.get("file", ""))


def _is_complaint(match: re.Match[str]) -> bool:
    """Tell an error from a line that a Python program has logged, with its place before it."""
    message = match["message"]
    is_logged = not match["file"] or match["file"].endswith(".py")
    return not is_logged or says_error(message) or _WRONG.search(message) is not None


def _with_label(match: re.Match[str], behind: Sequence[str]) -> Diagnostic:
    """What stands above an arrow to its place, and what rustc says below it: `expected u32`."""
    code, message = match["code"], match["message"]
    if code.startswith("error["):
        code = f"error {code[6:-1]}"
    for line in behind[:_BELOW_WITHIN]:
        if not line.strip() or not line.startswith((" ", *"0123456789")):
            break
        if label := _LABEL.match(line):
            message = f"{message}: {label['label']}"
            break
    return Diagnostic(match[0].strip(), f"{code}: {message}", code.startswith(_MILD))


def _indented(lines: Sequence[str]) -> Iterator[str]:
    """Give the words of the lines that belong to the one above them."""
    for line in lines:
        if line.strip() and not line.startswith("  "):
            return
        if line.strip(" |"):
            yield line.strip().removeprefix("• ")


def _details(behind: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(behind[:_DETAIL_WITHIN]):
        if re.match(r"^\s+\| ", line) and number == 0:  # sqlfluff goes on below
            yield line.strip(" |")
        elif detail := _DETAIL.match(line):
            yield detail["detail"]
        elif any(shape.match(line) for shape in _SHAPES):
            return


def _with_target(first: Diagnostic, lines: Sequence[str]) -> Diagnostic:
    """Add what make was at, if make has run the tool: two targets are two failures."""
    target = next((found["target"] for line in lines if (found := _MAKE.match(line))), "")
    return first._replace(message=f"{first.message} ({target})") if target else first


def _of_one_file(lines: Sequence[str]) -> Diagnostic | None:
    """Read errors without a line, if there is nothing else: all are about the same file."""
    matches = [_UNPLACED.match(line) for line in lines if line.strip()]
    if not matches or len({match["file"] if match else "" for match in matches}) > 1:
        return None
    first = matches[0]
    return Diagnostic(first[0], first["message"], file=first["file"]) if first else None


def _unplaced_before(lines: Sequence[str], first: Diagnostic) -> Diagnostic | None:
    """Find an error about the same file that has no line of its own, and comes before."""
    for line in lines:
        if line.strip() == first.line:
            return None
        match = _UNPLACED.match(line)
        if match and match["file"] == first.file:
            return Diagnostic(line.strip(), match["message"], file=first.file)
    return None
