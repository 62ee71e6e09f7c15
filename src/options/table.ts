import { needsNativeEngine } from '../engine/choice.js';
import type { EngineCommand } from '../engine/message.js';
import { Owner } from '../engine/owner.js';
import { checkOnDenied } from '../sandbox/denials/again.js';
import { readSandbox } from '../sandbox/read-policy.js';
import { checkUndo } from '../sandbox/undo/check-undo.js';
import { isAbortSignal } from '../support/abort.js';
import { checkFunction, checkSwitch } from '../support/checks.js';
import type { CommandOptions } from './command-options.js';
import { encodingOf } from './encoding.js';
import { checkEnvironment, checkInherit, checkVariables } from './environment.js';
import { readLimits } from './limits.js';
import { terminalSize } from './terminal.js';
import {
  checkData,
  checkDirectory,
  checkOneOf,
  checkShell,
  checkSize,
  checkSpill,
  checkStartsAtOnce,
  checkTime,
  checkUmask,
  fail,
} from './values.js';

/** The name of an option of a command. */
export type OptionName = keyof CommandOptions;

/** The facts about an option that hold for every way to start a command. */
export interface OptionRow {
  /** Throws an InputError if a given value is wrong. */
  readonly check: (value: unknown) => void;
  /** The value if none is given, in the words of the docs. */
  readonly default: string;
  /** The unit of a number. */
  readonly unit?: 'ms' | 'bytes';
  /** The fields of `EngineCommand` that are made from the option; empty: the host itself applies it. */
  readonly becomes: readonly (keyof EngineCommand)[];
  /** The description in the tables of the docs, one line of Markdown. */
  readonly says: string;
}

/** The options of a command, in the order in which docs and errors name them. */
export const OPTIONS = {
  cwd: {
    check: checkDirectory,
    default: "the host's at the call",
    becomes: ['directory', 'environment'],
    says: 'a path, or a `file:` URL',
  },
  timeoutMs: {
    check: (value) => checkTime('timeoutMs', value),
    default: 'none',
    unit: 'ms',
    becomes: ['timeoutMs'],
    says: 'the time limit, counted from the start',
  },
  graceMs: {
    check: (value) => checkTime('graceMs', value, 0),
    default: '5000',
    unit: 'ms',
    becomes: ['graceMs'],
    says: 'the time from SIGTERM to SIGKILL; meanwhile the last program of a pipeline (`make \\| tail`) sees end of file, and prints what it has',
  },
  signal: {
    check(value) {
      if (!isAbortSignal(value)) fail('signal', 'an AbortSignal', value);
    },
    default: '',
    becomes: [],
    says: 'an `AbortSignal` that cancels the command; the promise settles once the command is gone',
  },
  streams: {
    check: (value) => checkOneOf('streams', ['merged', 'separate'], value),
    default: "`'merged'`",
    becomes: ['separate'],
    says: "one stream in true order; `'separate'`: `stdout` and `stderr`",
  },
  headBytes: {
    check: (value) => checkSize('headBytes', value),
    default: '131072',
    unit: 'bytes',
    becomes: ['headBytes'],
    says: 'kept of the beginning of each stream',
  },
  tailBytes: {
    check: (value) => checkSize('tailBytes', value),
    default: '131072',
    unit: 'bytes',
    becomes: ['tailBytes'],
    says: 'kept of the end of each stream',
  },
  spill: {
    check: checkSpill,
    default: '',
    becomes: ['spillPath', 'spillMaxBytes', 'spillAfterBytes'],
    says: 'a file (or `{ path, maxBytes, afterBytes }`) for every byte; with `afterBytes`, made only once a stream is longer than that or than what is kept; must be [no link](security.md#files)',
  },
  encoding: {
    check: (value) => void encodingOf(value),
    default: "`'utf-8'`",
    becomes: ['encoding'],
    says: "the encoding of the command's output, by a label of `TextDecoder`: see [below](#output-as-text)",
  },
  input: {
    check: (value) => checkData('input', value),
    default: 'none',
    becomes: ['stdin'],
    says: 'string or bytes for stdin; without it, stdin is `/dev/null`',
  },
  pty: {
    check: (value) => void terminalSize(value),
    default: '`false`',
    becomes: ['terminal'],
    says: 'run the command [on a terminal](#on-a-terminal): `true`, or `{ columns, rows }`',
  },
  onOutput: {
    check(value) {
      if (typeof value !== 'function') fail('onOutput', 'a function', value);
    },
    default: '',
    becomes: ['listen'],
    says: 'called with new text, at most every 50 ms or 64 KiB, in the async context of the call; when output comes faster than the listener takes it, `droppedBytes` says how much is left out before the text',
  },
  owner: {
    check(value) {
      if (!(value instanceof Owner)) fail('owner', 'an owner made by createOwner()', value);
    },
    default: 'the host',
    becomes: [],
    says: 'ends what the command leaves running',
  },
  shell: {
    check: checkShell,
    default: "`/bin/bash`, bash on the command's PATH, `/bin/sh`",
    becomes: ['shells'],
    says: 'absolute paths, tried in order',
  },
  followDirectory: {
    check: (value) => checkSwitch('followDirectory', value),
    default: '`false`',
    becomes: ['follow'],
    says: 'return in `directory` where the shell was at its end, however it ended; see [session.md](session.md#the-directory) for its limits',
  },
  priority: {
    check: (value) => checkOneOf('priority', ['low', 'normal'], value),
    default: "`'normal'`",
    becomes: ['lowPriority'],
    says: "`'low'`: the host comes first [where both want the processors](#on-a-busy-host)",
  },
  startsAtOnce: {
    check(value) {
      checkStartsAtOnce(value);
      needsNativeEngine('startsAtOnce', value, 'nothing');
    },
    default: 'three for each processor, more while one is idle',
    becomes: ['startsAtOnce'],
    says: 'the most commands younger than 30 ms beside which this one is started; [until then it waits its turn](#many-starts-at-once)',
  },
  umask: {
    check: checkUmask,
    default: "the host's",
    becomes: ['umask'],
    says: 'permissions that files of the command do not get, such as `0o077`; a number from 0 to `0o777`',
  },
  sandbox: {
    check: (value) => void readSandbox(value),
    default: "`'danger-full-access'`",
    becomes: ['sandbox', 'directory', 'environment'],
    says: "`'read-only'`, `'workspace-write'` or a policy: what the command may write to, read and reach, [enforced by the kernel](sandbox.md)",
  },
  undo: {
    check(value) {
      checkUndo('undo', value);
      if (value !== false) needsNativeEngine('undo', value, 'false or nothing');
    },
    default: 'what `sandbox` says, or `false`',
    becomes: ['sandbox', 'directory', 'environment'],
    says: 'whether [what the command changes can be taken back](undo.md): `true`, or `{ maxBytes, whenFull }`',
  },
  onDenied: {
    check: checkOnDenied,
    default: '',
    becomes: [],
    says: 'called when the sandbox has denied something: it may have the command [run again with more rights](sandbox.md#asking-and-running-again)',
  },
  onExec: {
    check: (value) => checkFunction('onExec', value),
    default: '',
    becomes: [],
    says: "answers `'allow'` or `'deny'` when a program is about to be executed for which a rule of [`sandbox.exec`](sandbox.md#the-policy) says `ask`, in the async context of the call; without it, and without an answer in time, the program is denied",
  },
  limits: {
    check: (value) => void readLimits(value as CommandOptions['limits']),
    default: "the host's",
    becomes: ['groups', 'isSacrificed', 'cpuSeconds'],
    says: '`{ memoryBytes, processes, cpuSeconds }`: [how much the command may take](sandbox.md#limits), with all that it starts',
  },
  env: {
    check(value) {
      checkEnvironment(value);
      checkVariables(value as CommandOptions['env']);
    },
    default: '',
    becomes: ['environment'],
    says: 'variables set on top of the inherited ones; `undefined` removes one',
  },
  inheritEnv: {
    check: checkInherit,
    default: "`'scrubbed'`",
    becomes: ['environment'],
    says: "the host's variables without secrets; `'all'`, `'none'`",
  },
} as const satisfies Readonly<Record<OptionName, OptionRow>>;

/** The fields of `EngineCommand` that come from no option, each with its source. */
export const FIELDS_OF_NO_OPTION = {
  text: 'the command',
  argv: 'the command',
  pause: '`overflow` of spawn()',
} as const satisfies Record<
  Exclude<keyof EngineCommand, (typeof OPTIONS)[OptionName]['becomes'][number]>,
  string
>;
