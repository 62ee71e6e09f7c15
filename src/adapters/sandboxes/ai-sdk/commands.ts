import {
  type BytesChunk,
  exitCodeOf,
  type LiveProcess,
  type Outcome,
  textOf,
} from '../../../index.js';
import { abortReason } from '../../../support/abort.js';
import type { LocalMachine } from '../../local-machine/machine.js';
import { byteStreams } from './byte-streams.js';
import type {
  SandboxCommand,
  SandboxRunResult,
  SandboxSpawn,
  WritableSandboxProcess,
} from './session.js';

/** Runs a command to its end. */
export async function runSandboxed(
  machine: LocalMachine,
  options: SandboxCommand,
): Promise<SandboxRunResult> {
  const result = await machine.run(options.command, {
    ...asked(options),
    streams: 'separate',
  });
  throwIfEndedBySignal(result.outcome, options);
  const note = whyEnded(result.outcome);
  return {
    exitCode: exitCodeOf(result.outcome),
    stdout: textOf(result.stdout),
    stderr: textOf(result.stderr) + note,
  };
}

/** Starts a command; its stdin is empty without `stdin: true`. */
export async function startSandboxed(
  machine: LocalMachine,
  options: SandboxSpawn,
): Promise<Omit<WritableSandboxProcess, 'stdin'> | WritableSandboxProcess> {
  const started = await machine.start(options.command, {
    ...asked(options),
    streams: 'separate',
    stdin: options.stdin ? 'pipe' : 'null',
    overflow: 'pause',
  });
  const handle = {
    pid: started.pid,
    ...byteStreams(started),
    async wait() {
      const { outcome } = await started.result;
      throwIfEndedBySignal(outcome, options);
      return { exitCode: exitCodeOf(outcome) };
    },
    async kill() {
      await started.kill();
    },
  };
  return options.stdin ? { ...handle, stdin: inputOf(started) } : handle;
}

function asked({ workingDirectory, env, abortSignal }: SandboxCommand) {
  return { cwd: workingDirectory, env, signal: abortSignal };
}

function throwIfEndedBySignal(outcome: Outcome, { abortSignal }: SandboxCommand): void {
  if (outcome.kind === 'cancelled' && outcome.by === 'signal' && abortSignal) {
    throw abortReason(abortSignal);
  }
}

/**
 * Returns a line on how the command has ended: the result has no field for it, and the command itself
 * may have exited with the same code.
 */
function whyEnded(outcome: Outcome): string {
  if (outcome.kind === 'timedOut') return `\n[timed out after ${outcome.timeoutMs} ms]\n`;
  return outcome.kind === 'cancelled' ? '\n[ended from outside]\n' : '';
}

function inputOf(process: LiveProcess<BytesChunk>): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: (bytes) => process.write(bytes),
    close: () => process.end(),
    abort: () => process.end(),
  });
}
