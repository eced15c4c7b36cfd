"""`zeroin stacks` on event loops of programs that zeroin did not start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import support
from plain_user import plain_user
from zeroin.observe.stacks import afar

# Each task waits in another way; the program then tells of all of them as our agent would.
PROGRAM = """
    import asyncio, json, os, sys, threading
    sys.path.append(sys.argv[1])
    from zeroin.agent import tasks

    class Wraps:
        def __await__(self):
            return deep(1, 2, 3).__await__()
    class Delegates:
        def __await__(self):
            yield from deep(1, 2, 3).__await__()
    class Yields:
        def __await__(self):
            self.others = (print for _ in "ab")
            for _ in self.others:
                future = asyncio.get_running_loop().create_future()
                future._asyncio_future_blocking = True
                yield future
    class Own(asyncio.Task):
        pass

    async def deep(a, b, c):
        held = [a, b, (c, await asyncio.get_running_loop().create_future())]
        return held
    async def rows():
        for number in range(3):
            yield number
            await asyncio.sleep(1000)
    async def over():
        async for row in rows():
            last = row
    async def again():
        async for row in rows():
            yield row
    async def nested():
        async for row in again():
            last = row
    async def awaits(what):
        one, two, three = 1, 2, 3
        return [one, two, await what]
    async def locked(lock):
        async with lock:
            pass
    async def quick():
        pass
    async def long(depth):
        if depth:
            await long(depth - 1)
        await asyncio.Event().wait()

    def other_loop(up):
        async def elsewhere():
            asyncio.current_task().set_name("elsewhere")
            up.set()
            await asyncio.sleep(1000)
        asyncio.run(elsewhere())

    async def main():
        loop = asyncio.get_running_loop()
        lock = asyncio.Lock()
        await lock.acquire()
        kept = [
            loop.create_task(over(), name="over"),
            loop.create_task(nested(), name="nested"),
            loop.create_task(awaits(Wraps()), name="wr\\u00e4ps"),
            loop.create_task(awaits(Delegates()), name="\\u65e5\\u672c"),
            loop.create_task(awaits(Yields()), name="\\U0001f41b"),
            loop.create_task(locked(lock), name="x" * 300),
            loop.create_task(asyncio.Queue().get()),
            loop.create_task(long(150), name="long"),
            Own(deep(1, 2, 3), loop=loop, name="own"),
            loop.create_task(quick(), name="done"),
        ]
        if hasattr(asyncio, "eager_task_factory"):
            kept.append(asyncio.Task(deep(1, 2, 3), loop=loop, name="eager", eager_start=True))
        cancelled = loop.create_task(deep(1, 2, 3), name="cancelled")
        await asyncio.sleep(0)
        cancelled.cancel()
        for _ in range(10):
            await asyncio.sleep(0)
        up = threading.Event()
        threading.Thread(target=other_loop, args=[up], daemon=True).start()
        up.wait()
        kept.append(loop.create_task(tell(kept, asyncio.current_task()), name="tells"))
        await asyncio.gather(*kept)

    async def tell(kept, first):
        await asyncio.sleep(0.01)
        told = {one.get_name(): tasks.stack(one) for one in [*kept[:-1], first] if not one.done()}
        with open("told.new", "w") as file:
            json.dump(told, file)
        os.rename("told.new", "told.json")
        await asyncio.get_running_loop().create_future()

    asyncio.run(main())
"""


def tasks(pid):
    """Read the tasks of a process: name → frames, innermost first."""
    reading = afar.read([pid])
    assert not reading.failed
    return {one.thread.removeprefix("Task "): one.frames[::-1] for one in reading.tasks[pid]}


@pytest.mark.parametrize("version", support.interpreters())
def test_tasks_are_told_as_the_program_itself_would(stuck, version):
    """Names, files and lines of all that wait, on each Python; not what is done, or cancelled."""
    pid = stuck.start(PROGRAM, str(support.SRC), python=support.interpreters()[version]).pid
    file = stuck.folder / "told.json"
    # It has told, and waits for ever now.
    stuck.until(pid, lambda _: file.exists() and tasks(pid)["tells"][0][2] == "tell")
    found = tasks(pid)
    expected = json.loads(file.read_text())
    assert len(expected) == 10 + (support.as_numbers(version) >= (3, 12))
    assert {name for name, frames in expected.items() if len(frames) > 3} == {"long", "nested"}
    assert found.pop("tells")[0][2] == "tell"
    assert [frame[2] for frame in found.pop("elsewhere")] == ["sleep", "elsewhere"]
    assert found == {name: list(map(tuple, frames)) for name, frames in expected.items()}


def test_what_the_command_says(stuck):
    """The verdict counts the tasks, and says where most of them are; JSON has each."""
    pid = stuck.start("""
        import asyncio
        async def fetch():
            await asyncio.Event().wait()
        async def main():
            await asyncio.gather(*[fetch() for _ in range(300)])
        asyncio.run(main())
    """).pid
    found = stuck.until(pid, "301 tasks wait")
    assert found["verdict"] == (
        f"pid {pid} waits in its event loop: "
        "300 of 301 tasks wait for an event or a condition at prog.py:4 fetch()"
    )
    assert sorted(len(group["threads"]) for group in found["groups"]) == [1, 1, 300]
    text = stuck.zeroin("stacks", str(pid)).stdout
    assert "300 tasks of pid" in text
    assert "can't be read" not in text


def test_a_loop_that_is_held_up_has_other_tasks(stuck):
    """They are read from outside: a loop that stands still could not answer."""
    pid = stuck.start("""
        import asyncio, time
        async def other():
            await asyncio.sleep(0)
            await asyncio.sleep(1000)
        async def main():
            one, two = asyncio.create_task(other()), asyncio.create_task(other())
            await asyncio.sleep(0.01)
            time.sleep(1000)
        asyncio.run(main())
    """).pid
    verdict = stuck.until(pid, "sleeps at prog.py:9 main()")["verdict"]
    assert verdict.endswith("it sleeps at prog.py:9 main(); 2 other tasks can't go on")


def test_a_loop_that_never_rests(stuck):
    """Its tasks come and go while they are read: those that stay are told all the same."""
    pid = stuck.start("""
        import asyncio
        async def passes(depth):
            if depth:
                return await passes(depth - 1)
            await asyncio.sleep(0)
        async def stays():
            await asyncio.Event().wait()
        async def main():
            kept = asyncio.create_task(stays(), name="stays")
            open("up", "w").close()
            while True:
                await asyncio.gather(*[passes(n) for n in range(20)])
        asyncio.run(main())
    """).pid
    stuck.until(pid, lambda _: (stuck.folder / "up").exists(), stands=True)
    for _ in range(6):
        found = tasks(pid)
        assert [frame[2] for frame in found["stays"]] == ["wait", "stays"]
        assert {frame[2] for name in found.keys() - {"stays"} for frame in found[name]} <= {
            *("passes", "main", "sleep", "__sleep0")
        }


def test_an_interpreter_that_does_not_start_again(stuck):
    """The stacks are told as ever, and why the tasks can't be; the exit code is that of a look."""
    python = stuck.folder / "python"
    shutil.copy(os.path.realpath(support.base_python()), python)
    home = os.path.dirname(os.path.dirname(os.path.realpath(support.base_python())))
    text = """
        import asyncio
        async def main():
            await asyncio.sleep(1000)
        asyncio.run(main())
    """
    pid = stuck.start(text, python=str(python), env={"PYTHONHOME": home}).pid
    stuck.until(pid, "its task Task-1 sleeps at prog.py:4")
    python.chmod(0o600)
    done = stuck.zeroin("stacks", str(pid))
    assert done.returncode == 0
    assert done.stdout.startswith(f"pid {pid} waits in its event loop at prog.py:5")
    assert (
        "what its tasks wait for can't be read: "
        "its interpreter can't be started again: permission denied"
    ) in done.stdout


def test_a_program_that_has_python_in_it_is_not_started_again(stuck):
    """One that is frozen or embeds Python is no interpreter: it would do its work twice."""
    server = stuck.folder / "server"
    shutil.copy(os.path.realpath(support.base_python()), server)
    home = os.path.dirname(os.path.dirname(os.path.realpath(support.base_python())))
    text = """
        import asyncio
        asyncio.run(asyncio.sleep(1000))
    """
    pid = stuck.start(text, python=str(server), env={"PYTHONHOME": home}).pid
    stuck.until(pid, "waits in its event loop at prog.py:3")
    assert afar.read([pid]).failed == {
        pid: "server is no interpreter that could be started again to read them"
    }


@support.needs("unshare")
def test_what_is_in_a_container_stays_in_it(stuck):
    """An interpreter that others brought there is not run outside of it."""
    if os.geteuid():
        pytest.skip("needs root")
    words = (
        "unshare",
        "-m",
        support.base_python(),
        "-c",
        "import asyncio; asyncio.run(asyncio.sleep(1000))",
    )
    pid = stuck.run(*words).pid
    found = stuck.until(pid, "in its event loop")
    assert found["verdict"] == f"pid {pid} waits in its event loop at <string>:1"
    assert "in a container or a sandbox" in stuck.zeroin("stacks", str(pid)).stdout


def test_names_can_not_write_on_the_terminal(stuck):
    """A task is called what its program likes."""
    pid = stuck.start("""
        import asyncio
        async def main():
            asyncio.current_task().set_name("a\\x1b[2J\\nb")
            await asyncio.sleep(1000)
        asyncio.run(main())
    """).pid
    stuck.until(pid, "its task a")
    text = stuck.zeroin("stacks", str(pid)).stdout
    assert "\x1b" not in text
    assert not any(line.startswith("b") for line in text.splitlines())


def test_another_users_interpreter_is_not_run_as_root(stuck):
    """Whoever may change it could do as root what they like: it is started as its own user."""
    if os.geteuid():
        pytest.skip("needs root")
    with plain_user() as user:
        python = Path(os.path.realpath(user.python))
        ask = "import sysconfig; print(sysconfig.get_path('stdlib'))"
        library = Path(user.run(python, "-c", ask).stdout.strip())
        own = user.folder / "lib" / library.name
        own.mkdir(parents=True)
        for path in library.iterdir():
            (own / path.name).symlink_to(path)
        (own / "encodings").unlink()
        shutil.copytree(library / "encodings", own / "encodings")
        trap = f"import posix\nposix.write(posix.open({str(user.folder / 'who')!r}, 1025), "
        with (own / "encodings" / "__init__.py").open("a") as file:
            file.write(trap + "b'%d ' % posix.getuid())\n")
        (user.folder / "bin").mkdir()
        shutil.copy(python, user.folder / "bin" / "python3")
        (user.folder / "who").touch()
        (user.folder / "who").chmod(0o666)
        program = user.folder / "prog.py"
        program.write_text("import asyncio\nasyncio.run(asyncio.sleep(1000, 'x'))\n")
        with subprocess.Popen(
            [user.folder / "bin" / "python3", program], env=user.env, cwd="/", **user.identity
        ) as process:
            try:
                stuck.until(process.pid, "its task Task-1 sleeps")
            finally:
                process.kill()
        who = (user.folder / "who").read_text().split()
    assert len(who) > 1
    assert set(who) == {str(user.uid)}


def test_a_loop_without_frames(stuck, libs):
    """Uvloop's is written in C: it is a loop all the same, and one that can be held up."""
    text = """
        import asyncio, sys, time, uvloop
        async def other():
            await asyncio.Event().wait()
        async def main():
            kept = [asyncio.create_task(other()) for _ in range(12)]
            await asyncio.sleep(0.01)
            if sys.argv[1] == "held":
                time.sleep(1000)
            await asyncio.gather(*kept)
        uvloop.run(main())
    """
    waits = stuck.start(text, "waits", python=libs).pid
    found = stuck.until(waits, "tasks wait")
    assert found["verdict"] == (
        f"pid {waits} waits in its event loop: "
        "12 of 13 tasks wait for an event or a condition at prog.py:4 other()"
    )
    held = stuck.start(text, "held", python=libs).pid
    found = stuck.until(held, "it sleeps")
    assert found["verdict"] == (
        f"pid {held} holds up its event loop: it sleeps at prog.py:9 main(); "
        "12 other tasks can't go on"
    )
