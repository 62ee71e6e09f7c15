import { type Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Transform } from 'node:stream';
import { messageOf } from '../../support/errors.js';
import { closingOnError } from './joined.js';

/** Names and values in turn, as they were received. */
export type RawHeaders = readonly string[];

/** How a request is forwarded. */
interface ForwardedRequest {
  /** The host of the request, as its header names it. */
  readonly authority: string;
  readonly path: string;
  readonly headers: RawHeaders;
  /** A connection to that host, or the agent that makes them. */
  readonly by: Socket | Agent;
  /** The streams for the request's body; `isResized`: its length may change. */
  readonly body?:
    | { readonly through: readonly Transform[]; readonly isResized: boolean }
    | undefined;
  /** Converts the answer. Default: unchanged. */
  readonly back?: ((answer: IncomingMessage) => Back) | undefined;
}

/** An answer that is sent back. */
export interface Back {
  /** The reason phrase of its status line. */
  readonly reason: string;
  readonly headers: RawHeaders;
  /** The streams for its body. */
  readonly through: readonly Transform[];
}

/** Headers for the next hop only (RFC 9110, 7.6.1), including those about a body's length. */
const NEXT_ONLY: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
];

/**
 * Forwards a request and returns its answer. Both are parsed and written anew, so that no server can take
 * one for several; and the host that is asked is the one in the header.
 */
export function exchange(
  asked: IncomingMessage,
  answer: ServerResponse,
  onward: ForwardedRequest,
): void {
  const { authority, path, by, headers, body, back } = onward;
  const isResized = body?.isResized === true && asked.headers['content-length'] !== undefined;
  const lost = ['host', 'expect', ...(isResized ? ['content-length'] : [])];
  const sent = [...withoutNames(headers, lost), ...framing(asked, isResized)];
  const forwarded = request({
    ...('writable' in by ? { createConnection: () => by } : { agent: by }),
    method: asked.method,
    path,
    headers: ['Host', authority, ...sent],
  });
  let isAnswered = false;
  const brokenOff = (error?: unknown): void => {
    const why = error === undefined ? '' : `: ${messageOf(error)}`;
    if (!isAnswered) refuse(answer, 502, `${authority} has broken off${why}`);
  };
  forwarded.on('error', brokenOff).once('close', () => brokenOff());
  forwarded.on('response', (given) => {
    isAnswered = true;
    closingOnError(answer, () => {
      const told = back?.(given) ?? asItIs(given);
      tell(answer, given, told);
      // Informational (1xx) responses and trailers are not forwarded.
      pipeline([given, ...told.through, answer], () => {});
    });
  });
  answer.once('close', () => forwarded.destroy());
  pipeline([asked, ...(body?.through ?? []), forwarded], () => {});
}

/** Answers by the proxy itself, if no answer has begun. */
export function refuse(answer: ServerResponse, code: number, why: string): void {
  if (answer.headersSent || answer.destroyed) return;
  answer.writeHead(code, { 'content-type': 'text/plain', connection: 'close' });
  answer.end(`${why}\n`);
}

/**
 * Returns the headers that are not for the next hop only, and not among `others` or those that
 * `Connection` names.
 */
export function withoutNames(headers: RawHeaders, others: readonly string[] = []): string[] {
  const pairs = pairsOf(headers);
  const named = pairs.flatMap(([name, value]) =>
    name.toLowerCase() === 'connection' ? value.toLowerCase().split(/\s*,\s*/) : [],
  );
  const lost = new Set([...NEXT_ONLY, ...others, ...named]);
  return pairs.filter(([name]) => !lost.has(name.toLowerCase())).flat();
}

/** Returns the headers as pairs. */
export function pairsOf(headers: RawHeaders): (readonly [string, string])[] {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as const] : [],
  );
}

/** Returns headers that say whether a request has a body, where its own no longer do. */
function framing({ headers, method }: IncomingMessage, isResized: boolean): readonly string[] {
  if (isResized || headers['transfer-encoding'] !== undefined)
    return ['Transfer-Encoding', 'chunked'];
  const isLong = headers['content-length'] !== undefined;
  return isLong || method === 'GET' || method === 'HEAD' ? [] : ['Content-Length', '0'];
}

function asItIs({ statusMessage = '', rawHeaders }: IncomingMessage): Back {
  return { reason: statusMessage, headers: rawHeaders, through: [] };
}

/** A status or a header that Node refuses ends the connection: the server is not trusted. */
function tell(answer: ServerResponse, given: IncomingMessage, { reason, headers }: Back): void {
  // Otherwise there would be two dates.
  answer.sendDate = false;
  try {
    answer.writeHead(given.statusCode ?? 502, reason, withoutNames(headers));
  } catch {
    answer.destroy();
  }
}
