import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.js';
import { useFolder } from '../support/leftovers.js';

const folder = useFolder();

test.each([
  [[], "expected '--stdio' or '--nats <url>'"],
  [['--stdio', '--nats', '127.0.0.1'], "cannot be used with option '--nats <url>'"],
  [['--stdio', '--name', 'x'], "option '--name' is for a worker of a pool: add --nats"],
  [['--stdio', '--drain', '3'], "option '--drain' is for a worker of a pool: add --nats"],
  [['--stdio', '--tls-ca', 'x'], "option '--tls-ca' is for a worker of a pool: add --nats"],
  [['--nats', '127.0.0.1', '--capacity', 'x'], 'Expected a whole number of 1 or more'],
  [['--nats', '127.0.0.1', '--capacity', '0'], 'Expected a whole number of 1 or more'],
  [['--nats', 'http://x'], 'servers: expected nats://HOST:PORT'],
  [['--stdio', '--profiles', '/nope.js'], "--profiles: /nope.js can't be loaded: Cannot find"],
])('C1: forkline serve %j is a usage error', async (args, message) => {
  const { code, stdout, stderr } = await cli('serve', ...args);
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

test('C1: profiles whose module throws are told by the name of the option', async () => {
  const file = folder.file('profiles.mjs');
  writeFileSync(file, 'throw new Error("mine")');
  const { code, stderr } = await cli('serve', '--stdio', '--profiles', file);
  expect(code).toBe(2);
  expect(stderr).toBe(`forkline: --profiles: ${file} can't be loaded: mine\n`);
});
