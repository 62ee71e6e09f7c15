"""The protocol's messages. Generated from its table by scripts/generate.py."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

PROTOCOL = 1


class _ThrownOptional(TypedDict, total=False):
    cause: Thrown


class Thrown(_ThrownOptional):
    """The shape Thrown."""

    name: str
    message: str
    fields: dict[str, Any]


class _TraceOptional(TypedDict, total=False):
    tracestate: str


class Trace(_TraceOptional):
    """The shape Trace."""

    traceparent: str


class Counts(TypedDict):
    """The shape Counts."""

    bytes: int
    characters: int
    lines: int


class Complete(TypedDict):
    """The shape Complete."""

    kind: Literal["complete"]
    text: str
    total: Counts
    lossy: bool


class Cut(TypedDict):
    """The shape Cut."""

    kind: Literal["cut"]
    head: str
    tail: str
    dropped: Counts
    total: Counts
    lastLineBytes: int
    lossy: bool


class Process(TypedDict):
    """The shape Process."""

    pid: int
    processGroup: int
    command: str


class _FailureOptional(TypedDict, total=False):
    kind: Literal["failed"]


class Failure(_FailureOptional):
    """The shape Failure."""

    step: str
    errno: int
    subject: str
    message: str


class _RanOptional(TypedDict, total=False):
    kind: Literal["ran"]
    spill: Spilled
    directory: str
    sandbox: str
    reason: str
    checked: Checked


class Ran(_RanOptional):
    """The shape Ran."""

    engine: Literal["native"] | Literal["portable"]
    pid: int
    cause: Literal["itself"] | Literal["timedOut"] | Literal["cancelled"]
    status: int
    forced: bool
    durationMs: float
    userMs: float
    systemMs: float
    peakBytes: float
    captures: list[Capture]
    background: list[Process]
    share: int


class _CheckedOptional(TypedDict, total=False):
    outOfMemory: Literal["yes"] | Literal["likely"] | Literal["no"] | Literal["unknown"]
    sandbox: dict[str, Any]
    executed: list[dict[str, Any]]
    moreExecuted: int
    heldBack: list[dict[str, Any]]
    changes: dict[str, Any]
    spill: Spilled
    limits: dict[str, Any]


class Checked(_CheckedOptional):
    """The shape Checked."""


class _SpilledOptional(TypedDict, total=False):
    path: str
    error: SpillError


class Spilled(_SpilledOptional):
    """The shape Spilled."""

    bytes: int
    dropped: int


class SpillError(TypedDict):
    """The shape SpillError."""

    code: str
    errno: int
    message: str


class _ExecOptional(TypedDict, total=False):
    say: str


class Exec(_ExecOptional):
    """The shape Exec."""

    program: str
    argv: list[str]
    cwd: str
    pid: int
    parents: list[Parent]


class Parent(TypedDict):
    """The shape Parent."""

    pid: int
    program: str


class Part(TypedDict):
    """The shape Part."""

    name: str
    bytes: int


class ClientLineHelloMessage(TypedDict):
    """From the client, about a line: hello."""

    protocol: int
    version: str


class _FarLineHelloMessageOptional(TypedDict, total=False):
    maxBytes: int
    takes: Any
    takesParts: bool


class FarLineHelloMessage(_FarLineHelloMessageOptional):
    """From the far, about a line: hello."""

    protocol: int
    version: str


class FarLineDrainingMessage(TypedDict):
    """From the far, about a line: draining."""

    draining: Literal[True]


class FarLineCrowdedMessage(TypedDict):
    """From the far, about a line: crowded."""

    isCrowded: bool


class _ClientCommandCommandMessageOptional(TypedDict, total=False):
    hears: bool
    holds: bool
    trace: Trace


class ClientCommandCommandMessage(_ClientCommandCommandMessageOptional):
    """From the client, about a command: command."""

    op: Literal["command"]
    line: str | list[str]
    options: dict[str, Any]
    tellsStart: bool
    hasInput: bool
    listen: Literal["text"] | Literal["bytes"] | None
    pause: bool


class _ClientCommandCancelMessageOptional(TypedDict, total=False):
    graceMs: float


class ClientCommandCancelMessage(_ClientCommandCancelMessageOptional):
    """From the client, about a command: cancel."""


class ClientCommandDetachMessage(TypedDict):
    """From the client, about a command: detach."""

    do: Literal["detach"]


class ClientCommandResizeMessage(TypedDict):
    """From the client, about a command: resize."""

    do: Literal["resize"]
    columns: int
    rows: int


class ClientCommandInputMessage(TypedDict):
    """From the client, about a command: input."""

    do: Literal["input"]
    part: Part


class ClientCommandDecideMessage(TypedDict):
    """From the client, about a command: decide."""

    do: Literal["decide"]
    question: int
    answer: Literal["allow"] | Literal["deny"]


class ClientCommandLookMessage(TypedDict):
    """From the client, about a command: look."""

    what: Literal["snapshot"] | Literal["members"]
    ask: int


class ClientCommandSignalMessage(TypedDict):
    """From the client, about a command: signal."""

    what: Literal["signal"]
    ask: int
    signal: str


class ClientCommandAnotherQuestionMessage(TypedDict):
    """From the client, about a command: another question."""

    ask: int


class FarCommandStartedMessage(TypedDict):
    """From the far, about a command: started."""

    started: int


class FarCommandTailMessage(TypedDict):
    """From the far, about a command: tail."""

    tail: str


class FarCommandWroteMessage(TypedDict):
    """From the far, about a command: wrote."""

    wrote: Literal[True]


class FarCommandNotWrittenMessage(TypedDict):
    """From the far, about a command: not written."""

    wrote: Literal[False]
    error: Thrown


class FarCommandUntakenMessage(TypedDict):
    """From the far, about a command: untaken."""

    untaken: str


class FarCommandAnswerMessage(TypedDict):
    """From the far, about a command: answer."""

    answer: int
    value: bool | None | list[Capture] | list[Process]


class FarCommandQuestionMessage(TypedDict):
    """From the far, about a command: question."""

    mayRun: int
    request: Exec


class FarCommandWithdrawnMessage(TypedDict):
    """From the far, about a command: withdrawn."""

    withdrawn: int


class FarCommandNeverStartedMessage(TypedDict):
    """From the far, about a command: never started."""

    neverStarted: Literal[True]


class FarCommandFailedMessage(TypedDict):
    """From the far, about a command: failed."""

    failed: Failure


class FarCommandErrorMessage(TypedDict):
    """From the far, about a command: error."""

    error: Thrown


class FarCommandRanMessage(TypedDict):
    """From the far, about a command: ran."""

    ran: Ran


Capture = Union[Complete, Cut]
