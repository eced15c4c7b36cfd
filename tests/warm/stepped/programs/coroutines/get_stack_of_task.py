import asyncio


async def inner(event):
    await event.wait()


async def outer(event):
    await inner(event)


async def main():
    event = asyncio.Event()
    task = asyncio.create_task(outer(event), name="t")
    await asyncio.sleep(0)
    for frame in task.get_stack():
        print(frame.f_code.co_name, frame.f_lineno)
    event.set()
    await task


asyncio.run(main())
