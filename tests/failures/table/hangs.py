"""Programs that would never end: they run with a time-out and are known by where they stood."""

from __future__ import annotations

from .failure import Twins, command, python

# Long enough for an interpreter to start on a busy machine, since a program that is stopped in
# its imports hangs elsewhere.
PATIENCE = 4.0

SLEEP = """
    import time


    def poll_server():
        while True:
            time.sleep(0.5)


    def await_lease():
        while True:
            time.sleep(0.5)


    def main():
        poll_server()


    if __name__ == "__main__":
        main()
"""

ASYNC = """
    import asyncio


    async def consume(queue):
        return await queue.get()


    async def confirm(queue):
        return await queue.get()


    async def main():
        print(await consume(asyncio.Queue()))


    if __name__ == "__main__":
        asyncio.run(main())
"""

FAILURES = [
    python("hang-poll", SLEEP, "poll_server", timeout=PATIENCE),
    python(
        "hang-lease",
        SLEEP.replace("    poll_server()\n\n\n    if", "    await_lease()\n\n\n    if"),
        "await_lease",
        timeout=PATIENCE,
    ),
    python(
        "hang-deadlock",
        """
        import threading
        import time

        ACCOUNTS = threading.Lock()
        JOURNAL = threading.Lock()


        def transfer():
            with ACCOUNTS:
                time.sleep(0.2)
                with JOURNAL:
                    print("transferred")


        def audit():
            with JOURNAL:
                time.sleep(0.2)
                with ACCOUNTS:
                    print("audited")


        def main():
            threads = [threading.Thread(target=transfer), threading.Thread(target=audit)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()


        if __name__ == "__main__":
            main()
        """,
        "hang",
        timeout=PATIENCE,
    ),
    python(
        "hang-busy",
        """
        def converge(error):
            steps = 0
            while error > 0:
                steps += 1
            return steps


        def main():
            print(converge(0.1))


        if __name__ == "__main__":
            main()
        """,
        "converge",
        timeout=PATIENCE,
    ),
    python("hang-asyncio-consume", ASYNC, "hang", timeout=PATIENCE),
    python(
        "hang-asyncio-confirm",
        ASYNC.replace("await consume", "await confirm"),
        "hang",
        timeout=PATIENCE,
    ),
    python(
        "hang-accept",
        """
        import socket


        def accept_worker(listener):
            connection, _ = listener.accept()
            return connection


        def main():
            with socket.create_server(("127.0.0.1", 0)) as listener:
                print(accept_worker(listener))


        if __name__ == "__main__":
            main()
        """,
        "accept_worker",
        timeout=PATIENCE,
    ),
    python(
        "hang-pool-worker",
        """
        import multiprocessing
        import time


        def annotate(image):
            time.sleep(3600)


        def annotate_all(images):
            context = multiprocessing.get_context("fork")
            with context.Pool(1) as pool:
                return pool.map(annotate, images)


        def main():
            print(annotate_all(["a.png"]))


        if __name__ == "__main__":
            main()
        """,
        "annotate",
        timeout=PATIENCE,
    ),
    python(
        "hang-subprocess",
        """
        import subprocess


        def wait_for_mount(folder):
            subprocess.run(["sleep", "3600"], check=True)


        def main():
            wait_for_mount("/data")


        if __name__ == "__main__":
            main()
        """,
        "wait_for_mount",
        timeout=PATIENCE,
    ),
    command(
        "hang-shell",
        ["sh", "wait.sh"],
        "hang",
        files={"wait.sh": "echo waiting for the disk\nsleep 3600\necho mounted\n"},
        timeout=1.0,
    ),
]

TWINS = [
    Twins("hang-poll", "hang-lease", "another function hangs, in the same call"),
    Twins("hang-asyncio-consume", "hang-asyncio-confirm", "another coroutine waits"),
    Twins("hang-poll", "hang-subprocess", "the program waits for a process, not for the clock"),
]
