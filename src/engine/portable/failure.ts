import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { messageOf } from '../../support/errors.js';
import type { EngineFailure } from '../message.js';
import { ERRNO } from '../system-error.js';
import type { ShellInvocation } from './launch/shells.js';

/** The longest argument or variable that Linux takes, without its NUL; elsewhere only the sum counts. */
const LONGEST_STRING = 128 * 1024 - 1;

/** The input of a command without input; Node reports its errors like those of a program. */
const NULL_DEVICE = '/dev/null';
/** The device that creates terminals. */
const TERMINALS = '/dev/ptmx';

/** Returns the positive errno of an error that Node has thrown; 0 for an unknown failure. */
export function errnoOf(thrown: unknown): number {
  const { errno = 0 } = thrown as NodeJS.ErrnoException;
  return Math.abs(errno);
}

/** Returns the system's text for an errno. */
export function errnoText(errno: number): string {
  const [, text = 'unknown error'] = getSystemErrorMap().get(-errno) ?? [];
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Explains to the caller why a command could not be started. */
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
    // Node creates the pipe, and only then learns that no process may have so high a file descriptor.
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

/** Explains why no terminal could be created, which node-pty does not tell. */
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

/** Returns the errno for opening a device; 0 when it can be opened. */
function openErrno(device: string): number {
  try {
    closeSync(openSync(device, constants.O_RDWR | constants.O_NOCTTY));
    return 0;
  } catch (error) {
    return errnoOf(error);
  }
}

/** Checks the directory, since Node reports its errors like those of a program. */
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
