"""Exceptions behind exceptions, groups of them, and those that were caught and logged."""

from __future__ import annotations

from .failure import Twins, python

CONFIG = """
    class ConfigError(Exception):
        pass


    def rate(config):
        try:
            return float(config["rate"])
        except (KeyError, ValueError) as error:
            raise ConfigError("the training section is not usable") from error


    def main():
        print(rate({"batch": "32"}))


    if __name__ == "__main__":
        main()
"""

GROUP = """
    def check(row):
        errors = []
        if not row["name"]:
            errors.append(ValueError("the name is empty"))
        if not isinstance(row["age"], int):
            errors.append(TypeError("the age is unusable"))
        if errors:
            raise ExceptionGroup("row is not valid", errors)


    def main():
        check({"name": "", "age": "40"})


    if __name__ == "__main__":
        main()
"""

LOGGED = """
    import logging
    import sys

    logging.basicConfig(format="%(asctime)s %(process)d %(levelname)s %(message)s")


    def load_state(state):
        return state["epoch"]


    def save_state(state):
        print(state["epoch"])


    def main():
        try:
            load_state({})
        except Exception:
            logging.exception("giving up")
            sys.exit(1)


    if __name__ == "__main__":
        main()
"""

FAILURES = [
    python("chain-from-key", CONFIG, "ConfigError"),
    python(
        "chain-from-value", CONFIG.replace('{"batch": "32"}', '{"rate": "fast"}'), "ConfigError"
    ),
    python(
        "chain-context",
        """
        class Store:
            def __init__(self, path):
                self.path = path

            def read(self):
                try:
                    with open(self.path) as stream:
                        return stream.read()
                except OSError:
                    return self.fallback.read()


        def main():
            print(Store("settings.json").read())


        if __name__ == "__main__":
            main()
        """,
        "fallback",
    ),
    python(
        "chain-from-none",
        """
        class UnknownMetric(Exception):
            pass


        METRICS = {"accuracy": max, "loss": min}


        def metric(name):
            try:
                return METRICS[name]
            except KeyError:
                raise UnknownMetric(name) from None


        def main():
            print(metric("accuracy"), metric("recall"))


        if __name__ == "__main__":
            main()
        """,
        "UnknownMetric",
    ),
    python(
        "chain-in-finally",
        """
        class Device:
            def __init__(self):
                self.handle = None

            def measure(self):
                raise TimeoutError("the device does not answer")

            def close(self):
                self.handle.close()


        def main():
            device = Device()
            try:
                device.measure()
            finally:
                device.close()


        if __name__ == "__main__":
            main()
        """,
        "AttributeError",
    ),
    python("group-value-type", GROUP, "ExceptionGroup", min_python=(3, 11)),
    python(
        "group-value-key",
        GROUP.replace("TypeError(", "KeyError("),
        "ExceptionGroup",
        min_python=(3, 11),
    ),
    python(
        "note-added",
        """
        def scale(value, factor):
            return value.scaled(factor)


        def main():
            for index, value in enumerate([3, 4]):
                try:
                    scale(value, 2)
                except AttributeError as error:
                    error.add_note(f"in row {index}")
                    raise


        if __name__ == "__main__":
            main()
        """,
        "scaled",
        min_python=(3, 11),
    ),
    python("logged-load", LOGGED, "KeyError", varies=r"\d{4}-\d\d-\d\d .*ERROR"),
    python(
        "logged-save",
        LOGGED.replace("        load_state({})", "        save_state({})"),
        "KeyError",
        varies=r"\d{4}-\d\d-\d\d .*ERROR",
    ),
    python(
        "exit-message",
        """
        import sys


        def newest(checkpoints):
            if not checkpoints:
                sys.exit("error: there is no checkpoint to resume from")
            return max(checkpoints)


        def main():
            print(newest([]))


        if __name__ == "__main__":
            main()
        """,
        "no checkpoint",
    ),
]

TWINS = [
    Twins("chain-from-key", "chain-from-value", "the cause is of another type"),
    Twins("group-value-type", "group-value-key", "a member of the group is of another type"),
    Twins("logged-load", "logged-save", "another function failed; both were caught and logged"),
]
