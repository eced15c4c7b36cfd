# ends: InnerError: tea costs too much
class ShopError(Exception):
    def __init__(self, item, price):
        super().__init__(item, price)
        self.item = item

    def __str__(self):
        return f"{self.item} costs too much"


class Outer:
    class InnerError(ShopError):
        pass


def buy(kind):
    raise kind("tea", 3)


try:
    buy(ShopError)
except ShopError as error:
    print(error, error.args, repr(error))
buy(Outer.InnerError)
