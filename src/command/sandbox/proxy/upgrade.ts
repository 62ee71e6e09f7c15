import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { pairsOf, type RawHeaders, withoutNames } from './exchange.js';
import { join } from './joined.js';

/** Where a connection is to go that becomes another protocol's. */
interface Onward {
  readonly authority: string;
  readonly path: string;
  readonly headers: RawHeaders;
  readonly socket: Socket;
  /** The headers of an answer as the client gets them. */
  readonly back: (answer: IncomingMessage) => RawHeaders;
}

/** Asks for another protocol, such as that of WebSockets; once it is agreed on, all passes as it is. */
export function upgrade(
  asked: IncomingMessage,
  client: Socket,
  head: Buffer,
  onward: Onward,
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
    const agreed = ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? ''];
    client.write(headOf(answer, [...withoutNames(back(answer)), ...agreed]));
    if (rest.length > 0) upstream.unshift(rest);
    if (head.length > 0) client.unshift(head);
    join(client, upstream);
  });
  forwarded.on('response', (answer) => {
    // It goes on as it began, and ends with this answer.
    client.write(headOf(answer, [...withoutNames(back(answer)), 'Connection', 'close']));
    answer.pipe(client);
  });
  client.once('close', () => forwarded.destroy());
  forwarded.end();
}

function headOf(answer: IncomingMessage, headers: RawHeaders): string {
  const lines = pairsOf(headers).map(([name, value]) => `${name}: ${value}`);
  const status = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`;
  return [status, ...lines, '', ''].join('\r\n');
}
