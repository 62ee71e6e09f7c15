import { LaunchError } from '../engine/launch-error.js';
import type { Capture, RunResult } from '../engine/outcome.js';
import { hostOwner } from '../engine/owner.js';
import { EngineProcess } from '../engine/process.js';
import { toResult } from '../engine/result.js';
import { engineCommand, requested } from './execute.js';

/** A command that goes on by itself until it ends or its owner is disposed of. */
export interface LiveCommand {
  /** Settles once it has ended; never rejects. */
  readonly result: Promise<RunResult>;
  /** What its streams have carried so far; undefined once it is over. */
  snapshot(): Promise<readonly Capture[] | undefined>;
}

/** The options that a command has to which nobody listens. */
export type LiveCommandOptions = Omit<
  Parameters<typeof engineCommand>[2],
  'signal' | 'onOutput' | 'input'
>;

/**
 * Starts a command and resolves once it runs. The options must have been checked.
 *
 * @throws {LaunchError} It could not be started.
 * @throws Error Its owner was disposed of before it could start.
 */
export function startCommand(
  command: string,
  environment: string,
  options: LiveCommandOptions,
): Promise<LiveCommand> {
  const { owner = hostOwner } = options;
  const asked = requested(command, options);
  const native = engineCommand(command, environment, options, false, undefined, false);
  return new Promise((started, failed) => {
    let settle: (result: RunResult) => void;
    const result = new Promise<RunResult>((resolve) => {
      settle = resolve;
    });
    const engine = EngineProcess.start(owner, native, {
      started: () => started({ result, snapshot: () => engine.snapshot() }),
      ended(end) {
        if (end.kind === 'ran') settle(toResult(end, asked));
        else if (end.kind === 'failed') failed(new LaunchError(end));
        else failed(new Error('its owner was disposed before it could start'));
      },
    });
  });
}
