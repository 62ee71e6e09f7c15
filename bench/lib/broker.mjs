// A broker of the benchmark's own, with an echo service.
/** @import { ChildProcess } from 'node:child_process' */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { needing } from './not-measured.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const ECHO_SERVER = fileURLToPath(new URL('echo-server.mjs', import.meta.url));

/**
 * Starts a broker on loopback, a worker of it, and a process that echoes messages.
 * @throws {import('./not-measured.mjs').NotMeasured} The broker is not installed.
 */
export async function startBroker() {
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  const broker = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)]);
  await said(broker, 'Server is ready').catch((error) => {
    throw needing('nats-server', "Debian's package nats-server, or https://nats.io")(error);
  });
  const worker = spawn(process.execPath, [CLI, 'serve', '--nats', url]);
  const echo = spawn(process.execPath, [ECHO_SERVER, url]);
  await Promise.all([said(worker, 'serves'), said(echo, 'ready')]);
  const all = [worker, echo, broker];
  return {
    url,
    async stop() {
      for (const child of all) child.kill('SIGTERM');
      await Promise.all(all.map((child) => child.exitCode === null && once(child, 'exit')));
    },
  };
}

/**
 * @param {ChildProcess} child
 * @param {string} text
 */
function said(child, text) {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`it ended with ${code} before it said '${text}'`)));
    child.stderr?.on('data', (chunk) => {
      if (String(chunk).includes(text)) resolve(undefined);
    });
  });
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new TypeError('expected a port');
  return address.port;
}
