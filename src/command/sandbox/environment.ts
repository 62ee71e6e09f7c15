import type { EngineSandbox } from '../../engine/message.js';
import { SOCKET_VARIABLES } from './defaults.js';

/** Caches that are in the home directory, where nothing can be written. */
const CACHES: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: '/tmp/.cache',
  npm_config_cache: '/tmp/.npm',
};

/**
 * A command's environment block with what is different in its sandbox.
 *
 * @param block `NAME=value` entries joined by NUL, one character a byte.
 */
export function sandboxEnvironment(block: string, sandbox: EngineSandbox): string {
  if (!sandbox.ownTmp) return block;
  const lost = (name: string, value: string): boolean =>
    SOCKET_VARIABLES.includes(name) && !sandbox.sockets.some((path) => value.includes(path));
  const entries = block.split('\0').flatMap((entry) => {
    const at = entry.indexOf('=');
    const name = entry.slice(0, at);
    if (name === 'TMPDIR' || name === 'TMP' || name === 'TEMP' || name in CACHES) return [];
    return lost(name, entry.slice(at + 1)) ? [] : [entry];
  });
  const caches = Object.entries(CACHES).map(([name, path]) => `${name}=${path}`);
  return [...entries.filter((entry) => entry !== ''), 'TMPDIR=/tmp', ...caches].join('\0');
}
