import { Command, Option } from 'commander';
import { InputError } from '../index.js';
import type { FarService } from '../remote/index.js';
import { signalExitCode } from '../support/signals.js';
import { collectVariable, parseSeconds } from './arguments.js';
import { type BrokerFlags, brokerOf, brokerOptions } from './broker-options.js';
import { USAGE_ERROR } from './exit-code.js';
import { note } from './notes.js';
import { loadProfiles } from './profiles.js';
import { exitSoon } from './standard-output.js';
import { Termination } from './termination.js';

interface ServeFlags extends BrokerFlags {
  readonly stdio?: boolean;
  /** Addresses of a broker. */
  readonly nats?: string | undefined;
  readonly profiles?: string | undefined;
  readonly name?: string | undefined;
  readonly label?: Readonly<Record<string, string>> | undefined;
  readonly capacity?: number | undefined;
  /** Milliseconds. */
  readonly drain: number;
}

/** It could not serve; the arguments were right. */
const FAILED = 1;
const DRAIN_MS = 30_000;
const HAS_TERMINAL =
  'expected a client at standard input and output, not a terminal, which changes bytes: leave out -t (`docker exec -i`, `ssh -T`)';

/** `forkline serve`: the far side, for clients on other machines. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Run commands for clients on other machines, or outside of a container')
    .addOption(
      new Option('--stdio', 'serve the one client at standard input and output').conflicts('nats'),
    )
    .option('--nats <url>', 'serve the clients of a pool over a NATS broker')
    .option('--profiles <file>', 'a module that exports `profiles`: options of tools, by name')
    .option('--name <name>', "what this worker is called, with --nats; default: the machine's")
    .option('--label <name=value>', 'what clients may ask for; may be repeated', collectVariable)
    .option('--capacity <calls>', 'calls that it has under way at most, of all clients', Number)
    .option('--drain <seconds>', 'how long SIGTERM lets what runs go on', parseSeconds, DRAIN_MS);
  for (const option of brokerOptions()) command.addOption(option);
  return command.action(async (flags: ServeFlags) => {
    if (!flags.stdio && flags.nats === undefined) {
      command.error("error: expected '--stdio' or '--nats <url>'");
    }
    process.exitCode = await serve(flags);
    exitSoon();
  });
}

async function serve(flags: ServeFlags): Promise<number> {
  // Who stops reading what we say here may still want answers there.
  process.stderr.on('error', () => {});
  let isUnheard = false;
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // A client that has gone is what is waited for.
    if (isUnheard || code === 'EPIPE') return;
    isUnheard = true;
    note(`standard output can't be written to: ${message}`);
  });
  const termination = new Termination();
  try {
    const profiles = await loadProfiles(flags.profiles);
    const { service, end } = await start(flags, profiles);
    const close = (): void => void end();
    if (termination.signal.aborted) close();
    else termination.signal.addEventListener('abort', close);
    await service.closed;
    if (termination.endedBy !== undefined) return signalExitCode(termination.endedBy);
    return isUnheard ? FAILED : 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    note(error.message);
    return error instanceof InputError ? USAGE_ERROR : FAILED;
  } finally {
    termination.release();
  }
}

interface Started {
  readonly service: FarService;
  /** What a signal to end does. */
  readonly end: () => Promise<void>;
}

async function start(
  flags: ServeFlags,
  profiles: Awaited<ReturnType<typeof loadProfiles>>,
): Promise<Started> {
  const { nats, name, label: labels, capacity, pool, drain } = flags;
  if (nats === undefined) {
    const { serveStream } = await import('../remote/index.js');
    if (process.stdin.isTTY || process.stdout.isTTY) throw new InputError(HAS_TERMINAL);
    const service = serveStream({ profiles });
    return { service, end: () => service.close() };
  }
  const { serveNats } = await import('../fleet/index.js');
  const broker = brokerOf(nats, flags);
  const service = await serveNats({ ...broker, profiles, name, labels, capacity, pool });
  note(`worker ${service.id} serves at ${nats}`);
  return { service, end: () => service.drain(drain) };
}
