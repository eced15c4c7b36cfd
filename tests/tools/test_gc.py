"""`gc`: the record and the cache of searches stay below their bounds, and it says what it did."""

import json
import os

import pytest

from zeroin.run.package_cache import CacheUse

SIZE = 100_000


class Cache:
    """The cache of searches, with releases and an environment that were used one after another."""

    def __init__(self, environ):
        self.folder = os.path.join(environ["XDG_CACHE_HOME"], "zeroin")
        self.paths = {
            name: os.path.join(self.folder, below, name)
            for name, below in (
                ("a-1.0", "pins/cpython-311"),
                ("env", "editable"),
                ("b-2.0", "pins/cpython-311"),
                ("c-3.0", "pins/cpython-312"),
            )
        }
        for number, path in enumerate(self.paths.values()):
            os.makedirs(os.path.join(path, "lib"))
            with open(os.path.join(path, "lib", "code"), "wb") as file:
                file.write(os.urandom(SIZE))
            os.utime(path, (1000 + number, 1000 + number))

    def left(self):
        """Names of what is still there."""
        return [name for name, path in self.paths.items() if os.path.exists(path)]


@pytest.fixture
def cache(zeroin):
    return Cache(zeroin.env)


def test_the_cache_is_told_and_left_alone_below_its_bound(zeroin, cache, project):
    """`gc` says how large it is, and what it may be."""
    zeroin("run", "--", "true", cwd=project)
    said = zeroin("gc", cwd=project).stdout
    assert "nothing to take: the record holds" in said
    assert "the cache of searches (~/.cache/zeroin) holds" in said
    assert "and may hold 5.4 GB" in said
    assert len(cache.left()) == 4


def test_what_was_not_used_for_the_longest_time_leaves_the_cache_first(zeroin, cache, project):
    """`--cache-to` and the setting both bound it."""
    said = zeroin("gc", "--cache-to", str(3 * SIZE + 50_000), cwd=project).stdout
    assert "took 1 package or environment from the cache of searches" in said
    assert cache.left() == ["env", "b-2.0", "c-3.0"]
    os.utime(cache.paths["env"])
    zeroin("gc", cwd=project, env={"ZEROIN_CACHE_MAX": str(2 * SIZE + 50_000)})
    assert cache.left() == ["env", "c-3.0"]
    zeroin("gc", "--cache-to", "0", cwd=project)
    assert cache.left() == []


def test_a_cache_in_use_is_left_alone(zeroin, cache, project):
    """`gc` says why nothing was taken; a search alone brings it below its bound first."""
    use = CacheUse(zeroin.env, 2 * SIZE + 50_000)
    assert cache.left() == ["b-2.0", "c-3.0"]
    try:
        said = zeroin("gc", "--cache-to", "0", cwd=project).stdout
    finally:
        use.close()
    assert "nothing was taken, since a search is using it" in said
    assert cache.left() == ["b-2.0", "c-3.0"]


def test_the_cache_is_covered_where_there_is_no_record(zeroin, cache, tmp_path):
    """`gc` works in any folder, and tells both as JSON."""
    (tmp_path / "new").mkdir()
    done = zeroin("gc", "--cache-to", "0", cwd=tmp_path / "new")
    assert "nothing has been recorded in this folder yet" in done.stdout
    assert (done.returncode, cache.left()) == (0, [])
    told = json.loads(zeroin("gc", "--json", cwd=tmp_path / "new").stdout)
    assert told["cache"] == {
        "folder": cache.folder,
        "before": 0,
        "after": 0,
        "bound": 5 << 30,
        "removed": 0,
        "is_busy": False,
    }


def test_gc_says_why_it_stops_above_what_was_asked_for(zeroin, project):
    """The last attempts stay: what they hold is listed, the largest first, also as JSON."""
    for _ in range(2):
        zeroin("run", "-q", "--", "head", "-c", "900000", "/dev/zero", cwd=project)
    done = zeroin("gc", "--to", "100k", cwd=project)
    first, second = done.stdout.splitlines()[:2]
    assert first.startswith("nothing to take: the record holds 1.")
    assert "which is more than 100 KB: the last 20 attempts always stay" in first
    assert second.startswith("  what takes the room: output 1.")
    assert "code" in second
    told = json.loads(zeroin("gc", "--to", "100k", "--json", cwd=project).stdout)
    assert told["parts"][0]["name"] == "output"
    assert sum(one["size"] for one in told["parts"]) == told["after"]
    assert "always stay" not in zeroin("gc", "--to", "1G", cwd=project).stdout
