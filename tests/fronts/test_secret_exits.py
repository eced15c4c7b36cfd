"""No exit lets a secret out: everything that zeroin prints or writes, verb by verb.

Each made-up secret holds the word LEAK. The programs read theirs from a file outside of the
project, since the code itself is kept as it is. What a program prints while it runs passes
through unchanged, so lines that it prints without zeroin as well don't count.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import looping
import support

LEAK = b"LEAK"

HELD = {
    "url": "postgres://ada:pa/LEAK01@host/shop",
    "redis": "redis://:LEAK02@h",
    "bearer": "LEAK03-abcdef",
    "password": "LEAK04pw",
    "token": "LEAK05tok",
    "split_token": "LEAK06splitted",
    "github": "gh" + "p_LEAK07aaaaaaaaaaaaaaaaaaaaaa",
    "private_key": "LEAK08MIIEow",
    "mysql_pass": "LEAK09my",
    "jwt": "LEAK10jwt",
}
VARIABLES = {
    "PGPASSWORD": "LEAK20pg",
    "DB_PASS": "LEAK21pass",
    "JWT": "LEAK22jwt",
    "DSN": "postgres://u:LEAK23dsn@h/d",
    "SLACK_WEBHOOK": "https://hooks.slack.com/services/T/B/LEAK24hook",
    "SENTRY_DSN": "https://LEAK25abcdef0123456789@o1.ingest.sentry.io/3",
    "DATABASE_URL": "redis://:LEAK26url@h",
}
ARGUMENTS = [
    *("--password", "LEAK31cli", "-u", "ada:LEAK32user", "TOKEN=LEAK33word"),
    *("Authorization: Bearer LEAK34head", "--key", "LEAK35k3y", "https://LEAK36t0k@h"),
    *("--passphrase", "LEAK37 phrase", "--auth", "a:LEAK38", "--credentials", "a:LEAK39"),
]
APP = """
    import json, os, sys, time
    from zeroin import peek

    held = json.load(open(os.environ["HELD"]))

    def use(password, url, jwt, command, headers, config):
        db_pass, pw = held["mysql_pass"], held["password"]
        peek(url), peek(pw), peek(config), peek(command)
        raise RuntimeError(f"no login: password={pw} at {url}, {headers['Authorization']}: {db_pass}")

    print("mysql -p" + held["mysql_pass"], file=sys.stderr, flush=True)
    print("connecting to", held["url"], "and", held["redis"])
    print("Authorization: Bearer " + held["bearer"])
    print(json.dumps({"password": held["password"], "n": 1}))
    print("TOKEN=" + held["token"], "of", os.environ["PGPASSWORD"], *sys.argv[1:])
    for part in ("split to", "ken=" + held["split_token"][:6], held["split_token"][6:]):
        sys.stdout.write(part)  # as a slow program does
        sys.stdout.flush()
        time.sleep(0.02)
    print(flush=True)
    print(held["github"])
    print(f"-----BEGIN RSA PRIVATE KEY-----\\n{held['private_key']}")
    print("-----END RSA PRIVATE KEY-----")
    if os.path.exists("rows.txt"):
        assert "bad" in open("rows.txt").read()
    headers = {"Authorization": "Bearer " + held["bearer"]}
    command = ["mysql", "-p" + held["mysql_pass"]]
    use(held["password"], held["url"], held["jwt"], command, headers, {"api_key": held["token"]})
"""
TEST = """
    import json, os

    held = json.load(open(os.environ["HELD"]))

    def check(password, url, argv):
        assert password == "x" and argv

    def test_login():
        print("password=" + held["password"])
        check(held["password"], held["url"], ["tool", "--password", held["token"]])
"""


@pytest.fixture
def held(tmp_path):
    """The variables of a program that holds secrets."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "held.json").write_text(json.dumps(HELD))
    return VARIABLES | {"HELD": str(outside / "held.json"), "PYTHONPATH": str(support.SRC)}


@pytest.fixture
def app(project):
    (project / "app.py").write_text(textwrap.dedent(APP))
    (project / "test_app.py").write_text(textwrap.dedent(TEST))
    return project


def lines_of(*words, cwd, env):
    """What the program prints when zeroin has nothing to do with it."""
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=env, capture_output=True, check=False
    )
    return {*done.stdout.splitlines(), *done.stderr.splitlines()}


def own_lines(done, live):
    """What zeroin said itself."""
    said = f"{done.stdout}\n{done.stderr}".encode("utf-8", "surrogateescape")
    return b"\n".join(line for line in said.splitlines() if line not in live)


def assert_nothing_kept(zeroin, project):
    """Look into every file that was written, but for the program's own."""
    for folder, names, files in os.walk(zeroin.base):
        names[:] = [name for name in names if name not in ("outside", ".git", "__pycache__")]
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    data = file.read()
                at = data.find(LEAK)
                assert at < 0, (path, data[max(0, at - 80) : at + 40])


def test_run_and_everything_that_reads_the_record(zeroin, app, held):
    """Command, environment, output in pieces, locals, messages and peeks: none is kept or shown."""
    env = zeroin.env | held
    live = lines_of("app.py", *ARGUMENTS, cwd=app, env=env | {"X_SECRET": "LEAK30env"})
    assert sum(LEAK in line for line in live) > 5
    more = ("--env", "X_SECRET=LEAK30env", "--reset", "true LEAK30env")
    done = zeroin("run", *more, "--", "python", "app.py", *ARGUMENTS, cwd=app, env=held)
    assert "LEAK06splitted" in done.stdout  # what passes through is the program's own business
    assert LEAK not in own_lines(done, live)
    zeroin("run", "--log", "--", "python", "app.py", cwd=app, env=held)
    for words in (
        *(["show", "1"], ["show", "--env"], ["show", "1", "--json"], ["show", "1", "--output"]),
        *(["show", "--times"], ["show", "--peek"], ["show", "1", "--oneliner"]),
        *(["show", "2", "--oneliner"], ["show", "2", "--oneliner", "--json"], ["log"]),
        *(["log", "--json"], ["diff", "1", "2"], ["diff", "1", "2", "--json"], ["why"]),
        *(["why", "--json"], ["again", "1"]),
    ):
        said = zeroin(*words, cwd=app, env=held)
        assert "LEAK" not in said.stdout + said.stderr, words
    kept = zeroin("show", "1", "--output", cwd=app).stdout
    assert "split token=<secret>\n" in kept
    assert "connecting to postgres://ada:<secret>@host/shop and redis://:<secret>@h\n" in kept
    assert_nothing_kept(zeroin, app)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--json", "--"],
        ["again", "last"],
        ["files", "--"],
        ["files", "--json", "--"],
        ["limit", "memory=1G", "--"],
        ["stacks", "--no-agent", "--json", "--"],
        ["bisect", "settings", "settings.json", "--json", "--"],
        ["leak", "-n", "3", "--"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_verbs_that_run_it(zeroin, app, held, words):
    """What they print themselves, and what they keep, holds no secret."""
    (app / "settings.json").write_text('{"a": 1}\n')
    live = lines_of("app.py", cwd=app, env=zeroin.env | held)
    command = ["python", "app.py"] if words[-1] == "--" else []
    if not command:
        zeroin("run", "--", "python", "app.py", cwd=app, env=held)
    done = zeroin(*words, *command, cwd=app, env=held)
    assert LEAK not in own_lines(done, live)
    assert_nothing_kept(zeroin, app)


def test_shrink(zeroin, app, held):
    """Neither the report nor what is remembered of the tries."""
    (app / "rows.txt").write_text("".join(f"row {n}\n" for n in range(20)) + "bad\n")
    live = lines_of("app.py", cwd=app, env=zeroin.env | held)
    done = zeroin("shrink", "rows.txt", "--", "python", "app.py", cwd=app, env=held)
    assert done.returncode == 0, done.stderr
    assert LEAK not in own_lines(done, live)
    assert_nothing_kept(zeroin, app)


def test_bisect_commits(zeroin, app, held):
    """Neither the report nor what is remembered of the commits."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    source = (app / "app.py").read_text()
    for number in range(3):
        head = "import sys; sys.exit()\n" if number < 1 else f"# {number}\n"
        (app / "app.py").write_text(head + source)
        subprocess.run([*git, "add", "-A"], cwd=app, env=zeroin.env, check=True)
        subprocess.run([*git, "commit", "-qm", f"n {number}"], cwd=app, env=zeroin.env, check=True)
    live = lines_of("app.py", cwd=app, env=zeroin.env | held)
    words = ("bisect", "commits", "HEAD~2", "--", "python", "app.py", "--token", "LEAK40cli")
    done = zeroin(*words, cwd=app, env=held)
    assert "n 1" in done.stdout, done.stderr
    assert LEAK not in own_lines(done, live)
    assert_nothing_kept(zeroin, app)


def test_pytest(zeroin, app, held):
    """The arguments that pytest prints are masked in the record, and in the plugin's own part."""
    done = zeroin(
        "run",
        "--",
        sys.executable,
        "-m",
        "pytest",
        "--zeroin",
        "-q",
        "test_app.py",
        cwd=app,
        env=held,
    )
    assert done.returncode == 1
    said = done.stdout.partition("- zeroin -")[2].partition("- Captured")[0]
    assert "password = <secret>" in said, done.stdout + done.stderr
    assert "argv = ['tool', '--password', '<secret>']" in said
    assert "LEAK" not in said + done.stderr
    for words in (["log"], ["show"], ["show", "--json"], ["show", "2", "--json"]):
        shown = zeroin(*words, cwd=app, env=held)
        assert "LEAK" not in shown.stdout + shown.stderr, words
    assert_nothing_kept(zeroin, app)


def test_loop(zeroin, app, held, monkeypatch):
    """Iterations, and what is kept of them."""
    for name, value in held.items():
        monkeypatch.setenv(name, value)
    plain = type(zeroin).env.fget

    class Holding(type(zeroin)):
        env = property(lambda self: plain(self) | held)

    command = ("python", "app.py", "--password", "LEAK31cli")
    with looping.Looping(Holding(zeroin.base), app, command=command) as loop:
        told = json.dumps(loop.line())
        assert "LEAK" not in told
        loop.edit("app.py", (app / "app.py").read_text() + "\n# more\n")
        loop.say("run")
        assert "LEAK" not in json.dumps(loop.line())
        loop.quit()
    (app.parent / "loop-stderr").unlink()  # the program's own output
    assert_nothing_kept(zeroin, app)


def test_a_running_program(zeroin, app, held, tmp_path):
    """`stacks`, `why -p` and `watch` show a command line and locals without secrets."""
    (app / "wait.py").write_text(
        "import time\ndef f(pw, url):\n    print('up', flush=True)\n    time.sleep(60)\n"
        "f('LEAK' + '50', 'redis://:' + 'LEAK51' + '@h')\n"
    )
    words = [sys.executable, "wait.py", "--token", "LEAK52cli", "-u", "a:LEAK53x"]
    process = subprocess.Popen(
        words, cwd=app, env=zeroin.env | held, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout.readline() == b"up\n"
        pid = str(process.pid)
        for words in (
            *(["stacks", pid, "--locals"], ["stacks", pid, "--locals", "--json"]),
            *(["why", "-p", pid], ["why", "-p", pid, "--json"]),
            *(["watch", pid, "--json", "--for", "1s"], ["watch", pid, "--once"]),
        ):
            done = zeroin(*words, cwd=app, env=held)
            assert "LEAK" not in done.stdout + done.stderr, words
            assert "wait.py" in done.stdout + done.stderr, (words, done.stdout, done.stderr)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


BUG = """
import sys
from zeroin.fronts import cli
import zeroin.fronts.cli.run as verb

def main(args):
    raise ValueError(" ".join(args))

verb.main = main
sys.exit(cli.main(sys.argv[1:]))
"""


def test_the_file_for_a_bug_report(zeroin, app, held):
    """It is for its owner alone, and holds no secret, though the exception says all of them."""
    old = zeroin("run", "--", "true", cwd=app)
    assert old.returncode == 0
    words = (
        "run",
        "--env",
        "X_SECRET=LEAK60env",
        "--env=A_TOKEN=LEAK61env",
        "--",
        "tool",
        *ARGUMENTS,
    )
    done = zeroin(*words, cwd=app, env=held, driver=[sys.executable, "-c", BUG])
    assert done.returncode == 3
    path = done.stderr.rpartition("reporting it: ")[2].strip()
    with open(path) as file:
        report = file.read()
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert "LEAK" not in report + done.stderr
    assert "--env X_SECRET=<secret> --env=A_TOKEN=<secret> -- tool --password <secret>" in report
    os.chmod(path, 0o644)
    zeroin(*words, cwd=app, env=held, driver=[sys.executable, "-c", BUG])
    assert os.stat(path).st_mode & 0o777 == 0o600
