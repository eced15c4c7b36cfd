# ends: <exception str() failed>
class Bad(Exception):
    def __str__(self):
        raise ValueError("in str")


raise Bad("x")
