// @module-tag slow
import { expect, test } from 'vitest';
import { answerOf, toldOf, useClients } from '../support/mcp.js';
import { useServices } from '../support/mcp-http.js';

const clients = useClients();
const serve = useServices();

test.each([
  ['standard input', () => clients.stdio()],
  [
    'HTTP',
    async () => {
      const { url, token } = await serve();
      return clients.http(url, token);
    },
  ],
])(
  'F1: over %s, a quiet command shows every ten seconds that it runs',
  { timeout: 40_000 },
  async (_, connect) => {
    const client = await connect();
    const notes: { progress: number; message?: string | undefined }[] = [];
    const result = await client.callTool(
      { name: 'bash', arguments: { command: 'echo begun; sleep 14; echo done' } },
      { onprogress: (note) => notes.push(note), timeout: 12_000, resetTimeoutOnProgress: true },
    );
    expect(answerOf(result)).toMatch(/^begun\ndone\n/);
    // Who puts the messages together gets the output and nothing else.
    const sent = [
      { progress: 6, message: 'begun\n' },
      { progress: 7 },
      { progress: 12, message: 'done\n' },
    ];
    expect(toldOf(sent)).toContainEqual(notes);
  },
);
