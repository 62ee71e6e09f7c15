import type { OutputKeeper } from '../../../artifacts/keep-output.js';
import { checkCommand } from '../../../command/command-line.js';
import { onBehalfOfNobody } from '../../../engine/caller.js';
import type { ExecuteOptions, OutputLimits } from '../../../options/command-options.js';
import {
  DEFAULT_SIZE,
  overTerminal,
  TERMINAL_DEFAULTS,
  type TerminalSize,
} from '../../../options/terminal.js';
import type { ReadySnapshot } from '../../../snapshot/shell-snapshot.js';
import { InputError } from '../../../support/errors.js';
import type { Notify } from '../../../tasks/notify/notify.js';
import type { TerminalUi } from '../../../terminal/ui.js';
import { ToolError } from '../../errors.js';
import {
  type CallMoment,
  commandOptions,
  placesOfOutput,
  shellEnvironment,
  showingPaths,
} from '../../options.js';
import { notifyOf } from '../../tasks/notify.js';
import { checkWorkingDirectory, resolveWorkingDirectory } from '../../workdir.js';
import {
  PREVIEW_BYTES,
  type RunContext,
  type TimeoutLimits,
  type WorkspaceSettings,
} from '../options.js';
import { type Expandable, expandUrls } from './expand.js';
import { blockedMessage, type Interceptor } from './intercept.js';
import { takeLeadingCd } from './leading-cd.js';
import type { WorkspaceInput } from './schema.js';
import { chooseTerminal } from './terminal-choice.js';

/** The host at the moment of a call, and the variable that was set against terminals. */
export interface WorkspaceMoment extends CallMoment {
  readonly terminalsOff: string | undefined;
}

/** A call with everything decided: command, directory, timeout, environment. */
export interface PreparedCommand {
  readonly command: string;
  /** The text for the shell: the command with what the tool puts around it. */
  readonly text: string;
  /** The text that decides whose exit code it is: without the snapshot, but with its `pipefail`. */
  readonly ownText: string;
  readonly cwd: string;
  readonly timeout: Timeout;
  readonly environment: string;
  /** Variables of the tool and of the call, without those of a snapshot; `undefined` removes a name. */
  readonly variables: CallOverrides;
  /** The directory of the snapshot that the shell reads. */
  readonly snapshot: string | undefined;
  /** Whether stdin stays open. */
  readonly takesInput: boolean;
  /** What is to be told of it in the background. */
  readonly notify: Notify | undefined;
  /** Present when the command runs on a terminal that the user sees, with another environment. */
  readonly terminal?: { readonly ui: TerminalUi; readonly environment: string };
  /** The size of a terminal of the model's own, if it runs on one. */
  readonly ownTerminal?: TerminalSize;
  /** Why there is no terminal although one was asked for. */
  readonly notice?: string;
}

/**
 * Decides everything about a call.
 *
 * @throws {InputError} A field is not valid, or a URL cannot be resolved.
 * @throws {ToolError} The interceptor blocks the command.
 */
export async function prepare(
  input: WorkspaceInput,
  settings: WorkspaceSettings,
  moment: WorkspaceMoment,
): Promise<PreparedCommand> {
  checkCommand(input.command);
  checkNames(input.env);
  const given = layer(settings.env, input.env);
  const home = given?.HOME ?? moment.home;
  const mayLead = input.cwd === undefined && input.command.trimStart().startsWith('cd');
  const cd = mayLead ? takeLeadingCd(input.command, home, given?.CDPATH) : undefined;
  if (input.async) checkAsync(settings);
  else if (input.stdin) throw new InputError('stdin: expected to come with `async: true`');
  else if (input.notify) throw new InputError('notify: expected to come with `async: true`');
  if (settings.intercept) await intercept(input.command, cd?.command, settings.intercept);
  const texts = {
    command: cd?.command ?? input.command,
    env: input.env,
    cwd: input.cwd ?? cd?.directory,
  };
  const expanded = mayHaveUrls(texts) ? await expandUrls(texts, settings.urls) : texts;
  const variables = layer(settings.env, expanded.env);
  const cwd =
    expanded.cwd === undefined
      ? settings.cwd
      : resolveWorkingDirectory(expanded.cwd, settings.cwd, home);
  // Other commands fail at the launch if the directory does not exist.
  if (input.async || input.pty || settings.clientTerminals) await checkWorkingDirectory(cwd);
  // The snapshot also serves later calls, so it is not made on behalf of this one.
  const { snapshot: source } = settings;
  const snapshot = source && (await onBehalfOfNobody(() => source.ready()));
  const overrides =
    snapshot === undefined ? variables : withExported(settings.env, snapshot, expanded.env);
  const own = withPrefix(expanded.command, settings.commandPrefix);
  const onPipes = {
    command: expanded.command,
    text: shellText(expanded.command, settings.commandPrefix, snapshot, variables),
    ownText: snapshot?.pipefail ? `set -o pipefail; ${own}` : own,
    cwd,
    timeout: clampTimeout(input.timeout, settings.timeout),
    environment: shellEnvironment(cwd, settings, moment, overrides),
    variables,
    snapshot: snapshot?.directory,
    takesInput: input.stdin ?? false,
    notify: settings.tasks && notifyOf(input.notify, settings.tasks),
  };
  if (!input.pty) return onPipes;
  const terminal = terminalOf(input, settings, moment, () => {
    const onTerminal = { ...settings, defaults: TERMINAL_DEFAULTS };
    return shellEnvironment(cwd, onTerminal, moment, overTerminal(overrides));
  });
  return { ...onPipes, ...terminal };
}

/** Checks quickly whether one of the texts may contain a URL: most contain no `:/`. */
function mayHaveUrls({ command, cwd, env }: Expandable): boolean {
  if (command.includes(':/') || cwd?.includes(':/')) return true;
  return env !== undefined && Object.values(env).some((value) => value.includes(':/'));
}

/**
 * Makes a prepared command's options, which are the same on pipes and on a terminal.
 *
 * @param limits The limits of the capture.
 */
export function workspaceOptions(
  { cwd, timeout, snapshot }: PreparedCommand,
  { owner, settings, signal, keeping }: RunContext,
  keeper: OutputKeeper,
  limits: OutputLimits,
  onOutput?: ExecuteOptions['onOutput'],
): Omit<ExecuteOptions, 'pty' | 'streams'> {
  const { headBytes, tailBytes } = settings.output;
  const timeoutMs = Math.round(timeout.seconds * 1000);
  // A final newline is not shown, and does not count.
  const longest = headBytes + tailBytes + 1;
  // A look at a job shows less than an answer, and says where the rest is.
  const spill = keeper.spill(keeping === undefined ? longest : Math.min(longest, PREVIEW_BYTES));
  const read = snapshot === undefined ? [] : [snapshot];
  const shell = showingPaths(settings, [...placesOfOutput(spill), ...read]);
  return commandOptions(shell, limits, { cwd, timeoutMs, owner, signal, spill, onOutput });
}

/** The parts that differ on a terminal, where programs may ask, page and draw. */
function terminalOf(
  input: WorkspaceInput,
  { ui }: WorkspaceSettings,
  { terminalsOff }: WorkspaceMoment,
  environment: () => string,
): Partial<PreparedCommand> {
  const choice = chooseTerminal(input, ui, terminalsOff);
  if (choice.kind === 'terminal') {
    return { terminal: { ui: choice.ui, environment: environment() } };
  }
  if (choice.kind === 'own') {
    return { ownTerminal: DEFAULT_SIZE, environment: environment(), takesInput: true };
  }
  return choice.notice === undefined ? {} : { notice: choice.notice };
}

/**
 * Checks the command as it was given, and as it is run.
 *
 * @throws {ToolError} A rule sends the model to another tool.
 */
async function intercept(
  given: string,
  stripped: string | undefined,
  interceptor: Interceptor,
): Promise<void> {
  const rule = await interceptor(given, stripped ?? given);
  if (rule !== undefined) throw new ToolError('blocked', blockedMessage(rule, given));
}

/** Checks names more strictly than the system does: bash would silently drop a name that it cannot use. */
function checkNames(env: WorkspaceInput['env']): void {
  for (const name of Object.keys(env ?? {})) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new InputError(`Invalid bash env name: ${name}`);
    }
  }
}

function checkAsync({ async, tasks }: WorkspaceSettings): void {
  if (!async) {
    throw new InputError(
      'Async bash execution is disabled. Leave `async` out: the command is waited for then, as ' +
        'long as its `timeout` lets it run.',
    );
  }
  if (tasks === undefined) throw new InputError('Async job manager unavailable for this session.');
}

/**
 * Adds the variables that the rc file has exported. They override the host's, and are overridden by those of
 * the tool and of the call. Only its `PATH` also overrides the tool's, which the rc file has seen.
 */
function withExported(
  under: CallOverrides,
  snapshot: ReadySnapshot,
  over: CallOverrides,
): CallOverrides {
  const { exported, path } = snapshot;
  return { ...exported, ...under, ...(path !== '' && { PATH: path }), ...over };
}

type CallOverrides = Readonly<Record<string, string | undefined>> | undefined;

function layer(under: CallOverrides, over: CallOverrides): CallOverrides {
  return under === undefined || over === undefined ? (over ?? under) : { ...under, ...over };
}

/** The timeout that applies. */
export interface Timeout {
  readonly seconds: number;
  /** The timeout that was asked for; present only when another one applies. */
  readonly requestedSeconds?: number;
}

/** Brings a requested timeout, in seconds, within the limits. */
export function clampTimeout(requested: number | undefined, limits: TimeoutLimits): Timeout {
  const wanted = requested ?? limits.default;
  const seconds = Math.min(Math.max(wanted, limits.min), limits.max);
  return seconds === wanted ? { seconds } : { seconds, requestedSeconds: wanted };
}

/** Puts the tool's prefix before a command. */
export function withPrefix(command: string, prefix: string | undefined): string {
  return prefix === undefined ? command : `${prefix} ${command}`;
}

/**
 * Makes the text for the shell.
 *
 * @param variables The variables of the tool and of the call.
 */
function shellText(
  command: string,
  prefix: string | undefined,
  snapshot: ReadySnapshot | undefined,
  variables: CallOverrides,
): string {
  const text = withPrefix(command, prefix);
  return snapshot === undefined ? text : snapshot.textFor(text, variables);
}
