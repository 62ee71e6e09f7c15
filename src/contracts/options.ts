import { dirname } from 'node:path';
import { resolveEnvironment } from '../command/environment.js';
import { lookForLocale, overLocale } from '../command/locale.js';
import { compileNamePatterns } from '../command/secrets.js';
import { inheritedEnvironment } from '../engine/environ.js';
import type { OnExec } from '../engine/exec/exec-request.js';
import type { Owner } from '../engine/owner.js';
import type { InteractionLog } from '../interaction-log/log.js';
import { checkOptions } from '../options/check.js';
import type { ExecuteOptions, OutputLimits, Priority } from '../options/command-options.js';
import { encodingOf } from '../options/encoding.js';
import { type CommandLimits, readLimits } from '../options/limits.js';
import { type CarriedBy, namesOf, type OptionsOf } from '../options/roads.js';
import { spillPathOf } from '../options/values.js';
import type { OnDenied } from '../sandbox/denials/again.js';
import { withSameSet } from '../sandbox/pending/pending-set.js';
import type { SandboxOption, SandboxPolicy } from '../sandbox/policy.js';
import { toolSandbox } from '../sandbox/read-policy.js';
import { pinSandbox } from '../sandbox/resolve.js';
import { withUndo } from '../sandbox/undo/with-undo.js';
import type { OptionNames } from '../support/checks.js';
import {
  atLeast,
  checkMethod,
  checkSwitch,
  checkWellFormed,
  isMissing,
} from '../support/checks.js';
import { homeDirectory } from '../support/directories/home.js';
import { InputError, showValue } from '../support/errors.js';
import type { Logger } from '../support/logger.js';
import { absolutePath } from '../support/paths.js';
import { type CommandLog, resolveLog } from './command-log.js';
import { nonInteractiveDefaults } from './non-interactive.js';

/** Options that every contract has. */
export interface ShellOptions extends OptionsOf<'tool'> {
  /**
   * Where commands run unless they say otherwise: a path, relative to the process's own directory,
   * or a `file:` URL.
   */
  readonly cwd: string | URL;
  /**
   * What commands inherit of the host's environment: without secrets, all of it, or none. Default:
   * `scrubbed`, but `all` for `plain`. Variables that steer the shell are never inherited.
   */
  readonly inheritEnv?: 'scrubbed' | 'all' | 'none' | undefined;
  /** Name patterns of secrets, with `*`. Default: `SECRET_NAME_PATTERNS`. */
  readonly scrub?: readonly string[] | undefined;
  /** Variables for every command. `undefined` removes a name. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Say `CI=true` to commands. Default: true. */
  readonly ci?: boolean | undefined;
  /**
   * Time between SIGTERM and SIGKILL when a command is ended, in milliseconds. Default: 5,000, but
   * 15,000 for `modes`.
   */
  readonly graceMs?: number | undefined;
  /**
   * What commands print, as `TextDecoder` calls it (`gbk`, `shift_jis`, `utf-16le`). Files of output
   * have the exact bytes, and a terminal is always UTF-8. Default: `utf-8`.
   */
  readonly encoding?: string | undefined;
  /**
   * `low`: where both want the processors, the host gets about ten times as much as a command. When
   * that could not be had, the receipt's `troubles` say so. Default: `normal`.
   */
  readonly priority?: Priority | undefined;
  readonly startsAtOnce?: number | undefined;
  /**
   * What commands may write to, read and reach: 'read-only', 'workspace-write' (the `cwd` of the tool),
   * or a policy. Default: 'danger-full-access', all that the host may.
   */
  readonly sandbox?: SandboxOption | undefined;
  /**
   * Asked when the sandbox has denied a command something and it has ended by itself: it is run again,
   * once, in the sandbox that is returned, and the answer says so. Not for what goes on by itself, or has
   * a terminal. Default: each is run once.
   */
  readonly onDenied?: OnDenied | undefined;
  /** Asked where a rule of `sandbox.exec` says so, whatever way a command is run. Default: nobody. */
  readonly onExec?: OnExec | undefined;
  /** What each command may take, with all that it starts. Default: what the host may. */
  readonly limits?: CommandLimits | undefined;
  /** Where each command is noted: a file's path, or a log. Default: nowhere. */
  readonly log?: string | InteractionLog | undefined;
  /** Told what is wrong but no reason to fail. Default: process warnings. */
  readonly logger?: Logger | undefined;
}

/** The names of those options, and that of the one by which a contract is chosen. */
export const SHELL_OPTION_NAMES: OptionNames<ShellOptions> & { readonly contract: true } = {
  contract: true,
  ...namesOf('tool'),
  scrub: true,
  ci: true,
  log: true,
  logger: true,
};

/** Those options with everything decided; `undo` is in the sandbox. */
export interface ShellSettings
  extends Readonly<Record<Exclude<CarriedBy<'tool'>, 'undo'>, unknown>> {
  readonly cwd: string;
  readonly home: string | undefined;
  readonly inheritEnv: 'scrubbed' | 'all' | 'none';
  readonly scrub: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  /** The variables of a command that nobody talks to. */
  readonly defaults: Readonly<Record<string, string>>;
  readonly graceMs: number;
  readonly shell: readonly string[] | undefined;
  /** Undefined: UTF-8. */
  readonly encoding: string | undefined;
  readonly priority: Priority;
  readonly startsAtOnce: number | undefined;
  readonly umask: number | undefined;
  readonly sandbox: SandboxPolicy | undefined;
  readonly onDenied: OnDenied | undefined;
  readonly onExec: OnExec | undefined;
  readonly limits: CommandLimits | undefined;
  readonly log: CommandLog | undefined;
}

/** What a call finds of the host at its moment, and keeps, however long it waits for its turn. */
export interface CallMoment {
  /** The host's variables. */
  readonly inherited: string;
  /** What `~` stands for; undefined: the user has no home directory. */
  readonly home: string | undefined;
}

/** The host as it is now. */
export function momentOf({ inheritEnv }: Pick<ShellSettings, 'inheritEnv'>): CallMoment {
  if (inheritEnv === 'none') return { inherited: '', home: homeOfNow() };
  const inherited = inheritedEnvironment();
  // Node asks the system for each variable, which takes as long as much else of a call.
  if (last?.inherited !== inherited) {
    last = { inherited, home: homeOfNow() };
    lookForLocale(inherited);
  }
  return last;
}

/** The moment of the last call: as long as no variable has changed, it is that of the next one. */
let last: CallMoment | undefined;

/** A tool's sandbox, whose rights are decided before any of its commands can have changed what they are for. */
function pinnedSandbox(given: unknown, workspace: string): SandboxPolicy | undefined {
  const policy = toolSandbox(given, workspace);
  if (policy !== undefined) pinSandbox(policy);
  return policy;
}

/** `homeDirectory()` asks the process's own variables, which a runtime may have replaced. */
function homeOfNow(): string | undefined {
  return process.env.HOME ?? homeDirectory();
}

/**
 * Fills in a contract's defaults. The variables and the shells are copied: a tool stays what it was
 * made as.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolveShellOptions(
  options: ShellOptions,
  defaults: Pick<ShellSettings, 'inheritEnv' | 'graceMs'>,
): ShellSettings {
  const { cwd } = options;
  if (isMissing(cwd)) throw new InputError(`cwd: expected a path, got ${showValue(cwd)}`);
  checkOptions(options);
  // Kept as they are now, by the array itself: several tools may share one, and an environment.
  if (options.scrub !== undefined) compileNamePatterns(options.scrub);
  const path = absolutePath('cwd', cwd);
  checkWellFormed('cwd', path);
  checkSwitch('ci', options.ci);
  checkMethod('logger', 'warn', options.logger);
  return {
    cwd: path,
    home: homeOfNow(),
    inheritEnv: options.inheritEnv ?? defaults.inheritEnv,
    scrub: options.scrub,
    env: options.env && { ...options.env },
    defaults: nonInteractiveDefaults(options.ci ?? true),
    graceMs: atLeast('graceMs', 0, options.graceMs ?? defaults.graceMs),
    shell: options.shell && [...options.shell],
    encoding: isMissing(options.encoding) ? undefined : encodingOf(options.encoding),
    priority: options.priority ?? 'normal',
    startsAtOnce: options.startsAtOnce,
    umask: options.umask,
    sandbox: pinnedSandbox(withUndo(options.sandbox, options.undo), path),
    onDenied: options.onDenied ?? undefined,
    onExec: options.onExec ?? undefined,
    limits: options.limits && { ...readLimits(options.limits) },
    log: resolveLog(options.log, options.logger),
  };
}

/** What a call decides of its command's options. */
interface CallOptions extends Pick<ExecuteOptions, 'timeoutMs' | 'signal' | 'onOutput' | 'spill'> {
  readonly cwd: string;
  readonly owner: Owner;
}

/** The options of a command of a tool; an option that tools carry and that is not here does not compile. */
type CarriedOptions = {
  readonly [Name in
    | Exclude<CarriedBy<'tool'>, 'env' | 'inheritEnv' | 'undo'>
    | keyof OutputLimits
    | keyof CallOptions]: ExecuteOptions[Name];
};

/** Policies by which paths are seen besides, by them and by the policy without. */
const showing = new WeakMap<SandboxPolicy, Map<string, SandboxPolicy>>();

type CommonSettings = Pick<
  ShellSettings,
  | ('graceMs' | 'shell' | 'encoding' | 'priority' | 'startsAtOnce')
  | ('umask' | 'sandbox' | 'onDenied' | 'onExec' | 'limits')
>;

/**
 * The settings of a tool whose sandbox has a temporary directory of its own, and shows these paths all
 * the same.
 */
export function showingPaths<S extends Pick<CommonSettings, 'sandbox'>>(
  settings: S,
  paths: readonly string[],
): S {
  const { sandbox } = settings;
  if (sandbox === undefined || paths.length === 0) return settings;
  const known = showing.get(sandbox) ?? new Map<string, SandboxPolicy>();
  showing.set(sandbox, known);
  const shown = known.get(paths.join('\0')) ?? withSameSet(sandbox, withShown(sandbox, paths));
  known.set(paths.join('\0'), shown);
  return { ...settings, sandbox: shown };
}

function withShown(sandbox: SandboxPolicy, paths: readonly string[]): SandboxPolicy {
  const allowRead = [...(sandbox.filesystem?.allowRead ?? []), ...paths];
  return { ...sandbox, filesystem: { ...sandbox.filesystem, allowRead } };
}

/** Where the whole output of a call will be, beside all others of its tool: the model is told. */
export function placesOfOutput(spill: ExecuteOptions['spill']): readonly string[] {
  const path = spillPathOf(spill);
  return path === undefined ? [] : [dirname(path)];
}

/**
 * A command's options, as far as those of all contracts are alike. One literal: it is on every call's
 * way, and a spread takes several times as long.
 */
export function commandOptions(
  settings: CommonSettings,
  { headBytes, tailBytes }: OutputLimits,
  call: CallOptions,
): CarriedOptions {
  const { graceMs, shell, encoding, priority, startsAtOnce } = settings;
  const { umask, sandbox, onDenied, onExec, limits } = settings;
  const { cwd, timeoutMs, owner, signal, onOutput, spill } = call;
  return {
    graceMs,
    shell,
    encoding,
    priority,
    startsAtOnce,
    umask,
    sandbox,
    onDenied,
    onExec,
    limits,
    headBytes,
    tailBytes,
    cwd,
    timeoutMs,
    owner,
    signal,
    onOutput,
    spill,
  };
}

/**
 * The environment block of a command.
 *
 * @param moment That of its call.
 * @param overrides In place of the option `env`, for what has variables of its own.
 */
export function shellEnvironment(
  cwd: string,
  { inheritEnv, scrub, defaults, env }: Omit<ShellSettings, 'cwd'>,
  { inherited }: Pick<CallMoment, 'inherited'>,
  overrides: ShellSettings['env'] = env,
): string {
  const own = overLocale(inherited, defaults, overrides);
  const policy = { inherit: inheritEnv, inherited, scrub, defaults, overrides: own, cwd };
  return resolveEnvironment(policy);
}
