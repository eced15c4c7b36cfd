import asyncio


def block(n):
    return n * 2


async def main():
    loop = asyncio.get_running_loop()
    r = await asyncio.gather(*(loop.run_in_executor(None, block, i) for i in range(3)))
    print(r, await asyncio.to_thread(block, 10))


asyncio.run(main())
