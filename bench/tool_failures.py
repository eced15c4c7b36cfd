"""Inputs on which compilers, linters, formatters and parsers fail, in several ways at once.

An input is made of sound units, one like the other, and of faults that are put into some of them:
whichever comes first is the failure, and each of the others may come first in a smaller input.
"""

from __future__ import annotations

import itertools
import random
import re
from typing import NamedTuple

UNITS = 14  # of an input
FAULTS = 4


class Tool(NamedTuple):
    """A program, what its inputs are made of, and how it reports its first error."""

    program: str
    file: str
    command: tuple[str, ...]  # with `program` before it and `file` behind it, unless it has a %
    unit: str  # with @ for its number and a line `FAULT` where a fault may stand
    faults: tuple[str, ...]
    first: str  # what is said of an error, with one group; places are no part of it
    head: str = ""
    tail: str = ""
    units: int = UNITS
    beside: tuple[tuple[str, str], ...] = ()  # other files that it needs
    name: str = ""
    mild: str = ""  # the same of a warning, where there is no error
    is_slow: bool = False
    quiet: tuple[str, ...] = ()  # options with which it reports nothing but errors


class ToolFailure(NamedTuple):
    """One input."""

    tool: Tool
    seed: int
    text: str

    @property
    def name(self) -> str:
        return f"{self.tool.name or self.tool.program} {self.seed}"

    @property
    def result(self) -> str:
        """The name of the file that `shrink` writes."""
        return "{}.min.{}".format(*self.tool.file.rsplit(".", 1))

    @property
    def command(self) -> list[str]:
        words = [self.tool.program, *self.tool.command]
        if any("%" in word for word in words):
            return [word.replace("%", self.tool.file) for word in words]
        return [*words, self.tool.file]


def make_failure(tool: Tool, seed: int) -> ToolFailure:
    """Draw which faults there are and where; each comes first in one of the first inputs."""
    drawn = random.Random(f"{tool.name or tool.program} {seed}")
    first = tool.faults[(seed - 1) % len(tool.faults)]
    others = [one for one in tool.faults if one != first]
    faults = [first, *drawn.sample(others, min(FAULTS - 1, len(others)))]
    places = sorted(drawn.sample(range(1, tool.units), len(faults)))
    at = dict(zip(places, faults, strict=True))
    units = [_unit(tool.unit, number, at.get(number, "")) for number in range(tool.units)]
    return ToolFailure(tool, seed, (tool.head + "".join(units) + tool.tail).rstrip() + "\n")


def _unit(unit: str, number: int, fault: str) -> str:
    lines = []
    for line in unit.split("\n"):
        if line.strip() != "FAULT":
            lines.append(line)
        elif fault:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + one for one in fault.split("\n")]
    return "\n".join(lines).replace("@", str(number)).replace("\0", "@")


def first_error(tool: Tool, out: str, err: str) -> str:
    """Read the first error of a tool's output by a rule made for that tool; "" without one."""
    for pattern, text in itertools.product(filter(None, (tool.first, tool.mild)), (err, out)):
        found = re.search(pattern, re.sub(r"\x1b\[[0-9;]*m", "", text), re.MULTILINE)
        if found:
            words = " ".join(part for part in found.groups() if part)
            return re.sub(r"\b\d+\b", "#", " ".join(words.split()))
    return ""


C_UNIT = """\
struct item@ {
    int count;
    double price;
    const char *name;
};

static double total@(const struct item@ *items, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (items[i].count > @)
            sum += items[i].price * items[i].count;
        FAULT
    }
    return sum;
}

"""
C_FAULTS = (
    "sum += items[i].weight;",
    "sum += undeclared@ + 1;",
    "sum += items[i]->price;",
    "int left = items[i].count +;",
    "sum = total@(items);",
    "struct item@ copy = 5;",
    "const int fixed = 1; fixed = 2;",
    "goto nowhere@;",
    'sum += "price" * 2;',
    "break 1;",
)
CPP_UNIT = """\
class Item@ {
public:
    explicit Item@(std::string name, double price) : name_(name), price_(price) {}
    double price() const { return price_; }
    const std::string &name() const { return name_; }
private:
    std::string name_;
    double price_;
};

double total@(const std::vector<Item@> &items)
{
    double sum = 0;
    for (const auto &item : items) {
        sum += item.price() * @;
        FAULT
    }
    return sum;
}

"""
CPP_FAULTS = (
    "sum += item.weight();",
    "std::string text = item.price();",
    "Item@ other;",
    "items.push_back(item);",
    "sum += item.price_;",
    "auto found = std::finds(items.begin(), items.end(), item);",
    "sum += items[item];",
    "int left = sum +;",
    "std::vector<int> many = std::vector<std::string>();",
)
GCC_FIRST = r"^[^\s:]+:\d+:\d+: (?:fatal )?(error: .*)$"
RUST_UNIT = """\
#[derive(Debug, Clone)]
pub struct Item@ {
    pub name: String,
    pub count: u32,
    pub price: f64,
}

impl Item@ {
    pub fn total(&self, others: &[Item@]) -> f64 {
        let mut sum = self.price * f64::from(self.count);
        for other in others {
            sum += other.price;
            FAULT
        }
        sum
    }
}

"""
RUST_FAULTS = (
    "sum += other.weight;",
    "sum += other.count;",
    "let name: String = &other.name;",
    "self.price = sum;",
    "sum += missing@(other);",
    "let moved = *other; drop(moved);",
    'let text: u32 = "many";',
    "other.sell();",
)
GO_UNIT = """\
type item@ struct {
	name  string
	count int
	price float64
}

func total@(items []item@) float64 {
	sum := 0.0
	for _, one := range items {
		if one.count > @ {
			sum += one.price * float64(one.count)
		}
		FAULT
	}
	return sum
}

"""
GO_FAULTS = (
    "sum += one.weight",
    "sum += one.count",
    "left := one.price",
    "sum += missing@(one)",
    "total@(items, 3)",
    "var text string = one.count",
    "one.name = 4",
    "return one.name",
)
JAVA_UNIT = """\
class Item@ {
    final String name;
    final int count;
    Item@(String name, int count) {
        this.name = name;
        this.count = count;
    }
    int total(List<Item@> others) {
        int sum = count;
        for (Item@ other : others) {
            sum += other.count;
            FAULT
        }
        return sum;
    }
}

"""
JAVA_FAULTS = (
    "sum += other.weight;",
    "String text = other.count;",
    "other.count = 3;",
    "missing@(other);",
    "Item@ copy = new Item@(other.name);",
    "boolean is = other.name > 3;",
    "return other.name;",
    "int sum = 5;",
    "throw new Exception(other.name);",
)
JS_UNIT = """\
export function total@(items) {
  let sum = 0;
  for (const item of items) {
    if (item.count > @) {
      sum += item.price * item.count;
    }
    FAULT
  }
  return sum;
}

"""
JS_FAULTS = (
    "const left = ;",
    "sum += item..price;",
    "if (item.count {",
    "let sum@ = 1; let sum@ = 2;",
    "await item.sell();",
    "const [first, second = item;",
    "return sum }",
    "var class = item;",
    "sum = 'it's';",
)
JS_LINT_FAULTS = (
    "sum += missing@;",
    "const unused@ = item.price;",
    "if (item.count = 3) sum += 1;",
    "while (true) { sum += 1; }",
    "debugger;",
    "sum += sum === sum;",
    "switch (sum) { case 1: case 1: break; }",
    "sum == NaN;",
)
TS_UNIT = """\
export interface Item@ {
  name: string;
  count: number;
  tags?: string[];
}

export function total@(items: Item@[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.count * @;
    FAULT
  }
  return sum;
}

"""
TS_FAULTS = (
    "sum += item.weight;",
    "sum += item.name;",
    "const text: string = item.count;",
    "missing@(item);",
    "total@(item);",
    "item.tags.push('new');",
    "const left = sum +;",
    "return item.name;",
    "const sum: Item@ = {};",
)
CSS_UNIT = """\
.card@ .title {
  color: #1a2b3c;
  padding: @px 4px;
  FAULT
}

.card@ a:hover {
  text-decoration: underline;
}

"""
PY_UNIT = '''\
class Item@:
    """A thing in a shop."""

    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self.count = count

    def total(self, others: list["Item@"]) -> int:
        """Sum up."""
        result = self.count
        for other in others:
            result += other.count
            FAULT
        return result


'''
PY_FAULTS = (
    "result += other.weight",
    "result += other.name",
    "text: str = other.count",
    "missing@(other)",
    "self.total()",
    "return other.name",
    "unused@ = other . name",
    "if other.name == None: result += 1",
    "import os, sys",
    "except_@ = lambda: result",
)
PY_SYNTAX = (
    "result += other.count +",
    "if other.count",
    "print 'many'",
    "for = 3",
    "  result += 1",
    "text = 'open",
)
RUBY_UNIT = """\
class Item@
  attr_reader :name, :count

  def initialize(name, count)
    @name, @count = name, count
  end

  def total(others)
    sum = @count
    others.each do |other|
      sum += other.count if other.count > 3
      FAULT
    end
    sum
  end
end

"""
PHP_UNIT = """\
class Item@
{
    public function __construct(private string $name, private int $count)
    {
    }

    public function total(array $others): int
    {
        $sum = $this->count;
        foreach ($others as $other) {
            $sum += $other->count;
            FAULT
        }
        return $sum;
    }
}

"""
PERL_UNIT = """\
sub total@ {
    my ($items, $limit) = @_;
    my $sum = 0;
    foreach my $item (@{$items}) {
        next if $item->{count} > $limit;
        $sum += $item->{price} * $item->{count};
        FAULT
    }
    return $sum;
}

"""
LUA_UNIT = """\
local function total@(items, limit)
  local sum = 0
  for _, item in ipairs(items) do
    if item.count < limit then
      sum = sum + item.price * item.count
    end
    FAULT
  end
  return sum
end

"""
TCL_UNIT = """\
proc total@ {items limit} {
    set sum 0
    foreach item $items {
        if {$item < $limit} {
            incr sum $item
        }
        FAULT
    }
    return $sum
}
puts [total@ {1 2 3} 9]

"""
SHELL_UNIT = """\
total@() {
  sum=0
  for item in "$@"; do
    if [ "$item" -gt 3 ]; then
      sum=$((sum + item))
    fi
    FAULT
  done
  echo "$sum"
}

"""
XML_UNIT = """\
  <item id="i@" kind="good">
    <name>Bolt @</name>
    <price currency="EUR">@.50</price>
    FAULT
    <tags><tag>small</tag><tag>steel</tag></tags>
  </item>
"""
HTML_UNIT = """\
<section id="part@">
<h2>Part @</h2>
<p>Some words about <em>part @</em>.</p>
FAULT
<ul><li>one</li><li>two</li></ul>
</section>
"""
SQL_UNIT = """\
CREATE TABLE item@ (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  count INTEGER DEFAULT 0
);
INSERT INTO item@ (id, name, count) VALUES (1, 'bolt', 3);
INSERT INTO item@ (id, name, count) VALUES (2, 'nut', 4);
FAULT
SELECT name, sum(count) FROM item@ GROUP BY name;

"""
NGINX_UNIT = """\
    server {
        listen 80@;
        server_name shop@.example.com;
        root /srv/shop@;
        location /api {
            proxy_pass http://127.0.0.1:90@;
            proxy_set_header Host $host;
            FAULT
        }
    }
"""
BISON_UNIT = """\
rule@: NUMBER
    | rule@ PLUS NUMBER { $$ = $1 + $3; }
    | rule@ MINUS NUMBER { $$ = $1 - $3; }
    ;
FAULT

"""
AWK_UNIT = """\
function total@(items, n,    i, sum) {
  sum = 0
  for (i = 1; i <= n; i++) {
    if (items[i] > @)
      sum += items[i]
    FAULT
  }
  return sum
}

"""
PROTO_UNIT = """\
message Item@ {
  string name = 1;
  int32 count = 2;
  repeated string tags = 3;
  FAULT
}

message Order@ {
  repeated Item@ items = 1;
  double total = 2;
}

"""
DOT_UNIT = """\
  subgraph cluster@ {
    label = "part @";
    a@ [shape=box, color=red];
    b@ [shape=circle];
    a@ -> b@ [label="to"];
    FAULT
  }
"""
ML_UNIT = """\
type item@ = { name : string; count : int; price : float }

let total@ items =
  List.fold_left
    (fun sum item ->
      let part = item.price *. float_of_int item.count in
      FAULT
      sum +. part)
    0.0 items

"""
ASM_UNIT = """\
part@:
    push rbp
    mov rbp, rsp
    mov rax, [rbp + 8]
    add rax, @
    FAULT
    pop rbp
    ret

"""
FORTRAN_UNIT = """\
subroutine total@(items, n, sum)
  implicit none
  integer, intent(in) :: n
  real, intent(in) :: items(n)
  real, intent(out) :: sum
  integer :: i
  sum = 0.0
  do i = 1, n
    sum = sum + items(i)
    FAULT
  end do
end subroutine total@

"""
CMAKE_UNIT = """\
set(NAME@ "part@")
set(FILES@ a.c b.c c.c)
foreach(file IN LISTS FILES@)
  string(TOUPPER "${file}" upper)
  FAULT
endforeach()
function(show@ text)
  set(shown "${text}")
endfunction()
show@("${NAME@}")

"""
MAKE_UNIT = """\
OBJECTS@ = a@.o b@.o
part@: $(OBJECTS@)
	echo linking $@ from $^
FAULT

a@.o b@.o:
	echo compiling $@

"""
YAML_UNIT = """\
  - name: job@
    image: python:3.@
    steps:
      - run: make test
      - run: make docs
    FAULT
    env:
      LEVEL: "@"
"""

ESLINT_CONFIG = """\
export default [{rules: {
  "no-undef": 2, "no-unused-vars": 2, "no-cond-assign": 2, "no-constant-condition": 2,
  "no-debugger": 2, "no-self-compare": 2, "no-duplicate-case": 2, "use-isnan": 2,
  "no-unused-expressions": 2,
}}];
"""
STYLELINT_CONFIG = """\
export default {rules: {
  "property-no-unknown": true, "color-no-invalid-hex": true, "unit-no-unknown": true,
  "declaration-block-no-duplicate-properties": true, "block-no-empty": true,
  "no-duplicate-selectors": true,
}};
"""

# No command writes to a device: some tools remove what they could not finish.
TOOLS = (
    Tool("gcc", "shop.c", ("-fsyntax-only", "-Wall"), C_UNIT, C_FAULTS, GCC_FIRST),
    Tool("clang", "shop.c", ("-fsyntax-only", "-Wall"), C_UNIT, C_FAULTS, GCC_FIRST, is_slow=True),
    Tool(
        "g++",
        "shop.cc",
        ("-fsyntax-only", "-std=c++17"),
        CPP_UNIT,
        CPP_FAULTS,
        GCC_FIRST,
        head="#include <algorithm>\n#include <string>\n#include <vector>\n\n",
        units=8,
        is_slow=True,
    ),
    Tool(
        "gfortran",
        "shop.f90",
        ("-fsyntax-only",),
        FORTRAN_UNIT,
        (
            "sum = sum + missing@",
            "sum = 'text'",
            "items(i) = 0.0",
            "call total@(items)",
            "if (i > ) sum = 0",
            "sum = items(i, 2)",
            "integer :: late",
            "sum = sum ** ",
        ),
        r"^(Error: .*)$",
    ),
    Tool(
        "rustc",
        "shop.rs",
        ("--crate-type=lib", "--emit=metadata", "-o", "made"),
        RUST_UNIT,
        RUST_FAULTS,
        r"^(error(?:\[\w+\])?: .*)$",
        units=8,
        is_slow=True,
    ),
    Tool(
        "go",
        "shop.go",
        ("vet",),
        GO_UNIT,
        GO_FAULTS,
        r"^(?:vet: )?\S+:\d+:\d+: (.*)$",
        head="package shop\n\n",
        units=8,
        is_slow=True,
    ),
    Tool(
        "gofmt",
        "shop.go",
        ("-e", "-l"),
        GO_UNIT,
        (
            "sum += one..price",
            "if one.count > {",
            "sum := = 3",
            "for one range items {}",
            "x := [3",
        ),
        r"^\S+:\d+:\d+: (.*)$",
        head="package shop\n\n",
    ),
    Tool(
        "javac",
        "Shop.java",
        ("-d", "out"),
        JAVA_UNIT,
        JAVA_FAULTS,
        r"^\S+:\d+: (error: .*)$(?:(?:\n .*)*?\n  (?:symbol|reason): +(.*)$)?",
        head="import java.util.List;\n\n",
        units=6,
        is_slow=True,
    ),
    Tool("node", "shop.mjs", ("--check",), JS_UNIT, JS_FAULTS, r"^(\w*Error: .*)$"),
    Tool(
        "tsc",
        "shop.ts",
        ("--noEmit", "--strict", "--pretty", "false"),
        TS_UNIT,
        TS_FAULTS,
        r"^\S+\(\d+,\d+\): (error TS\d+: .*)$",
        units=8,
        is_slow=True,
    ),
    Tool(
        "eslint",
        "shop.js",
        (),
        JS_UNIT,
        JS_LINT_FAULTS,
        r"^\s+\d+:\d+\s+error\s+(.*)$",
        units=8,
        beside=(
            (
                "eslint.config.mjs",
                ESLINT_CONFIG,
            ),
        ),
        is_slow=True,
    ),
    Tool(
        "prettier",
        "shop.js",
        (),
        JS_UNIT,
        JS_FAULTS,
        r"^\[error\] \S+: (.*?)(?: \(\d+:\d+\))?$",
        units=8,
    ),
    Tool(
        "stylelint",
        "shop.css",
        (),
        CSS_UNIT,
        (
            "colour: red;",
            "color: #ggg;",
            "color: red; color: blue;",
            "margin: 1pixel;",
            "a@ {}",
            "padding: ;",
        ),
        r"^\s+\d+:\d+\s+✖\s+(.*)$",
        beside=(
            (
                "stylelint.config.mjs",
                STYLELINT_CONFIG,
            ),
        ),
        is_slow=True,
    ),
    Tool(
        "esbuild",
        "shop.ts",
        ("--log-level=error", "--outfile=made.js"),
        JS_UNIT,
        JS_FAULTS,
        r"^✘ \[ERROR\] (.*)$",
    ),
    Tool(
        "ruff",
        "shop.py",
        ("check", "--no-cache"),
        PY_UNIT,
        PY_FAULTS,
        r"^([A-Z]+\d+|invalid-syntax)[ :](.*)$",
        name="ruff",
    ),
    Tool(
        "ruff",
        "shop.py",
        ("format", "--check", "--no-cache"),
        PY_UNIT,
        PY_SYNTAX,
        r"^(invalid-syntax: .*)$",
        name="ruff-format",
    ),
    Tool(
        "mypy",
        "shop.py",
        ("--no-incremental",),
        PY_UNIT,
        PY_FAULTS,
        r"^\S+:\d+: (error: .*)$",
        units=8,
        is_slow=True,
    ),
    Tool("flake8", "shop.py", ("--ignore=E501",), PY_UNIT, PY_FAULTS, r"^\S+:\d+:\d+: (\w+ .*)$"),
    Tool(
        "pylint",
        "shop.py",
        ("--disable=R,C0103", "--persistent=n"),
        PY_UNIT,
        PY_FAULTS,
        r"^\S+:\d+:\d+: (\w+: .*)$",
        head='"""Things."""\n\n',
        units=6,
        is_slow=True,
    ),
    Tool(
        "black",
        "shop.py",
        ("--check", "-q"),
        PY_UNIT,
        PY_SYNTAX,
        r"^(error: .*?): \S+:\d+:\d+\n(?:\s.*\n)*(\w.*)",
    ),
    Tool(
        "yamllint",
        "shop.yaml",
        (),
        YAML_UNIT,
        ("when:  always", "name: twice", "needs : a", "on: [a,b]", "  deep: 3", "text: 'open"),
        r"^\s+\d+:\d+\s+error\s+(.*)$",
        head="---\njobs:\n",
    ),
    Tool(
        "sqlfluff",
        "shop.sql",
        ("lint", "--dialect=sqlite", "--disable-progress-bar", "-e", "LT02,LT09,AL03,LT14"),
        SQL_UNIT,
        (
            "select Name from item@;",
            "SELECT name  FROM item@;",
            "SELECT a.name FROM item@ AS a, item@ AS b;",
            "SELECT FROM WHERE;",
            "SELECT name as n FROM item@ order by 1;",
        ),
        r"^L:\s*\d+ \| P:\s*\d+ \| (\w+ \| .*)$",
        units=6,
        is_slow=True,
    ),
    Tool(
        "ruby",
        "shop.rb",
        ("-c",),
        RUBY_UNIT.replace("@name", "\0name").replace("@count", "\0count"),
        (
            "sum += other.",
            "if other.count > then",
            "sum += (other.count",
            "end end",
            "5 = sum",
            "x = 'it's'",
            "def 3; end",
        ),
        r"^\S+:\d+: (.*)$",
    ),
    Tool(
        "php",
        "shop.php",
        ("-l",),
        PHP_UNIT,
        (
            "$sum += ;",
            "$sum += $other->;",
            "if ($sum > 3 {",
            "$sum = 'it's';",
            "break 3;",
            "$this = 4;",
            "const A = 3;",
            "function () { return 1 }",
        ),
        r"^PHP (\w+ error: .*) in \S+ on line \d+$|^(\w+ error: .*) in \S+ on line \d+$",
        head="<?php\n\n",
    ),
    Tool(
        "perl",
        "shop.pl",
        ("-c",),
        PERL_UNIT.replace("@_", "\0_").replace("@{", "\0{"),
        (
            "$sum += $missing@;",
            "$sum += ;",
            "my $left = (3 + 4;",
            "if $sum > 3 { $sum = 3; }",
            "$sum += $item->{price;",
            "bareword@ + 1;",
            "my ($a, $b = 3;",
        ),
        r"^(.*?) at \S+ line \d+(.*)$",
        head="use strict;\nuse warnings;\n\n",
        quiet=("-X",),
    ),
    Tool(
        "luac5.4",
        "shop.lua",
        ("-p",),
        LUA_UNIT,
        (
            "sum = sum +",
            "if sum > 3 sum = 3 end",
            "local 3 = sum",
            "goto nowhere@",
            "sum = 'it's'",
            "end end",
            "sum = (3",
            "x <const> = 3",
        ),
        r"^luac5.4: \S+:\d+: (.*)$",
    ),
    Tool(
        "tclsh",
        "shop.tcl",
        (),
        TCL_UNIT,
        (
            "incr sum $missing",
            "incr sum text",
            "unknown@ command",
            "set sum [expr {$sum / 0}]",
            "set",
            "lindex",
            "error {no stock}",
        ),
        r"^(.*)$",
    ),
    Tool(
        "bash",
        "shop.sh",
        ("-n",),
        SHELL_UNIT.replace("$@", "$\0"),
        ("if [ 3 ]; done", "fi", "echo )", "case x in esac;;", "sum=(1 2", "done done", "| cat"),
        r"^\S+: line \d+: (.*)$",
    ),
    Tool(
        "shellcheck",
        "shop.sh",
        ("-f", "gcc"),
        SHELL_UNIT.replace("$@", "$\0"),
        (
            "echo $item",
            "cd $sum",
            "unused@=3",
            "[ $item == 3 ]",
            "ls | grep x",
            "echo `date`",
            "local a=$(date)",
            "if [ 3 ]; done",
        ),
        r"^\S+:\d+:\d+: (error: .*)$",
        mild=r"^\S+:\d+:\d+: (.*)$",
        head="#!/bin/sh\n",
        units=8,
    ),
    Tool(
        "xmllint",
        "shop.xml",
        ("--noout",),
        XML_UNIT,
        (
            "<note>open",
            "<note kind=3>no quotes</note>",
            "<note a='1' a='2'>twice</note>",
            "<note>&unknown;</note>",
            "<note>a < b</note>",
            "</note>",
            "<1note/>",
        ),
        r"^\S+:\d+: (\w+ error : .*)$",
        head='<?xml version="1.0"?>\n<shop>\n',
        tail="</shop>\n",
    ),
    Tool(
        "tidy",
        "shop.html",
        ("-q", "-e"),
        HTML_UNIT,
        (
            "<unknown@>text</unknown@>",
            "</div>",
            "<p><b>open</p>",
            "<img src='a.png'>",
            "<thing@/>",
            "<p align=left>old",
        ),
        r"^line \d+ column \d+ - (Error: .*)$",
        mild=r"^line \d+ column \d+ - (Warning: .*)$",
        head="<!DOCTYPE html>\n<html lang='en'>\n<head><title>Shop</title></head>\n<body>\n",
        tail="</body>\n</html>\n",
    ),
    Tool(
        "jq",
        "shop.json",
        (".",),
        '  "item@": {"name": "bolt", "count": @, "tags": ["a", "b"]},\n  FAULT\n',
        ('"bad": [1 2],', '"bad": {,', '"bad": nope,', "'bad': 3,", '"bad" 3,', '"bad": [1, 2},'),
        r"^(?:jq: error|parse error): (.*) at line \d+, column \d+$",
        head="{\n",
        tail='  "last": 1\n}\n',
        units=60,
    ),
    Tool(
        "sqlite3",
        "shop.sql",
        ("-bail", "-batch", ":memory:", ".read %"),
        SQL_UNIT,
        (
            "SELECT missing@ FROM item@;",
            "SELECT FROM item@;",
            "INSERT INTO item@ (id, name) VALUES (1, 'again');",
            "INSERT INTO item@ (id) VALUES (9);",
            "CREATE TABLE item@ (id INTEGER);",
            "DROP TABLE nowhere@;",
            "INSERT INTO item@ VALUES (7, 'x');",
            "SELECT nosuch(name) FROM item@;",
        ),
        r"^(?:Parse error|Runtime error|Error) near line \d+: (.*)$",
    ),
    Tool(
        "nginx",
        "shop.conf",
        ("-t", "-q", "-p", ".", "-e", "stderr", "-c"),
        NGINX_UNIT,
        (
            "proxy_unknown on;",
            "proxy_pass;",
            "root /a /b;",
            "proxy_buffering maybe;",
            "proxy_read_timeout soon;",
            "listen 80;",
            "return;",
            "proxy_set_header Host $nothing;",
        ),
        r"\[emerg\] \d+#\d+: (.*?)(?: in \S+:\d+)?$",
        head="events {}\nhttp {\n",
        tail="}\n",
    ),
    Tool(
        "bison",
        "shop.y",
        ("-o", "made"),
        BISON_UNIT,
        (
            "other@: missing@ PLUS NUMBER;",
            "rule@: MINUS { $$ = $4; };",
            "%token late",
            "other@: NUMBER",
            "| NUMBER;",
            "other@: rule@ { $$ = $x; };",
        ),
        r"^\S+:\d+\.[\d.-]+: (error: .*)$",
        head="%token NUMBER PLUS MINUS\n%%\nstart: rule0 ;\n",
    ),
    Tool(
        "gawk",
        "shop.awk",
        ("--lint", "-f", "%"),
        AWK_UNIT,
        (
            "sum +=",
            "if (sum > 3",
            "print > ",
            "next = 3",
            "sum = items[",
            "func = 3",
            "return }",
            "getline <",
        ),
        r"^gawk: \S+:\d+: \s*\^ (.*)$|^gawk: \S+:\d+: (?:fatal|error): (.*)$",
    ),
    Tool(
        "protoc",
        "shop.proto",
        ("-o", "made"),
        PROTO_UNIT,
        (
            "Missing@ other = 4;",
            "string again = 1;",
            "string name = 5;",
            "int other = 6;",
            "string text 7;",
            "string zero = 0;",
            "reserved 2;",
            "required int32 old = 8;",
        ),
        r"^\S+\.proto(?::\d+:\d+)?: (.*)$",
        head='syntax = "proto3";\npackage shop;\n\n',
    ),
    Tool(
        "dot",
        "shop.gv",
        ("-Tcanon", "-o", "made"),
        DOT_UNIT,
        ("a@ -> ;", "a@ [shape=];", "a@ -- b@;", "[color=red];", "a@ -> b@ [label];", "} {"),
        r"^Error: \S+: (syntax error in line) \d+( near .*)$",
        head="digraph shop {\n",
        tail="}\n",
    ),
    Tool(
        "ocamlc",
        "shop.ml",
        ("-stop-after", "typing"),
        ML_UNIT,
        (
            "let part = part + 1 in",
            "let weight = item.weight in",
            "let other = missing@ item in",
            "let text : string = item.count in",
            "let part = in",
            "let both = total@ 3 in",
            "if part then 1.0 else",
        ),
        r"^(Error: .*(?:\n .*)*)",
    ),
    Tool(
        "nasm",
        "shop.asm",
        ("-f", "elf64", "-o", "made"),
        ASM_UNIT,
        (
            "mov rax, missing@",
            "mvo rax, rbx",
            "mov rax, eax",
            "add 3, rax",
            "mov rax, [rbp + rax + rbx]",
            "part@:",
            "push rax, rbx",
        ),
        r"^\S+:\d+: (error: .*)$",
        head="section .text\n\n",
    ),
    Tool(
        "cmake",
        "shop.cmake",
        ("-P",),
        CMAKE_UNIT,
        (
            "missing@(${file})",
            'message(FATAL_ERROR "no ${file}")',
            "string(UPCASE ${file})",
            "list(GET FILES@ 99 one)",
            "set()",
            "if(",
            "include(nowhere@.cmake)",
            'math(EXPR x "1 +")',
        ),
        r"^CMake Error at \S+:\d+(.*):((?:\n(?: .*)?)+)|^CMake Error: (?!Error processing)(.*)$",
    ),
    Tool(
        "make",
        "shop.mk",
        ("-n", "-f", "%", "part13"),
        MAKE_UNIT.replace("$@", "$\0"),
        ("endif", "    spaces", "ifeq (a", "= empty", "$(error no part@)", "a: b: c: d", "endef"),
        r"^\S+:\d+: (\*\*\* .*?)(?:\.  Stop\.)?$|^make: (\*\*\* .*)$",
    ),
)
