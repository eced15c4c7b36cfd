# needs: 3.11
# ends: ExceptionGroup
import asyncio


async def ok(n):
    await asyncio.sleep(0)
    print("ok", n)
    return n


async def bad():
    await asyncio.sleep(0)
    raise KeyError("bad")


async def main():
    async with asyncio.TaskGroup() as group:
        ts = [group.create_task(ok(i)) for i in range(2)]
    print([t.result() for t in ts])
    async with asyncio.TaskGroup() as group:
        group.create_task(bad())


asyncio.run(main())
