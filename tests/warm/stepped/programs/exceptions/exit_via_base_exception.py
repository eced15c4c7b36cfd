# ends: KeyboardInterrupt
def f():
    try:
        raise KeyboardInterrupt
    except Exception:
        print("not here")
    finally:
        print("finally")


try:
    f()
except BaseException as error:
    print(type(error).__name__)
try:
    raise GeneratorExit
except BaseException as error:
    print(repr(error))


class Stop(BaseException):
    pass


try:
    raise Stop(1)
except Stop as stop:
    print(repr(stop))
import traceback

try:
    f()
except KeyboardInterrupt:
    traceback.print_exc()
raise SystemExit(1)
