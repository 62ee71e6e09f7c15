// P12: what MCP over stdio adds to a command.
/** @import { Rounds, Suite, Task } from '../lib/types.d.ts' */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, report } from '../lib/rows.mjs';
import { median, medians, overallMedian } from '../lib/statistics.mjs';
import { ECHO, echoTask } from '../lib/tasks.mjs';
import { forkline } from '../peers/index.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const BARE_SERVER = fileURLToPath(new URL('../lib/bare-mcp-server.mjs', import.meta.url));

const CALL = 'MCP call';
const EMPTY_CALL = 'MCP call of an empty tool';
const BARE_CALL = "run() in a bare SDK's server";

/**
 * Connects the official client to a server in a child process.
 * @param {readonly string[]} args
 */
async function connect(args) {
  // The whole environment, since commands must have that of run().
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const command = process.execPath;
  await client.connect(new StdioClientTransport({ command, args: [...args], env }));
  return client;
}

/**
 * @param {string} name
 * @param {Client} client
 * @returns {Task}
 */
const callTask = (name, client) => ({
  name,
  run: async () => {
    const { content } = await client.callTool({ name: 'bash', arguments: { command: ECHO } });
    const [part] = /** @type {readonly { text?: string }[]} */ (content);
    if (!part?.text?.startsWith('hi')) throw new Error(`${name} answered ${JSON.stringify(part)}`);
    return undefined;
  },
});

/**
 * The time of a call beyond the command itself and a call that does nothing: the median of the rounds'
 * own differences.
 * @param {(name: string) => Rounds} samples
 * @param {string} name
 */
function above(samples, name) {
  const call = medians(samples(name));
  const [command, empty] = [forkline.name, EMPTY_CALL].map((each) => medians(samples(each)));
  return median(
    call.map((value, round) => value - (command?.[round] ?? Number.NaN) - (empty?.[round] ?? 0)),
  );
}

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const clients = await Promise.all([
      connect([CLI, 'mcp', '--contract', 'workspace']),
      connect([BARE_SERVER]),
      connect([BARE_SERVER, 'run']),
    ]);
    try {
      const [server, empty, bare] = clients;
      const tasks = [
        echoTask(forkline),
        callTask(CALL, server),
        callTask(EMPTY_CALL, empty),
        callTask(BARE_CALL, bare),
      ];
      await warmUp(tasks, 50);
      const samples = await interleave(tasks, { rounds: quick ? 8 : 40, iterations: 10 });
      const value = above(samples, CALL);
      const row = figureRow({
        id: 'P12',
        what: "MCP call 'echo hi' over stdio, above run() and a call of an empty tool",
        figure: milliseconds(value),
        value,
        target: atMost(0.25, '≤ 0.25 ms'),
        others: {
          [BARE_CALL]: milliseconds(above(samples, BARE_CALL)),
          'run()': milliseconds(overallMedian(samples(forkline.name))),
          'the call': milliseconds(overallMedian(samples(CALL))),
          'a call of an empty tool': milliseconds(overallMedian(samples(EMPTY_CALL))),
        },
      });
      return report([row], samples, [forkline.name, CALL, EMPTY_CALL, BARE_CALL]);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  },
};
