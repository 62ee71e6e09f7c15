"""One call on a line: messages and bytes both ways, as fast as the slower side takes them."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Protocol, cast

from .errors import WorkerLostError
from .frames import Frame, FrameKind, ProtocolFault

WINDOW = 1024 * 1024
SENT_PAYLOAD = 64 * 1024
_GRANTED = WINDOW // 4
# The largest message that is put together here: the most that the far side can send.
_MOST_BYTES = 256 * 1024 * 1024
# Bytes of output that are kept in case the command is lost.
_KEPT_BYTES = 64 * 1024
_PIECE_HEADER = 9


class CallLine(Protocol):
    """What a call takes of its line."""

    def send(self, frame: Frame) -> None:
        """Sends a frame after those before."""
        ...

    async def drain(self) -> None:
        """Waits until the line takes more."""
        ...


class Call:
    """A command's call, from its beginning to its answer."""

    def __init__(self, number: int, line: CallLine) -> None:
        """Takes the call's number."""
        self.number = number
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[dict[str, object]] = loop.create_future()
        self.started: asyncio.Future[int] = loop.create_future()
        # Whoever waits for neither must not be told that an error was not looked at.
        for future in (self.ended, self.started):
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.pieces: deque[bytes] = deque()
        self.stirred = asyncio.Event()
        self._line = line
        self._parts = bytearray()
        self._credit = WINDOW
        self._credited = asyncio.Event()
        self._taken = self._messages_taken = 0
        self._recent = bytearray()
        self._tail = ""
        self._answers: dict[int, asyncio.Future[object]] = {}
        self._asked = 0
        self._writes: deque[asyncio.Future[None]] = deque()
        self._writing = asyncio.Lock()

    def begin(self, body: object) -> None:
        """Sends the beginning."""
        self._send_json(FrameKind.OPEN, body)

    def cancel(self, grace_ms: float | None) -> None:
        """Asks the far side to end the command."""
        if not self.ended.done():
            body = {} if grace_ms is None else {"graceMs": grace_ms}
            self._send_json(FrameKind.CANCEL, body)

    async def ask(self, what: dict[str, object]) -> object:
        """Asks about the command; None: it has ended."""
        if self.ended.done():
            return None
        self._asked += 1
        number = self._asked
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._send_json(FrameKind.MESSAGE, {"ask": number, **what})
        return await answer

    async def write(self, data: bytes) -> None:
        """Writes to stdin; returns when it is written. BrokenPipeError: it is closed."""
        # Pieces of two writers would mix, and the far side answers in order.
        async with self._writing:
            written = [
                await self._write_piece(data[at : at + SENT_PAYLOAD])
                for at in range(0, len(data), SENT_PAYLOAD)
            ]
        await asyncio.gather(*written)

    def end_input(self) -> None:
        """Closes the command's stdin."""
        if not self.ended.done():
            self._line.send(Frame(FrameKind.DATA, False, self.number, b""))

    def consumed(self, count: int) -> None:
        """Tells that output was taken, so that more may come."""
        self._taken += count
        if self._taken >= _GRANTED:
            self._grant(self._taken, FrameKind.DATA)
            self._taken = 0

    def received(self, frame: Frame) -> None:
        """Takes a frame of this call."""
        if frame.kind is FrameKind.CREDIT:
            self._take_credit(frame.payload)
        elif frame.kind is FrameKind.DATA:
            self._take_output(frame.payload)
        elif frame.kind in (FrameKind.MESSAGE, FrameKind.END):
            self._take_part(frame)

    def lost(self, reason: str) -> None:
        """The line is closed."""
        started = self.started.done() or len(self._recent) > 0
        output = self._recent.decode(errors="replace") or self._tail
        error = WorkerLostError(reason, started=True if started else "unknown", output=output)
        self._over(error)

    async def _write_piece(self, piece: bytes) -> asyncio.Future[None]:
        while self._credit < len(piece) and not self.ended.done():
            self._credited.clear()
            await self._credited.wait()
        if self.ended.done():
            raise BrokenPipeError("its input is closed")
        self._credit -= len(piece)
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writes.append(written)
        self._line.send(Frame(FrameKind.DATA, False, self.number, piece))
        await self._line.drain()
        return written

    def _take_credit(self, payload: bytes) -> None:
        if len(payload) != 5:
            raise ProtocolFault(f"expected 5 bytes of credit, got {len(payload)}")
        if payload[4] == FrameKind.DATA:
            self._credit += int.from_bytes(payload[:4], "big")
            self._credited.set()

    def _take_output(self, payload: bytes) -> None:
        if len(payload) < _PIECE_HEADER:
            raise ProtocolFault(f"expected a piece of output, got {payload.hex()}")
        self._recent += payload[_PIECE_HEADER:]
        del self._recent[:-_KEPT_BYTES]
        self.pieces.append(payload)
        self.stirred.set()

    def _take_part(self, frame: Frame) -> None:
        if frame.kind is FrameKind.MESSAGE:
            self._messages_taken += len(frame.payload)
            if self._messages_taken >= _GRANTED:
                self._grant(self._messages_taken, FrameKind.MESSAGE)
                self._messages_taken = 0
        self._parts += frame.payload
        if len(self._parts) > _MOST_BYTES:
            raise ProtocolFault(f"expected a message of at most {_MOST_BYTES} bytes")
        if frame.more:
            return
        body = parse_object(bytes(self._parts))
        self._parts.clear()
        if frame.kind is FrameKind.MESSAGE:
            self._take_message(body)
        elif not self.ended.done():
            self._conclude(body)

    def _take_message(self, body: dict[str, object]) -> None:
        if "started" in body:
            if not self.started.done():
                self.started.set_result(cast(int, body["started"]))
        elif "tail" in body:
            self._tail = str(body["tail"])
        elif "wrote" in body:
            self._take_written(body["wrote"] is True)
        elif "answer" in body:
            answer = self._answers.pop(cast(int, body["answer"]), None)
            if answer is not None and not answer.done():
                answer.set_result(body.get("value"))

    def _take_written(self, wrote: bool) -> None:
        if not self._writes:
            raise ProtocolFault("wrote: expected an answer to a piece of input, got one more")
        written = self._writes.popleft()
        if written.done():
            return
        if wrote:
            written.set_result(None)
        else:
            _fail(written, BrokenPipeError("its input is closed"))

    def _conclude(self, body: dict[str, object]) -> None:
        self.ended.set_result(body)
        self._settle(None)

    def _over(self, error: Exception) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)
        self._settle(error)

    def _settle(self, error: Exception | None) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result(None)
        while self._writes:
            written = self._writes.popleft()
            if not written.done():
                _fail(written, error or BrokenPipeError("its input is closed"))
        if not self.started.done():
            self.started.cancel()
        self._credited.set()
        self.stirred.set()

    def _grant(self, count: int, lane: FrameKind) -> None:
        payload = count.to_bytes(4, "big") + bytes([lane])
        self._line.send(Frame(FrameKind.CREDIT, False, self.number, payload))

    def _send_json(self, kind: FrameKind, body: object) -> None:
        data = json.dumps(body).encode()
        for at in range(0, len(data), SENT_PAYLOAD):
            more = at + SENT_PAYLOAD < len(data)
            part = data[at : at + SENT_PAYLOAD]
            self._line.send(Frame(kind, more, self.number, part))


def parse_object(data: bytes) -> dict[str, object]:
    """Returns a message's body. ProtocolFault: it is no JSON object."""
    try:
        body: object = json.loads(data)
    except ValueError as error:
        raise ProtocolFault(f"expected JSON, got {data[:80]!r}") from error
    if not isinstance(body, dict):
        raise ProtocolFault(f"expected an object, got {data[:80]!r}")
    return cast("dict[str, object]", body)


def _fail(future: asyncio.Future[None], error: Exception) -> None:
    future.set_exception(error)
    # Input that nobody waits for is no failure of the call.
    future.exception()
