import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { signalNumber } from '../../../support/signals.js';
import { settlesWithin } from '../../../support/timing.js';
import type { EngineCommand } from '../../message.js';
import { comeBehind } from './priority.js';
import { type ShellInvocation, toldDirectory } from './shells.js';

/** The shell of a running command. */
export interface Leader {
  /** Process id, also of its process group and its session. */
  readonly pid: number;
  readonly call: ShellInvocation;
  /** The pipes of each output of the result, in its order. */
  readonly outputs: readonly (readonly Readable[])[];
  readonly stdin: Writable | undefined;
  /** Errno of the attempt to lower its priority; 0: done, or not requested. */
  readonly share: number;
  /** To be called once, in the turn of the start; `then` gets a status as {@link EngineOutcome} has it. */
  whenEnded(then: (status: number) => void): void;
  /** Returns its last working directory, if it has reported one. To be called once it has ended. */
  directory(): Promise<string | undefined>;
  resize(columns: number, rows: number): void;
}

/** A status below all negative signal numbers: not known. */
export const STATUS_UNKNOWN = -256;

/** The most bytes of a reported path with its separators. */
const MOST_TOLD_BYTES = 64 * 1024;
/** How long the end of its report is awaited, in milliseconds, if there was a report or not. */
const TOLD_MS = 100;
const NOT_TOLD_MS = 250;

/** Makes a leader of a child process with pipes. None of them keeps the host alive. */
export function childLeader(
  child: ChildProcess,
  pid: number,
  call: ShellInvocation,
  { separate, lowPriority }: EngineCommand,
): Leader {
  const share = lowPriority ? comeBehind(pid) : 0;
  const pipes = (child.stdio as readonly (Socket | null | undefined)[]).map((pipe) => {
    pipe?.unref();
    return pipe ?? undefined;
  });
  child.unref();
  child.on('error', () => {});
  const [stdin, stdout, stderr, script] = pipes;
  const readable = [stdout, stderr].filter((pipe) => pipe !== undefined);
  if (call.script !== undefined) {
    // A shell may end without reading all of it.
    script?.on('error', () => {}).end(call.script);
  }
  const { directoryDescriptor } = call;
  const told = directoryDescriptor === undefined ? undefined : pipes[directoryDescriptor];
  return {
    pid,
    call,
    outputs: separate ? readable.map((pipe) => [pipe]) : [readable],
    stdin,
    share,
    whenEnded(then) {
      child.on('exit', (code, signal) =>
        then(code ?? -(signalNumber(signal ?? '') ?? -STATUS_UNKNOWN)),
      );
    },
    directory: directoryTeller(told),
    resize() {},
  };
}

/**
 * Reads a shell's reports of its working directory; processes that it leaves running may hold that pipe
 * open, too.
 */
function directoryTeller(pipe: Readable | undefined): () => Promise<string | undefined> {
  if (pipe === undefined) return async () => undefined;
  let told = Buffer.alloc(0);
  pipe.on('data', (bytes: Buffer) => {
    told = Buffer.concat([told, bytes]).subarray(-MOST_TOLD_BYTES);
  });
  const ended = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) pipe.on(event, () => resolve());
  });
  return async () => {
    await settlesWithin(ended, told.length > 0 ? TOLD_MS : NOT_TOLD_MS);
    return toldDirectory(told);
  };
}
