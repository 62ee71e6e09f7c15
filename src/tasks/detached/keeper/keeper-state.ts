import { FieldReader } from './fields.js';

/** A process as nobody else, past or present, is called. */
export interface ProcessName {
  readonly pid: number;
  /** When it was started, in clock ticks since boot; 0: that was not shown. */
  readonly started: number;
}

/** One who is there, or was. */
export interface KeptMember {
  readonly pid: number;
  /** 0: not known. */
  readonly group: number;
  /** Undefined: it is the command's shell still, or can't be seen. */
  readonly command: string | undefined;
}

/** How the command's own process ended. Times in milliseconds, sizes in bytes. */
export interface KeptEnd {
  /** An exit code; a signal as a negative number; what is below -255 is not known. */
  readonly status: number;
  readonly cause: 'itself' | 'timedOut' | 'cancelled';
  readonly forced: boolean;
  readonly userMs: number;
  readonly systemMs: number;
  readonly peakBytes: number;
  readonly durationMs: number;
  /** Since 1970. */
  readonly at: number;
  readonly outputBytes: number;
  /** Of the output that was cut off, at least. */
  readonly cutBytes: number;
  /** By what its sandbox was kept and what the kernel has told, as in a result; empty: it was in none. */
  readonly sandbox: string;
  /** How many more denials there were. */
  readonly moreDenied: number;
  /** There may have been others that nobody has heard of. */
  readonly unheard: boolean;
  /** Its host had ended when nobody of it was left, or may have. */
  readonly alone: boolean;
  /** Errno of why it has no smaller share of the processors; 0: it has, or was to have none. */
  readonly share: number;
  /** How many were left; `left` may have only the first of them. */
  readonly totalLeft: number;
  readonly left: readonly KeptMember[];
}

/** How far it is. */
type KeptStage =
  | { readonly kind: 'running' }
  | { readonly kind: 'left'; readonly end: KeptEnd }
  /** `goneAt`: when the last one ended, in milliseconds since 1970. */
  | { readonly kind: 'ended'; readonly end: KeptEnd; readonly goneAt: number };

/** What a keeper knows of its command, and its record says. */
export interface KeeperState {
  /** Which boot of the machine this is of; empty: that was not shown. */
  readonly boot: string;
  readonly keeper: ProcessName;
  readonly leader: ProcessName;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  readonly stage: KeptStage;
}

/** Of native/protocol/src/task.rs. */
const VERSION = 3;

/**
 * Reads what native/protocol/src/task/state.rs writes.
 *
 * @throws {RangeError} It is none, or one of another version.
 */
export function decodeState(bytes: Buffer): KeeperState {
  const fields = new FieldReader(bytes);
  const version = fields.number();
  if (version !== VERSION) throw new RangeError(`expected version ${VERSION}, got ${version}`);
  const boot = fields.text();
  const startedAt = fields.number();
  const [keeper, leader] = [decodeProcess(fields), decodeProcess(fields)];
  const stage = decodeStage(fields);
  if (!fields.isAtEnd) throw new RangeError('expected the end of the record');
  return { boot, keeper, leader, startedAt, stage };
}

function decodeProcess(fields: FieldReader): ProcessName {
  return { pid: fields.number(), started: fields.number() };
}

function decodeStage(fields: FieldReader): KeptStage {
  const kind = fields.number();
  if (kind === 0) return { kind: 'running' };
  if (kind === 1) return { kind: 'left', end: decodeEnd(fields) };
  if (kind !== 2) throw new RangeError(`expected a stage, got ${kind}`);
  const goneAt = fields.number();
  return { kind: 'ended', end: decodeEnd(fields), goneAt };
}

const CAUSES = ['itself', 'timedOut', 'cancelled'] as const;

function decodeEnd(fields: FieldReader): KeptEnd {
  return {
    status: decodeStatus(fields.number(), fields.number()),
    cause: CAUSES[fields.number()] ?? 'itself',
    forced: fields.number() !== 0,
    userMs: fields.number() / 1000,
    systemMs: fields.number() / 1000,
    peakBytes: fields.number(),
    durationMs: fields.number() / 1000,
    at: fields.number(),
    outputBytes: fields.number(),
    cutBytes: fields.number(),
    sandbox: fields.text(),
    moreDenied: fields.number(),
    unheard: fields.number() !== 0,
    alone: fields.number() !== 0,
    share: fields.number(),
    totalLeft: fields.number(),
    left: readMembers(fields),
  };
}

function decodeStatus(kind: number, value: number): number {
  if (kind === 0) return value;
  return kind === 1 ? -value : Number.NEGATIVE_INFINITY;
}

/** All that follow. */
export function readMembers(fields: FieldReader): KeptMember[] {
  const members: KeptMember[] = [];
  while (!fields.isAtEnd) {
    const [pid, group, isKnown] = [fields.number(), fields.number(), fields.number()];
    const command = fields.text();
    members.push({ pid, group, command: isKnown ? command : undefined });
  }
  return members;
}
