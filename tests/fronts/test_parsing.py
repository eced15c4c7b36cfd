"""What is said of a command line that can't be meant, and the two helps."""

import pytest

from zeroin.errors import UsageError
from zeroin.fronts.cli import VERBS, _verb
from zeroin.fronts.cli.bisect import AXES, axis
from zeroin.fronts.cli.parsing import FEW

PARSERS = {verb: _verb(verb).parser for verb in VERBS}
PARSERS |= {f"bisect {name}": axis(name).parser for name in AXES}
SHARED = ("run", "loop", "limit", "shrink", "bisect", "bisect commits", "stacks", "leak", "nan")


@pytest.mark.parametrize("verb", PARSERS)
def test_every_option_that_is_nearly_right_is_named(verb):
    """For each long option of each verb, with a letter lost and with one dash."""
    parser = PARSERS[verb]()
    flags = [f for one in parser._actions for f in one.option_strings if len(f) > len("--keep")]
    for flag in flags:
        for wrong in (flag[:4] + flag[5:], flag[1:4] + flag[5:]):
            if wrong in flags:
                continue
            with pytest.raises(UsageError) as caught:
                parser.error(f"unrecognized arguments: {wrong} value")
            assert caught.value.message == f"{verb} has no option {wrong}"
            assert caught.value.hint == f"did you mean {flag}?"


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ("run --tiemout 3 -- true", "run has no option --tiemout", "did you mean --timeout?"),
        ("run --timout=3 -- true", "run has no option --timout", "did you mean --timeout?"),
        ("log --sinature x", "log has no option --sinature", "did you mean --signature?"),
        ("diff 1 2 --only cod", "--only: there is no 'cod'", "did you mean code?"),
        ("tiny dta x", "tiny: there is no 'dta'", "did you mean data?"),
        ("help rnu", "there is no verb 'rnu'", "did you mean: zeroin run"),
        ("--hlep", "there is no option '--hlep'", "did you mean: zeroin --help"),
        ("bisect comits -- true", "bisect has no axis 'comits'", "did you mean commits?"),
        ("bisect -- python x", "what to bisect is missing", "zeroin bisect commits -- python x"),
        ("bisect --fresh commits -- true", "the axis comes first", "zeroin bisect commits --fresh"),
        ("diff", "A is missing", "zeroin diff A B [options]"),
        ("bisect limit -- true", "NAME, LOW and HIGH are missing", "zeroin bisect limit NAME LOW"),
        ("gc now", "gc: 'now' is one word too many", "zeroin gc [options]"),
        ("gc --to", "--to needs a value", "write --to SIZE"),
        ("gc --json=1", "--json takes no value", "write --json alone"),
        ("run --seed x -- true", "--seed takes a whole number, not 'x'", "see: zeroin run --help"),
        (
            "bisect commits --loose --strict -- true",
            "--loose and --strict don't go together",
            "leave one of them out",
        ),
        ("run --log inof -- true", "--log inof: no such level", "did you mean info?"),
        ("limit memry=1G -- true", "--limit memry: there is no such limit", "did you mean memory?"),
    ],
)
def test_what_is_wrong_and_what_was_meant(zeroin, line, said, hint):
    """In one line each, exit code 2; nothing of argparse's own words."""
    done = zeroin(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert said in first
    assert hint in second


def test_a_setting_that_is_nearly_right_is_named(zeroin, project):
    """In a settings file as well."""
    (project / "pyproject.toml").write_text("[tool.zeroin]\nstore_mx = '1M'\n")
    done = zeroin("run", "--", "true", cwd=project)
    assert "there is no setting 'store_mx' (did you mean store_max?)" in done.stderr


@pytest.mark.parametrize("verb", SHARED)
def test_the_short_help_leaves_out_what_verbs_share(zeroin, verb):
    """`-h` names those options and where they are told; `--help` has them all."""
    short = zeroin(*verb.split(), "-h").stdout
    whole = zeroin(*verb.split(), "--help").stdout
    assert "--env-file FILE" in whole
    assert "--env-file FILE" not in short
    assert "how the command is run: --reset" in short
    assert short.rstrip().endswith(f"all in full: zeroin {verb} --help")
    assert len(short.splitlines()) < 40
    assert len(short.splitlines()) <= 0.8 * len(whole.splitlines())


def test_the_short_help_has_a_line_for_an_option_and_few_examples(zeroin):
    """Also where what is told of it, or of the verb, is long."""
    short, whole = (zeroin("run", flag).stdout for flag in ("-h", "--help"))
    assert "do something there" in short
    assert "snapshot" in whole
    assert "snapshot" not in short
    assert short.partition("examples:\n")[2].count("  zeroin run") == FEW
    assert whole.partition("examples:\n")[2].count("  zeroin run") > FEW
