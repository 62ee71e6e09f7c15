import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { type Back, pairsOf, type RawHeaders, withoutNames } from './exchange.js';
import { closingOnError, join } from './joined.js';

/** A connection that is switched to another protocol. */
interface UpgradeRequest {
  readonly authority: string;
  readonly path: string;
  readonly headers: RawHeaders;
  readonly socket: Socket;
  /** Converts an answer for the client. */
  readonly back: (answer: IncomingMessage) => Back;
}

/** Requests another protocol, such as WebSocket; once it is agreed on, all data passes unchanged. */
export function upgrade(
  asked: IncomingMessage,
  client: Socket,
  head: Buffer,
  onward: UpgradeRequest,
): void {
  const { authority, path, headers, socket, back } = onward;
  const wanted = ['Connection', 'Upgrade', 'Upgrade', asked.headers.upgrade ?? ''];
  const forwarded = request({
    createConnection: () => socket,
    method: asked.method,
    path,
    headers: ['Host', authority, ...withoutNames(headers, ['host']), ...wanted],
  });
  forwarded.on('error', () => client.destroy());
  forwarded.on('upgrade', (answer, upstream, rest) => {
    upstream.on('error', () => client.destroy());
    closingOnError(client, () => {
      const told = back(answer);
      const agreed = pairsOf(told.headers).filter(([name]) => name.toLowerCase() === 'upgrade');
      client.write(headOf(answer, told, ['Connection', 'Upgrade', ...agreed.flat()]), 'latin1');
      if (rest.length > 0) upstream.unshift(rest);
      if (head.length > 0) client.unshift(head);
      join(client, upstream);
    });
  });
  forwarded.on('response', (answer) => {
    closingOnError(client, () => {
      // The server stays with HTTP, and the connection ends with this answer.
      const told = back(answer);
      client.write(headOf(answer, told, ['Connection', 'close']), 'latin1');
      pipeline([answer, ...told.through, client], () => {});
    });
  });
  client.once('close', () => forwarded.destroy());
  forwarded.end();
}

function headOf(
  { statusCode }: IncomingMessage,
  { reason, headers }: Back,
  more: RawHeaders,
): string {
  const lines = pairsOf([...withoutNames(headers), ...more]).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [`HTTP/1.1 ${statusCode} ${reason}`, ...lines, '', ''].join('\r\n');
}
