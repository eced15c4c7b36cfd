import asyncio


async def agen(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def twice(x):
    return 2 * x


async def main():
    print([x async for x in agen(3)])
    print({x: y async for x in agen(2) for y in range(2)})
    print([await twice(x) for x in range(3)], {x async for x in agen(2) if x})
    g = (x async for x in agen(2))
    print([x async for x in g])


asyncio.run(main())
