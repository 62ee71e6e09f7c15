import { encodeDetached } from './addon/codec.js';
import { channel } from './channel.js';
import { engineName } from './choice.js';
import { LaunchError } from './launch-error.js';
import type { EngineSandbox } from './message.js';
import { ERRNO } from './system-error.js';

/** A command that outlives the host, with all options decided. */
interface DetachedCommand {
  readonly text: string;
  /** Paths joined by NUL, tried in order; empty: the usual ones. */
  readonly shells: string;
  /** Entries joined by NUL, one character a byte. */
  readonly environment: string;
  /** Absolute path. */
  readonly directory: string;
  /**
   * The file for its output, absolute; must not exist. Created with mode 0600. Its keeper's record and
   * socket are beside it, with `.state` and `.socket` after its name.
   */
  readonly outputPath: string;
  /** The most bytes of output that are kept; the rest is cut off. */
  readonly outputQuota: number;
  /** Time limit from its start, in milliseconds, or Infinity; then the command is ended. */
  readonly timeoutMs: number;
  /** Time from SIGTERM to SIGKILL, in milliseconds. */
  readonly graceMs: number;
  /** Whether it has a stdin that can be written to, by that socket; otherwise its stdin is empty. */
  readonly hasInput: boolean;
  /** Whether its outcome is written below its output. */
  readonly completionLine: boolean;
  /** Whether the host gets most of the processors where both want them. */
  readonly lowPriority: boolean;
  /** The permissions that its files do not get; undefined: those of the host. */
  readonly umask: number | undefined;
  /** The sandbox that it runs in. */
  readonly sandbox: EngineSandbox | undefined;
}

/**
 * Starts a command that goes on when the host ends, in whatever way; its keeper waits for it and writes
 * its outcome below its output.
 *
 * @returns Its process id, also that of its process group and its session.
 * @throws {LaunchError} The command could not be started; or (`ENOTSUP`) the engine is the portable one.
 */
export async function startDetached(command: DetachedCommand): Promise<number> {
  if (engineName() === 'portable') throw unsupported();
  const { native } = channel();
  const reply = await channel().request((request) => {
    native.startDetached(
      request,
      encodeDetached(command),
      command.text,
      command.shells,
      command.environment,
      command.directory,
      command.outputPath,
      command.sandbox?.plan,
    );
  });
  if (reply.kind === 'notDetached') throw new LaunchError(reply);
  if (reply.kind !== 'detached') throw new TypeError(`expected a process id, got ${reply.kind}`);
  return reply.pid;
}

function unsupported(): LaunchError {
  const message =
    'a command that outlives its host needs the native engine, which runs on Linux; ' +
    'this is the portable one (see docs/portable.md)';
  const subject = 'a detached command';
  return new LaunchError({ step: 'engine', errno: ERRNO.ENOTSUP, subject, message });
}
