import { closeSync, constants, openSync, readSync, writeFileSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { describeExec, type ExecRequest, type OnExec, type SandboxOption } from '../../index.js';
import { onAbort } from '../../support/abort.js';
import { ExclusiveQueue } from '../../support/mutex.js';
import { note } from '../notes.js';
import type { CommandSignals } from './command-signals.js';
import { isInForeground, type WaitingLine } from './waiting-line.js';

const TERMINAL = '/dev/tty';
const ASK_TIMEOUT_MS = 120_000;
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The parts of a run that a question has to do with. */
interface AskedRun {
  readonly signals: Pick<CommandSignals, 'endedBy'>;
  readonly line: Pick<WaitingLine, 'asking'>;
}

/**
 * Returns a function that asks the user at the terminal whether programs may be executed, one after another.
 *
 * @returns Undefined: there is no terminal, so nobody can be asked.
 */
export function askingUser(sandbox: SandboxOption | undefined, run: AskedRun): OnExec | undefined {
  const exec = typeof sandbox === 'object' ? sandbox.exec : undefined;
  const descriptor = exec === undefined ? undefined : openTerminal();
  if (descriptor === undefined) return undefined;
  closeSync(descriptor);
  const queue = new ExclusiveQueue();
  const timeoutMs = exec?.askTimeoutMs ?? ASK_TIMEOUT_MS;
  return (request) => {
    const until = performance.now() + timeoutMs;
    return queue.run(() => ask(request, until, run), request.signal);
  };
}

/** Asks about one program. What is no `y` is a denial, and so is a signal that ends the command. */
async function ask(
  request: ExecRequest,
  until: number,
  { signals, line }: AskedRun,
): Promise<'allow' | 'deny'> {
  if (signals.endedBy !== undefined || request.signal.aborted) return 'deny';
  const descriptor = isInForeground() ? openTerminal() : undefined;
  if (descriptor === undefined) {
    note(`can't ask in the background whether ${describeExec(request)[0]} may run`);
    return 'deny';
  }
  skipTyped(descriptor);
  const terminal = new ReadStream(descriptor);
  line.asking(true);
  try {
    show(questionOf(request, until - performance.now()));
    const answer = await answerOf(terminal, request.signal);
    if (answer === undefined) show('\n');
    return /^\s*y(?:es)?\s*$/i.test(answer ?? '') ? 'allow' : 'deny';
  } finally {
    terminal.destroy();
    line.asking(false);
  }
}

/** Shows a text on the terminal, where standard error may not lead. */
function show(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(text);
  else writeFileSync(TERMINAL, text);
}

/** Returns the line that the user types; undefined: none, since no answer is needed any more. */
function answerOf(terminal: ReadStream, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (answer: string | undefined): void => {
      stopWaiting();
      for (const name of ENDING) process.off(name, ended);
      resolve(answer);
    };
    const ended = (): void => settle(undefined);
    const stopWaiting = onAbort(signal, ended);
    for (const name of ENDING) process.on(name, ended);
    terminal.once('data', (bytes: Buffer) => settle(bytes.toString()));
    terminal.once('error', ended);
    terminal.once('end', ended);
  });
}

/** Returns the text of a question. */
export function questionOf(request: ExecRequest, leftMs: number): string {
  const [program, ...details] = describeExec(request);
  const seconds = Math.max(0, Math.ceil(leftMs / 1000));
  return [
    `forkline: may this run?  ${program}`,
    ...details.map((line) => `forkline:   ${line}`),
    `forkline:   ${seconds} s left [y/N] `,
  ].join('\n');
}

function openTerminal(): number | undefined {
  try {
    return openSync(TERMINAL, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}

/** Takes lines that were typed before the question, and so are no answer to it. */
function skipTyped(descriptor: number): void {
  const bytes = Buffer.alloc(4096);
  try {
    while (readSync(descriptor, bytes) > 0);
  } catch {
    // EAGAIN: there are none.
  }
}
