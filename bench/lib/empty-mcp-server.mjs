// An MCP server whose one tool does nothing: what the protocol itself costs on this machine.
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => {
  const server = new Server({ name: 'empty', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'bash', inputSchema: { type: 'object' } }],
  }));
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'hi' }] }));
  return server;
});
