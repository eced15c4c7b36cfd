import asyncio


async def ticks(n):
    for i in range(n):
        yield i


async def main():
    async for i in ticks(3):
        print(i)
    else:
        print("else")
    async for i in ticks(9):
        if i == 2:
            break
    else:
        print("never")
    return i


print(asyncio.run(main()))
