# ends: ZeroDivisionError
def make():
    class Outer:
        x = 0

        class Inner:
            y = 1

            def f(self):
                pass

            z = y / 0

    return Outer


make()
