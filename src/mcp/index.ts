export { askClient } from './asking/ask-client.js';
export {
  type CallLog,
  type CallLogFile,
  type CallOutcome,
  type McpEvent,
  openCallLog,
} from './call-log.js';
export { type HttpOptions, type HttpService, serveHttp } from './http.js';
export { createMcpServer, type McpServer, type McpTransport } from './mcp-server.js';
export type { McpOptions } from './options.js';
export type { McpService } from './service.js';
export { type StdioOptions, serveStdio } from './stdio/serve.js';
