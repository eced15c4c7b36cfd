"""Test runners: the exception is caught, reported in their own words, and the exit code is 1."""

from __future__ import annotations

from .failure import Failure, Twins, python, text

INI = {"pytest.ini": "[pytest]\naddopts = -q\n"}


def pytest(
    name: str,
    source: str,
    expect: str,
    *,
    files: dict[str, str] | None = None,
    varies: str = "",
) -> Failure:
    """Make the row of a pytest run; `source` is its test_main.py."""
    files = {**INI, "test_main.py": text(source), **(files or {})}
    return python(
        name, "", expect, files=files, args=("-m", "pytest"), needs=("pytest",), varies=varies
    )


def unittest(name: str, source: str, expect: str, *, varies: str = "") -> Failure:
    """Make the row of a unittest run; `source` is its test_main.py."""
    return python(
        name, "", expect, files={"test_main.py": source}, args=("-m", "unittest"), varies=varies
    )


PYTEST_EQUAL = """
    def total(prices):
        return sum(prices[1:])


    def test_total_of_two():
        assert total([3, 4]) == 7


    def test_total_of_pair():
        assert total((3, 4)) == 7
"""

UNITTEST_EQUAL = """
    import unittest


    def total(prices):
        return sum(prices[1:])


    class Prices(unittest.TestCase):
        def test_two(self):
            self.assertEqual(total([3, 4]), 7)

        def test_pair(self):
            self.assertEqual(total((3, 4)), 7)
"""

FAILURES = [
    pytest(
        "pytest-assert-two",
        PYTEST_EQUAL.replace("test_total_of_pair", "check_total_of_pair"),
        "test_total_of_two",
    ),
    pytest(
        "pytest-assert-pair",
        PYTEST_EQUAL.replace("test_total_of_two", "check_total_of_two"),
        "test_total_of_pair",
    ),
    pytest(
        "pytest-fixture",
        """
        import pytest


        @pytest.fixture
        def settings(tmp_path):
            return (tmp_path / "settings.json").read_text()


        def test_settings(settings):
            assert settings
        """,
        "FileNotFoundError",
    ),
    pytest(
        "pytest-fixture-unknown",
        """
        def test_store(databse):
            assert databse
        """,
        "databse",
    ),
    pytest(
        "pytest-collection",
        """
        from pricing import rebate


        def test_rebate():
            assert rebate(100) == 10
        """,
        "rebate",
        files={"pricing.py": "def discount(price):\n    return price / 10\n"},
    ),
    pytest(
        "pytest-parametrised",
        """
        import pytest


        def area(width, height):
            return width * height


        @pytest.mark.parametrize(("width", "height", "expected"), [(3, 4, 12), (2, 5, 11)])
        def test_area(width, height, expected):
            assert area(width, height) == expected
        """,
        "test_area",
    ),
    pytest(
        "pytest-raises",
        """
        import pytest


        def withdraw(balance, amount):
            return balance - amount


        def test_overdraft():
            with pytest.raises(ValueError):
                withdraw(10, 20)
        """,
        "DID NOT RAISE",
    ),
    pytest(
        "pytest-error-in-code",
        """
        from pricing import rebate


        def test_rebate():
            assert rebate({"price": 100}) == 10
        """,
        "KeyError",
        files={"pricing.py": 'def rebate(item):\n    return item["price"] * item["share"]\n'},
    ),
    pytest(
        "pytest-assert-objects",
        """
        class Batch:
            def __init__(self, rows):
                self.rows = rows


        def copy(batch):
            return Batch(list(batch.rows))


        def test_copy():
            batch = Batch([1, 2])
            assert copy(batch) == batch
        """,
        "test_copy",
        varies=r"Batch object at \w+",
    ),
    pytest(
        "pytest-assert-sets",
        """
        def weather(report):
            return set(report.split())


        def test_weather():
            assert weather("rain snow wind hail") == {"sun"}
        """,
        "test_weather",
        varies=r"E +'(\w+)'",
    ),
    pytest("pytest-no-tests", "def total(prices):\n    return sum(prices)\n", "5"),
    unittest(
        "unittest-assert-two",
        UNITTEST_EQUAL.replace("def test_pair", "def check_pair"),
        "test_two",
    ),
    unittest(
        "unittest-assert-pair",
        UNITTEST_EQUAL.replace("def test_two", "def check_two"),
        "test_pair",
    ),
    unittest(
        "unittest-sets",
        """
        import unittest


        class Weather(unittest.TestCase):
            def test_weather(self):
                self.assertEqual(set("rain snow wind hail".split()), {"sun"})
        """,
        "test_weather",
        varies=r"'(?:rain|snow|wind|hail)'",
    ),
    unittest(
        "unittest-setup",
        """
        import unittest


        class Store(unittest.TestCase):
            def setUp(self):
                self.store = {}["path"]

            def test_empty(self):
                self.assertFalse(self.store)
        """,
        "KeyError",
    ),
    unittest(
        "unittest-import",
        """
        import unittest

        from warehouse_client import Client


        class Orders(unittest.TestCase):
            def test_list(self):
                self.assertEqual(Client().orders(), [])
        """,
        "warehouse_client",
    ),
    python(
        "doctest",
        '''
        def mean(values):
            """Return the mean.

            >>> mean([1, 2, 3])
            2.0
            """
            return sum(values) / (len(values) - 1)
        ''',
        "Test Failed",
        args=("-m", "doctest", "main.py"),
    ),
]

TWINS = [
    Twins("pytest-assert-two", "pytest-assert-pair", "another test failed, with equal figures"),
    Twins("unittest-assert-two", "unittest-assert-pair", "another test failed, equal figures"),
    Twins("pytest-assert-two", "unittest-assert-two", "another runner, another assertion"),
    Twins("pytest-fixture", "pytest-fixture-unknown", "the fixture fails; there is no such one"),
]
