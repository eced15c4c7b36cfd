"""For tests of `zeroin run`: programs to write, what it told as JSON, and waiting for a thing."""

import json
import textwrap
import time


def write(folder, name, source):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))
    return path


def run_json(zeroin, *args, **options):
    done = zeroin("run", "--json", *args, **options)
    return json.loads(done.stdout)


def until(condition, seconds=30):
    """Whether it becomes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False
