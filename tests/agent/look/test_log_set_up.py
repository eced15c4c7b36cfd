"""`log`: the standard logging, set up once, and no line twice."""

from __future__ import annotations

import re

import pytest
from looking import lines, run

LINE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4} (\w+) +(\S+)  (\S+?:\d+(?: \w+)?)  \[(.*?)\]  (.*)"
)


def records(path):
    """The lines of a file that begin a record."""
    return [found.groups() for found in map(LINE.fullmatch, path.read_text().splitlines()) if found]


def plain(told):
    """Lines of the terminal without their times."""
    return [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in told]


def test_short_on_the_terminal_full_in_the_file(python, tmp_path):
    """Level, name and message there; time, place, process, thread and rank here."""
    source = """
        import threading
        from zeroin import log
        log.to("out.log")
        logger = log.get(__name__)
        def work():
            logger.info("loaded %d rows", 5)
        work()
        thread = threading.Thread(target=work, name="loader"); thread.start(); thread.join()
        logger.debug("not asked for")
        log.level("debug")
        log.get("shop.data").debug("now it is")
        try:
            {}["x"]
        except KeyError:
            logger.exception("failed")
    """
    told = plain(lines(python, tmp_path, source, env={"RANK": "2"}))
    assert told[:3] == [
        "INFO [rank 2] train: loaded 5 rows",
        "INFO [rank 2 · loader] train: loaded 5 rows",
        "DEBUG [rank 2] shop.data: now it is",
    ]
    assert told[3:5] == ["ERROR [rank 2] train: failed", "Traceback (most recent call last):"]
    assert told[-1] == "KeyError: 'x'"
    kept = records(tmp_path / "out.log")
    assert [one[0] for one in kept] == ["INFO", "INFO", "DEBUG", "ERROR"]
    assert kept[0][1:3] == ("train", "train.py:7 work")
    assert re.fullmatch(r"rank 2 · MainProcess \d+ · MainThread", kept[0][3])
    assert kept[1][3].endswith("loader")
    assert "KeyError: 'x'" in (tmp_path / "out.log").read_text()


def test_set_up_once(python, tmp_path):
    """By many modules, reloaded, imported under both names, in forked children: one line each."""
    (tmp_path / "helper.py").write_text(
        "from zeroin import log\nlog.to('out.log')\nlogger = log.get(__name__)\n"
    )
    source = """
        import importlib, os, sys
        import helper
        from zeroin import log
        importlib.reload(helper)
        import zeroin.agent.look.logs as logs
        importlib.reload(logs).log.get("again")
        logs.log.to("out.log")
        log.get("train").info("one")
        child = os.fork()
        if not child:
            log.get("train").info("two")
            os._exit(0)
        os.waitpid(child, 0)
    """
    told = plain(lines(python, tmp_path, source, env={"PYTHONWARNINGS": "ignore"}))
    assert told[0] == "INFO train: one"
    assert re.fullmatch(r"INFO \[pid \d+\] train: two", told[1])
    assert len(told) == 2
    assert [one[4] for one in records(tmp_path / "out.log")] == ["one", "two"]


def test_handlers_of_the_programs_own(python, tmp_path):
    """Where one writes to the terminal, ours is silent; the level that was set stays."""
    source = """
        import logging, sys
        logging.basicConfig(format="MINE %(message)s", level=logging.ERROR, stream=sys.stderr)
        from zeroin import log
        log.to("out.log")
        log.get("a").error("before")
        log.get("a").info("not at this level")
        own = logging.getLogger("own"); own.propagate = False
        own.addHandler(logging.StreamHandler()); own.error("apart")
        logging.basicConfig(format="THEN %(message)s", force=True, level=logging.INFO)
        log.get("a").info("after")
    """
    assert lines(python, tmp_path, source) == ["MINE before", "apart", "THEN after"]


@pytest.mark.parametrize("level", ["WARNING", "INFO"])
def test_the_program_sets_up_logging_afterwards(python, tmp_path, level):
    """`basicConfig` does what it says, though a module had asked for a logger before."""
    (tmp_path / "helper.py").write_text(
        "from zeroin import log\nlog.to('out.log')\nlogger = log.get(__name__)\n"
        "logger.info('loading')\n"
    )
    source = """
        import logging, sys
        import helper
        other, own = logging.getLogger("other"), helper.log.get("own")
        other.info("of another library")
        own.setLevel(logging.INFO)
        logging.basicConfig(format="MINE %(message)s", level=sys.argv[1])
        for logger in (helper.logger, other, own):
            logger.info("%s info", logger.name)
            logger.warning("%s warning", logger.name)
        from logging.config import dictConfig
        dictConfig({"version": 1, "disable_existing_loggers": False})
        helper.logger.error("in the file")
    """
    told = lines(python, tmp_path, source, level)
    assert plain(told[:1]) == ["INFO helper: loading"]
    infos = {"INFO": ["helper", "other", "own"], "WARNING": ["own"]}[level]
    assert [line for line in told[1:] if "info" in line] == [f"MINE {one} info" for one in infos]
    assert told[1:].count("MINE helper warning") == 1
    assert [one[4] for one in records(tmp_path / "out.log")][-1] == "in the file"


def test_other_libraries_keep_their_level(python, tmp_path):
    """A logger of ours takes `info`, others what they took; `log.level` is for all."""
    source = """
        import logging
        from zeroin import log
        other = logging.getLogger("other")
        log.get("me").info("mine"); other.info("no"); other.warning("yes")
        log.level("info"); other.info("now")
        log.level("warning"); log.get("me").info("no")
    """
    assert plain(lines(python, tmp_path, source)) == [
        "INFO me: mine",
        "WARNING other: yes",
        "INFO other: now",
    ]


def test_variables(python, tmp_path):
    """ZEROIN_LOG and ZEROIN_LOG_FILE; what is wrong with them is said, and the program runs."""
    source = """
        from zeroin import log
        log.get("a").debug("d"); log.get("a").warning("w")
        try: log.level("loud")
        except ValueError as error: print(error)
        log.to("/nowhere/y.log")
    """
    env = {"ZEROIN_LOG": "debug", "ZEROIN_LOG_FILE": "rank{rank}.log"}
    done = run(python, tmp_path, source, env=env)
    *told, last = done.stderr.splitlines()
    assert plain(told) == ["DEBUG a: d", "WARNING a: w"]
    assert last == "zeroin: log.to: /nowhere/y.log: No such file or directory: no file is written"
    assert done.stdout == "no level 'loud': debug, info, warning, error, critical or a number\n"
    assert len(records(tmp_path / "rank0.log")) == 2
    env = {"ZEROIN_LOG": "loud", "ZEROIN_LOG_FILE": "/nowhere/x.log"}
    told = run(python, tmp_path, source, env=env).stderr.splitlines()
    assert told[0].startswith("zeroin: ZEROIN_LOG: no level 'loud'")
    assert told[1] == (
        "zeroin: ZEROIN_LOG_FILE: /nowhere/x.log: No such file or directory: no file is written"
    )
    assert plain(told[2:-1]) == ["WARNING a: w"]


def test_processes_share_a_file(python, tmp_path):
    """Records of any length stay whole."""
    source = """
        import multiprocessing, sys
        from zeroin import log
        def work(n):
            log.to("out.log")
            for i in range(200):
                log.get("w").info("%d %d %s", n, i, "x" * 9000)
        if __name__ == "__main__":
            method = multiprocessing.get_context("spawn")
            all_ = [method.Process(target=work, args=(n,)) for n in range(3)]
            [one.start() for one in all_]; [one.join() for one in all_]
    """
    run(python, tmp_path, source)
    kept = records(tmp_path / "out.log")
    assert len(kept) == 600
    assert all(re.fullmatch(r"\d \d+ x{9000}", one[4]) for one in kept)


def test_details_of_libraries_are_in_the_file_only(python, tmp_path):
    """At `debug`, the terminal has the program's own."""
    package = tmp_path / "site-packages" / "lib.py"
    package.parent.mkdir()
    package.write_text("import logging\ndef f(): logging.getLogger('lib').debug('detail')\n")
    source = """
        import lib
        from zeroin import log
        log.to("out.log"); log.level("debug")
        log.get("me").debug("mine"); lib.f()
    """
    env = {"ZEROIN_TEST": "1"}
    done = run(python, tmp_path, f"import sys; sys.path.append({str(package.parent)!r})\n", env=env)
    source = f"import sys; sys.path.append({str(package.parent)!r})\n" + "\n".join(
        line[8:] for line in source.splitlines()
    )
    done = run(python, tmp_path, source)
    assert plain(done.stderr.splitlines()) == ["DEBUG me: mine"]
    assert [one[4] for one in records(tmp_path / "out.log")] == ["mine", "detail"]


def test_a_message_that_does_not_fit_its_arguments(python, tmp_path):
    """The program goes on; the record says what was given."""
    source = """
        from zeroin import log
        log.get("a").info("%d rows", "many")
        print("done")
    """
    done = run(python, tmp_path, source)
    assert done.stdout == "done\n"
    assert "'%d rows' with ('many',): TypeError" in done.stderr
