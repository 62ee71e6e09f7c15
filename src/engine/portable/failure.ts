import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { messageOf } from '../../support/errors.js';
import type { EngineFailure } from '../message.js';
import { ERRNO } from '../system-error.js';
import type { ShellInvocation } from './launch/shells.js';

/** The longest argument or variable that Linux takes, without its NUL; elsewhere only the sum counts. */
const LONGEST_STRING = 128 * 1024 - 1;

/** What a command has as its input that is to have none; Node tells of it what it tells of a program. */
const NULL_DEVICE = '/dev/null';
/** Where terminals come from. */
const TERMINALS = '/dev/ptmx';

/** The positive errno of what Node has thrown; that of an unknown failure: 0. */
export function errnoOf(thrown: unknown): number {
  const { errno = 0 } = thrown as NodeJS.ErrnoException;
  return Math.abs(errno);
}

/** The system's words for an errno. */
export function errnoText(errno: number): string {
  const [, text = 'unknown error'] = getSystemErrorMap().get(-errno) ?? [];
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Why a command could not be started, in words for the caller. */
export function launchFailure(
  errno: number,
  calls: readonly ShellInvocation[],
  directory: string,
  environment: string,
): EngineFailure {
  const reason = errnoText(errno);
  const inDirectory = directoryErrno(directory);
  if (inDirectory !== undefined) {
    const message = `cannot enter directory '${directory}': ${errnoText(inDirectory)}`;
    return { step: 'directory', errno: inDirectory, subject: directory, message };
  }
  if (errno === ERRNO.EMFILE || errno === ERRNO.ENFILE) {
    const subject = 'an output pipe';
    return { step: 'descriptors', errno, subject, message: `cannot make ${subject}: ${reason}` };
  }
  const tells = calls.find(({ directoryDescriptor }) => directoryDescriptor !== undefined);
  if (errno === ERRNO.EINVAL && tells !== undefined) {
    // Node makes what it is for, and only then learns that no process may have so high a one.
    const subject = `descriptor ${tells.directoryDescriptor}, by which its directory is told`;
    const message = `cannot make ${subject}: ${errnoText(ERRNO.EMFILE)}`;
    return { step: 'descriptors', errno: ERRNO.EMFILE, subject, message };
  }
  if (errno !== 0 && errno === openErrno(NULL_DEVICE)) {
    const message = `cannot open ${NULL_DEVICE}: ${reason}`;
    return { step: 'stdio', errno, subject: NULL_DEVICE, message };
  }
  if (errno === ERRNO.EAGAIN || errno === ERRNO.ENOMEM) {
    return { step: 'clone', errno, subject: '', message: `cannot create a process: ${reason}` };
  }
  const paths = calls.map(({ path }) => `'${path}'`).join(' or ');
  const subject = errno === ERRNO.E2BIG ? whatIsTooLong(calls, environment) : paths;
  return { step: 'exec', errno, subject, message: `cannot execute ${subject}: ${reason}` };
}

/** Why there are no terminals, which node-pty does not tell. */
export function terminalFailure(thrown: unknown): EngineFailure {
  const errno = errnoOf(thrown) || openErrno(TERMINALS) || ERRNO.EIO;
  const told =
    errno === openErrno(TERMINALS) ? `${TERMINALS}: ${errnoText(errno)}` : messageOf(thrown);
  return {
    step: 'terminal',
    errno,
    subject: TERMINALS,
    message: `cannot make a terminal: ${told}`,
  };
}

/** Why a device can't be opened; 0: it can. */
function openErrno(device: string): number {
  try {
    closeSync(openSync(device, constants.O_RDWR | constants.O_NOCTTY));
    return 0;
  } catch (error) {
    return errnoOf(error);
  }
}

/** Node tells of a directory what it tells of a program. */
function directoryErrno(directory: string): number | undefined {
  try {
    if (!statSync(directory).isDirectory()) return ERRNO.ENOTDIR;
    accessSync(directory, constants.X_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error);
  }
}

function whatIsTooLong(calls: readonly ShellInvocation[], environment: string): string {
  const entry = environment.split('\0').find(({ length }) => length > LONGEST_STRING);
  if (process.platform === 'linux' && entry !== undefined) {
    const name = entry.slice(0, entry.indexOf('='));
    return `with environment variable ${name} (${entry.length} bytes; at most ${LONGEST_STRING})`;
  }
  const lengths = calls.flatMap(({ args }) => args.map((argument) => Buffer.byteLength(argument)));
  const longest = Math.max(0, ...lengths);
  if (longest > environment.length) return `with a command of ${longest} bytes`;
  return `with an environment of ${environment.length} bytes`;
}
