"""Processes that end by a signal, or by nothing but an exit code."""

from __future__ import annotations

from .failure import Twins, command, python

SEGFAULT = """
    import os
    import signal


    def decode(frame):
        os.kill(os.getpid(), signal.SIGSEGV)


    def encode(frame):
        os.kill(os.getpid(), signal.SIGSEGV)


    def main():
        decode(b"frame")


    if __name__ == "__main__":
        main()
"""

EXIT = """
    import sys


    def main():
        print("the pipeline did not finish", file=sys.stderr)
        sys.exit(3)


    if __name__ == "__main__":
        main()
"""

FAILURES = [
    python("signal-segv-decode", SEGFAULT, "SIGSEGV"),
    python("signal-segv-encode", SEGFAULT.replace("    decode(b", "    encode(b"), "SIGSEGV"),
    python(
        "signal-segv-null",
        """
        import ctypes


        def read_header(address):
            return ctypes.c_int.from_address(address).value


        def main():
            print(read_header(0))


        if __name__ == "__main__":
            main()
        """,
        "SIGSEGV",
    ),
    python(
        "signal-abort",
        """
        import os


        def check_heap(corrupted):
            if corrupted:
                os.abort()


        def main():
            check_heap(True)


        if __name__ == "__main__":
            main()
        """,
        "SIGABRT",
    ),
    python(
        "signal-term",
        """
        import os
        import signal


        def preempt():
            os.kill(os.getpid(), signal.SIGTERM)


        def main():
            preempt()


        if __name__ == "__main__":
            main()
        """,
        "SIGTERM",
    ),
    python(
        "signal-kill",
        """
        import os
        import signal


        def run_out_of_memory():
            os.kill(os.getpid(), signal.SIGKILL)


        def main():
            run_out_of_memory()


        if __name__ == "__main__":
            main()
        """,
        "SIGKILL",
    ),
    python(
        "signal-fpe-in-thread",
        """
        import signal
        import threading


        def divide():
            signal.raise_signal(signal.SIGFPE)


        def main():
            thread = threading.Thread(target=divide)
            thread.start()
            thread.join()


        if __name__ == "__main__":
            main()
        """,
        "SIGFPE",
    ),
    command(
        "signal-native",
        ["sh", "-c", "gcc -o reader reader.c && exec ./reader"],
        "SIGSEGV",
        files={
            "reader.c": """
                #include <stdio.h>
                #include <stdlib.h>

                static int first(const int *values) { return values[0]; }

                int main(int count, char **words) {
                    (void)words;
                    printf("reading\\n");
                    return first(count > 5 ? &count : NULL);
                }
            """
        },
        needs=("bin:gcc",),
    ),
    python("exit-3", EXIT, "3"),
    python("exit-4", EXIT.replace("exit(3)", "exit(4)"), "4"),
    python(
        "exit-hard",
        """
        import os
        import sys


        def give_up(reason):
            print("giving up:", reason, file=sys.stderr, flush=True)
            os._exit(70)


        def main():
            give_up("the license server is away")


        if __name__ == "__main__":
            main()
        """,
        "70",
    ),
]

TWINS = [
    Twins("signal-segv-decode", "signal-segv-encode", "another function crashed"),
    Twins("signal-segv-decode", "signal-segv-null", "another function crashed"),
    Twins("signal-term", "signal-kill", "another signal"),
    Twins("exit-3", "exit-4", "another exit code after the same last line"),
]
