import asyncio
import contextlib


@contextlib.asynccontextmanager
async def m(n):
    print("in", n)
    try:
        yield n
    finally:
        await asyncio.sleep(0)
        print("out", n)


async def main():
    async with m(1) as a, contextlib.AsyncExitStack() as stack:
        b = await stack.enter_async_context(m(2))
        print(a + b)


asyncio.run(main())
