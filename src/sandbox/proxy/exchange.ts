import { type Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Transform } from 'node:stream';
import { messageOf } from '../../support/errors.js';

/** Names and values in turn, as they came. */
export type RawHeaders = readonly string[];

/** How a request goes on. */
interface Onward {
  /** The host that it is for, as its header says it. */
  readonly authority: string;
  readonly path: string;
  readonly headers: RawHeaders;
  /** A connection to that host, or who makes them. */
  readonly by: Socket | Agent;
  /** What the request's body passes through; `isResized`: what comes out may be longer or shorter. */
  readonly body?:
    | { readonly through: readonly Transform[]; readonly isResized: boolean }
    | undefined;
  /** What the answer becomes on its way back. Default: what it is. */
  readonly back?: ((answer: IncomingMessage) => Back) | undefined;
}

/** An answer on its way back. */
export interface Back {
  /** The reason phrase of its status line. */
  readonly reason: string;
  readonly headers: RawHeaders;
  /** What its body passes through. */
  readonly through: readonly Transform[];
}

/** Said to the next one only (RFC 9110, 7.6.1), with what says how long a body is. */
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
 * Sends a request on, and its answer back. Both are read and written anew, so that nobody beyond takes
 * them for more than one; and the host that is asked is the one in the header.
 */
export function exchange(asked: IncomingMessage, answer: ServerResponse, onward: Onward): void {
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
    const told = back?.(given) ?? asItIs(given);
    tell(answer, given, told);
    // Informational (1xx) responses and trailers are not sent on.
    pipeline([given, ...told.through, answer], () => {});
  });
  answer.once('close', () => forwarded.destroy());
  pipeline([asked, ...(body?.through ?? []), forwarded], () => {});
}

/** Answers by the proxy itself, if nothing has been answered yet. */
export function refuse(answer: ServerResponse, code: number, why: string): void {
  if (answer.headersSent || answer.destroyed) return;
  answer.writeHead(code, { 'content-type': 'text/plain', connection: 'close' });
  answer.end(`${why}\n`);
}

/** What is not only for the next one; by `others`, and by what `Connection` names. */
export function withoutNames(headers: RawHeaders, others: readonly string[] = []): string[] {
  const pairs = pairsOf(headers);
  const named = pairs.flatMap(([name, value]) =>
    name.toLowerCase() === 'connection' ? value.toLowerCase().split(/\s*,\s*/) : [],
  );
  const lost = new Set([...NEXT_ONLY, ...others, ...named]);
  return pairs.filter(([name]) => !lost.has(name.toLowerCase())).flat();
}

/** Headers a pair each. */
export function pairsOf(headers: RawHeaders): (readonly [string, string])[] {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as const] : [],
  );
}

/** That a request has a body, where its headers no longer say so; and that it has none. */
function framing({ headers, method }: IncomingMessage, isResized: boolean): readonly string[] {
  if (isResized || headers['transfer-encoding'] !== undefined)
    return ['Transfer-Encoding', 'chunked'];
  const isLong = headers['content-length'] !== undefined;
  return isLong || method === 'GET' || method === 'HEAD' ? [] : ['Content-Length', '0'];
}

function asItIs({ statusMessage = '', rawHeaders }: IncomingMessage): Back {
  return { reason: statusMessage, headers: rawHeaders, through: [] };
}

/** A status or a header that Node does not send ends the connection: whoever gave it is not trusted. */
function tell(answer: ServerResponse, given: IncomingMessage, { reason, headers }: Back): void {
  // Else there would be two dates.
  answer.sendDate = false;
  try {
    answer.writeHead(given.statusCode ?? 502, reason, withoutNames(headers));
  } catch {
    answer.destroy();
  }
}
