"""numpy and pandas."""

from __future__ import annotations

from .failure import Twins, python

COLUMN = """
    import pandas as pd


    def revenue(table):
        return (table["price"] * table["amount"]).sum()


    def main():
        table = pd.DataFrame({"item": ["a", "b"], "amount": [3, 4]})
        print(revenue(table))


    if __name__ == "__main__":
        main()
"""

CSV = """
    import pandas as pd


    def read_train(path):
        return pd.read_csv(path)


    def read_test(path):
        return pd.read_csv(path)


    def main():
        print(read_train("table.csv"))


    if __name__ == "__main__":
        main()
"""

TABLE = {"table.csv": "a,b,c\n1,2,3\n4,5,6\n7,8,9,10,11\n"}

FAILURES = [
    python(
        "numpy-broadcast",
        """
        import numpy as np


        def residual(predicted, measured):
            return predicted - measured


        def main():
            print(residual(np.zeros((4, 3)), np.zeros(4)))


        if __name__ == "__main__":
            main()
        """,
        "broadcast",
        needs=("numpy",),
    ),
    python(
        "numpy-matmul",
        """
        import numpy as np


        class Layer:
            def __init__(self, inputs, outputs):
                self.weights = np.ones((inputs, outputs))

            def forward(self, batch):
                return batch @ self.weights


        def main():
            batch = np.ones((32, 10))
            for layer in (Layer(10, 8), Layer(12, 4)):
                batch = layer.forward(batch)


        if __name__ == "__main__":
            main()
        """,
        "matmul",
        needs=("numpy",),
    ),
    python(
        "numpy-singular",
        """
        import numpy as np


        def fit(design, target):
            return np.linalg.solve(design.T @ design, design.T @ target)


        def main():
            print(fit(np.ones((5, 2)), np.arange(5.0)))


        if __name__ == "__main__":
            main()
        """,
        "LinAlgError",
        needs=("numpy",),
    ),
    python(
        "numpy-axis",
        """
        import numpy as np


        def channel_means(image):
            return image.mean(axis=2)


        def main():
            print(channel_means(np.zeros((4, 4, 3))).shape)
            print(channel_means(np.zeros((4, 4))).shape)


        if __name__ == "__main__":
            main()
        """,
        "AxisError",
        needs=("numpy",),
    ),
    python(
        "numpy-index",
        """
        import numpy as np


        def pick(table, rows):
            return table[rows]


        def main():
            print(pick(np.arange(10), [0, 5, 12]))


        if __name__ == "__main__":
            main()
        """,
        "IndexError",
        needs=("numpy",),
    ),
    python(
        "numpy-reshape",
        """
        import numpy as np


        def to_images(pixels, width, height):
            return pixels.reshape(-1, height, width)


        def main():
            print(to_images(np.zeros(100), 28, 28).shape)


        if __name__ == "__main__":
            main()
        """,
        "reshape",
        needs=("numpy",),
    ),
    python(
        "numpy-allocate",
        """
        import numpy as np


        def attention(length):
            return np.zeros((length, length))


        def main():
            print(attention(8).shape, attention(1 << 28).shape)


        if __name__ == "__main__":
            main()
        """,
        "Unable to allocate",
        needs=("numpy",),
    ),
    python(
        "numpy-truth",
        """
        import numpy as np


        def converged(error, tolerance):
            if error < tolerance:
                return True
            return False


        def main():
            print(converged(np.array([0.1, 0.2]), 0.15))


        if __name__ == "__main__":
            main()
        """,
        "truth value",
        needs=("numpy",),
    ),
    python(
        "numpy-cast",
        """
        import numpy as np


        def smooth(counts, factor):
            counts *= factor
            return counts


        def main():
            print(smooth(np.arange(5), 0.5))


        if __name__ == "__main__":
            main()
        """,
        "Cannot cast",
        needs=("numpy",),
    ),
    python(
        "numpy-load-objects",
        """
        import tempfile

        import numpy as np


        def load(stream):
            return np.load(stream)


        def main():
            with tempfile.TemporaryFile() as stream:
                np.save(stream, np.array([{"a": 1}, None], dtype=object))
                stream.seek(0)
                print(load(stream))


        if __name__ == "__main__":
            main()
        """,
        "allow_pickle",
        needs=("numpy",),
    ),
    python(
        "numpy-allclose",
        """
        import numpy as np


        def check(noise):
            expected = np.zeros(4)
            np.testing.assert_allclose(expected + noise, expected, atol=1e-9)


        def main():
            check(np.random.default_rng().normal(size=4))


        if __name__ == "__main__":
            main()
        """,
        "Not equal to tolerance",
        needs=("numpy",),
        varies=r"ACTUAL: .*",
    ),
    python("pandas-column-price", COLUMN, "price", needs=("pandas",)),
    python("pandas-column-prices", COLUMN.replace("price", "prices"), "prices", needs=("pandas",)),
    python(
        "pandas-merge-types",
        """
        import pandas as pd


        def join(people, orders):
            return people.merge(orders, on="person")


        def main():
            people = pd.DataFrame({"person": [1, 2], "name": ["Ann", "Bob"]})
            orders = pd.DataFrame({"person": ["1", "2"], "price": [3, 4]})
            print(join(people, orders))


        if __name__ == "__main__":
            main()
        """,
        "merge",
        needs=("pandas",),
    ),
    python(
        "pandas-merge-duplicates",
        """
        import pandas as pd


        def join(people, orders):
            return people.merge(orders, on="person", validate="one_to_one")


        def main():
            people = pd.DataFrame({"person": [1, 2], "name": ["Ann", "Bob"]})
            orders = pd.DataFrame({"person": [1, 1], "price": [3, 4]})
            print(join(people, orders))


        if __name__ == "__main__":
            main()
        """,
        "MergeError",
        needs=("pandas",),
    ),
    python(
        "pandas-astype",
        """
        import pandas as pd


        def to_counts(column):
            return column.astype("int64")


        def main():
            print(to_counts(pd.Series(["3", "4", "n/a"])))


        if __name__ == "__main__":
            main()
        """,
        "ValueError",
        needs=("pandas",),
    ),
    python("pandas-csv-train", CSV, "ParserError", needs=("pandas",), files=TABLE),
    python(
        "pandas-csv-test",
        CSV.replace("print(read_train", "print(read_test"),
        "ParserError",
        needs=("pandas",),
        files=TABLE,
    ),
    python(
        "pandas-reindex",
        """
        import pandas as pd


        def align(prices, days):
            return prices.reindex(days)


        def main():
            prices = pd.Series([1, 2, 3], index=["mon", "mon", "tue"])
            print(align(prices, ["mon", "tue", "wed"]))


        if __name__ == "__main__":
            main()
        """,
        "duplicate labels",
        needs=("pandas",),
    ),
    python(
        "pandas-datetime",
        """
        import pandas as pd


        def parse_days(column):
            return pd.to_datetime(column, format="%d/%m/%Y")


        def main():
            print(parse_days(pd.Series(["01/05/2024", "2024-05-02"])))


        if __name__ == "__main__":
            main()
        """,
        "ValueError",
        needs=("pandas",),
    ),
]

TWINS = [
    Twins("pandas-column-price", "pandas-column-prices", "another column is missing"),
    Twins("pandas-csv-train", "pandas-csv-test", "another function read a bad table"),
    Twins("pandas-merge-types", "pandas-merge-duplicates", "another exception type"),
]
