"""The same for code without asyncio: each call waits for its answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from types import TracebackType
from typing import Any, TypeVar

from . import connection as near
from .options import Options
from .process import Output
from .process import Process as NearProcess
from .result import Result

T = TypeVar("T")


class _Loop:
    """An event loop in a thread of its own, so that the line is read while the caller does else."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="forkline")
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            # On Ctrl-C the command must not go on.
            future.cancel()
            raise

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Process:
    """A command on the far side; see `forkline.Process`."""

    def __init__(self, loop: _Loop, process: NearProcess) -> None:
        """Takes what `spawn()` has started."""
        self._loop, self._process = loop, process

    @property
    def pid(self) -> int | None:
        """Its process id on the far side."""
        return self._process.pid

    def wait(self) -> Result:
        """Waits for the end."""
        return self._loop.wait(self._process.wait())

    def outputs(self) -> Iterator[Output]:
        """Yields the output as it comes, until the command ends."""
        pieces = self._process.outputs()

        async def following() -> Output | None:
            return await anext(pieces, None)

        while (piece := self._loop.wait(following())) is not None:
            yield piece

    def write(self, data: bytes) -> None:
        """Writes to its stdin."""
        self._loop.wait(self._process.write(data))

    def close_input(self) -> None:
        """Closes its stdin."""

        async def close() -> None:
            self._process.close_input()

        self._loop.wait(close())

    def end(self) -> None:
        """Cancels it, and waits until it has ended."""
        self._loop.wait(self._process.end())


class Connection:
    """A far side; see `forkline.Connection`."""

    def __init__(self, loop: _Loop, connection: near.Connection) -> None:
        """Takes what `connect()` has made."""
        self._loop, self._connection = loop, connection

    def run(
        self,
        command: str | Sequence[str],
        options: Options | None = None,
        *,
        input: str | bytes | None = None,
    ) -> Result:
        """Runs a command to its end."""
        return self._loop.wait(self._connection.run(command, options, input=input))

    def spawn(
        self,
        command: str | Sequence[str],
        options: Options | None = None,
        *,
        has_input: bool = False,
    ) -> Process:
        """Starts a command."""
        started = self._connection.spawn(command, options, has_input=has_input)
        return Process(self._loop, self._loop.wait(started))

    def close(self) -> None:
        """Ends all that was started, and waits until nothing of it is left."""
        try:
            self._loop.wait(self._connection.close())
        finally:
            self._loop.stop()

    def __enter__(self) -> Connection:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()


def connect(
    command: Sequence[str] | None = None, *, ready_s: float = 30.0, silence_s: float = 30.0
) -> Connection:
    """Starts a far side; see `forkline.connect()`."""
    loop = _Loop()
    try:
        connection = loop.wait(near.connect(command, ready_s=ready_s, silence_s=silence_s))
        return Connection(loop, connection)
    except BaseException:
        loop.stop()
        raise
