# ends: can't be used in 'await' expression
import asyncio


async def main():
    x = 1
    await x


asyncio.run(main())
