import { homedir } from 'node:os';
import { resolve } from 'node:path';
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
  /** Blocks commands that another of the runtime's tools does better. Default: off. */
  readonly interceptor?: InterceptorOptions;
  /** Resolvers of internal URLs. Default: none, so that one such as `local://x` is an error. */
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
  readonly intercept: Interceptor | undefined;
  readonly urls: UrlRegistry;
}

const DEFAULT_TIMEOUT: TimeoutLimits = { default: 300, min: 1, max: 3600 };
const DEFAULT_GRACE_MS = 5000;
const DEFAULT_TAIL_BYTES = 50 * 1024;

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
    intercept: createInterceptor(options.interceptor, warnTo(options.logger)),
    urls: options.urls ?? createUrlRegistry(),
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
