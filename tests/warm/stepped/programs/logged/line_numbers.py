import logging
import sys

logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(levelname)s %(filename)s:%(lineno)d %(funcName)s %(message)s")
log = logging.getLogger("app")


def f(n):
    log.info("in f %d", n)
    if n:
        log.warning(
            "several"
            " lines",
        )
    return [log.debug("comp") for _ in range(1)]


log.info("top")
f(1)
logging.error("root")


class A:
    log.info("class body")

    def m(self):
        log.info("method", stacklevel=1)
        log.info("caller", stacklevel=2)


A().m()
