// P17: what a fleet of one worker on loopback adds to a command.
/** @import { Suite, Task } from '../lib/types.d.ts' */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { connectFleet } from '../../dist/fleet/index.js';
import { startBroker } from '../lib/broker.mjs';
import { mainThreadNanoseconds } from '../lib/proc.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, ratioRow, report, times } from '../lib/rows.mjs';
import { median, medians, overallMedian, ratio } from '../lib/statistics.mjs';
import { ECHO, echo, echoTask } from '../lib/tasks.mjs';
import { forkline } from '../peers/index.mjs';

const FLEET = 'fleet';
const ROUND_TRIP = 'round trip of the broker';
const NS_PER_MS = 1e6;

/**
 * The main thread's CPU time for one call, after the kernel has updated it.
 * @param {string} name
 * @param {() => Promise<unknown>} call
 * @returns {Task}
 */
const cost = (name, call) => ({
  name,
  run: async () => {
    await sleep(2);
    const before = mainThreadNanoseconds();
    for (let index = 0; index < 100; index++) await call();
    await sleep(2);
    return (mainThreadNanoseconds() - before) / 100 / NS_PER_MS;
  },
});

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const broker = await startBroker();
    const fleet = await connectFleet({ servers: broker.url });
    const connection = await connect({ servers: broker.url });
    try {
      const call = async () => {
        const { output } = await fleet.run(ECHO);
        if (output.kind !== 'complete' || output.text !== 'hi\n') throw new Error('a wrong answer');
        return undefined;
      };
      const bytes = new TextEncoder().encode(ECHO);
      const roundTrip = async () => {
        await connection.request('bench.echo', bytes);
        return undefined;
      };
      const tasks = [
        echoTask(forkline),
        { name: FLEET, run: call },
        { name: ROUND_TRIP, run: roundTrip },
      ];
      await warmUp(tasks, quick ? 50 : 200);
      const samples = await interleave(tasks, { rounds: quick ? 8 : 40, iterations: 10 });
      const [local, far, trip] = [forkline.name, FLEET, ROUND_TRIP].map((name) =>
        medians(samples(name)),
      );
      const above = median(
        (far ?? []).map((value, round) => (value - (local?.[round] ?? 0)) / (trip?.[round] ?? 1)),
      );
      const costs = [cost(forkline.name, () => echo(forkline)), cost(FLEET, call)];
      const cpu = await interleave(costs, { rounds: quick ? 3 : 9 });
      const rows = [
        figureRow({
          id: 'P17',
          what: "a fleet's 'echo hi' above run(), in round trips of the broker",
          figure: times(above),
          value: above,
          target: atMost(2),
          others: {
            'run()': milliseconds(overallMedian(samples(forkline.name))),
            'the call': milliseconds(overallMedian(samples(FLEET))),
            'a round trip': milliseconds(overallMedian(samples(ROUND_TRIP))),
          },
        }),
        ratioRow({
          id: 'P17',
          what: "client's CPU a command, main thread",
          figure: milliseconds(overallMedian(cpu(FLEET))),
          to: 'run()',
          value: ratio(cpu(FLEET), cpu(forkline.name)),
          target: atMost(2),
        }),
      ];
      return report(rows, samples, [forkline.name, FLEET, ROUND_TRIP]);
    } finally {
      await Promise.all([fleet.dispose(), connection.close()]);
      await broker.stop();
    }
  },
};
