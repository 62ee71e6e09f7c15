import { createRequire } from 'node:module';

/** Returns the version in this package's manifest. */
export function packageVersion(): string {
  // Resolved by the package's own name, wherever the bundler has put this file.
  const manifest: { version: string } = createRequire(import.meta.url)('forkline/package.json');
  return manifest.version;
}
