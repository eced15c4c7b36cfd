import asyncio


async def work(n):
    await asyncio.sleep(0)
    print("work", n)
    return n * n


async def main():
    r = await asyncio.gather(*(work(i) for i in range(3)))
    t = asyncio.create_task(work(9))
    print(r, await t)
    return "done"


print(asyncio.run(main()))
