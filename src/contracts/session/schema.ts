import { formatCount } from '../../support/text.js';
import { describeSandbox } from '../sandbox/description.js';
import { NOTIFY_PROPERTY, type NotifyInput } from '../tasks/notify.js';
import type { ObjectSchema } from '../validate.js';
import type { SessionSettings } from './options.js';

/** Input of the `session` contract, once it is valid. */
export interface SessionInput {
  /** Shell text; absent only beside `restart`. */
  readonly command?: string;
  /** Timeout in milliseconds. Absent: the option's default. */
  readonly timeout?: number;
  /** Start the command as a task, and answer at once. */
  readonly run_in_background?: boolean;
  /** Keep stdin open for `write_task`; only with `run_in_background`. */
  readonly stdin?: boolean;
  /** Run it on a terminal that `write_task` types into; only with `run_in_background`. */
  readonly pty?: boolean;
  /** What the host tells of it, each once; only with `run_in_background`, and the option `notify`. */
  readonly notify?: NotifyInput;
  /** End the persistent shell, and begin a new one; only with the option `persistent`. */
  readonly restart?: boolean;
}

/** The schema of a tool's input. Its descriptions say the limits and defaults. */
export function sessionSchema(settings: SessionSettings): ObjectSchema {
  const { timeoutMs, maxTimeoutMs, notify, persistent } = settings;
  return {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'Shell command to run' },
      timeout: {
        type: 'integer',
        minimum: 1,
        description: `Timeout in milliseconds, at most ${maxTimeoutMs}; ${timeoutMs} when left out`,
      },
      run_in_background: {
        type: 'boolean',
        description: 'Start it and answer at once',
      },
      stdin: {
        type: 'boolean',
        description: 'In the background: its stdin stays open for `write_task`',
      },
      pty: { type: 'boolean', description: 'Likewise, with a terminal' },
      ...(notify && { notify: NOTIFY_PROPERTY }),
      ...(persistent && { restart: RESTART }),
    },
    required: persistent ? [] : ['command'],
    additionalProperties: false,
  };
}

const RESTART = {
  type: 'boolean',
  description: 'End the shell with all it started, and begin a new one; `command` may be left out',
};

/** Properties for the end of a command and its output. */
export const END_PROPERTIES = {
  stdout: { type: 'string', description: 'What it printed, cut after the first characters' },
  stderr: { type: 'string', description: 'What it printed to stderr, likewise' },
  exit_code: {
    type: ['integer', 'null'],
    description: 'null while it runs, and when a signal ended it',
  },
  timed_out: { type: 'boolean', description: 'Its time was up, so it was ended' },
  signal: { type: 'string', description: 'The signal that ended it' },
  notices: {
    type: 'array',
    items: { type: 'string' },
    description: 'What else there is to know, such as processes that still run',
  },
  stdout_characters: { type: 'integer', description: 'Length of all of stdout' },
  stderr_characters: { type: 'integer', description: 'Length of all of stderr' },
};

const REQUIRED = [
  'stdout',
  'stderr',
  'exit_code',
  'timed_out',
  'stdout_characters',
  'stderr_characters',
];

/** The schema of the structured result of `bash`. */
export const SESSION_OUTPUT_SCHEMA: ObjectSchema = {
  type: 'object',
  properties: {
    ...END_PROPERTIES,
    cwd: { type: 'string', description: 'Where the next command will start' },
    task_id: { type: 'string', description: 'Of a command in the background' },
    status: { type: 'string', enum: ['running', 'completed'] },
  },
  required: [...REQUIRED, 'cwd', 'status'],
  additionalProperties: false,
};

/** The description of `bash` for the model. */
export function sessionDescription(settings: SessionSettings): string {
  const { cwd, timeoutMs, maxTimeoutMs, maxCharacters, maxRunningTasks, persistent } = settings;
  const sandbox = describeSandbox(settings.sandbox);
  return [
    'Runs a shell command and returns its stdout, its stderr and its exit code.',
    '',
    persistent ? lastingShell(cwd) : lastingDirectory(cwd),
    '- Without `pty` there is no terminal and no input: ' +
      'programs that ask, page or open an editor fail. Pass what they would ask for as arguments (`-y`, `-m`).',
    ...(sandbox === undefined ? [] : [`- ${sandbox}`]),
    `- A command may take ${timeoutMs} milliseconds, or \`timeout\` (at most ${maxTimeoutMs}). Then ` +
      `it is ended, ${persistent ? 'and the shell with it, ' : ''}with everything it started, and the output so far is returned.`,
    `- Of each stream the first ${formatCount(maxCharacters)} characters are returned. Redirect ` +
      'longer output to a file and read the part that matters.',
    '- An exit code other than 0 is part of the answer, not an error of the tool.',
    '- With `run_in_background: true` the answer is a `task_id`, at once, and the command goes on: ' +
      `without a time limit unless \`timeout\` is given, at most ${maxRunningTasks} at a time. Follow ` +
      'it with `task_output`, `write_task` and `kill_task`. ' +
      (persistent
        ? 'It has a bash of its own, with the directory and nothing else of the shell.'
        : 'It does not change the working directory.'),
    '- A process started with `&` goes on after the command; the result names it and says how to ' +
      'stop it.',
  ].join('\n');
}

function lastingDirectory(cwd: string): string {
  return (
    `- The working directory lasts from one command to the next; it begins as ${cwd}. Nothing else ` +
    'does: each command has a fresh bash, without the variables and functions of the one before.'
  );
}

function lastingShell(cwd: string): string {
  return (
    `- Commands run one after the other in one bash, which begins in ${cwd}: directory, variables, ` +
    'functions, options and jobs last from one to the next. `exit` or `exec` ends it; then, and ' +
    'after `restart: true`, the next command has a new one in the same directory.'
  );
}
