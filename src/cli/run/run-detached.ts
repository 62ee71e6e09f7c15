import { detach } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { NOT_STARTED } from '../exit-code.js';
import { note } from '../notes.js';
import { sandboxOf } from '../sandbox-flags.js';
import { expectOutputErrors, writeOrTell } from '../standard-output.js';
import { commandVariables } from './command-variables.js';
import { isTerminalOff } from './console.js';
import { describe, explain } from './failure.js';
import type { RunFlags } from './run-once.js';

/** Starts a detached command and prints its id. Returns the exit code. */
export async function runDetached(command: string, flags: RunFlags): Promise<number> {
  expectOutputErrors();
  const { cwd, env: given, umask, timeout: timeoutMs, keepInput, pty: asked, json, undo } = flags;
  const env = commandVariables(given);
  const pty = asked && !isTerminalOff();
  const stdin = pty ? undefined : keepInput ? 'pipe' : 'null';
  try {
    const sandbox = sandboxOf(flags);
    const options = { cwd, env, umask, timeoutMs, stdin, sandbox, undo, pty } as const;
    const { id, record, outputFile } = await detach(command, options);
    const told = { id, pid: record.pid, outputFile };
    return (await writeOrTell(json ? `${JSON.stringify(told)}\n` : `${id}\n`)) ? 0 : 1;
  } catch (error) {
    if (json) await writeOrTell(`${JSON.stringify({ command, error: describe(error) })}\n`);
    return whyNot(error);
  }
}

function whyNot(error: unknown): number {
  try {
    return explain(error, undefined);
  } catch {
    // There is no place for the task's output.
    note(`no place for its output: ${messageOf(error)}`);
    return NOT_STARTED;
  }
}
