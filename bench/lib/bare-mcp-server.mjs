// An MCP server of only the official SDK, with one tool. The tool does nothing: the figure is the cost of
// the protocol on this machine. With `run` as the first argument the tool runs the command: the cost of
// any server that runs one.
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const echo = process.argv[2] === 'run' && (await import('../peers/forkline.mjs')).forkline.run;

serveStdio(() => {
  const server = new Server({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'bash', inputSchema: { type: 'object' } }],
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const text = echo ? await echo(String(params.arguments?.command)) : 'hi';
    return { content: [{ type: 'text', text }] };
  });
  return server;
});
