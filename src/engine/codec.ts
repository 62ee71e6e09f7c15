import type { EngineChunk, EngineCommand, EngineEnd, EngineReply } from './message.js';
import type {
  BackgroundRecord,
  CaptureRecord,
  ChunkRecord,
  RanRecord,
  ReplyRecord,
  SpillRecord,
} from './native.js';
import type { BackgroundProcess, Capture, StreamName } from './outcome.js';
import { errorCode } from './system-error.js';

// Reused: the addon has read it when its call returns.
const numbers = new Float64Array(10);

/** The numbers of a command, as native/addon/src/request.rs takes them. */
export function encodeNumbers(
  owner: number,
  announce: boolean,
  command: EngineCommand,
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
  return numbers;
}

const STREAMS: readonly StreamName[] = ['output', 'stdout', 'stderr'];

export function decodeStream(number: number): StreamName {
  return STREAMS[number] ?? 'output';
}

export function decodeChunk([droppedBytes, data]: ChunkRecord): EngineChunk {
  return { data, droppedBytes };
}

const CAUSES = ['itself', 'timedOut', 'cancelled'] as const;

export function decodeRan(record: RanRecord): EngineEnd & { kind: 'ran' } {
  // By index: this is on every command's way, and destructuring an array runs an iterator.
  return {
    kind: 'ran',
    pid: record[2],
    cause: CAUSES[record[3]] ?? 'itself',
    status: record[4],
    forced: record[5],
    durationMs: record[6],
    userMs: record[7],
    systemMs: record[8],
    peakBytes: record[9],
    peakIsExact: record[10],
    captures: record[11].map(decodeCapture),
    background: record[12].map(decodeBackground),
    spill: record[13].map(decodeSpill)[0],
  };
}

export function decodeCapture(record: CaptureRecord): Capture {
  const total = { bytes: record[0], characters: record[1], lines: record[2] };
  const lossy = record[3];
  if (record.length === 5) return { kind: 'complete', text: record[4], total, lossy };
  const dropped = { bytes: record[6], characters: record[7], lines: record[8] };
  return { kind: 'cut', head: record[4], tail: record[5], dropped, total, lossy };
}

export function decodeReply([, , value, errno, message = '']: ReplyRecord): EngineReply {
  if (errno !== undefined) return { kind: 'failed', errno, message };
  if (typeof value === 'boolean') return { kind: 'done', value };
  return { kind: 'captures', captures: value?.map(decodeCapture) };
}

function decodeBackground([pid, processGroup, command]: BackgroundRecord): BackgroundProcess {
  return { pid, processGroup, command };
}

function decodeSpill([bytes, dropped, errno, message = '']: SpillRecord) {
  if (errno === undefined) return { bytes, dropped };
  return { bytes, dropped, error: { code: errorCode(errno), errno, message } };
}
