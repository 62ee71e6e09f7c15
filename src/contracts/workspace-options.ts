import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { createArtifactStore } from '../artifacts/directory-store.js';
import type { ArtifactStore } from '../artifacts/store.js';
import { JobManager } from '../jobs/manager.js';
import { checkInherit } from '../pipeline/environment.js';
import { InputError, showValue } from '../pipeline/input-error.js';
import {
  createInterceptor,
  type Interceptor,
  type InterceptorOptions,
} from '../pipeline/intercept.js';
import { type Logger, warnTo } from '../pipeline/logger.js';
import { nonInteractiveDefaults } from '../pipeline/non-interactive.js';
import type { OutputLimits } from '../pipeline/output.js';
import type { TimeoutLimits } from '../pipeline/timeout.js';
import { createUrlRegistry } from '../urls/registry.js';
import type { UrlRegistry } from '../urls/resolver.js';
import { withArtifacts } from './workspace-urls.js';

/** Options of the `workspace` contract. */
export interface WorkspaceOptions {
  /** Where commands run unless they say otherwise; relative to the process's own directory. */
  readonly cwd: string;
  /**
   * What commands inherit of the host's environment: without secrets, all of it, or none. Default:
   * `scrubbed`. Variables that steer the shell are never inherited.
   */
  readonly inheritEnv?: 'scrubbed' | 'all' | 'none';
  /** Name patterns of secrets, with `*`. Default: `SECRET_NAME_PATTERNS`. */
  readonly scrub?: readonly string[];
  /** Variables for every command, under those of the call. `undefined` removes a name. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Say `CI=true` to commands. Default: true. */
  readonly ci?: boolean;
  /** Timeouts in seconds. Default: 300, from 1 to 3,600. */
  readonly timeout?: Partial<TimeoutLimits>;
  /** Time between SIGTERM and SIGKILL when a command is ended, in milliseconds. Default: 5,000. */
  readonly graceMs?: number;
  /** Shells to try, in this order. Default: `/bin/bash`, `bash` on PATH, `/bin/sh`. */
  readonly shell?: readonly string[];
  /** Bytes shown of the beginning of long output. Default: 0. */
  readonly headBytes?: number;
  /** Bytes shown of the end of long output. Default: 51,200. */
  readonly tailBytes?: number;
  /**
   * Where outputs that are too long to be shown whole are kept; false: nowhere. A store that is
   * given is the caller's to dispose of. Default: a private directory, gone when the tool is
   * disposed of.
   */
  readonly artifacts?: ArtifactStore | false;
  /** Offer `async: true`, which runs a command in the background. Default: false. */
  readonly async?: boolean;
  /**
   * Put a command that takes long into the background: after `afterMs` milliseconds (60,000 when it
   * is `true`), and a second before its timeout at the latest. Default: false.
   */
  readonly autoBackground?: boolean | { readonly afterMs: number };
  /**
   * Keeps the commands in the background; false: there is nobody to keep them. Default: a manager
   * of the tool's own, when `async` or `autoBackground` asks for one.
   */
  readonly jobs?: JobManager | false;
  /** Blocks commands that another of the runtime's tools does better. Default: off. */
  readonly interceptor?: InterceptorOptions;
  /**
   * Resolvers of internal URLs. `artifact://` is the tool's own, unless one is given. Default: no
   * others, so that a URL such as `local://x` is an error.
   */
  readonly urls?: UrlRegistry;
  /** Told what is wrong but no reason to fail. Default: process warnings. */
  readonly logger?: Logger;
}

/** The options with everything decided. */
export interface WorkspaceSettings {
  readonly cwd: string;
  readonly home: string;
  readonly inheritEnv: 'scrubbed' | 'all' | 'none';
  readonly scrub: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  readonly defaults: Readonly<Record<string, string>>;
  readonly timeout: TimeoutLimits;
  readonly graceMs: number;
  readonly shell: readonly string[] | undefined;
  readonly output: OutputLimits;
  /** Undefined: outputs are not kept. */
  readonly artifacts: ArtifactStore | undefined;
  /** Whether the tool disposes of it. */
  readonly ownsArtifacts: boolean;
  readonly async: boolean;
  /** In milliseconds; undefined: nothing is put into the background by itself. */
  readonly autoBackgroundMs: number | undefined;
  readonly jobs: JobManager | undefined;
  readonly intercept: Interceptor | undefined;
  readonly urls: UrlRegistry;
}

const DEFAULT_TIMEOUT: TimeoutLimits = { default: 300, min: 1, max: 3600 };
const DEFAULT_GRACE_MS = 5000;
const DEFAULT_TAIL_BYTES = 50 * 1024;
const DEFAULT_AUTO_BACKGROUND_MS = 60_000;

/**
 * Fills in the defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolveWorkspaceOptions(options: WorkspaceOptions): WorkspaceSettings {
  if (typeof options.cwd !== 'string' || options.cwd === '') {
    throw new InputError(`cwd: expected a path, got ${showValue(options.cwd)}`);
  }
  const inheritEnv = options.inheritEnv ?? 'scrubbed';
  checkInherit(inheritEnv);
  const artifacts = resolveArtifacts(options.artifacts);
  return {
    cwd: resolve(options.cwd),
    home: homedir(),
    inheritEnv,
    scrub: options.scrub,
    env: options.env,
    defaults: nonInteractiveDefaults(options.ci ?? true),
    timeout: resolveTimeoutLimits(options.timeout),
    graceMs: atLeast('graceMs', 0, options.graceMs ?? DEFAULT_GRACE_MS),
    shell: options.shell,
    output: {
      headBytes: wholeFrom('headBytes', 0, options.headBytes ?? 0),
      tailBytes: wholeFrom('tailBytes', 1, options.tailBytes ?? DEFAULT_TAIL_BYTES),
    },
    artifacts,
    ownsArtifacts: options.artifacts === undefined,
    ...resolveJobs(options),
    intercept: createInterceptor(options.interceptor, warnTo(options.logger)),
    urls: withArtifacts(options.urls ?? createUrlRegistry(), artifacts),
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

type JobSettings = Pick<WorkspaceSettings, 'async' | 'autoBackgroundMs' | 'jobs'>;

function resolveJobs(options: WorkspaceOptions): JobSettings {
  const { async = false, autoBackground = false, jobs } = options;
  if (jobs !== undefined && jobs !== false && !(jobs instanceof JobManager)) {
    throw new InputError(`jobs: expected a JobManager or false, got ${showValue(jobs)}`);
  }
  const wanted = async || autoBackground !== false;
  const afterMs = typeof autoBackground === 'object' ? autoBackground.afterMs : undefined;
  return {
    async,
    autoBackgroundMs:
      autoBackground === false
        ? undefined
        : atLeast('autoBackground.afterMs', 0, afterMs ?? DEFAULT_AUTO_BACKGROUND_MS),
    jobs: jobs === false || !wanted ? undefined : (jobs ?? new JobManager()),
  };
}

function resolveTimeoutLimits(given: Partial<TimeoutLimits> | undefined): TimeoutLimits {
  const limits = { ...DEFAULT_TIMEOUT, ...given };
  atLeast('timeout.min', 0, limits.min);
  atLeast('timeout.max', limits.min, limits.max);
  // Limits that leave the usual default out are meant for it too.
  const usual = Math.min(Math.max(limits.default, limits.min), limits.max);
  return { ...limits, default: usual };
}

function atLeast(name: string, min: number, value: number): number {
  if (Number.isFinite(value) && value >= min) return value;
  throw new InputError(`${name}: expected a number from ${min}, got ${showValue(value)}`);
}

function wholeFrom(name: string, min: number, value: number): number {
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new InputError(`${name}: expected a whole number from ${min}, got ${showValue(value)}`);
}
