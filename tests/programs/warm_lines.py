"""Edit standard library files at random, and compare moved line tables with newly made ones.

`warm_lines.py AGENT SEED`: prints how many code objects were compared, how many edits had each
line at one place only, and each difference.
"""

import dis
import glob
import os
import random
import sys

package = type(sys)("_zeroin_agent")
package.__path__ = [sys.argv[1]]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.source import edits, lines, positions, texts  # noqa: E402

chance = random.Random(int(sys.argv[2]))
found = {"codes": 0, "clear": 0, "unclear": 0}


def shape(code):
    """What is the same when nothing but places has changed."""
    consts = ["code" if isinstance(one, type(code)) else one for one in code.co_consts]
    return code.co_code, repr(consts), code.co_name


def places_of(code):
    if hasattr(code, "co_positions"):
        return list(code.co_positions())
    if hasattr(code, "co_lines"):
        return list(code.co_lines())
    return list(dis.findlinestarts(code))


def placed(code, first, table):
    name = "co_linetable" if hasattr(code, "co_lines") else "co_lnotab"
    return code.replace(co_firstlineno=first, **{name: table})


def statements(text):
    """Where a simple statement stands alone on its lines, inside of something."""
    for unit in text.units:
        for point in unit.points:
            node = point.statement
            if point.begins_line and not hasattr(node, "body") and not hasattr(node, "cases"):
                yield node


def edited(source, text):
    rows = source.split("\n")
    node = chance.choice(list(statements(text)))
    at, end = node.lineno - 1, node.end_lineno
    indent = rows[at][: len(rows[at]) - len(rows[at].lstrip())]
    kind = chance.choice(["comment", "many", "statement", "other", "wide"])
    if kind == "comment":
        rows[at:at] = [indent + "# a comment"]
    elif kind == "many":
        rows[at:at] = [""] * 300
    elif kind == "statement":
        rows[end:end] = [indent + "zeroin_was_here = 1"]
    elif kind == "other":
        rows[at:end] = [indent + "zeroin_was_here(", "1,", ")"]
    else:
        rows[at] = indent + rows[at].lstrip() + "  # at the end"
    return "\n".join(rows)


def compare(path):
    with open(path, encoding="utf-8") as file:
        source = file.read()
    text = texts.Text(source.encode(), path)
    new = edited(source, text)
    try:
        after = compile(new, path, "exec")
    except SyntaxError:
        return
    other = texts.Text(new.encode(), path)
    comparison = edits.Comparison(text, other, lambda _: None, path)
    places = positions.Places(comparison)
    found["clear" if places.is_clear else "unclear"] += 1
    if not places.is_clear:
        return
    for old, now in texts.pairs(compile(source, path, "exec"), after):
        if shape(old) != shape(now):
            continue
        first = places.start(old.co_firstlineno)
        if old.co_name == "<module>":
            first = old.co_firstlineno
        if old.co_name == "<module>" or places.first <= old.co_firstlineno < places.rest:
            table = lines.moved(old, first, places.start, places.stop)
        else:
            table = old.co_linetable if hasattr(old, "co_lines") else old.co_lnotab
        found["codes"] += 1
        ours, theirs = places_of(placed(old, first, table)), places_of(now)
        if ours != theirs:
            print("differs", path, old.co_name, old.co_firstlineno, ours, theirs)


library = os.path.dirname(os.__file__)
files = glob.glob(os.path.join(library, "*.py")) + glob.glob(os.path.join(library, "*", "*.py"))
for path in chance.sample(sorted(files), 30):
    try:
        compare(path)
    except (SyntaxError, UnicodeDecodeError, IndexError):  # not every file is for this purpose
        continue
print(found)
