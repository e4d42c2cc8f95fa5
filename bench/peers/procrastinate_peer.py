"""procrastinate at the same work, run by a Python of its own: `install`, `fill N`, `work CONCURRENCY`, `wake`.

The database comes from PGHOST and its kin. `work` and `wake` say `ready`, then do something for each line they read."""

import asyncio
import logging
import sys
import time

import procrastinate

logging.disable(logging.CRITICAL)
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=""))
told: "asyncio.Queue[float]" = asyncio.Queue()


@app.task(name="nothing", queue="default")
async def nothing() -> None:
    pass


@app.task(name="stamp", queue="default")
async def stamp() -> None:
    told.put_nowait(time.monotonic())


async def line() -> str:
    return await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


async def work(concurrency: int) -> None:
    print("ready", flush=True)
    await line()
    begun = time.monotonic()
    await app.run_worker_async(wait=False, concurrency=concurrency, install_signal_handlers=False)
    print(begun, time.monotonic(), flush=True)


async def wake() -> None:
    worker = asyncio.create_task(app.run_worker_async(install_signal_handlers=False))
    await stamp.defer_async()
    await told.get()
    await asyncio.sleep(0.5)
    print("ready", flush=True)
    while await line():
        begun = time.monotonic()
        await stamp.defer_async()
        print(await told.get() - begun, flush=True)
    worker.cancel()


async def main(what: str, number: int) -> None:
    async with app.open_async():
        if what == "install":
            await app.schema_manager.apply_schema_async()
        elif what == "fill":
            await nothing.batch_defer_async(*[{} for _ in range(number)])
        elif what == "work":
            await work(number)
        else:
            await wake()


asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0))
