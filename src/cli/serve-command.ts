import { Command } from 'commander';
import { InputError } from '../index.js';
import { signalExitCode } from '../support/signals.js';
import { USAGE_ERROR } from './exit-code.js';
import { note } from './notes.js';
import { loadProfiles } from './profiles.js';
import { exitSoon } from './standard-output.js';
import { Termination } from './termination.js';

interface ServeFlags {
  readonly stdio?: boolean;
  readonly profiles?: string | undefined;
}

/** It could not serve; the arguments were right. */
const FAILED = 1;

/** `forkline serve`: the far side, for clients on other machines. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('Run commands for clients on other machines, or outside of a container')
    .option('--stdio', 'serve the one client at standard input and output')
    .option('--profiles <file>', 'a module that exports `profiles`: options of tools, by name')
    .action(async (flags: ServeFlags, command: Command) => {
      if (!flags.stdio) command.error("error: expected '--stdio'");
      process.exitCode = await serve(flags);
      exitSoon();
    });
}

async function serve(flags: ServeFlags): Promise<number> {
  // Who stops reading what we say here may still want answers there.
  process.stderr.on('error', () => {});
  const termination = new Termination();
  try {
    const profiles = await loadProfiles(flags.profiles);
    const { serveStream } = await import('../remote/index.js');
    if (process.stdin.isTTY) note('waiting for a client on standard input');
    const service = serveStream({ profiles });
    const close = (): void => void service.close();
    if (termination.signal.aborted) close();
    else termination.signal.addEventListener('abort', close);
    await service.closed;
    return termination.endedBy === undefined ? 0 : signalExitCode(termination.endedBy);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    note(error.message);
    return error instanceof InputError ? USAGE_ERROR : FAILED;
  } finally {
    termination.release();
  }
}
