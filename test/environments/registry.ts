import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
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
 * optional dependencies chosen by platform. It knows no other package.
 */
export async function serveRegistry(tarballs: readonly string[]): Promise<Registry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const file = tarballs.find((tarball) => path === `files/${basename(tarball)}`);
    const named = tarballs.find((tarball) => manifestOf(tarball).name === path);
    if (file !== undefined) response.end(readFileSync(file));
    else if (named !== undefined) response.end(JSON.stringify(packument(named, url)));
    else response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.close() };
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
