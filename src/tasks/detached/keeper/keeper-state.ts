import { FieldReader } from './fields.js';

/** A process, identified uniquely, also among past processes. */
export interface ProcessName {
  readonly pid: number;
  /** The start time in clock ticks since boot; 0: not known. */
  readonly started: number;
}

/** A process of the command, running or ended. */
export interface KeptMember {
  readonly pid: number;
  /** Process group; 0: not known. */
  readonly group: number;
  /** Undefined: the process is the command's shell, or its command line cannot be seen. */
  readonly command: string | undefined;
}

/** How the command's own process ended. Times in milliseconds, sizes in bytes. */
export interface KeptEnd {
  /** An exit code; a signal as a negative number; a number below -255 is not known. */
  readonly status: number;
  readonly cause: 'itself' | 'timedOut' | 'cancelled';
  readonly forced: boolean;
  readonly userMs: number;
  readonly systemMs: number;
  readonly peakBytes: number;
  readonly durationMs: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly outputBytes: number;
  /** Bytes of the output that were cut off, at least. */
  readonly cutBytes: number;
  /** The report on the sandbox and the kernel's denials, as in a result; empty: there was no sandbox. */
  readonly sandbox: string;
  /** The number of further denials. */
  readonly moreDenied: number;
  /** Whether denials may have been missed. */
  readonly unheard: boolean;
  /** Whether the host had ended, or may have, when the command's last process ended. */
  readonly alone: boolean;
  /** The errno that kept the command from a lower priority; 0: none, or none was asked for. */
  readonly share: number;
  /** What it was seen to do when its time was over, as in a result. */
  readonly reason: string | undefined;
  /** The number of processes that were left; `left` may have only the first of them. */
  readonly totalLeft: number;
  readonly left: readonly KeptMember[];
}

/** How far the command is. */
type KeptStage =
  | { readonly kind: 'running' }
  | { readonly kind: 'left'; readonly end: KeptEnd }
  /** `goneAt`: when the last process ended, in milliseconds since 1970. */
  | { readonly kind: 'ended'; readonly end: KeptEnd; readonly goneAt: number };

/** The state of a command, as its keeper reports and records it. */
export interface KeeperState {
  /** Id of the machine's boot; empty: not known. */
  readonly boot: string;
  readonly keeper: ProcessName;
  readonly leader: ProcessName;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly stage: KeptStage;
}

/**
 * The version in native/protocol/src/task.rs; 3 has no `reason`, 2 no `share` either. Keepers of an earlier
 * package may still run.
 */
const VERSION = 4;
const WITHOUT_REASON = 3;
const WITHOUT_SHARE = 2;
/** More versions than there will be: a greater number is not one. */
const MOST_VERSIONS = 10_000;

/** A state of a version that this one does not know. */
export class OtherVersion extends RangeError {
  /** What each version has at its beginning; of the stage nothing is known. Undefined: it could not be read. */
  readonly begun: KeeperState | undefined;

  constructor(version: number, begun: KeeperState | undefined) {
    const own = `this forkline reads versions ${WITHOUT_SHARE} to ${VERSION}`;
    super(
      `its keeper is of another version of forkline: its record has version ${version}, ${own}`,
    );
    this.begun = begun;
  }
}

/**
 * Decodes a state as native/protocol/src/task/state.rs writes it.
 *
 * @throws {OtherVersion} The state has a version that is not known here.
 * @throws {RangeError} The bytes are no state.
 */
export function decodeState(bytes: Buffer): KeeperState {
  const fields = new FieldReader(bytes);
  const version = fields.number();
  if (version > VERSION || version < WITHOUT_SHARE) {
    if (!(version > 0 && version < MOST_VERSIONS)) throw new RangeError('expected a record');
    throw new OtherVersion(version, decodeLater(fields));
  }
  const beginning = decodeBeginning(fields);
  const stage = decodeStage(fields, version);
  if (!fields.isAtEnd) throw new RangeError('expected the end of the record');
  return { ...beginning, stage };
}

/** The fields that are the same in each version. */
function decodeBeginning(fields: FieldReader): Omit<KeeperState, 'stage'> {
  const boot = fields.text();
  const startedAt = fields.number();
  const [keeper, leader] = [decodeProcess(fields), decodeProcess(fields)];
  return { boot, keeper, leader, startedAt };
}

function decodeLater(fields: FieldReader): KeeperState | undefined {
  try {
    const beginning = decodeBeginning(fields);
    const isPlausible = [beginning.keeper, beginning.leader].every(({ pid }) => pid > 0);
    return isPlausible ? { ...beginning, stage: { kind: 'running' } } : undefined;
  } catch {
    return undefined;
  }
}

function decodeProcess(fields: FieldReader): ProcessName {
  return { pid: fields.number(), started: fields.number() };
}

function decodeStage(fields: FieldReader, version: number): KeptStage {
  const kind = fields.number();
  if (kind === 0) return { kind: 'running' };
  if (kind === 1) return { kind: 'left', end: decodeEnd(fields, version) };
  if (kind !== 2) throw new RangeError(`expected a stage, got ${kind}`);
  const goneAt = fields.number();
  return { kind: 'ended', end: decodeEnd(fields, version), goneAt };
}

const CAUSES = ['itself', 'timedOut', 'cancelled'] as const;

function decodeEnd(fields: FieldReader, version: number): KeptEnd {
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
    share: version === WITHOUT_SHARE ? 0 : fields.number(),
    reason: version <= WITHOUT_REASON ? undefined : fields.text(),
    totalLeft: fields.number(),
    left: readMembers(fields),
  };
}

function decodeStatus(kind: number, value: number): number {
  if (kind === 0) return value;
  return kind === 1 ? -value : Number.NEGATIVE_INFINITY;
}

/** Reads all processes that follow. */
export function readMembers(fields: FieldReader): KeptMember[] {
  const members: KeptMember[] = [];
  while (!fields.isAtEnd) {
    const [pid, group, isKnown] = [fields.number(), fields.number(), fields.number()];
    const command = fields.text();
    members.push({ pid, group, command: isKnown ? command : undefined });
  }
  return members;
}
