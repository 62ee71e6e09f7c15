import { describe, expect, test } from 'vitest';
import { connectFleet, type FleetOptions } from '../../src/fleet/index.js';
import { InputError } from '../../src/index.js';
import { connect } from '../../src/remote/index.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { failureOf, printed } from '../support/results.js';

async function inputErrorOf(call: Promise<unknown>): Promise<string> {
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(InputError);
  return (error as Error).message;
}

test.each([
  [{ servers: '' }, /^servers: expected nats:\/\/HOST:PORT or tls:\/\/…, got ""$/],
  [{ tls: 5 }, /^tls: expected an object, got 5$/],
  [{ tls: { caa: '/x' } }, /^tls\.caa: not known here, did you mean ca\?$/],
  [{ tls: { ca: '/nope' } }, /^tls\.ca: expected a file that can be read: ENOENT/],
  [{ creds: '/nope' }, /^creds: expected a file that can be read: ENOENT/],
  [{ leaseMs: 1e9 }, /^leaseMs: expected a whole number from 1000 to 120000, got 1000000000$/],
])('C4: an option that is not valid for a fleet is named: %o', async (options, message) => {
  const given = { servers: 'nats://127.0.0.1:1', ...options } as FleetOptions;
  expect(await inputErrorOf(connectFleet(given))).toMatch(message);
});

test.each([
  [{ cwd: 5 }, /^cwd: expected a string, got 5$/],
  [{ env: 5 }, /^env: expected an object, got 5$/],
  [{ env: { A: {} } }, /^env\.A: expected a string/],
  [{ env: { A: '\ud800' } }, /^env\.A: expected text without lone surrogates/],
])('C4: an option that is not valid for a connection is named: %o', async (options, message) => {
  const given = { command: ['false'], ...options } as unknown as Parameters<typeof connect>[0];
  expect(await inputErrorOf(connect(given))).toMatch(message);
});

describe('a fleet', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());

  test('C4: no options are an error of input, and never a raw TypeError', async () => {
    const fleet = keep(await connectFleet({ servers: nats.url }));
    for (const nothing of [null, 5] as never[]) {
      const message = `options: expected an object, got ${nothing}`;
      expect(await inputErrorOf(fleet.run('true', nothing))).toBe(message);
      expect(await inputErrorOf(fleet.spawn('true', nothing))).toBe(message);
      expect(await inputErrorOf(fleet.createBashTool(nothing))).toBe(message);
    }
    const noOptions = fleet.createBashTool as () => Promise<unknown>;
    expect(await inputErrorOf(noOptions.call(fleet))).toMatch(/^options: expected an object/);
  });

  test('B18: a field that is null is as left out', async () => {
    await startWorker(nats.url);
    const nulls = { tls: null, creds: null, token: null, pool: null, leaseMs: null, onDrain: null };
    const given = { servers: nats.url, ...nulls } as unknown as FleetOptions;
    const fleet = keep(await connectFleet(given));
    expect(printed(await fleet.run('echo hi', { labels: undefined }))).toBe('hi\n');
  });

  test('a program and its arguments run without a shell, there as here', async () => {
    await startWorker(nats.url);
    const fleet = keep(await connectFleet({ servers: nats.url }));
    expect(printed(await fleet.run(['echo', '$HOME', 'a  b']))).toBe('$HOME a  b\n');
  });
});
