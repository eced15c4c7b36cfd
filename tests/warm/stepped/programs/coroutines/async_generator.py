import asyncio


async def agen():
    try:
        for i in range(5):
            x = yield i
            if x:
                print("got", x)
    finally:
        print("agen finally")


async def main():
    g = agen()
    print(await g.__anext__(), await g.asend("hello"))
    await g.aclose()
    async for i in agen():
        print(i)
        if i == 1:
            break
    g = agen()
    await g.__anext__()
    try:
        await g.athrow(ValueError("t"))
    except ValueError as error:
        print("caught", error)


asyncio.run(main())
