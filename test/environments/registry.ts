import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { manifestOf } from './tarballs.js';

/** A registry on a loopback port. */
export interface Registry {
  readonly url: string;
  close(): void;
}

/**
 * Serves tarballs as the npm registry would: a package manager installs them as users will, with
 * optional dependencies chosen by platform.
 *
 * @param upstream The registry that is asked for all other packages. Default: none, there is no other.
 */
export async function serveRegistry(
  tarballs: readonly string[],
  upstream?: string,
): Promise<Registry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const file = tarballs.find((tarball) => path === `files/${basename(tarball)}`);
    const named = tarballs.find((tarball) => manifestOf(tarball).name === path);
    if (file !== undefined) response.end(readFileSync(file));
    else if (named !== undefined) response.end(JSON.stringify(packument(named, url)));
    else if (upstream !== undefined) void forward(request, response, upstream, url);
    else response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.close() };
}

/** Answers with what another registry has; tarballs that it names are asked for here, too. */
async function forward(
  { url: path = '/', headers }: IncomingMessage,
  response: ServerResponse,
  upstream: string,
  own: string,
): Promise<void> {
  try {
    const accept = headers.accept ?? '*/*';
    const answer = await fetch(upstream + path.slice(1), { headers: { accept } });
    const type = answer.headers.get('content-type') ?? 'application/octet-stream';
    const body = Buffer.from(await answer.arrayBuffer());
    const isJson = type.includes('json');
    response.writeHead(answer.status, { 'content-type': type });
    response.end(isJson ? String(body).replaceAll(upstream, `${own}/`) : body);
  } catch {
    response.writeHead(502).end('{}');
  }
}

function packument(tarball: string, url: string) {
  const manifest = manifestOf(tarball);
  const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  const dist = { tarball: `${url}/files/${basename(tarball)}`, integrity };
  // Old enough for package managers that let new versions wait.
  const time = '2020-01-01T00:00:00.000Z';
  return {
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist } },
    time: { created: time, modified: time, [manifest.version]: time },
  };
}
