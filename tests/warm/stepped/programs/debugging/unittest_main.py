# ends: FAILED (failures=1, errors=1, skipped=1)
# ignore: in \d+\.\d+s
import unittest


class T(unittest.TestCase):
    def setUp(self):
        self.x = 1

    def test_ok(self):
        self.assertEqual(self.x, 1)

    def test_fails(self):
        for i in range(3):
            with self.subTest(i=i):
                pass
        self.assertEqual(self.x, 2, "not two")

    def test_error(self):
        {}["k"]

    @unittest.skip("why not")
    def test_skipped(self): ...

    def test_raises(self):
        with self.assertRaisesRegex(ValueError, "v"):
            raise ValueError("v")


if __name__ == "__main__":
    unittest.main(argv=["x", "-v"])
