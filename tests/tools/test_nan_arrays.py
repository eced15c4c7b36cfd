"""`zeroin nan` on programs of numpy and pandas: nothing is called clean that was not looked at."""

import json

import pytest

from left_out import heavy

LOG = "import numpy as np\nprint(np.log(np.zeros(3)))\n"
SERIES = "import numpy, pandas\nprint(numpy.log(pandas.Series([1.0, 0.0])))\n"
QUOTIENT = "import numpy as np\nprint(np.array([-1.0]) / 0)\n"
SILENT = "import numpy as np\nwith np.errstate(all='ignore'):\n    print(np.log(np.zeros(3)))\n"
GIVEN = "import numpy as np\nprint(np.array([0.0, -np.inf]) * 2)\n"


@pytest.mark.parametrize("source", [LOG, SERIES])
def test_inf_that_numpy_warns_of_is_found(zeroin, project, libs, source):
    """Where there is only numpy nothing tells whether inf matters: it is told."""
    (project / "a.py").write_text(source)
    done = zeroin("nan", "--json", "--", libs, "a.py", cwd=project)
    told = json.loads(done.stdout)
    assert (done.returncode, told["verdict"]) == (1, "found")
    assert told["numpy"][0]["text"] == "divide by zero encountered in log"
    assert told["numpy"][0]["frames"][-1]["line"] == 2
    assert told["numpy"][0]["what"] == "-inf"


@pytest.mark.parametrize(("source", "what"), [(LOG, "-inf"), (QUOTIENT, "inf or -inf")])
def test_a_sign_is_told_where_it_is_known(zeroin, project, libs, source, what):
    """A logarithm of 0 is -inf; what a division by 0 gives is not told by numpy's warning."""
    (project / "a.py").write_text(source)
    done = zeroin("nan", "--", libs, "a.py", cwd=project)
    assert f"✗ {what} in numpy at a.py:2: divide by zero encountered in " in done.stderr


@pytest.mark.parametrize("source", [SILENT, GIVEN])
def test_what_was_not_looked_at_is_not_clean(zeroin, project, libs, source):
    """A program that prints -inf without a warning gets no ✓, but what was not looked at."""
    (project / "a.py").write_text(source)
    done = zeroin("nan", "--", libs, "a.py", cwd=project)
    assert "-inf" in done.stdout
    assert "no NaN or inf" not in done.stderr
    assert "numpy warned of nothing; more than its warnings was not looked at" in done.stderr
    assert done.returncode == 125


@heavy("torch")
def test_minus_inf_is_called_so(zeroin, project, libs):
    """The logarithm of 0 is -inf: in the verdict, in the values and in JSON."""
    (project / "a.py").write_text(
        "import torch\nprint(torch.log(torch.zeros(3)), torch.ones(2) / 0)\n"
    )
    done = zeroin("nan", "--inf", "--", libs, "a.py", cwd=project)
    assert "✗ -inf made by log at a.py:2" in done.stderr
    assert "3 -inf" in done.stderr
    told = json.loads(
        zeroin("nan", "--inf", "--json", "--go-on", "--", libs, "a.py", cwd=project).stdout
    )
    firsts = [one["first"] for one in told["findings"]]
    assert [one["what"] for one in firsts] == ["-inf", "inf"]
    assert [one["outputs"][0]["minus_inf"] for one in firsts] == [3, 0]
