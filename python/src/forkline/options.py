"""The options of a command: what the far side does with each is in forkline's own docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal


@dataclass(frozen=True)
class Options:
    """Options of a command. None: the far side's default. Times are in milliseconds.

    `encoding`, `sandbox` and `undo` are refused by the far side without Node, and taken by
    `forkline serve`.
    """

    cwd: str | None = None
    env: Mapping[str, str | None] | None = None
    inherit_env: Literal["scrubbed", "all", "none"] | None = None
    timeout_ms: float | None = None
    grace_ms: float | None = None
    streams: Literal["merged", "separate"] | None = None
    head_bytes: int | None = None
    tail_bytes: int | None = None
    spill: str | None = None
    encoding: str | None = None
    pty: bool | Mapping[str, int] | None = None
    shell: str | None = None
    follow_directory: bool | None = None
    priority: Literal["normal", "low"] | None = None
    starts_at_once: int | None = None
    umask: int | None = None
    sandbox: Mapping[str, Any] | None = None
    undo: bool | None = None
    limits: Mapping[str, Any] | None = None

    def plain(self) -> dict[str, object]:
        """Returns them as they are sent: by the protocol's names, without those that are None."""
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {camel(name): value for name, value in given if value is not None}


def camel(name: str) -> str:
    """Returns a name in the protocol's spelling."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
