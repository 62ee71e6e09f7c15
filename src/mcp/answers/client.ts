import {
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../message-fault.js';

/** The name and the version of a client, as it gives them. */
interface ClientInfo {
  readonly name: string;
  readonly version?: string;
}

/**
 * Returns the client of a connection, from either handshake: each request names it since revision
 * 2026-07-28, and `initialize` does before. Over standard input and output the SDK looks at the second
 * alone.
 *
 * @param request The request that is answered, if there is one.
 */
export function clientOf(server: Server, request?: ServerContext): ClientInfo | undefined {
  const envelope: JsonObject | undefined = request?.mcpReq.envelope;
  const named = envelope?.[CLIENT_INFO_META_KEY];
  if (!isObject(named) || typeof named.name !== 'string') return server.getClientVersion();
  const { name, version } = named;
  return typeof version === 'string' ? { name, version } : { name };
}
