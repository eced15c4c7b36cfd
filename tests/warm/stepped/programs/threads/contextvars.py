import contextvars
import threading

var = contextvars.ContextVar("var", default=0)


def f(n):
    var.set(n)
    return var.get()


ctx = contextvars.copy_context()
print(ctx.run(f, 5), var.get(), ctx[var])
token = var.set(1)
print(var.get())
var.reset(token)
print(var.get())
