"""The language's own errors: keys, attributes, names, arithmetic, iteration."""

from __future__ import annotations

from .failure import Twins, python

READ_ROW = """
    ROWS = [{"image": "a.png", "width": 3}, {"image": "b.png", "width": 4}]


    def read_row(row):
        return row["image"], row["label"]


    def main():
        for row in ROWS:
            print(read_row(row))


    if __name__ == "__main__":
        main()
"""

VOTES = """
    def vote_of(votes, member):
        return votes[member]


    def main():
        votes = {1: "yes", 2: "no"}
        for member in (1, 2, 3):
            print(member, vote_of(votes, member))


    if __name__ == "__main__":
        main()
"""

CORNER = """
    SIDES = {(0, "left"): 3, (0, "right"): 4, (1, "left"): 5}


    def corner(level, side):
        return SIDES[level, side]


    def main():
        print(corner(0, "left"))
        print(corner(2, "left"))


    if __name__ == "__main__":
        main()
"""

NETWORK = """
    class Network:
        def __init__(self):
            self.stem = 1
            self.head = 2

        def forward(self, value):
            return self.head * self.layer1 * self.stem * value


    def main():
        network = Network()
        print(network.forward(3))


    if __name__ == "__main__":
        main()
"""

STATISTICS = """
    def total(values):
        return sum(values) / len(values)


    def spread(values):
        return sum(value * value for value in values) / len(values)


    def main():
        print(total([1, 2, 3]))
        print(total([]))


    if __name__ == "__main__":
        main()
"""

CODEC = """
    class Encoder:
        def forward(self, tokens):
            raise ValueError("empty batch")


    class Decoder:
        def forward(self, tokens):
            raise ValueError("empty batch")


    def main():
        Encoder().forward([])


    if __name__ == "__main__":
        main()
"""

OPEN_DATA = """
    def read_lines(path):
        with open(path, encoding="utf-8") as lines:
            return [line.strip() for line in lines]


    def main():
        print(len(read_lines("data/labels.csv")))


    if __name__ == "__main__":
        main()
"""

COMPREHENSION = """
    ROWS = [{"name": "a", "size": 3}, {"name": "b"}]


    def sizes(rows):
        return [row["size"] for row in rows]


    def weights(rows):
        return [row["size"] for row in rows]


    def main():
        print(sizes(ROWS))


    if __name__ == "__main__":
        main()
"""

LAMBDA = """
    SCORES = {"a": 3, "b": None}


    def rank(names):
        return sorted(names, key=lambda name: SCORES[name] + 1)


    def best(names):
        return max(names, key=lambda name: SCORES[name] + 1)


    def main():
        print(rank(["a", "b"]))


    if __name__ == "__main__":
        main()
"""

FAILURES = [
    python("key-label", READ_ROW, "KeyError"),
    python("key-labels", READ_ROW.replace('"label"', '"labels"'), "KeyError"),
    python("key-int-3", VOTES, "KeyError"),
    python("key-int-7", VOTES.replace("3)", "7)"), "KeyError"),
    python("key-tuple-left", CORNER, "KeyError"),
    python(
        "key-tuple-right", CORNER.replace('corner(2, "left")', 'corner(2, "right")'), "KeyError"
    ),
    python(
        "key-nested-config",
        """
        import json

        CONFIG = '{"model": {"depth": 4, "optimizer": {"lr": 0.1}}}'


        def betas(config):
            return config["model"]["optimizer"]["betas"]


        def main():
            config = json.loads(CONFIG)
            print(betas(config))


        if __name__ == "__main__":
            main()
        """,
        "betas",
    ),
    python(
        "key-object",
        """
        class Node:
            pass


        def neighbours(graph, node):
            return graph[node]


        def main():
            first, second = Node(), Node()
            print(neighbours({first: [second]}, second))


        if __name__ == "__main__":
            main()
        """,
        "KeyError",
        varies=r"KeyError: (.*)",
    ),
    python(
        "key-frozenset",
        """
        DISTANCES = {frozenset(("oslo", "rome")): 2006}


        def distance(*towns):
            return DISTANCES[frozenset(towns)]


        def main():
            print(distance("rome", "oslo"))
            print(distance("berlin", "paris"))


        if __name__ == "__main__":
            main()
        """,
        "berlin",
        varies=r"KeyError: (.*)",
    ),
    python(
        "key-temporary-path",
        """
        import os
        import tempfile


        def is_stale(cache, path):
            return cache[path] < os.path.getmtime(path)


        def main():
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "index.bin")
                print(is_stale({}, path))


        if __name__ == "__main__":
            main()
        """,
        "index.bin",
        varies=r"KeyError: (.*)",
    ),
    python("attribute-layer1", NETWORK, "layer1"),
    python("attribute-layer2", NETWORK.replace("layer1", "layer2"), "layer2"),
    python(
        "attribute-module",
        """
        import math


        def diagonal(width, height):
            return math.squareroot(width * width + height * height)


        def main():
            print(diagonal(3, 4))


        main()
        """,
        "squareroot",
    ),
    python(
        "attribute-none",
        """
        import re


        def epoch_of(name):
            return int(re.match(r"epoch-([0-9]+)", name).group(1))


        def main():
            for name in ["epoch-1", "epoch-2", "best"]:
                print(epoch_of(name))


        if __name__ == "__main__":
            main()
        """,
        "NoneType",
    ),
    python("method-encoder", CODEC, "ValueError", min_python=(3, 11)),
    python(
        "method-decoder",
        CODEC.replace("Encoder().forward", "Decoder().forward"),
        "ValueError",
        min_python=(3, 11),
    ),
    python("zero-total", STATISTICS, "ZeroDivisionError"),
    python("zero-spread", STATISTICS.replace("total([])", "spread([])"), "ZeroDivisionError"),
    python("comprehension-sizes", COMPREHENSION, "sizes"),
    python(
        "comprehension-weights", COMPREHENSION.replace("print(sizes", "print(weights"), "weights"
    ),
    python("lambda-rank", LAMBDA, "TypeError", min_python=(3, 11)),
    python(
        "lambda-best", LAMBDA.replace("print(rank", "print(best"), "TypeError", min_python=(3, 11)
    ),
    python("file-missing-labels", OPEN_DATA, "FileNotFoundError"),
    python("file-missing-images", OPEN_DATA.replace("labels", "images"), "FileNotFoundError"),
    python(
        "index-list",
        """
        def third_column(line):
            return line.split(",")[2]


        def main():
            table = ["a,b,c", "d,e,f", "g,h"]
            print([third_column(line) for line in table])


        if __name__ == "__main__":
            main()
        """,
        "IndexError",
    ),
    python(
        "name-error",
        """
        def summarise(losses):
            average = sum(losses) / len(losses)
            return f"average {avreage:.2f}"


        def main():
            print(summarise([0.5, 0.25]))


        if __name__ == "__main__":
            main()
        """,
        "avreage",
    ),
    python(
        "unbound-local",
        """
        def best_epoch(losses):
            for epoch, loss in enumerate(losses):
                if loss < 0.1:
                    best = epoch
            return best


        def main():
            print(best_epoch([0.9, 0.5, 0.3]))


        if __name__ == "__main__":
            main()
        """,
        "UnboundLocalError",
    ),
    python(
        "type-missing-argument",
        """
        class Optimizer:
            def __init__(self, lr, momentum):
                self.lr = lr
                self.momentum = momentum


        def build(settings):
            return Optimizer(**settings)


        def main():
            print(build({"lr": 0.1}))


        if __name__ == "__main__":
            main()
        """,
        "momentum",
    ),
    python(
        "type-concatenate",
        """
        def title(epoch):
            return "epoch " + epoch


        def main():
            for epoch in range(3):
                print(title(epoch))


        if __name__ == "__main__":
            main()
        """,
        "TypeError",
    ),
    python(
        "type-abstract",
        """
        from abc import ABC, abstractmethod


        class Loader(ABC):
            @abstractmethod
            def rows(self): ...


        class CsvLoader(Loader):
            def row(self):
                return []


        def main():
            print(CsvLoader().rows())


        if __name__ == "__main__":
            main()
        """,
        "CsvLoader",
    ),
    python(
        "type-unhashable",
        """
        def count(samples):
            seen = {}
            for sample in samples:
                seen[sample] = seen.get(sample, 0) + 1
            return seen


        def main():
            print(count(["a", "b", ["a", "b"]]))


        if __name__ == "__main__":
            main()
        """,
        "unhashable",
    ),
    python(
        "value-int",
        """
        def parse_size(word):
            return int(word)


        def main():
            print([parse_size(word) for word in "12 24 4k".split()])


        if __name__ == "__main__":
            main()
        """,
        "invalid literal",
    ),
    python(
        "value-unpack",
        """
        PAIRS = ["lr=0.1", "depth=4", "verbose"]


        def settings(pairs):
            found = {}
            for pair in pairs:
                name, value = pair.split("=")
                found[name] = value
            return found


        def main():
            print(settings(PAIRS))


        if __name__ == "__main__":
            main()
        """,
        "unpack",
    ),
    python(
        "value-enum",
        """
        from enum import Enum


        class Phase(Enum):
            TRAIN = "train"
            TEST = "test"


        def phase_of(name):
            return Phase(name)


        def main():
            print(phase_of("train"), phase_of("validate"))


        if __name__ == "__main__":
            main()
        """,
        "validate",
    ),
    python(
        "assert-message",
        """
        def check_shares(shares):
            assert abs(sum(shares) - 1) < 1e-6, f"shares sum to {sum(shares)}, not to 1"


        def main():
            check_shares([0.5, 0.5])
            check_shares([0.5, 0.25, 0.5])


        if __name__ == "__main__":
            main()
        """,
        "AssertionError",
    ),
    python(
        "assert-bare",
        """
        def crop(width, height):
            assert width > height
            return width - height


        def main():
            print(crop(4, 3))
            print(crop(3, 4))


        if __name__ == "__main__":
            main()
        """,
        "AssertionError",
    ),
    python(
        "recursion",
        """
        class Node:
            def __init__(self):
                self.parent = self


        def depth(node):
            if node.parent is None:
                return 0
            return 1 + depth(node.parent)


        def main():
            print(depth(Node()))


        if __name__ == "__main__":
            main()
        """,
        "RecursionError",
    ),
    python(
        "generator-stop",
        """
        def pairs(values):
            values = iter(values)
            while True:
                first = next(values)
                second = next(values)
                yield first, second


        def main():
            for first, second in pairs([1, 2, 3]):
                print(first + second)


        if __name__ == "__main__":
            main()
        """,
        "RuntimeError",
    ),
    python(
        "stop-iteration",
        """
        def first_match(names, suffix):
            return next(name for name in names if name.endswith(suffix))


        def main():
            print(first_match(["a.png", "b.png"], ".jpg"))


        if __name__ == "__main__":
            main()
        """,
        "StopIteration",
    ),
    python(
        "base-exception",
        """
        class Preempted(BaseException):
            pass


        def train(steps):
            for step in range(steps):
                if step == 3:
                    raise Preempted("the scheduler wants the node back")


        def main():
            try:
                train(10)
            except Exception:
                print("going on")


        if __name__ == "__main__":
            main()
        """,
        "Preempted",
    ),
    python(
        "keyboard-interrupt",
        """
        def ask(question):
            raise KeyboardInterrupt


        def main():
            if ask("overwrite the checkpoint?"):
                print("overwritten")


        if __name__ == "__main__":
            main()
        """,
        "KeyboardInterrupt",
    ),
    python(
        "memory-error",
        """
        def allocate(rows, columns):
            return bytearray(rows * columns)


        def main():
            print(len(allocate(1 << 31, 1 << 31)))


        if __name__ == "__main__":
            main()
        """,
        "MemoryError",
    ),
    python(
        "unicode-decode",
        """
        from pathlib import Path


        def read_names(path):
            return path.read_text(encoding="utf-8").splitlines()


        def main():
            path = Path("names.txt")
            path.write_bytes("Zoë\\nAndré\\n".encode("latin-1"))
            print(read_names(path))


        if __name__ == "__main__":
            main()
        """,
        "UnicodeDecodeError",
    ),
    python(
        "unicode-encode",
        """
        def to_ascii(names):
            return [name.encode("ascii") for name in names]


        def main():
            print(to_ascii(["Ann", "Zoë"]))


        if __name__ == "__main__":
            main()
        """,
        "UnicodeEncodeError",
    ),
    python(
        "eval-rule",
        """
        RULES = {"price": "cost * amount", "discount": "price * rebate"}


        def apply(rule, values):
            return eval(rule, {}, values)


        def main():
            values = {"cost": 3, "amount": 4}
            for name, rule in RULES.items():
                values[name] = apply(rule, values)


        if __name__ == "__main__":
            main()
        """,
        "rebate",
    ),
    python(
        "warning-as-error",
        """
        import warnings


        def old_loader():
            warnings.warn("old_loader is going away, use load", DeprecationWarning, stacklevel=1)


        def main():
            old_loader()


        if __name__ == "__main__":
            main()
        """,
        "DeprecationWarning",
        args=("-W", "error", "main.py"),
    ),
    python(
        "inline-program",
        "",
        "OverflowError",
        args=("-c", "import math\nprint(math.exp(10))\nprint(math.exp(1000))\n"),
    ),
]

TWINS = [
    Twins("key-label", "key-labels", "another key is missing, one letter apart"),
    Twins("key-int-3", "key-int-7", "another key is missing: a number that is not noise"),
    Twins("key-tuple-left", "key-tuple-right", "another key is missing, inside a tuple"),
    Twins("attribute-layer1", "attribute-layer2", "another attribute is missing: a digit counts"),
    Twins("method-encoder", "method-decoder", "another method fails, of the same bare name"),
    Twins("zero-total", "zero-spread", "another function fails, with an equal message"),
    Twins("comprehension-sizes", "comprehension-weights", "another function's comprehension fails"),
    Twins("lambda-rank", "lambda-best", "another function's lambda fails"),
    Twins("file-missing-labels", "file-missing-images", "another file is missing"),
]
