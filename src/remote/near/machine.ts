import {
  type CommandLine,
  checkSpawnOptions,
  execute,
  type LiveProcess,
  SPAWN_OPTION_NAMES,
  type SpawnOptions,
  spawnIn,
} from '../../faces/command.js';
import type {
  BytesChunk,
  MergedResult,
  OutputChunk,
  Owner,
  RunResult,
  SeparateResult,
} from '../../faces/engine.js';
import { checkOptions, MISTAKES, namesOf, type OptionsOf } from '../../faces/options.js';
import { isMissing, readOptions } from '../../support/checks.js';
import { InputError } from '../../support/errors.js';
import { inLaterTurn } from '../../support/timing.js';
import { NoWorkerError } from '../errors.js';
import type { PlainCommandOptions } from '../wire/protocol.js';
import type { Reached } from './command.js';
import { ownerOf } from './owner.js';
import { plainOptions } from './plain.js';

/**
 * Options of a command on a far side: those of `run()`, without `owner`, since the connection owns
 * everything.
 */
export type FarCommandOptions = OptionsOf<'remote'>;

/** Options of a live command on a far side. */
export type FarSpawnOptions = Omit<SpawnOptions, 'owner'>;

const NAMES = namesOf('remote');
const { owner: _, ...SPAWN_NAMES } = SPAWN_OPTION_NAMES;
const REFUSED = {
  owner: 'commands on a far side belong to its connection: dispose of that',
  onDenied: 'look at result.sandbox.denials, and run it again yourself',
};
const TELLING = { mistakes: { ...MISTAKES, ...REFUSED } };
const INSTEAD = 'leave it out';

/** Options that only the far side can resolve. */
const NOT_HERE = {
  ...{ cwd: undefined, spill: undefined, sandbox: undefined, undo: undefined },
  limits: undefined,
};

/** A line to a far side, once both sides have said hello. */
export interface FarLine extends Reached {
  /** Bytes of the largest message that the far side takes. */
  readonly maxBytes: number;
  /** Whether the far side can make tools. */
  readonly hasTools: boolean;
  /** Whether the far side relays ports. */
  readonly hasPorts: boolean;
  /** Settles with the reason when the line is closed. */
  readonly closed: Promise<string>;
  readonly isDisposed: () => boolean;
}

/** Runs a command on the far side of a line, as `run()` does. */
export function runFar(
  line: FarLine,
  command: CommandLine,
  options: FarCommandOptions & { readonly streams: 'separate' },
): Promise<SeparateResult>;
export function runFar(
  line: FarLine,
  command: CommandLine,
  options?: FarCommandOptions & { readonly streams?: 'merged' },
): Promise<MergedResult>;
export function runFar(
  line: FarLine,
  command: CommandLine,
  options?: FarCommandOptions,
): Promise<RunResult>;
export function runFar(
  line: FarLine,
  command: CommandLine,
  given: FarCommandOptions = {},
): Promise<RunResult> {
  return inLaterTurn(async () => {
    const options = readOptions('options', given, NAMES, TELLING);
    const { signal, onOutput, onExec, input, ...sent } = options;
    const owner = ownerFor(line, command, sent);
    const here = { ...options, ...NOT_HERE, owner };
    checkOptions(here);
    return execute(command, '', here);
  });
}

/**
 * Returns the result of a command that was cancelled before it had a far side.
 *
 * @throws {InputError} An option is not valid.
 */
export function neverStartedFar(
  command: CommandLine,
  given: FarCommandOptions,
): Promise<RunResult> {
  return inLaterTurn(async () => {
    const options = readOptions('options', given, NAMES, TELLING);
    // The caller's signal is aborted; this one makes sure that nothing runs here in any case.
    const here = { ...options, ...NOT_HERE, signal: AbortSignal.abort() };
    checkOptions(here);
    return execute(command, '', here);
  });
}

/** Starts a command on the far side of a line, as `spawn()` does. */
export function spawnFar(
  line: FarLine,
  command: CommandLine,
  options: FarSpawnOptions & { readonly encoding: 'bytes' },
): Promise<LiveProcess<BytesChunk>>;
export function spawnFar(
  line: FarLine,
  command: CommandLine,
  options?: FarSpawnOptions,
): Promise<LiveProcess<OutputChunk> | LiveProcess<BytesChunk>>;
export function spawnFar(
  line: FarLine,
  command: CommandLine,
  given: FarSpawnOptions = {},
): Promise<LiveProcess<OutputChunk> | LiveProcess<BytesChunk>> {
  return inLaterTurn(async () => {
    const options = readOptions('options', given, SPAWN_NAMES, TELLING);
    const { signal, onExec, input, stdin, overflow, encoding, ...rest } = options;
    const isOfText = encoding === 'text' || encoding === 'bytes' || isMissing(encoding);
    const sent = isOfText ? rest : { ...rest, encoding };
    const owner = ownerFor(line, command, sent);
    const here = { ...options, ...NOT_HERE, owner };
    checkSpawnOptions(here);
    return spawnIn('', command, here);
  });
}

/**
 * Returns an owner that starts the command on the far side.
 *
 * @throws {InputError | NoWorkerError} Nothing was started.
 */
function ownerFor(line: FarLine, command: CommandLine, sent: PlainCommandOptions): Owner {
  const { maxBytes, isDisposed } = line;
  const options = plainOptions({ ...sent }, INSTEAD) as PlainCommandOptions;
  const bytes = Buffer.byteLength(JSON.stringify({ command, options }) ?? '');
  if (bytes > maxBytes) {
    throw new InputError(
      `command: expected at most ${maxBytes} bytes with its options, got ${bytes}; write it to a file`,
    );
  }
  if (isDisposed()) throw new NoWorkerError('The connection was disposed of; nothing was started.');
  return ownerOf(line, options, isDisposed);
}
