import {
  type CommandLine,
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
import { MISTAKES, namesOf, type OptionsOf } from '../../faces/options.js';
import { isMissing, readOptions } from '../../support/checks.js';
import { InputError } from '../../support/errors.js';
import { inLaterTurn } from '../../support/timing.js';
import { NoWorkerError } from '../errors.js';
import type { PlainCommandOptions } from '../wire/protocol.js';
import type { Wire } from '../wire/wire.js';
import { ownerOf } from './owner.js';
import { plainOptions } from './plain.js';

/** How a command is run on a far side: as by `run()`, but everything belongs to the connection. */
export type FarCommandOptions = OptionsOf<'remote'>;

/** How one is started there that is talked to while it runs. */
export type FarSpawnOptions = Omit<SpawnOptions, 'owner'>;

const NAMES = namesOf('remote');
const { owner: _, ...SPAWN_NAMES } = SPAWN_OPTION_NAMES;
const REFUSED = {
  owner: 'what runs on a far side belongs to its connection: dispose of that',
  onDenied: 'look at result.sandbox.denials, and run it again yourself',
};
const TELLING = { mistakes: { ...MISTAKES, ...REFUSED } };
const INSTEAD = 'leave it out';

/** What only the far side has. */
const NOT_HERE = { cwd: undefined, spill: undefined, sandbox: undefined, limits: undefined };

/** What a line to a far side is used for, once both sides have said hello. */
export interface FarLine {
  readonly wire: Wire;
  /** Bytes of a message that the far side takes. */
  readonly maxBytes: number;
  /** False: what is at the far side has no tools. */
  readonly hasTools: boolean;
  readonly isDisposed: () => boolean;
}

/** As `run()`, on the far side of a line. */
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
    const { signal, onOutput, input, ...sent } = options;
    const owner = ownerFor(line, command, sent);
    return execute(command, '', { ...options, ...NOT_HERE, owner });
  });
}

/** As `spawn()`, on the far side of a line. */
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
    const { signal, input, stdin, overflow, encoding, ...rest } = options;
    const isOfText = encoding === 'text' || encoding === 'bytes' || isMissing(encoding);
    const sent = isOfText ? rest : { ...rest, encoding };
    const owner = ownerFor(line, command, sent);
    return spawnIn('', command, { ...options, ...NOT_HERE, owner });
  });
}

/** @throws {InputError | NoWorkerError} Nothing was started. */
function ownerFor(line: FarLine, command: CommandLine, sent: PlainCommandOptions): Owner {
  const { wire, maxBytes, isDisposed } = line;
  const options = plainOptions({ ...sent }, INSTEAD) as PlainCommandOptions;
  const bytes = Buffer.byteLength(JSON.stringify({ command, options }) ?? '');
  if (bytes > maxBytes) {
    throw new InputError(
      `command: expected at most ${maxBytes} bytes with its options, got ${bytes}; write it to a file`,
    );
  }
  if (isDisposed()) throw new NoWorkerError('The connection was disposed of; nothing was started.');
  return ownerOf(wire, options, isDisposed);
}
