# ignore: 0x[0-9a-f]+
import asyncio


async def lost():
    return 1


def forget():
    lost()


async def main():
    lost()
    print("no await")


forget()
asyncio.run(main())
