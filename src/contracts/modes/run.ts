import type { OutputChunk } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import { resolveEnvironment } from '../../pipeline/environment.js';
import { execute } from '../../pipeline/execute.js';
import { executeDetached } from '../../pipeline/execute-detached.js';
import { Listener } from '../../pipeline/listener.js';
import { TailUpdates } from '../../pipeline/tail-updates.js';
import type { ToolCall, ToolResult } from '../contract.js';
import { ToolError } from '../errors.js';
import type { ModesSettings } from './options.js';
import { captureLimits } from './output.js';
import { makeOutputFile, removeOutputFile } from './output-file.js';
import {
  backgroundResult,
  type ForegroundDetails,
  foregroundResult,
  type ModesDetails,
} from './result.js';

const UPDATE_INTERVAL_MS = 50;

/**
 * Runs a command to its end, or to that of its time.
 *
 * @throws {ToolAbortError} It was cancelled.
 * @throws {LaunchError} It could not be started.
 */
export async function runForeground(
  command: string,
  mode: ForegroundDetails['mode'],
  call: ToolCall<ModesDetails>,
  owner: Owner,
  settings: ModesSettings,
): Promise<ToolResult<ModesDetails>> {
  const cwd = settings.directory();
  const updates = listenTo(call, settings);
  const { signal } = call;
  try {
    const result = await execute(command, environmentIn(cwd, settings), {
      cwd,
      timeoutMs: milliseconds(settings.timeouts[mode]),
      graceMs: settings.graceMs,
      ...captureLimits(settings),
      owner,
      ...(settings.shell && { shell: settings.shell }),
      ...(signal && { signal }),
      ...(updates && { onOutput: updates.push }),
    });
    if (!('output' in result)) throw new TypeError('expected the streams to be merged');
    return foregroundResult(result, mode, settings);
  } finally {
    updates?.stop();
  }
}

/**
 * Starts a command that outlives the host.
 *
 * @throws {ToolError} There is no place for its output.
 * @throws {LaunchError} It could not be started.
 */
export async function runInBackground(
  command: string,
  settings: ModesSettings,
): Promise<ToolResult<ModesDetails>> {
  const cwd = settings.directory();
  const environment = environmentIn(cwd, settings);
  const timeoutMs = milliseconds(settings.timeouts.background);
  const { graceMs, shell } = settings;
  const outputPath = await makeOutputFile(timeoutMs + graceMs).catch(noPlace);
  try {
    const options = { cwd, outputPath, timeoutMs, graceMs, ...(shell && { shell }) };
    const pid = await executeDetached(command, environment, options);
    return backgroundResult(pid, outputPath, settings);
  } catch (error) {
    await removeOutputFile(outputPath);
    throw error;
  }
}

function noPlace(cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `Command could not be started: no directory for its output: ${reason}`;
  throw new ToolError('launch', message, { cause });
}

function environmentIn(cwd: string, settings: ModesSettings): string {
  return resolveEnvironment({
    inherit: settings.inheritEnv,
    scrub: settings.scrub,
    defaults: settings.defaults,
    overrides: settings.env,
    cwd,
  });
}

const milliseconds = (seconds: number): number => Math.ceil(seconds * 1000);

interface Updates {
  readonly push: (chunk: OutputChunk) => void;
  stop(): void;
}

/** Undefined: nobody listens, so that nothing is delivered while the command runs. */
function listenTo(call: ToolCall<ModesDetails>, settings: ModesSettings): Updates | undefined {
  if (call.onUpdate === undefined && call.onOutput === undefined) return undefined;
  const onUpdate = new Listener('onUpdate', call.onUpdate);
  const onOutput = new Listener('onOutput', call.onOutput);
  const tail = new TailUpdates({
    maxBytes: Math.max(settings.snipBytes, 1),
    intervalMs: UPDATE_INTERVAL_MS,
    emit: (text) => onUpdate.tell({ content: [{ type: 'text', text }], details: {} }),
  });
  return {
    push(chunk) {
      tail.push(chunk);
      onOutput.tell(chunk);
    },
    stop() {
      tail.stop();
      onOutput.stop();
    },
  };
}
