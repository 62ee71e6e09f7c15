export {
  type CallLog,
  type CallLogFile,
  type CallOutcome,
  type McpEvent,
  openCallLog,
} from './call-log.js';
export { type HttpOptions, type HttpService, serveHttp } from './http.js';
export { createMcpServer, type McpOptions } from './server.js';
export type { McpService } from './service.js';
export { type StdioOptions, serveStdio } from './stdio/serve.js';
