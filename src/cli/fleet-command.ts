import { Command, Option } from 'commander';
import type { Fleet, WorkerInfo } from '../fleet/index.js';
import { visibleText } from '../support/text.js';
import { aligned } from './aligned.js';
import { answered } from './answered.js';
import { type BrokerFlags, brokerOf, brokerOptions } from './broker-options.js';
import { note } from './notes.js';
import { writeOrTell } from './standard-output.js';

interface FleetFlags extends BrokerFlags {
  /** The addresses of a broker. */
  readonly nats: string;
  readonly inbox?: string | undefined;
  readonly json?: true;
  readonly prometheus?: true;
}

const HEADINGS = ['ID', 'NAME', 'VERSION', 'RUNNING', 'SESSIONS', 'CLIENTS', 'STATE', 'LABELS'];

/** The metrics of a worker: their name, what they are, and their value. */
const METRICS: readonly (readonly [
  name: string,
  help: string,
  value: (worker: WorkerInfo) => number,
])[] = [
  ['running', 'Calls under way.', ({ running }) => running],
  ['capacity', 'Calls under way at most.', ({ capacity }) => capacity],
  ['sessions', 'Tools of clients.', ({ sessions }) => sessions],
  ['clients', 'Clients with a line to the worker.', ({ clients }) => clients],
  ['draining', '1 if it takes no new work.', ({ draining }) => (draining ? 1 : 0)],
];

/** Makes `forkline fleet`: the workers of a pool, and how one is drained. */
export function fleetCommand(): Command {
  const command = new Command('fleet')
    .description('The workers of a pool over a NATS broker: list them, or drain some')
    .requiredOption('--nats <url>', 'the broker')
    .option('--inbox <name>', 'the word in the subjects of answers')
    .addOption(new Option('--json', 'print an array of the workers').conflicts('prometheus'))
    .option('--prometheus', 'print their figures as Prometheus reads them');
  for (const option of brokerOptions()) command.addOption(option);
  return command
    .action((flags: FleetFlags) =>
      answered(() =>
        withFleet(flags, async (fleet) => {
          const workers: WorkerInfo[] = [];
          for await (const worker of fleet.workers()) workers.push(worker);
          workers.sort((one, other) => (one.name + one.id < other.name + other.id ? -1 : 1));
          return writeOrTell(shown(workers, flags));
        }),
      ),
    )
    .addCommand(
      new Command('drain')
        .exitOverride()
        .description('Have workers take nothing new, and end when what they have is over')
        .argument('<id...>', 'ids of workers, or how they begin')
        .action((ids: readonly string[], _flags: object, own: Command) =>
          answered(() =>
            withFleet(own.optsWithGlobals<FleetFlags>(), (fleet) => drainAll(fleet, ids)),
          ),
        ),
    );
}

async function withFleet(
  flags: FleetFlags,
  work: (fleet: Fleet) => Promise<boolean>,
): Promise<boolean> {
  const { connectFleet } = await import('../fleet/index.js');
  const { nats, pool, inbox } = flags;
  const fleet = await connectFleet({ ...brokerOf(nats, flags), pool, inbox });
  try {
    return await work(fleet);
  } finally {
    await fleet.dispose();
  }
}

async function drainAll(fleet: Fleet, ids: readonly string[]): Promise<boolean> {
  const all: string[] = [];
  for await (const { id } of fleet.workers()) all.push(id);
  let isComplete = true;
  for (const given of ids) {
    const found = all.filter((id) => id.startsWith(given));
    const [id] = found;
    if (id === undefined || found.length > 1) {
      note(
        `${found.length === 0 ? 'no worker has' : `${found.length} workers have`} the id ${given}`,
      );
      isComplete = false;
    } else {
      await fleet.drain(id);
      note(`worker ${id} drains`);
    }
  }
  return isComplete;
}

function shown(workers: readonly WorkerInfo[], { json, prometheus }: FleetFlags): string {
  if (json) return `${JSON.stringify(workers)}\n`;
  if (prometheus) return metricsOf(workers);
  const rows = workers.map((worker) => [
    worker.id.slice(0, 12),
    visibleText(worker.name),
    visibleText(worker.version),
    `${worker.running}/${worker.capacity}`,
    String(worker.sessions),
    String(worker.clients),
    worker.draining ? 'drains' : worker.load >= 1 ? 'full' : 'serves',
    visibleText(labelsOf(worker)),
  ]);
  return aligned([HEADINGS, ...rows])
    .map((row) => `${row.join('  ').trimEnd()}\n`)
    .join('');
}

function labelsOf({ labels }: WorkerInfo): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

function metricsOf(workers: readonly WorkerInfo[]): string {
  const lines = [
    '# HELP forkline_workers Workers of the pool that answer.',
    '# TYPE forkline_workers gauge',
    `forkline_workers ${workers.length}`,
  ];
  for (const [name, help, value] of METRICS) {
    const metric = `forkline_worker_${name}`;
    lines.push(`# HELP ${metric} ${help}`, `# TYPE ${metric} gauge`);
    for (const worker of workers) {
      const { id, name: of, version } = worker;
      const labels = Object.entries({ id, name: of, version })
        .map(([key, text]) => `${key}="${escaped(text)}"`)
        .join(',');
      lines.push(`${metric}{${labels}} ${value(worker)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Returns the text as a value of a label may be. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
