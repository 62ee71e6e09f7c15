import { formatSize } from '../../../support/text.js';
import { describeSandbox } from '../../sandbox/description.js';
import { NOTIFY_PROPERTY, type NotifyInput } from '../../tasks/notify.js';
import type { ObjectSchema } from '../../validate.js';
import type { WorkspaceSettings } from '../options.js';

/** Input of the `workspace` contract, once it is valid. */
export interface WorkspaceInput {
  /** Shell text, run by a fresh `bash -c`. */
  readonly command: string;
  /** Variables for this command, which override all others. */
  readonly env?: Readonly<Record<string, string>>;
  /** Timeout in seconds, clamped to the tool's limits. Absent: their default. */
  readonly timeout?: number;
  /** Directory to run in: absolute, relative to the tool's, or an internal URL. */
  readonly cwd?: string;
  /**
   * Run the command on a terminal that the user sees and types into, if there is one; with `async`, on one of
   * the model's own.
   */
  readonly pty?: boolean;
  /** Run the command as a job, and answer at once. Only with the option `async`. */
  readonly async?: boolean;
  /** Keep stdin open for `write` of the `job` tool; only with `async`. */
  readonly stdin?: boolean;
  /** What the host tells of it, each once; only with `async`, and the option `notify`. */
  readonly notify?: NotifyInput;
}

/** The schema of a tool's input. The descriptions of its fields say the limits and defaults. */
export function workspaceSchema({ timeout, async, notify }: WorkspaceSettings): ObjectSchema {
  return {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'Shell command to run' },
      env: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Environment variables for this command; values need no quoting',
      },
      timeout: {
        type: 'number',
        description:
          `Timeout in seconds, ${timeout.min} to ${timeout.max}; ` +
          `${timeout.default} when left out`,
      },
      cwd: {
        type: 'string',
        description: 'Directory to run in, absolute or relative to the workspace',
      },
      pty: {
        type: 'boolean',
        description: `Run it on a terminal that the user sees and types into, if there is one${
          async ? '; with async, on one that `write` of `job` types into' : ''
        }`,
      },
      ...(async && {
        async: {
          type: 'boolean',
          description: 'Run it in the background and return at once with a job id',
        },
        stdin: {
          type: 'boolean',
          description: 'With async: its stdin stays open for `write` of the `job` tool',
        },
        ...(notify && { notify: NOTIFY_PROPERTY }),
      }),
    },
    required: ['command'],
    additionalProperties: false,
  };
}

/** The description of the tool for the model. */
export function workspaceDescription(settings: WorkspaceSettings): string {
  const { cwd, timeout, output } = settings;
  const sandbox = describeSandbox(settings.sandbox);
  return [
    'Runs a shell command in the workspace and returns its output, stdout and stderr together in ' +
      'the order in which they were written.',
    '',
    `- Every command starts in a fresh bash in ${cwd}. Directory changes, variables and functions ` +
      'do not last; use `cwd` to run elsewhere and `env` for values that are awkward to quote.',
    `- ${describeTerminal(settings)}`,
    ...(sandbox === undefined ? [] : [`- ${sandbox}`]),
    `- A command may take ${timeout.default} seconds, or \`timeout\` (at most ${timeout.max}). ` +
      'Then it is ended, with everything it started.',
    `- ${describeOutputLimits(output)} ${describeWhole(settings)}`,
    ...describeLeft(settings),
    ...describeBackground(settings),
    ...describeUrls(settings),
    '- Commands run one at a time. A failing one is reported with its exit code.',
  ].join('\n');
}

/** The line about background processes; none for a client's terminal, which decides itself. */
function describeLeft({ clientTerminals }: WorkspaceSettings): string[] {
  if (clientTerminals !== undefined) return [];
  return [
    '- A process started with `&` goes on after the command; the result names it and says how to ' +
      'stop it.',
  ];
}

function describeTerminal({ ui }: WorkspaceSettings): string {
  const without =
    'There is no terminal and no input: programs that ask, page or open an editor fail. Pass ' +
    'what they would ask for as arguments (`-y`, `-m`).';
  if (ui === undefined) return without;
  return (
    `${without} Only with \`pty: true\` does a command run on a terminal, which the user sees and ` +
    'types into: for passwords, editors, questions that only they can answer.'
  );
}

function describeBackground({ async, autoBackgroundMs, tasks }: WorkspaceSettings): string[] {
  if (tasks === undefined) return [];
  const lines = [];
  if (async) lines.push('- With `async: true` it runs in the background, as a job.');
  if (autoBackgroundMs !== undefined) {
    lines.push(`- One that takes longer than ${autoBackgroundMs / 1000} seconds becomes a job.`);
  }
  if (lines.length > 0) lines.push('- Follow jobs (`bg_1`, …) with the `job` tool.');
  return lines;
}

/** The line about internal URLs; none for `artifact` alone, which the line about long output explains. */
function describeUrls({ urls }: WorkspaceSettings): string[] {
  const schemes = urls.schemes();
  if (schemes.every((scheme) => scheme === 'artifact')) return [];
  const shown = schemes.map((scheme) => `\`${scheme}://\``).join(', ');
  return [`- In \`command\`, \`env\` and \`cwd\`, URLs of these kinds become paths: ${shown}.`];
}

function describeWhole({ artifacts, clientTerminals }: WorkspaceSettings): string {
  if (artifacts === undefined || clientTerminals !== undefined) {
    return 'Redirect longer output to a file and read the part that matters.';
  }
  return 'All of it is kept: `sed -n 200,260p artifact://N`; the result says which N.';
}

function describeOutputLimits(limits: WorkspaceSettings['output']): string {
  const tail = formatSize(limits.tailBytes);
  if (limits.headBytes === 0) return `Of long output the last ${tail} are shown.`;
  return `Of long output the first ${formatSize(limits.headBytes)} and the last ${tail} are shown.`;
}
