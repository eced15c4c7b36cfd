# ends: RecursionError
class A:
    @property
    def x(self):
        return self.y

    @property
    def y(self):
        return self.x


A().x
