# needs: 3.11
import asyncio


async def agen(n):
    for i in range(n):
        yield i


async def main():
    return [[y async for y in agen(x)] for x in range(3)]


print(asyncio.run(main()))
