"""A line to a far side: its program, its greeting, and its calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from .call import Call, parse_object
from .errors import NotStartedError
from .frames import Frame, FrameKind, FrameParser, ProtocolFault, encode_frame
from .messages import PROTOCOL

_PREAMBLE = b"\0forkline-serve\n"
# Bytes that a login may print before the far side speaks.
_MOST_NOISE = 64 * 1024
_READ_BYTES = 256 * 1024
# Seconds that a far side has to end what it has started, before it is killed.
_LEAVE_S = 15.0
# A question about a task of no tool: any far side answers it at once, with an error.
_SIGN_OF_LIFE = {"op": "task", "tool": 0, "id": ""}


class Line:
    """A far side's program, and the calls on its stdin and stdout."""

    def __init__(self, program: asyncio.subprocess.Process, silence_s: float) -> None:
        """Takes a program that was just started. `open()` is the way to one."""
        assert program.stdin is not None and program.stdout is not None
        self.closed = ""
        self.takes: list[str] = []
        self._program = program
        self._input, self._output = program.stdin, program.stdout
        self._silence_s = silence_s
        self._parser = FrameParser()
        self._calls: dict[int, Call] = {}
        self._last = 0
        self._heard = False
        self._tasks: list[asyncio.Task[None]] = []

    @staticmethod
    async def open(command: Sequence[str], ready_s: float, silence_s: float) -> Line:
        """Starts a far side and greets it. NotStartedError: none answers within `ready_s`."""
        try:
            program = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise NotStartedError(f"{command[0]}: {error.strerror}") from error
        line = Line(program, silence_s)
        try:
            await asyncio.wait_for(line._greet(), ready_s)
        except BaseException as error:
            await line._kill()
            if isinstance(error, asyncio.TimeoutError):
                raise NotStartedError(f"{command[0]}: no hello within {ready_s} s") from error
            if isinstance(error, ProtocolFault):
                raise NotStartedError(f"{command[0]}: {error}") from error
            raise
        line._tasks = [asyncio.create_task(line._read()), asyncio.create_task(line._watch())]
        return line

    def call(self, body: object) -> Call:
        """Begins a call. NotStartedError: the line is closed."""
        if self.closed:
            raise NotStartedError(f"the line to the far side is closed: {self.closed}")
        self._last += 1
        call = Call(self._last, self)
        self._calls[call.number] = call
        call.begin(body)
        return call

    def send(self, frame: Frame) -> None:
        """Sends a frame."""
        if not self.closed:
            self._input.write(encode_frame(frame))

    async def drain(self) -> None:
        """Waits until the line takes more; a closed one takes all."""
        try:
            await self._input.drain()
        except ConnectionError:
            # The reader tells the calls.
            return

    async def close(self) -> None:
        """Ends all that was started here, and waits until nothing of it is left."""
        self._shut("it was closed")
        self._input.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            # What is still on its way must be read, or the far side could not write its last.
            await asyncio.wait_for(self._leave(), _LEAVE_S)
        except asyncio.TimeoutError:
            await self._kill()

    async def _leave(self) -> None:
        while await self._output.read(_READ_BYTES):
            pass
        await self._program.wait()

    async def _kill(self) -> None:
        if self._program.returncode is None:
            self._program.kill()
        self._input.close()
        await self._program.wait()

    async def _greet(self) -> None:
        hello = json.dumps({"protocol": PROTOCOL, "version": "0.1.0"}).encode()
        self.send(Frame(FrameKind.HELLO, False, 0, hello))
        seen = b""
        while (at := seen.find(_PREAMBLE)) < 0:
            if len(seen) > _MOST_NOISE:
                raise ProtocolFault("its output is not a far side's")
            more = await self._output.read(_READ_BYTES)
            if not more:
                raise ProtocolFault(f"it has ended; it printed: {seen[-512:]!r}")
            seen += more
        frames = self._parser.push(seen[at + len(_PREAMBLE) :])
        while not frames:
            more = await self._output.read(_READ_BYTES)
            if not more:
                raise ProtocolFault("it has ended before its hello")
            frames = self._parser.push(more)
        self._take_hello(frames[0])
        for frame in frames[1:]:
            self._take(frame)

    def _take_hello(self, frame: Frame) -> None:
        body = parse_object(frame.payload) if frame.kind is FrameKind.HELLO else {}
        if body.get("protocol") != PROTOCOL:
            got = body.get("protocol")
            raise ProtocolFault(f"protocol: expected {PROTOCOL}, got {got}: use one version")
        takes = body.get("takes")
        self.takes = [str(op) for op in takes] if isinstance(takes, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    async def _read(self) -> None:
        reason = "its output has ended"
        try:
            while data := await self._output.read(_READ_BYTES):
                self._heard = True
                for frame in self._parser.push(data):
                    self._take(frame)
        except (OSError, ProtocolFault) as error:
            reason = str(error)
        except Exception as error:
            # What can't be understood ends the line; without it, calls would wait for ever.
            reason = f"the far side can't be understood: {error!r}"
        self._shut(reason)
        self._input.close()

    def _take(self, frame: Frame) -> None:
        call = self._calls.get(frame.call)
        if call is None:
            return
        call.received(frame)
        if call.ended.done():
            del self._calls[frame.call]

    def _shut(self, reason: str) -> None:
        self.closed = self.closed or reason
        calls, self._calls = list(self._calls.values()), {}
        for call in calls:
            call.lost(reason)

    async def _watch(self) -> None:
        """Closes a line whose far side is silent while it has something to do."""
        is_asked = False
        while not self.closed:
            self._heard = False
            await asyncio.sleep(self._silence_s / 2)
            if self._heard or not self._calls:
                is_asked = False
            elif is_asked:
                self._shut(f"it was silent for {self._silence_s} s")
                await self._kill()
            else:
                is_asked = True
                self.call(_SIGN_OF_LIFE)
