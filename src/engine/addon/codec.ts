import type {
  DetachedCommand,
  EngineChunk,
  EngineCommand,
  EngineEnd,
  EngineReply,
} from '../message.js';
import type { BackgroundProcess, Capture, Counts, StreamName } from '../outcome.js';
import { errorCode } from '../system-error.js';
import type {
  BackgroundRecord,
  CaptureRecord,
  ChunkRecord,
  MembersRecord,
  RanRecord,
  RanText,
  ReplyRecord,
  SpillRecord,
} from './native.js';

/** The way by which each field reaches the addon: a field without one does not compile. */
const GOES_AS = {
  text: 'argument',
  argv: 'argument',
  shells: 'argument',
  environment: 'argument',
  directory: 'argument',
  follow: 'number',
  lowPriority: 'number',
  startsAtOnce: 'number',
  umask: 'number',
  stdin: 'argument',
  separate: 'number',
  terminal: 'number',
  headBytes: 'number',
  tailBytes: 'number',
  // Decoded on this side: see command/encoding.
  encoding: 'nothing',
  listen: 'number',
  pause: 'number',
  spillPath: 'argument',
  spillMaxBytes: 'number',
  spillAfterBytes: 'number',
  timeoutMs: 'number',
  graceMs: 'number',
  groups: 'argument',
  isSacrificed: 'number',
  cpuSeconds: 'number',
  sandbox: 'argument',
} as const satisfies Record<keyof EngineCommand, 'argument' | 'number' | 'nothing'>;

type AsNumbers = {
  [Name in keyof EngineCommand]: (typeof GOES_AS)[Name] extends 'number' ? Name : never;
}[keyof EngineCommand];

// Reused for each command: the addon has read it when its call returns.
const numbers = new Float64Array(19);

/** Encodes the numbers of a command, as native/addon/src/request.rs decodes them. */
export function encodeNumbers(
  owner: number,
  announce: boolean,
  command: Pick<EngineCommand, AsNumbers>,
): Float64Array {
  numbers[0] = owner;
  numbers[1] = Number(announce);
  numbers[2] = Number(command.separate);
  numbers[3] = command.listen === undefined ? 0 : command.listen === 'text' ? 1 : 2;
  numbers[4] = Number(command.pause);
  numbers[5] = command.headBytes;
  numbers[6] = command.tailBytes;
  numbers[7] = command.graceMs;
  numbers[8] = command.timeoutMs ?? 0;
  numbers[9] = command.spillMaxBytes;
  numbers[10] = command.spillAfterBytes ?? -1;
  numbers[11] = Number(command.follow);
  numbers[12] = command.terminal?.columns ?? 0;
  numbers[13] = command.terminal?.rows ?? 0;
  numbers[14] = Number(command.lowPriority);
  numbers[15] = command.cpuSeconds;
  numbers[16] = Number(command.isSacrificed);
  numbers[17] = command.umask ?? -1;
  numbers[18] = command.startsAtOnce ?? 0;
  return numbers;
}

const detached = new Float64Array(10);

/** The numbers of a detached command, as native/addon/src/request.rs takes them. */
export function encodeDetached(command: DetachedCommand): Float64Array {
  detached[0] = command.outputQuota;
  detached[1] = command.timeoutMs;
  detached[2] = command.graceMs;
  detached[3] = Number(command.hasInput);
  detached[4] = Number(command.completionLine);
  detached[5] = Number(command.lowPriority);
  detached[6] = command.umask ?? -1;
  detached[7] = command.terminal?.columns ?? 0;
  detached[8] = command.terminal?.rows ?? 0;
  detached[9] = command.startsAtOnce ?? 0;
  return detached;
}

const STREAMS: readonly StreamName[] = ['output', 'stdout', 'stderr'];

export function decodeStream(number: number): StreamName {
  return STREAMS[number] ?? 'output';
}

export function decodeChunk([droppedBytes, data]: ChunkRecord): EngineChunk {
  return { data, droppedBytes };
}

const CAUSES = ['itself', 'timedOut', 'cancelled'] as const;

const FIGURES_OF_OUTCOME = 10;
const FIGURES_OF_CAPTURE = 9;

/** @param figures Figures of the whole batch, in the order of native/addon/src/event.rs. */
export function decodeRan(record: RanRecord, figures: Float64Array): EngineEnd & { kind: 'ran' } {
  // By index: every command comes through here, and destructuring an array runs an iterator.
  const first = record[2];
  const figure = (index: number): number => figures[first + index] ?? 0;
  const captures: Capture[] = [];
  for (let index = 0; index < figure(8); index += 1) {
    const at = first + FIGURES_OF_OUTCOME + index * FIGURES_OF_CAPTURE;
    const text = record[5 + 2 * index] as RanText;
    captures.push(decodeFinalCapture(text, record[6 + 2 * index] as RanText, figures, at));
  }
  return {
    kind: 'ran',
    engine: 'native',
    pid: figure(0),
    cause: CAUSES[figure(1)] ?? 'itself',
    status: figure(2),
    forced: figure(3) === 1,
    durationMs: figure(4),
    userMs: figure(5),
    systemMs: figure(6),
    peakBytes: figure(7),
    captures,
    background: record[3]?.map(decodeBackground) ?? [],
    spill: record[4]?.map(decodeSpill)[0],
    directory: (record[5 + 2 * figure(8)] as RanText) ?? undefined,
    share: figure(9),
    sandbox: (record[6 + 2 * figure(8)] as RanText) ?? undefined,
    reason: (record[7 + 2 * figure(8)] as RanText) ?? undefined,
  };
}

function decodeFinalCapture(
  first: RanText,
  second: RanText,
  figures: Float64Array,
  at: number,
): Capture {
  const total = countsAt(figures, at);
  const lossy = figures[at + 6] === 1;
  if (figures[at + 7] === 0) return { kind: 'complete', text: first ?? '', total, lossy };
  const dropped = countsAt(figures, at + 3);
  const lastLineBytes = figures[at + 8] ?? 0;
  return {
    kind: 'cut',
    head: first ?? '',
    tail: second ?? '',
    dropped,
    total,
    lastLineBytes,
    lossy,
  };
}

function countsAt(figures: Float64Array, at: number): Counts {
  return {
    bytes: figures[at] ?? 0,
    characters: figures[at + 1] ?? 0,
    lines: figures[at + 2] ?? 0,
  };
}

export function decodeCapture(record: CaptureRecord): Capture {
  const total = { bytes: record[0], characters: record[1], lines: record[2] };
  const lossy = record[3];
  if (record.length === 5) return { kind: 'complete', text: record[4], total, lossy };
  const dropped = { bytes: record[6], characters: record[7], lines: record[8] };
  const lastLineBytes = record[9];
  return { kind: 'cut', head: record[4], tail: record[5], dropped, total, lastLineBytes, lossy };
}

export function decodeReply(record: ReplyRecord): EngineReply {
  const [, , value, errno, message = '', step, subject = ''] = record;
  if (errno !== undefined) {
    if (step === undefined) return { kind: 'failed', errno, message };
    return { kind: 'notDetached', step, errno, subject, message };
  }
  if (typeof value === 'number') return { kind: 'detached', pid: value };
  if (typeof value === 'boolean') return { kind: 'done', value };
  if (typeof value === 'string') return { kind: 'text', text: value };
  return { kind: 'captures', captures: value?.map(decodeCapture) };
}

export function decodeMembers([, , members]: MembersRecord): EngineReply {
  return { kind: 'members', members: members?.map(decodeBackground) };
}

function decodeBackground([pid, processGroup, command]: BackgroundRecord): BackgroundProcess {
  return { pid, processGroup, command };
}

function decodeSpill([bytes, dropped, errno, message = '']: SpillRecord) {
  if (errno === undefined) return { bytes, dropped };
  return { bytes, dropped, error: { code: errorCode(errno), errno, message } };
}
