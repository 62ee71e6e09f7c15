import { readFileSync } from 'node:fs';

/** Returns the version in this package's manifest. The built package has it in its code. */
export function packageVersion(): string {
  const manifest = new URL('../../../package.json', import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}
