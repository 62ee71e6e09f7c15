import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from forkline import (
    Connection,
    InputError,
    NotStartedError,
    Options,
    WorkerLostError,
    connect,
)


def far(work: Callable[[Connection], Awaitable[None]]) -> None:
    async def main() -> None:
        async with await connect() as connection:
            await work(connection)

    asyncio.run(main())


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_runs_shell_text() -> None:
    async def work(connection: Connection) -> None:
        result = await connection.run("echo out; echo err >&2; exit 3")
        assert (result.exit_code, result.output, result.cause) == (3, "out\nerr\n", "itself")
        assert result.receipt["engine"] == "native"

    far(work)


def test_runs_words_without_a_shell_and_separates_streams() -> None:
    async def work(connection: Connection) -> None:
        words = ["sh", "-c", "echo $0; echo e >&2", "a b"]
        result = await connection.run(words, Options(streams="separate"))
        assert (result.stdout, result.stderr) == ("a b\n", "e\n")

    far(work)


def test_input_of_many_windows_arrives_whole() -> None:
    async def work(connection: Connection) -> None:
        data = os.urandom(5_000_000)
        result = await connection.run("wc -c", input=data)
        assert result.output.strip() == "5000000"
        assert (await connection.run("true", input=data)).exit_code == 0

    far(work)


def test_a_command_larger_than_a_frame() -> None:
    async def work(connection: Connection) -> None:
        result = await connection.run("wc -c <<'EOF'\n" + "x" * 300_000 + "\nEOF\n")
        assert result.output.strip() == "300001"

    far(work)


def test_timeout_ends_the_whole_tree() -> None:
    async def work(connection: Connection) -> None:
        text = "setsid sleep 1000 & echo $!; wait"
        result = await connection.run(text, Options(timeout_ms=300, grace_ms=100))
        assert result.cause == "timedOut"
        assert gone(int(result.output))

    far(work)


def test_a_cancelled_task_ends_its_command(tmp_path: Path) -> None:
    async def work(connection: Connection) -> None:
        task = asyncio.create_task(connection.run(f"echo $$ >{tmp_path}/pid; sleep 1000"))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gone(int((tmp_path / "pid").read_text()))

    far(work)


def test_streams_all_of_a_large_output() -> None:
    async def work(connection: Connection) -> None:
        process = await connection.spawn("head -c 8000000 /dev/zero")
        assert process.pid
        total = 0
        async for piece in process.outputs():
            assert piece.dropped == 0
            total += len(piece.data)
        assert total == 8_000_000
        assert (await process.wait()).exit_code == 0

    far(work)


def test_speaks_with_a_command_and_signals_it() -> None:
    async def work(connection: Connection) -> None:
        process = await connection.spawn("cat", has_input=True)
        await process.write(b"hello\n")
        async for piece in process.outputs():
            assert piece.data == b"hello\n"
            break
        assert any("cat" in member["command"] for member in await process.members())
        assert await process.signal("SIGINT")
        assert (await process.wait()).signal == signal.SIGINT

    far(work)


def test_bad_input_names_the_field() -> None:
    async def work(connection: Connection) -> None:
        with pytest.raises(InputError, match="timeoutMs"):
            await connection.run("true", Options(timeout_ms=-1))
        with pytest.raises(InputError, match="sandbox"):
            await connection.run("true", Options(sandbox={"network": False}))
        with pytest.raises(InputError, match="command"):
            await connection.run([])
        with pytest.raises(NotStartedError, match="nowhere"):
            await connection.run("true", Options(cwd="/nowhere"))

    far(work)


def test_a_killed_far_side_is_a_loss_with_its_output() -> None:
    async def work(connection: Connection) -> None:
        process = await connection.spawn("echo before; exec sleep 1000")
        async for _ in process.outputs():
            break
        assert process.pid
        result = await connection.run("echo $PPID $$")
        assert result.exit_code == 0
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        os.kill(int(children[-1]), signal.SIGKILL)
        with pytest.raises(WorkerLostError) as lost:
            await process.wait()
        assert (lost.value.started, lost.value.output) == (True, "before\n")
        with pytest.raises(NotStartedError):
            await connection.run("true")
        until = time.monotonic() + 10
        while not gone(process.pid) and time.monotonic() < until:
            await asyncio.sleep(0.01)
        assert gone(process.pid)

    far(work)


def test_a_stopped_far_side_is_lost_after_its_silence() -> None:
    async def main() -> None:
        async with await connect(silence_s=0.5) as connection:
            running = asyncio.create_task(connection.run("sleep 1000"))
            await asyncio.sleep(0.7)
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            os.kill(int(children[-1]), signal.SIGSTOP)
            with pytest.raises(WorkerLostError, match=r"silent for 0.5 s"):
                await asyncio.wait_for(running, 10)

    asyncio.run(main())


def test_a_program_that_is_no_far_side() -> None:
    with pytest.raises(NotStartedError, match="it printed: b'hi"):
        asyncio.run(connect(["echo", "hi"]))
    with pytest.raises(NotStartedError, match=r"no hello within 0.2 s"):
        asyncio.run(connect(["sleep", "1000"], ready_s=0.2))
    with pytest.raises(NotStartedError, match="No such file"):
        asyncio.run(connect(["/no/such/program"]))
