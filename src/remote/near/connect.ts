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
import { Connection } from './connection.js';
import { skipGreeting } from './greeting.js';
import { FarProgram } from './program.js';

/** How a far side is reached. Times in milliseconds. */
export interface ConnectOptions {
  /**
   * What is started to reach it, an argument each: it has the far side's standard input and output.
   * `['docker', 'exec', '-i', id, 'forkline', 'serve', '--stdio']`.
   */
  readonly command: readonly string[];
  /** Where that is started; a `file:` URL, too. Default: here. */
  readonly cwd?: string | URL | undefined;
  /** Its variables. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** How long the far side may take to answer. Default: 30,000. */
  readonly readyMs?: number | undefined;
}

const NAMES: OptionNames<ConnectOptions> = { command: true, cwd: true, env: true, readyMs: true };
const READY_MS = 30_000;
/** So many characters of the command are told. */
const SHOWN_WORDS = 200;

/**
 * Reaches a far side by a byte stream, and starts it by that: `forkline serve --stdio` at the other
 * end of whatever gets a standard input there.
 *
 * ```ts
 * await using far = await connect({ command: ['ssh', host, 'forkline', 'serve', '--stdio'] });
 * const result = await far.run('make -j8', { cwd: '/srv/project', timeoutMs: 60_000 });
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {NoWorkerError} Nobody answers there; nothing was started.
 */
export async function connect(given: ConnectOptions): Promise<Connection> {
  const options = readOptions('options', given, NAMES);
  const [program, ...args] = checkCommandLine(options.command);
  const readyMs = atLeast('readyMs', 1, options.readyMs ?? READY_MS);
  const far = start(program, args, options, surroundingsOf(options));
  try {
    const input = await skipGreeting(far.output, far.ended, readyMs);
    const link = new StreamLink(input, far.input, {
      hold: (holds) => far.hold(holds),
      ended: far.ended,
    });
    return await Connection.greet(link, { readyMs, ended: () => far.leave() });
  } catch (error) {
    throw nobodyAt(options, await far.whyNot(error));
  }
}

/** @throws {InputError} They are no directory or no variables. */
function surroundingsOf({ cwd, env }: ConnectOptions) {
  if (!isUrl(cwd)) checkString('cwd', cwd);
  if (!isMissing(env)) {
    checkVariables(env);
    // Whatever is wrong with one is told by that; what it makes is for commands of ours.
    resolveEnvironment({ inherit: 'none', overrides: env });
  }
  return { cwd: isMissing(cwd) ? undefined : absolutePath('cwd', cwd), env: env ?? undefined };
}

/** @throws {NoWorkerError} The system does not start it. */
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
  return new NoWorkerError(`Nobody answers at \`${shown}\`: ${why}`);
}

function checkCommandLine(command: unknown): [program: string, ...args: string[]] {
  const isList = Array.isArray(command) && command.every((word) => typeof word === 'string');
  const [program, ...args] = isList ? (command as readonly string[]) : [];
  if (isList && command.some((word) => word.includes('\0'))) {
    throw new InputError('command: expected words without NUL, which no program can be given');
  }
  if (program) return [program, ...args];
  throw new InputError(`command: expected a program and its arguments, got ${showValue(command)}`);
}
