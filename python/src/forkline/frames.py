"""Frames: pieces of calls, as they go over a line.

Four bytes are the payload's length, one the kind, one tells whether the message goes on, four are
the call's number (0: the line itself); all are big endian. Then comes the payload.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct(">IBBI")
_MOST_PAYLOAD = 256 * 1024


class FrameKind(IntEnum):
    """What a frame does."""

    HELLO = 1
    OPEN = 2
    MESSAGE = 3
    DATA = 4
    CREDIT = 5
    CANCEL = 6
    END = 7
    NOTICE = 8


@dataclass(frozen=True)
class Frame:
    """A piece of one call; `more`: its message goes on in the call's next frame."""

    kind: FrameKind
    more: bool
    call: int
    payload: bytes


class ProtocolFault(Exception):
    """The other side has sent what is not of this protocol."""


def encode_frame(frame: Frame) -> bytes:
    """Returns a frame as bytes."""
    header = _HEADER.pack(len(frame.payload), frame.kind, int(frame.more), frame.call)
    return header + frame.payload


class FrameParser:
    """Puts frames together again from bytes that come in pieces of any size."""

    def __init__(self) -> None:
        """Makes a parser that has seen nothing."""
        self._held = bytearray()

    def push(self, data: bytes) -> list[Frame]:
        """Returns the frames that are complete by now.

        Raises ProtocolFault when the bytes are no frames; nothing can be read after that.
        """
        self._held += data
        frames: list[Frame] = []
        at = 0
        while len(self._held) - at >= _HEADER.size:
            length, kind, more, call = _HEADER.unpack_from(self._held, at)
            if length > _MOST_PAYLOAD or more > 1 or not 1 <= kind <= len(FrameKind):
                header = bytes(self._held[at : at + _HEADER.size])
                raise ProtocolFault(f"expected a frame, got {header.hex()}")
            end = at + _HEADER.size + length
            if end > len(self._held):
                break
            payload = bytes(self._held[at + _HEADER.size : end])
            frames.append(Frame(FrameKind(kind), more == 1, call, payload))
            at = end
        del self._held[:at]
        return frames
