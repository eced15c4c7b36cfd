import asyncio


async def produce(q, n):
    for i in range(n):
        await q.put(i)
    await q.put(None)


async def consume(q):
    total = 0
    while (x := await q.get()) is not None:
        total += x
        print("took", x)
    return total


async def main():
    q = asyncio.Queue(2)
    _, total = await asyncio.gather(produce(q, 5), consume(q))
    print(total)


asyncio.run(main())
