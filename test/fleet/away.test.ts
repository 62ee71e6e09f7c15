import { describe, expect, test } from 'vitest';
import { connectFleet, serveNats } from '../../src/fleet/index.js';
import { endOf, startCliOn } from '../support/cli.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { startNats, startWorker } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';

const NOWHERE = 'nats://127.0.0.1:1';

describe('a worker without a broker', where(installed('nats-server')), () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const folder = makeFolder();

  test('R9: waits for it, says so once, and serves when it comes', async () => {
    const nats = await startNats(folder);
    await nats.stop();
    const said: string[] = [];
    const logger = { warn: (message: string) => void said.push(message) };
    const starting = serveNats({ servers: nats.url, logger });
    await eventually(() => expect(said).toHaveLength(1));
    await nats.restart(1500);
    const worker = await starting;
    const fleet = await connectFleet({ servers: nats.url });
    expect(printed(await fleet.run('echo here'))).toBe('here\n');
    await fleet.dispose();
    await worker.close();
    await nats.stop();
    expect(said).toEqual([
      `The broker at ${nats.url} can't be reached: connection refused; waiting for it`,
    ]);
  });

  test('R9: waits no longer than its signal', async () => {
    const controller = new AbortController();
    const logger = { warn: () => controller.abort(new Error('enough')) };
    const starting = serveNats({ servers: NOWHERE, logger, signal: controller.signal });
    expect(await failureOf(starting)).toMatchObject({ message: 'enough' });
  });

  test('R9: ends by a signal while it waits', async () => {
    const child = startCliOn(['ignore', 'pipe', 'pipe'], 'serve', '--nats', NOWHERE);
    const ended = endOf(child);
    await new Promise((resolve) => child.stderr?.once('data', resolve));
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({
      code: 143,
      stderr: expect.stringMatching(/^forkline: The broker at .* can't be reached: .*waiting/),
    });
  });

  test('R5: ends at once when the broker refuses it, and says why', async () => {
    const nats = await startNats(folder, 'authorization { user: a, password: b }');
    keep({ dispose: () => nats.stop() });
    const starting = startWorker(nats.url, [], { FORKLINE_NATS_USER: 'a' });
    expect(await failureOf(starting)).toMatchObject({
      message: expect.stringMatching(/refuses these credentials: .*Authorization/),
    });
  });

  test('R11: limits of a client are flags', async () => {
    const nats = await startNats(folder);
    keep({ dispose: () => nats.stop() });
    await startWorker(nats.url, ['--max-sessions', '1']);
    const fleet = keep(await connectFleet({ servers: nats.url }));
    const tool = await fleet.createBashTool({ contract: 'plain' });
    expect(await failureOf(fleet.createBashTool({ contract: 'plain', waitMs: 0 }))).toMatchObject({
      name: 'BusyError',
    });
    await tool.dispose();
  });
});
