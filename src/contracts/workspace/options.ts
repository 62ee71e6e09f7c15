import { createArtifactStore } from '../../artifacts/directory-store.js';
import type { OutputKeeper } from '../../artifacts/keep-output.js';
import type { ArtifactStore } from '../../artifacts/store.js';
import type { CommandFollower } from '../../command/execute.js';
import type { OutputChunk } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import { createMinimizer, type MinimizerOptions } from '../../minimizer/options.js';
import type { OutputLimits } from '../../options/command-options.js';
import { readSandbox } from '../../sandbox/read-policy.js';
import { withUndo } from '../../sandbox/undo/with-undo.js';
import { preloadShellParser } from '../../shell/parser.js';
import type { ShellSnapshot } from '../../snapshot/shell-snapshot.js';
import {
  atLeast,
  checkMethod,
  checkObject,
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import { warnTo } from '../../support/logger.js';
import { TaskManager, taskManagerOf } from '../../tasks/manager.js';
import type { TaskManagerOptions } from '../../tasks/manager-options.js';
import { type ClientTerminalOptions, ClientTerminals } from '../../terminal/client-terminals.js';
import type { ConsoleListeners } from '../../terminal/console.js';
import { preloadTerminals } from '../../terminal/emulator.js';
import type { TerminalUi } from '../../terminal/ui.js';
import { createUrlRegistry } from '../../urls/registry.js';
import type { UrlRegistry } from '../../urls/resolver.js';
import type { UpdateOptions } from '../call-listeners.js';
import {
  resolveShellOptions,
  SHELL_OPTION_NAMES,
  type ShellOptions,
  type ShellSettings,
} from '../options.js';
import { createInterceptor, type Interceptor, type InterceptorOptions } from './input/intercept.js';
import { withExecRules } from './input/intercept-exec.js';
import { checkPrefix, resolveSnapshot, type ShellSnapshotOptions } from './input/shell-setup.js';
import { withArtifacts } from './input/urls.js';
import { limitsToMinimize, updateOptions } from './output/minimize.js';
import type { OutputSettings } from './output/show.js';

/** The timeouts that a tool accepts, in seconds. */
export interface TimeoutLimits {
  /** Seconds for a call that asks for none. Default: 300. */
  readonly default: number;
  /** The least, in seconds; what is below is raised to it. Default: 1. */
  readonly min: number;
  /** The most, in seconds; what is above is lowered to it. Default: 3600. */
  readonly max: number;
}

/** Options of the `workspace` contract. */
export interface WorkspaceOptions extends ShellOptions {
  /** Timeouts in seconds. Default: 300, from 1 to 3,600. */
  readonly timeout?: Partial<TimeoutLimits> | undefined;
  /** Bytes shown of the beginning of long output. Default: 0. */
  readonly headBytes?: number | undefined;
  /** Bytes shown of the end of long output. Default: 51,200. */
  readonly tailBytes?: number | undefined;
  /**
   * Where outputs that are too long to be shown whole are kept; false: nowhere. A store that is
   * given is the caller's to dispose of. Default: a private directory, gone when the tool is
   * disposed of.
   */
  readonly artifacts?: ArtifactStore | false | undefined;
  /** Offer `async: true`, which runs a command in the background. Default: false. */
  readonly async?: boolean | undefined;
  /**
   * With `async`, let a model say what it is to be told of a command in the background. For a host that
   * passes the events with `watch` and `unmet` on to the model: by `onEvent` of `tasks`, or as an MCP client.
   * Default: false.
   */
  readonly notify?: boolean | undefined;
  /**
   * Put a command that takes long into the background: after `afterMs` milliseconds (60,000 when it
   * is `true`), and a second before its timeout at the latest. Default: false.
   */
  readonly autoBackground?: boolean | { readonly afterMs: number } | undefined;
  /**
   * Keeps the commands in the background, and tells of them; or how the tool's own manager is to do
   * so. false: there is nobody to keep them. Default: a manager of the tool's own, when `async` or
   * `autoBackground` asks for one.
   */
  readonly tasks?: TaskManager | TaskManagerOptions | false | undefined;
  /** Shows commands that run on a terminal (`pty: true`). Default: none, so they run on pipes. */
  readonly ui?: TerminalUi | undefined;
  /**
   * Shortens noisy output; the raw text is kept as an artifact. `true`: with the defaults. Default:
   * off.
   */
  readonly minimizer?: boolean | MinimizerOptions | undefined;
  /** Blocks commands that another of the runtime's tools does better. Default: off. */
  readonly interceptor?: InterceptorOptions | undefined;
  /**
   * Resolvers of internal URLs. `artifact://` is the tool's own, unless one is given. Default: no
   * others, so that a URL such as `local://x` is an error.
   */
  readonly urls?: UrlRegistry | undefined;
  /**
   * Run commands in terminals of an Agent Client Protocol client, where its user sees them. Give it
   * only when the client's capabilities have `terminal`. Default: commands run here.
   */
  readonly clientTerminal?: ClientTerminalOptions | undefined;
  /**
   * Run commands with the aliases, functions, shell options and `PATH` of the user's rc file, as it
   * leaves them in an interactive bash. It is read once. Default: false.
   */
  readonly shellSnapshot?: boolean | ShellSnapshotOptions | undefined;
  /**
   * Shell text that stands before each command, one blank between them: `nice -n 10`, or
   * `ulimit -v 4000000;`. Default: none.
   */
  readonly commandPrefix?: string | undefined;
}

const NAMES: OptionNames<WorkspaceOptions> = {
  ...SHELL_OPTION_NAMES,
  timeout: true,
  headBytes: true,
  tailBytes: true,
  artifacts: true,
  async: true,
  notify: true,
  autoBackground: true,
  tasks: true,
  ui: true,
  minimizer: true,
  interceptor: true,
  urls: true,
  clientTerminal: true,
  shellSnapshot: true,
  commandPrefix: true,
};
const TIMEOUT_NAMES: OptionNames<TimeoutLimits> = { default: true, min: true, max: true };

/** The options with everything decided. */
export interface WorkspaceSettings extends ShellSettings, OutputSettings {
  readonly timeout: TimeoutLimits;
  /** Whether the tool disposes of it. */
  readonly ownsArtifacts: boolean;
  /** What the engine keeps of an output. */
  readonly captured: OutputLimits;
  readonly updates: UpdateOptions;
  readonly async: boolean;
  readonly notify: boolean;
  /** Milliseconds; undefined: nothing is put into the background by itself. */
  readonly autoBackgroundMs: number | undefined;
  readonly tasks: TaskManager | undefined;
  /** Whether the tool disposes of it. */
  readonly ownsTasks: boolean;
  readonly ui: TerminalUi | undefined;
  readonly intercept: Interceptor | undefined;
  readonly urls: UrlRegistry;
  /** Undefined: commands run here. */
  readonly clientTerminals: ClientTerminals | undefined;
  readonly snapshot: ShellSnapshot | undefined;
  readonly commandPrefix: string | undefined;
}

/** What a command is run with that is not its own. */
export interface RunContext {
  readonly owner: Owner;
  readonly settings: WorkspaceSettings;
  /** Aborted when the tool is disposed of: for what the owner knows nothing of. */
  readonly disposal: AbortSignal;
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** Called with what keeps the output of a command that may be looked at while it runs. */
  readonly keeping?: ((keeper: OutputKeeper) => void) | undefined;
  /** Has to do with the command while it runs. */
  readonly follower?: CommandFollower | undefined;
  /** In place of `onOutput`, when the command runs on a terminal. */
  readonly onTerminal?: ConsoleListeners | undefined;
}

/** UTF-8 bytes that are shown of a running job's output when nothing is waited for. */
export const PREVIEW_BYTES = 4096;

const DEFAULT_TIMEOUT: TimeoutLimits = { default: 300, min: 1, max: 3600 };
const DEFAULT_TAIL_BYTES = 50 * 1024;
const DEFAULT_AUTO_BACKGROUND_MS = 60_000;

/**
 * Fills in the defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolveWorkspaceOptions(given: WorkspaceOptions): WorkspaceSettings {
  const options = withExecRules(readOptions('options', given, NAMES));
  checkMethod('urls', 'resolverOf', options.urls);
  if (options.urls !== undefined) preloadShellParser();
  const artifacts = resolveArtifacts(options.artifacts);
  const shell = resolveShellOptions(options, { inheritEnv: 'scrubbed', graceMs: 5000 });
  const output = {
    headBytes: wholeFrom('headBytes', 0, options.headBytes ?? 0),
    tailBytes: wholeFrom('tailBytes', 1, options.tailBytes ?? DEFAULT_TAIL_BYTES),
  };
  const minimizer = createMinimizer(options.minimizer, warnTo(options.logger));
  return {
    ...shell,
    timeout: resolveTimeoutLimits(options.timeout),
    output,
    minimizer,
    captured: limitsToMinimize(minimizer, output),
    updates: updateOptions(minimizer, output),
    artifacts,
    ownsArtifacts: options.artifacts === undefined,
    ...resolveTasks(options),
    ui: resolveUi(options.ui),
    intercept: createInterceptor(options.interceptor, warnTo(options.logger)),
    urls: withArtifacts(options.urls ?? createUrlRegistry(), artifacts),
    clientTerminals: resolveClientTerminals(options),
    snapshot: resolveSnapshot(options.shellSnapshot, shell, warnTo(options.logger)),
    commandPrefix: checkPrefix(options.commandPrefix),
  };
}

function resolveArtifacts(given: WorkspaceOptions['artifacts']): ArtifactStore | undefined {
  if (given === undefined) return createArtifactStore();
  if (given === false) return undefined;
  if (typeof given === 'object' && given !== null && typeof given.draft === 'function') {
    return given;
  }
  throw new InputError(`artifacts: expected an artifact store or false, got ${showValue(given)}`);
}

function resolveClientTerminals(options: WorkspaceOptions): ClientTerminals | undefined {
  const { clientTerminal, shell, sandbox, undo } = options;
  if (isMissing(clientTerminal)) return undefined;
  checkObject('clientTerminal', clientTerminal);
  if (readSandbox(withUndo(sandbox, undo)) !== undefined) {
    throw new InputError(
      `clientTerminal: expected none beside a sandbox, which the client's commands would not be in, got ${showValue(clientTerminal)}`,
    );
  }
  for (const name of ['umask', 'startsAtOnce'] as const) {
    const value = options[name];
    if (value === undefined) continue;
    throw new InputError(
      `${name}: expected nothing beside clientTerminal, whose client starts the commands, got ${showValue(value)}`,
    );
  }
  return new ClientTerminals(clientTerminal, shell?.[0] ?? '/bin/bash');
}

function resolveUi(given: WorkspaceOptions['ui']): TerminalUi | undefined {
  if (given === undefined) return undefined;
  if (typeof given?.openConsole === 'function') {
    preloadTerminals();
    return given;
  }
  throw new InputError(`ui: expected a terminal UI with openConsole(), got ${showValue(given)}`);
}

type JobSettings = Pick<
  WorkspaceSettings,
  'async' | 'notify' | 'autoBackgroundMs' | 'tasks' | 'ownsTasks'
>;

function resolveTasks(options: WorkspaceOptions): JobSettings {
  const { async = false, notify = false, autoBackground = false, tasks } = options;
  if (tasks !== undefined && tasks !== false) checkObject('tasks', tasks);
  checkSwitch('async', async);
  checkSwitch('notify', notify);
  if (notify && (!async || tasks === false)) {
    throw new InputError('notify: expected to come with async: true and tasks');
  }
  if (typeof autoBackground !== 'boolean') {
    readOptions('autoBackground', autoBackground, { afterMs: true }, { within: 'autoBackground.' });
  }
  const wanted = async || autoBackground !== false;
  const afterMs = typeof autoBackground === 'object' ? autoBackground.afterMs : undefined;
  return {
    async,
    notify,
    autoBackgroundMs:
      autoBackground === false
        ? undefined
        : atLeast('autoBackground.afterMs', 0, afterMs ?? DEFAULT_AUTO_BACKGROUND_MS),
    tasks: tasks === false || !wanted ? undefined : taskManagerOf(tasks),
    ownsTasks: !(tasks instanceof TaskManager),
  };
}

function resolveTimeoutLimits(given: Partial<TimeoutLimits> = {}): TimeoutLimits {
  readOptions('timeout', given, TIMEOUT_NAMES, { within: 'timeout.' });
  const min = atLeast('timeout.min', 0, given.min ?? DEFAULT_TIMEOUT.min);
  const max = atLeast('timeout.max', min, given.max ?? DEFAULT_TIMEOUT.max);
  const asked = atLeast('timeout.default', 0, given.default ?? DEFAULT_TIMEOUT.default);
  // Limits that leave the usual default out are meant for it too.
  return { default: Math.min(Math.max(asked, min), max), min, max };
}
