import { encodeDetached } from './addon/codec.js';
import { channel } from './channel.js';
import { engineName } from './choice.js';
import type { OnExec } from './exec/exec-request.js';
import { LaunchError } from './launch-error.js';
import type { DetachedCommand } from './message.js';
import { ERRNO } from './system-error.js';

/**
 * Starts a command that goes on when the host ends, in whatever way; its keeper waits for it and writes
 * its outcome below its output.
 *
 * @param onExec Answers questions about its programs for as long as this host lives.
 * @returns Its process id, also that of its process group and its session.
 * @throws {LaunchError} The command could not be started; or (`ENOTSUP`) the engine is the portable one.
 */
export async function startDetached(
  command: DetachedCommand,
  onExec: OnExec | undefined,
): Promise<number> {
  if (engineName() === 'portable') throw unsupported();
  const { native } = channel();
  const reply = await channel().detached(onExec, (request) => {
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
