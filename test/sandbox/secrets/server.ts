import { chmodSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { Authority } from '../../../src/sandbox/secrets/authority.js';

/** What a server was asked. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly raw: Buffer;
  /** The same as text. */
  readonly body: string;
}

/** A server at `localhost`, with TLS. */
export interface Served {
  /** By what it was asked in a test, in order. */
  readonly asked: readonly Asked[];
  /** Its name and port. */
  readonly host: string;
  /** The certificate of whoever vouches for it, as a file: for the host, who trusts nobody else of ours. */
  readonly trust: string;
}

/** Serves the tests of a file, which have this folder. */
export function useServer(
  scenes: { readonly path: string },
  tell: (asked: Asked, answer: ServerResponse) => void,
): Served {
  const authority = new Authority();
  const asked: Asked[] = [];
  let server: Server;
  const trust = () => join(scenes.path, 'ca.pem');
  beforeAll(async () => {
    server = createServer(authority.certify('localhost'), async (request, answer) => {
      const { method = '', url = '', headers } = request;
      const raw = await buffer(request);
      const one = { method, url, headers, raw, body: raw.toString() };
      asked.push(one);
      tell(one, answer);
    });
    writeFileSync(trust(), authority.certificate);
    chmodSync(scenes.path, 0o755);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    asked.length = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    asked,
    get host() {
      return `localhost:${(server.address() as AddressInfo).port}`;
    },
    get trust() {
      return trust();
    },
  };
}

/** What a command needs to be told that is to reach the host's loopback and not the sandbox's. */
export const BY_PROXY = 'export NO_PROXY= no_proxy= npm_config_noproxy=;';
