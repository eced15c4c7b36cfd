import asyncio
import sys

lines = []


def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__ and frame.f_code.co_name in ("agen", "main"):
        lines.append((frame.f_code.co_name, event, frame.f_lineno))
        return tracer


async def agen():
    for i in range(2):
        yield i


async def main():
    async for x in agen():
        y = x
    else:
        y = "else"
    async with asyncio.Lock():
        y += "!"
    return y


loop = asyncio.new_event_loop()
sys.settrace(tracer)
loop.run_until_complete(main())
sys.settrace(None)
loop.close()
print(*lines, sep="\n")
