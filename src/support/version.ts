import { createRequire } from 'node:module';

/** The version of this package, as its manifest has it. */
export function packageVersion(): string {
  // By the package's own name, wherever in it the bundler has put this file.
  const manifest: { version: string } = createRequire(import.meta.url)('forkline/package.json');
  return manifest.version;
}
