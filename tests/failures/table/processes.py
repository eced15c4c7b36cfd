"""Threads, event loops, child processes and pools: the failure is rarely where it shows."""

from __future__ import annotations

from .failure import Twins, python

POOL = """
    import multiprocessing


    def tokenize(shard):
        if shard == 2:
            raise ValueError("the shard is empty")
        return shard


    def embed(shard):
        if shard == 2:
            raise ValueError("the shard is empty")
        return shard


    def main():
        context = multiprocessing.get_context("fork")
        with context.Pool(2) as pool:
            print(pool.map(tokenize, range(4), chunksize=1))


    if __name__ == "__main__":
        main()
"""

FUTURES = """
    from concurrent.futures import ProcessPoolExecutor


    def crop(image):
        return image["width"] // image["height"]


    def resize(image):
        return image["width"] // image["height"]


    def main():
        images = [{"width": 4, "height": 2}, {"width": 4, "height": 0}]
        with ProcessPoolExecutor(2) as pool:
            print(list(pool.map(crop, images)))


    if __name__ == "__main__":
        main()
"""

PROCESS = """
    import multiprocessing
    import sys


    def train(shard):
        raise ValueError("the shard has no rows")


    def evaluate(shard):
        raise ValueError("the shard has no rows")


    def main():
        context = multiprocessing.get_context("fork")
        worker = context.Process(target=train, args=(3,))
        worker.start()
        worker.join()
        if worker.exitcode:
            sys.exit(f"worker {worker.pid} ended with {worker.exitcode}")


    if __name__ == "__main__":
        main()
"""

DEAD_WORKER = """
    import multiprocessing
    import os
    import signal
    import sys


    def decode(frame):
        os.kill(os.getpid(), signal.SIGSEGV)


    def main():
        context = multiprocessing.get_context("fork")
        worker = context.Process(target=decode, args=(b"frame",))
        worker.start()
        worker.join()
        if worker.exitcode:
            sys.exit(f"worker ended with {worker.exitcode}")


    if __name__ == "__main__":
        main()
"""

THREAD = """
    import sys
    import threading


    def download(results):
        raise ConnectionError("the peer went away")


    def upload(results):
        raise ConnectionError("the peer went away")


    def main():
        results = []
        thread = threading.Thread(target=download, args=(results,))
        thread.start()
        thread.join()
        if not results:
            sys.exit("no results")


    if __name__ == "__main__":
        main()
"""

TASKS = """
    import asyncio


    async def fetch_labels():
        await asyncio.sleep(0)
        raise ConnectionError("the store is closed")


    async def fetch_images():
        await asyncio.sleep(0)
        raise ConnectionError("the store is closed")


    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(fetch_labels())
            group.create_task(asyncio.sleep(5))


    if __name__ == "__main__":
        asyncio.run(main())
"""

FAILURES = [
    python("pool-map-tokenize", POOL, "tokenize"),
    python("pool-map-embed", POOL.replace("map(tokenize", "map(embed"), "embed"),
    python(
        "pool-spawn",
        """
        import multiprocessing

        TABLES = {}


        def look_up(word):
            return TABLES["vocabulary"][word]


        def main():
            TABLES["vocabulary"] = {"a": 1, "b": 2}
            context = multiprocessing.get_context("spawn")
            with context.Pool(1) as pool:
                print(pool.map(look_up, ["a", "b"]))


        if __name__ == "__main__":
            main()
        """,
        "vocabulary",
    ),
    python(
        "pool-lambda",
        """
        import multiprocessing


        def double_all(values):
            context = multiprocessing.get_context("fork")
            with context.Pool(1) as pool:
                return pool.map(lambda value: value * 2, values)


        def main():
            print(double_all([1, 2, 3]))


        if __name__ == "__main__":
            main()
        """,
        "lambda",
    ),
    python("process-train", PROCESS, "train", varies=r"worker \d+ ended"),
    python(
        "process-evaluate",
        PROCESS.replace("target=train", "target=evaluate"),
        "evaluate",
        varies=r"worker \d+ ended",
    ),
    python(
        "process-spawn",
        """
        import multiprocessing
        import sys


        class Shard:
            def __init__(self, rows):
                self.rows = rows


        def count(shard):
            print(len(shard.lines))


        def main():
            context = multiprocessing.get_context("spawn")
            worker = context.Process(target=count, args=(Shard([1, 2]),))
            worker.start()
            worker.join()
            sys.exit(worker.exitcode)


        if __name__ == "__main__":
            main()
        """,
        "lines",
    ),
    python("process-segv", DEAD_WORKER, "SIGSEGV"),
    python("process-kill", DEAD_WORKER.replace("SIGSEGV", "SIGKILL"), "worker ended"),
    python(
        "shared-memory-gone",
        """
        from multiprocessing.shared_memory import SharedMemory


        def attach(name):
            return SharedMemory(name=name)


        def main():
            memory = SharedMemory(create=True, size=16)
            memory.close()
            memory.unlink()
            print(attach(memory.name))


        if __name__ == "__main__":
            main()
        """,
        "FileNotFoundError",
        varies=r"directory: (.*)",
    ),
    python(
        "process-queue-empty",
        """
        import multiprocessing
        import os


        def produce(queue):
            os._exit(9)


        def main():
            context = multiprocessing.get_context("fork")
            queue = context.Queue()
            worker = context.Process(target=produce, args=(queue,))
            worker.start()
            worker.join()
            print(queue.get(timeout=0.1))


        if __name__ == "__main__":
            main()
        """,
        "Empty",
    ),
    python("futures-process-crop", FUTURES, "crop"),
    python("futures-process-resize", FUTURES.replace("map(crop", "map(resize"), "resize"),
    python(
        "futures-broken-exit",
        """
        import os
        from concurrent.futures import ProcessPoolExecutor


        def decode(frame):
            os._exit(3)


        def decode_all(frames):
            with ProcessPoolExecutor(1) as pool:
                return list(pool.map(decode, frames))


        def main():
            print(decode_all(["first"]))


        if __name__ == "__main__":
            main()
        """,
        "BrokenProcessPool",
    ),
    python(
        "futures-broken-kill",
        """
        import os
        import signal
        from concurrent.futures import ProcessPoolExecutor


        def render(scene):
            os.kill(os.getpid(), signal.SIGKILL)


        def render_movie(scenes):
            with ProcessPoolExecutor(1) as pool:
                futures = [pool.submit(render, scene) for scene in scenes]
                return [future.result() for future in futures]


        def main():
            print(render_movie(["sunrise"]))


        if __name__ == "__main__":
            main()
        """,
        "BrokenProcessPool",
    ),
    python(
        "futures-thread",
        """
        from concurrent.futures import ThreadPoolExecutor


        def size_of(name):
            return {"a.png": 3, "b.png": 4}[name]


        def main():
            with ThreadPoolExecutor(2) as pool:
                print(sum(pool.map(size_of, ["a.png", "b.png", "c.png"])))


        if __name__ == "__main__":
            main()
        """,
        "size_of",
    ),
    python("thread-download", THREAD, "download"),
    python("thread-upload", THREAD.replace("target=download", "target=upload"), "upload"),
    python(
        "thread-started-twice",
        """
        import threading


        def restart(thread):
            thread.start()


        def main():
            thread = threading.Thread(target=print, args=("working",))
            thread.start()
            thread.join()
            restart(thread)


        if __name__ == "__main__":
            main()
        """,
        "started once",
    ),
    python("tasks-fetch-labels", TASKS, "fetch_labels", min_python=(3, 11)),
    python(
        "tasks-fetch-images",
        TASKS.replace("create_task(fetch_labels", "create_task(fetch_images"),
        "fetch_images",
        min_python=(3, 11),
    ),
    python(
        "asyncio-gather",
        """
        import asyncio


        async def score(name):
            await asyncio.sleep(0.001)
            return {"a": 1, "b": 2}[name]


        async def main():
            print(await asyncio.gather(score("a"), score("b"), score("c")))


        if __name__ == "__main__":
            asyncio.run(main())
        """,
        "KeyError",
    ),
    python(
        "asyncio-wait-for",
        """
        import asyncio


        async def answer():
            await asyncio.sleep(5)


        async def ask():
            return await asyncio.wait_for(answer(), timeout=0.05)


        async def main():
            print(await ask())


        if __name__ == "__main__":
            asyncio.run(main())
        """,
        "TimeoutError",
    ),
    python(
        "asyncio-other-loop",
        """
        import asyncio


        async def wait_for(answer):
            return await answer


        def main():
            loop = asyncio.new_event_loop()
            answer = loop.create_future()
            try:
                asyncio.run(wait_for(answer))
            finally:
                loop.close()


        if __name__ == "__main__":
            main()
        """,
        "different loop",
        varies=r"running at .*main\.py:\d+",
    ),
    python(
        "asyncio-nested-run",
        """
        import asyncio


        async def load():
            return 3


        def load_now():
            task = load()
            try:
                return asyncio.run(task)
            finally:
                task.close()


        async def main():
            print(load_now())


        if __name__ == "__main__":
            asyncio.run(main())
        """,
        "running event loop",
    ),
    python(
        "subprocess-check",
        """
        import subprocess


        def convert(source):
            subprocess.run(["sh", "-c", "echo bad header >&2; exit 3", source], check=True)


        def main():
            convert("movie.mp4")


        if __name__ == "__main__":
            main()
        """,
        "CalledProcessError",
    ),
    python(
        "subprocess-missing-binary",
        """
        import subprocess


        def convert(source):
            return subprocess.run(["movie-convert", source], capture_output=True).stdout


        def main():
            print(convert("movie.mp4"))


        if __name__ == "__main__":
            main()
        """,
        "movie-convert",
    ),
    python(
        "subprocess-timeout",
        """
        import subprocess


        def measure(device):
            return subprocess.run(["sleep", "5"], timeout=0.1)


        def main():
            print(measure("camera"))


        if __name__ == "__main__":
            main()
        """,
        "TimeoutExpired",
    ),
    python(
        "subprocess-python-child",
        """
        import subprocess
        import sys
        from pathlib import Path

        STEP = Path(__file__).resolve().parent / "step.py"


        def run_step(name):
            subprocess.run([sys.executable, str(STEP), name], check=True)


        def main():
            run_step("prepare")
            run_step("publish")


        if __name__ == "__main__":
            main()
        """,
        "CalledProcessError",
        files={
            "step.py": """
                import sys

                STEPS = {"prepare": 1, "train": 2}


                def perform(name):
                    print(STEPS[name])


                perform(sys.argv[1])
            """
        },
        varies=r"Command '.*step\.py",
    ),
]

TWINS = [
    Twins("pool-map-tokenize", "pool-map-embed", "another worker function, an equal message"),
    Twins("process-train", "process-evaluate", "another worker function, an equal exit message"),
    Twins("process-segv", "process-kill", "the worker ended by another signal"),
    Twins("futures-process-crop", "futures-process-resize", "another worker function"),
    Twins("thread-download", "thread-upload", "another thread's function, an equal exit message"),
    Twins("tasks-fetch-labels", "tasks-fetch-images", "another coroutine of the group failed"),
    Twins("futures-broken-exit", "futures-broken-kill", "another pool of another function broke"),
]
