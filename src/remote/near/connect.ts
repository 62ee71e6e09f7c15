import { resolveEnvironment } from '../../faces/command.js';
import { checkVariables } from '../../faces/options.js';
import {
  atLeast,
  checkString,
  isMissing,
  type OptionNames,
  readOptions,
} from '../../support/checks.js';
import { InputError, messageOf, showValue } from '../../support/errors.js';
import { absolutePath, isUrl } from '../../support/paths.js';
import { visibleText } from '../../support/text.js';
import { NoWorkerError } from '../errors.js';
import { StreamLink } from '../wire/link.js';
import { Connection, nearBytes } from './connection.js';
import { skipGreeting } from './greeting.js';
import { FarProgram } from './program.js';

/** Options for reaching a far side. Times in milliseconds. */
export interface ConnectOptions {
  /**
   * The program that is started to reach the far side, and its arguments: its standard input and output
   * are the far side's. `['docker', 'exec', '-i', id, 'forkline', 'serve', '--stdio']`.
   */
  readonly command: readonly string[];
  /**
   * The directory where the program is started; also a `file:` URL. Default: that of this process.
   */
  readonly cwd?: string | URL | undefined;
  /** The program's variables. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The time within which the far side has to answer. Default: 30,000. */
  readonly readyMs?: number | undefined;
  /** Bytes of the largest message that is taken: a result with its output. Default: 268,435,456 (256 MiB). */
  readonly maxBytes?: number | undefined;
  /**
   * How long a far side with calls under way may be silent, though it was asked for a sign of life, until
   * it is considered lost. At least 1,000. Default: 30,000.
   */
  readonly silenceMs?: number | undefined;
}

const NAMES: OptionNames<ConnectOptions> = {
  command: true,
  cwd: true,
  env: true,
  readyMs: true,
  maxBytes: true,
  silenceMs: true,
};
const READY_MS = 30_000;
const SILENCE_MS = 30_000;
/** Characters of the command that an error shows. */
const SHOWN_WORDS = 200;

/**
 * Starts a program that reaches a far side, and talks to `forkline serve --stdio` at its other end over
 * its standard input and output.
 *
 * ```ts
 * const far = await connect({ command: ['ssh', host, 'forkline', 'serve', '--stdio'] });
 * const result = await far.run('make -j8', { cwd: '/srv/project', timeoutMs: 60_000 });
 * await far.dispose();
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {NoWorkerError} No far side answers; nothing was started.
 */
export async function connect(given: ConnectOptions): Promise<Connection> {
  const options = readOptions('options', given, NAMES);
  const [program, ...args] = checkCommandLine(options.command);
  const readyMs = atLeast('readyMs', 1, options.readyMs ?? READY_MS);
  const maxBytes = nearBytes(options.maxBytes);
  const silenceMs = atLeast('silenceMs', 1000, options.silenceMs ?? SILENCE_MS);
  const far = start(program, args, options, surroundingsOf(options));
  try {
    const input = await skipGreeting(far.output, far.ended, readyMs);
    const link = new StreamLink(input, far.input, {
      hold: (holds) => far.hold(holds),
      ended: far.ended,
    });
    return await Connection.greet(link, {
      ...{ readyMs, maxBytes, silenceMs },
      ended: () => far.leave(),
    });
  } catch (error) {
    throw nobodyAt(options, await far.whyNot(error));
  }
}

/**
 * Returns the directory and variables of the program.
 *
 * @throws {InputError} `cwd` is no directory, or `env` is not valid.
 */
function surroundingsOf({ cwd, env }: ConnectOptions) {
  if (!isUrl(cwd)) checkString('cwd', cwd);
  if (!isMissing(env)) {
    checkVariables(env);
    // Called for its checks alone: the resulting environment is for commands.
    resolveEnvironment({ inherit: 'none', overrides: env });
  }
  return { cwd: isMissing(cwd) ? undefined : absolutePath('cwd', cwd), env: env ?? undefined };
}

/**
 * Starts the program.
 *
 * @throws {NoWorkerError} The system does not start it.
 */
function start(
  program: string,
  args: readonly string[],
  options: ConnectOptions,
  surroundings: ReturnType<typeof surroundingsOf>,
): FarProgram {
  try {
    return new FarProgram(program, args, surroundings);
  } catch (error) {
    throw nobodyAt(options, messageOf(error));
  }
}

function nobodyAt({ command }: ConnectOptions, why: string): NoWorkerError {
  const words = visibleText(command.join(' '));
  const shown = words.length > SHOWN_WORDS ? `${words.slice(0, SHOWN_WORDS)}…` : words;
  return new NoWorkerError(`No answer from \`${shown}\`: ${why}`);
}

function checkCommandLine(command: unknown): [program: string, ...args: string[]] {
  const isList = Array.isArray(command) && command.every((word) => typeof word === 'string');
  const [program, ...args] = isList ? (command as readonly string[]) : [];
  if (isList && command.some((word) => word.includes('\0'))) {
    throw new InputError('command: expected words without NUL, since no argument can carry one');
  }
  if (program) return [program, ...args];
  throw new InputError(`command: expected a program and its arguments, got ${showValue(command)}`);
}
