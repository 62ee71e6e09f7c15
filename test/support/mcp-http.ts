import { type IncomingMessage, request } from 'node:http';
import { afterEach } from 'vitest';
import { type BashTool, createBashTool } from '../../src/index.js';
import { type HttpOptions, type HttpService, serveHttp } from '../../src/mcp/index.js';
import { bearer } from './mcp.js';

/** Starts servers on a port, and closes them after the test that asked for them. */
export function useServices(): (
  options?: HttpOptions,
  createTool?: () => BashTool,
) => Promise<HttpService> {
  const services: HttpService[] = [];
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close()));
  });
  const workspace = () => createBashTool({ contract: 'workspace', cwd: '/', graceMs: 500 });
  return async (options, createTool = workspace) => {
    const service = await serveHttp(createTool, options);
    services.push(service);
    return service;
  };
}

/** A request as a client might make it, or somebody who is none. */
export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** The answer, its body wholly read. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Makes a request with the token; headers that are given go before those that it would have. */
export function send(service: HttpService, given: RawRequest): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = start(service, given);
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body });
      });
    });
  });
}

/** Starts a request, for a test that reads the answer in its own way. */
export function start(service: HttpService, given: RawRequest) {
  const url = new URL(given.path ?? '/mcp', service.url);
  const outgoing = request(url, {
    method: given.method ?? 'POST',
    headers: {
      ...bearer(service.token),
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...given.headers,
    },
    ...(given.signal && { signal: given.signal }),
  });
  outgoing.end(given.body);
  return outgoing;
}

export const rpc = (id: number | undefined, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params });

export const initialize: string = rpc(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1.0.0' },
});

/** Opens a session and gives the header that its requests need. */
export async function openSession(service: HttpService): Promise<Readonly<Record<string, string>>> {
  const { headers } = await send(service, { body: initialize });
  const session = { 'Mcp-Session-Id': String(headers['mcp-session-id']) };
  await send(service, { headers: session, body: rpc(undefined, 'notifications/initialized') });
  return session;
}
