"""Limits with the verbs that run a command many times."""

import json
import os

import pytest

from support import needs


def test_in_a_loop(someone):
    """Each run has the whole limit again, and says so; nothing of the one before is there."""
    someone.folder("out")
    someone.write(
        "fill.py",
        """
        import os
        def fill():
            with open("out/x", "ab") as file:
                file.write(bytes(900_000))
                file.flush()
                print(file.tell())
        fill()
        """,
    )
    process = someone.start(
        "loop", "--json", "--limit", "disk=out:1M", "--", "python", "fill.py", stdin=-1
    )
    with process:
        first = json.loads(process.stdout.readline())
        process.stdin.write("run\n")
        process.stdin.flush()
        second = json.loads(process.stdout.readline())
        process.stdin.write("quit\n")
        _, err = process.communicate(timeout=30)
    for done in (first, second):
        assert (done["outcome"], done["mode"]) == ("passed", "cold"), err
        assert done["limits"][0]["detail"] == "901 KB of 1.0 MB used at the end"
    assert "every run is cold: each begins with its whole --limit" in err
    assert os.listdir(someone.project / "out") == []


def test_while_shrinking(someone):
    """The failure is that of the limit, in each try; the smallest payload that fills the disk is found."""
    someone.folder("out")
    someone.write("sizes.txt", "".join(f"{size}\n" for size in (100, 40, 700_000, 3, 600_000, 9)))
    someone.write(
        "fill.py",
        """
        def fill():
            for number, line in enumerate(open("sizes.txt")):
                with open(f"out/{number}", "wb") as file:
                    file.write(bytes(int(line or 0)))
        fill()
        """,
    )
    done = someone.json("shrink", "--limit", "disk=out:1M", "sizes.txt", "--", "python", "fill.py")
    assert (done["verdict"], done["confirmed"]) == ("found", True)
    assert "No space left on device" in done["signature"]
    assert "limit disk=out:1M by overlay on tmpfs" in done["notes"]
    left = (someone.project / "sizes.min.txt").read_text().split()
    assert sum(map(int, left)) > 1_000_000
    assert len(left) < 3
    assert "zeroin run --limit disk=out:1M -- python fill.py" in done["command"][-1]
    assert os.listdir(someone.project / "out") == []


FILLS = "open('out/x', 'wb').write(bytes(2_000_000))"


@needs("strace")
@pytest.mark.parametrize("options", [(), ("--no-agent",)], ids=["agent", "no agent"])
def test_traced(someone, options):
    """Strace works in the command's namespaces; what the limit did is not put down to the machine."""
    someone.folder("out")
    done = someone.json("files", *options, "--limit", "disk=out:1M", "--", "python", "-c", FILLS)
    assert done["run"]["outcome"] == "limit"
    (failure,) = [one for one in done["failures"] if one["error"] == "ENOSPC"]
    assert failure["path"] == str(someone.project / "out" / "x")
    assert failure["reason"] == "that is --limit disk=out:1M"


@needs("strace")
@pytest.mark.parametrize("limit", ["readonly=out", "shm=1M", "network=off", "processes=20"])
def test_traced_in_each_namespace(someone, limit):
    """The command runs, and ends as itself."""
    someone.folder("out")
    done = someone("files", "--limit", limit, "--", "sh", "-c", "cat /nowhere; exit 7")
    assert done.returncode == 7, done.stderr
    assert "/nowhere: open to read" in done.stderr
