// What lasts longer than one command, asked of an installed package under any runtime: persistent shells, and
// sandboxes whose network leads through the host. Prints a line of JSON for each check, as smoke.mjs does.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBashTool } from 'forkline';

const folder = mkdtempSync(join(tmpdir(), 'forkline-shells-'));
const work = join(folder, 'work');
mkdirSync(work);

const server = createServer((request, answer) => answer.end(`${request.url} was asked for`));
await /** @type {Promise<void>} */ (
  new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
);
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());

/** @type {unknown[]} Errors that would have ended the host. */
const uncaught = [];
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => uncaught.push(String(error)));
}

/**
 * A command that asks the sandbox's proxy for a page, without any program but bash.
 * @param {string} host
 */
const ask = (host) => `exec 3<>/dev/tcp/127.0.0.1/3128
printf 'GET http://${host}:${port}/page HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3
while IFS= read -r line || [ -n "$line" ]; do
  case $line in *'asked for'*|*'does not let'*) echo "$line";; esac
done <&3; exec 3>&-`;

const sandbox = { network: { allowedDomains: ['localhost'] } };

/**
 * Calls a tool, and tells what its commands have printed.
 * @param {import('forkline').SessionOptions & { contract: 'session' }} options
 * @param {readonly string[]} commands
 */
async function printed(options, commands) {
  const tool = createBashTool(options);
  const outputs = [];
  for (const command of commands) {
    const { structured } = await tool.execute({ command });
    outputs.push(/** @type {{ stdout?: string }} */ (structured).stdout);
  }
  await tool.dispose();
  return outputs;
}

const persistent = /** @type {const} */ ({ contract: 'session', persistent: true, cwd: work });
const denied = 'the sandbox does not let commands connect to elsewhere.example';

/** The pipes and sockets that this process has open. */
const open = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('/shell-');
    } catch {
      return false;
    }
  });

/** @typedef {readonly [expected: unknown, check: () => unknown]} Check */

/** @type {Record<string, Check>} */
const CHECKS = {
  'a persistent shell keeps what a call has set': [
    ['', 'kept\n', '/\n'],
    () => printed(persistent, ['x=kept', 'echo $x; cd /', 'pwd']),
  ],
  'a hundred calls of one shell': [
    Array.from({ length: 100 }, (_, index) => `${index + 1}\n`),
    () => printed(persistent, Array(100).fill('n=$((n + 1)); echo $n')),
  ],
  'a long text, and a long output': [
    ['200000\n', `${'y'.repeat(20_000)}\n`],
    () =>
      printed(persistent, [
        `text='${'x'.repeat(200_000)}'; echo \${#text}`,
        `printf 'y%.0s' {1..20000}; echo`,
      ]),
  ],
  'a shell that has ended is replaced': [
    ['', 'again\n'],
    () => printed(persistent, ['exit 3', 'echo again']),
  ],
  'a tool that is disposed of in the middle of a call': [
    'settled',
    async () => {
      const tool = createBashTool(persistent);
      const call = tool.execute({ command: 'sleep 300' }).then(
        () => 'settled',
        () => 'settled',
      );
      await new Promise((resolve) => setTimeout(resolve, 200));
      await tool.dispose();
      return call;
    },
  ],
  'the network of a sandbox': [
    ['/page was asked for\n', `${denied}\n`],
    () =>
      printed({ contract: 'session', cwd: work, sandbox }, [
        ask('localhost'),
        ask('elsewhere.example'),
      ]),
  ],
  'a persistent shell in such a sandbox': [
    ['/page was asked for\n', `${denied}\n`],
    () => printed({ ...persistent, sandbox }, [ask('localhost'), ask('elsewhere.example')]),
  ],
  'no pipe is left open': [[], open],
  'nothing was thrown that would end the host': [[], () => uncaught],
};

const say = (/** @type {object} */ line) => console.log(JSON.stringify(line));

for (const [name, [expected, check]] of Object.entries(CHECKS)) {
  /** @type {unknown} */
  let found;
  try {
    found = await check();
  } catch (error) {
    found = String(error instanceof Error ? (error.stack ?? error) : error);
  }
  const ok = JSON.stringify(found) === JSON.stringify(expected);
  say(ok ? { name, ok } : { name, ok, found, expected });
}
server.close();
rmSync(folder, { recursive: true });
if (existsSync(folder)) process.exitCode = 1;
