import { Command, Option } from 'commander';
import { InputError } from '../index.js';
import { checkBeside, collectVariable, parseCount, parseSeconds } from './arguments.js';
import { BROKER_FLAGS, type BrokerFlags, brokerOf, brokerOptions } from './broker-options.js';
import { note } from './notes.js';
import { loadProfiles, type ProfilesModule } from './profiles.js';
import { type Served, serveToTheEnd } from './serving.js';
import { exitSoon } from './standard-output.js';

interface ServeFlags extends BrokerFlags {
  readonly stdio?: boolean;
  /** The addresses of a broker. */
  readonly nats?: string | undefined;
  readonly profiles?: string | undefined;
  readonly maxCalls?: number | undefined;
  readonly maxSessions?: number | undefined;
  readonly name?: string | undefined;
  readonly label?: Readonly<Record<string, string>> | undefined;
  readonly capacity?: number | undefined;
  /** The time in milliseconds. */
  readonly drain: number;
}

const DRAIN_MS = 30_000;
const HAS_TERMINAL =
  'expected a client at standard input and output, not a terminal, which changes bytes: leave out -t (`docker exec -i`, `ssh -T`)';

/** Flags that only a worker has. */
const OF_A_WORKER = ['name', 'label', 'capacity', 'drain', ...BROKER_FLAGS];

/** Makes `forkline serve`: the far side for clients on other machines. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Run commands for clients on other machines, or outside of a container')
    .addOption(
      new Option('--stdio', 'serve the one client at standard input and output').conflicts('nats'),
    )
    .option('--nats <url>', 'serve the clients of a pool over a NATS broker')
    .option(
      '--profiles <file>',
      'a module that exports `profiles`, options of tools by name, or `always`, options of all',
    )
    .option('--max-calls <count>', 'the most calls of a client at once', parseCount)
    .option('--max-sessions <count>', 'the most tools of a client at once', parseCount)
    .option('--name <name>', "the worker's name, with --nats; default: the machine's")
    .option('--label <name=value>', 'a label for clients; may be repeated', collectVariable)
    .option('--capacity <calls>', 'the most calls that it runs at once, of all clients', parseCount)
    .option('--drain <seconds>', 'the time for commands after SIGTERM', parseSeconds, DRAIN_MS);
  for (const option of brokerOptions()) command.addOption(option);
  return command.action(async (flags: ServeFlags) => {
    if (!flags.stdio && flags.nats === undefined) {
      command.error("error: expected '--stdio' or '--nats <url>'");
    }
    checkBeside(command, 'nats', OF_A_WORKER, 'for a worker of a pool');
    process.exitCode = await serve(flags);
    exitSoon();
  });
}

function serve(flags: ServeFlags): Promise<number> {
  const start = async (signal: AbortSignal): Promise<Served> =>
    started(flags, await loadProfiles(flags.profiles), signal);
  return serveToTheEnd(start, (why) => note(`standard output can't be written to: ${why}`));
}

async function started(
  flags: ServeFlags,
  module: ProfilesModule,
  signal: AbortSignal,
): Promise<Served> {
  const { nats, name, label: labels, capacity, pool, drain, maxCalls, maxSessions } = flags;
  const limits = { ...module, maxCalls, maxSessions };
  if (nats === undefined) {
    const { serveStream } = await import('../remote/index.js');
    if (process.stdin.isTTY || process.stdout.isTTY) throw new InputError(HAS_TERMINAL);
    const service = serveStream(limits);
    return { closed: service.closed, end: () => service.close() };
  }
  const { serveNats } = await import('../fleet/index.js');
  const broker = brokerOf(nats, flags);
  const of = { name, labels, capacity, pool, drainMs: drain };
  const service = await serveNats({ ...broker, ...limits, ...of, signal, logger: { warn: note } });
  note(`worker ${service.id} serves at ${nats}`);
  return { closed: service.closed, end: () => service.drain() };
}
