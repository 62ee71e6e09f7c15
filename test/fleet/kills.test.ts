import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { connectFleet } from '../../src/fleet/index.js';
import { type FarPorts, WorkerLostError } from '../../src/remote/index.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { startWorker, useNats, type WorkerProcess } from '../support/nats.js';
import { installed, where } from '../support/needs.js';

// FORKLINE_FLEET=10000 has as many commands, in a tenth as many sessions.
const COMMANDS = Number(process.env.FORKLINE_FLEET ?? 600);
const SESSIONS = COMMANDS / 10;
const TIMEOUT_MS = 120_000 + COMMANDS * 100;

/** What a caller was told of a command. */
type Told = 'ran' | 'not started' | 'lost';

/** By the name of an error: what it says of the command. */
const TOLD: Readonly<Record<string, Told>> = {
  BusyError: 'not started',
  NoWorkerError: 'not started',
  WorkerLostError: 'lost',
};

/** Fewer than there are sessions, so that calls wait for a place. */
const PLACES = ['--capacity', '8'];
const contentOf = (id: number): Buffer => Buffer.alloc(100_000, `${id} `);

describe('kills at random', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const folder = makeFolder();
  const nats = await useNats(folder);

  test(
    'every command of every session has run once, or is reported as not started or lost',
    async () => {
      const [ran, files] = [join(folder, 'ran'), join(folder, 'files')];
      for (const path of [ran, files]) mkdirSync(path);
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.pipe(socket);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const workers: WorkerProcess[] = [];
      for (let count = 0; count < 3; count += 1) workers.push(await startWorker(nats.url, PLACES));
      const fleet = await connectFleet({ servers: nats.url, leaseMs: 4000 });
      const told = new Map<number, Told>();
      let isOver = false;
      const killing = (async () => {
        for (let round = 0; !isOver; round += 1) {
          await sleep(300 + 700 * Math.random());
          if (round % 5 === 4) {
            await nats.restart(100);
            continue;
          }
          const [killed] = workers.splice(Math.floor(Math.random() * workers.length), 1);
          killed?.child.kill('SIGKILL');
          workers.push(await startWorker(nats.url, PLACES));
        }
      })();

      const one = async (id: number, call: () => Promise<unknown>) => {
        try {
          await call();
          told.set(id, 'ran');
        } catch (error) {
          const { name } = error as Error;
          told.set(id, TOLD[name] ?? expect.fail(`${name}: ${(error as Error).message}`));
        }
      };
      const session = async (first: number) => {
        const commandOf = (id: number) => `echo ran >>${join(ran, String(id))}; sleep 0.1`;
        // Half of them by tools, whose state is lost with their worker: the next has another.
        let bash: Awaited<ReturnType<typeof makeTool>> | undefined;
        const makeTool = () => fleet.createBashTool({ contract: 'session', cwd: '/tmp' });
        for (let id = first; id < first + COMMANDS / SESSIONS; id += 1) {
          await one(id, async () => {
            if (first % 20 === 0) return fleet.run(commandOf(id));
            bash ??= await makeTool();
            try {
              if (isOfFiles(id))
                return await bash.files.write(join(files, String(id)), contentOf(id));
              if (isOfPorts(id)) return await echoed(bash.ports, port, contentOf(id));
              return await bash.execute({ command: commandOf(id) });
            } catch (error) {
              bash = undefined;
              throw error;
            }
          });
          await sleep(100 * Math.random());
        }
        await bash?.dispose();
      };
      const sessions = Array.from({ length: SESSIONS }, (_, index) => session(index * 10));
      await Promise.all(sessions);
      isOver = true;
      await killing;
      await fleet.dispose();
      await new Promise((resolve) => server.close(resolve));

      const counts = { ran: 0, 'not started': 0, lost: 0 };
      for (let id = 0; id < COMMANDS; id += 1) {
        const what = told.get(id) ?? expect.fail(`nobody was told of ${id}`);
        counts[what] += 1;
        if (id % 20 >= 10 && isOfPorts(id)) continue;
        if (id % 20 >= 10 && isOfFiles(id)) {
          const found = contentAt(join(files, String(id)));
          const isWhole = found?.equals(contentOf(id));
          expect(isWhole, `file ${id}`).toBe(what === 'ran' ? true : found && true);
          if (what === 'not started') expect(found, `file ${id}`).toBeUndefined();
          continue;
        }
        const lines = linesOf(join(ran, String(id)));
        if (what === 'ran') expect(lines, `command ${id}`).toBe(1);
        if (what === 'not started') expect(lines, `command ${id}`).toBe(0);
        expect(lines, `command ${id}`).toBeLessThanOrEqual(1);
      }
      expect(counts.ran).toBeGreaterThan(COMMANDS / 2);
    },
    TIMEOUT_MS,
  );
});

/** Which of the calls of a tool write a file, and which use a port. */
const isOfFiles = (id: number): boolean => id % 10 === 3;
const isOfPorts = (id: number): boolean => id % 10 === 7;

/** Sends bytes to a port of a worker, and waits until they have come back. */
async function echoed(ports: FarPorts, port: number, bytes: Buffer): Promise<void> {
  const relayed = await ports.forward({ port });
  const pieces: Buffer[] = [];
  try {
    const socket = connect({ port: relayed.port, host: '127.0.0.1' });
    socket.on('data', (piece) => pieces.push(piece));
    socket.end(bytes);
    await once(socket, 'end');
    socket.destroy();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    expect(code).toBe('ECONNRESET');
    throw new WorkerLostError('its port was broken off', { started: 'unknown', output: '' });
  } finally {
    await relayed.close();
  }
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
}

function contentAt(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}

function linesOf(file: string): number {
  try {
    return readFileSync(file, 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}
