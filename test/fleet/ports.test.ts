import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { connectFleet } from '../../src/fleet/index.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';

describe('ports of a fleet', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());

  async function answerOf(port: number): Promise<string> {
    const socket = connectSocket({ port, host: '127.0.0.1' });
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString();
    });
    await once(socket, 'close');
    return text;
  }

  test("a tool's server is reached from here, also at its next worker, and with the worker it is gone", async () => {
    const first = await startWorker(nats.url);
    const fleet = keep(await connectFleet({ servers: nats.url, leaseMs: 2000 }));
    const bash = keep(await fleet.createLastingTool({ contract: 'plain' }));
    const serve = `python3 -c "
import socket
s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)
c, _ = s.accept(); c.sendall(b'hello from there'); c.close()"`;
    const servesOn = async (): Promise<number> => {
      const live = await fleet.spawn(serve);
      for await (const { text } of live) return Number(text);
      throw new Error('it does not listen');
    };
    const relayed = await bash.ports.forward({ port: await servesOn() });
    expect(await answerOf(relayed.port)).toBe('hello from there');
    const second = await startWorker(nats.url);
    first.child.kill('SIGKILL');
    expect(await relayed.closed).not.toBe('it was closed');
    expect(await failureOf(answerOf(relayed.port))).toMatchObject({ code: 'ECONNREFUSED' });
    await eventually(() => bash.execute({ command: 'true' }));
    const again = await bash.ports.forward({ port: await servesOn() });
    expect(await answerOf(again.port)).toBe('hello from there');
    second.child.kill('SIGTERM');
  });
});
