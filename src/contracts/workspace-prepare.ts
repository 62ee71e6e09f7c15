import { resolveEnvironment } from '../pipeline/environment.js';
import { InputError } from '../pipeline/input-error.js';
import { takeLeadingCd } from '../pipeline/leading-cd.js';
import { clampTimeout, type Timeout } from '../pipeline/timeout.js';
import { checkCommand } from '../pipeline/validate.js';
import { resolveWorkingDirectory } from '../pipeline/workdir.js';
import type { WorkspaceSettings } from './workspace-options.js';
import type { WorkspaceInput } from './workspace-schema.js';

/** A call with everything decided: what runs, where, for how long and with what around it. */
export interface PreparedCommand {
  readonly command: string;
  readonly cwd: string;
  readonly timeout: Timeout;
  readonly environment: string;
}

/**
 * Decides everything about a call.
 *
 * @throws {InputError} Names the field, what is expected and what was given.
 */
export async function prepare(
  input: WorkspaceInput,
  settings: WorkspaceSettings,
): Promise<PreparedCommand> {
  checkCommand(input.command);
  checkNames(input.env);
  const overrides = layer(settings.env, input.env);
  const home = overrides?.HOME ?? settings.home;
  const cd = input.cwd === undefined ? takeLeadingCd(input.command, home) : undefined;
  if (input.async) checkAsync(settings);
  const cwd = await resolveWorkingDirectory(input.cwd ?? cd?.directory, settings.cwd, home);
  return {
    command: cd?.command ?? input.command,
    cwd,
    timeout: clampTimeout(input.timeout, settings.timeout),
    environment: resolveEnvironment({
      inherit: settings.inheritEnv,
      scrub: settings.scrub,
      defaults: settings.defaults,
      overrides,
      cwd,
    }),
  };
}

/** Stricter than the system: a name that bash cannot spell would be lost without a word. */
function checkNames(env: WorkspaceInput['env']): void {
  for (const name of Object.keys(env ?? {})) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new InputError(`Invalid bash env name: ${name}`);
    }
  }
}

function checkAsync({ async, jobs }: WorkspaceSettings): void {
  if (!async) {
    throw new InputError(
      'Async bash execution is disabled. The option `async: true` of the tool enables it.',
    );
  }
  if (jobs === undefined) throw new InputError('Async job manager unavailable for this session.');
}

type Overrides = Readonly<Record<string, string | undefined>> | undefined;

function layer(under: Overrides, over: Overrides): Overrides {
  return under === undefined || over === undefined ? (over ?? under) : { ...under, ...over };
}
