import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, release, totalmem } from 'node:os';

const require = createRequire(import.meta.url);

/**
 * The version of an installed package, read from its manifest: some do not export theirs.
 * @param {string} name
 */
function versionOf(name) {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return String(JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')).version);
    } catch {
      // Not in this folder; the loop looks in the next one, as Node does.
    }
  }
  return 'unknown';
}

/** Describes the machine of the figures, for readers who compare them with others. */
export function machine() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
  };
}

export function versions() {
  const manifest = new URL('../../package.json', import.meta.url);
  const peers = ['execa', 'tinyexec', 'nano-spawn', 'tinybench'];
  return {
    forkline: String(JSON.parse(readFileSync(manifest, 'utf8')).version),
    ...Object.fromEntries(peers.map((name) => [name, versionOf(name)])),
  };
}
