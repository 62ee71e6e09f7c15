import { SOCKET_VARIABLES } from './defaults.js';
import type { ResolvedSandbox } from './resolve.js';

/** Caches that are in the home directory, where nothing can be written. */
const CACHES: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: '/tmp/.cache',
  npm_config_cache: '/tmp/.npm',
};

/**
 * Programs that look for a newer version of themselves do so at a host that is none of the command's
 * work: that it is denied would be told as if the work had been. What a caller has set stays.
 */
const NO_NEWER_VERSIONS: Readonly<Record<string, string>> = {
  npm_config_update_notifier: 'false',
  NO_UPDATE_NOTIFIER: '1',
  GH_NO_UPDATE_NOTIFIER: '1',
};

/** Directories with hidden files are other file systems than those in them, at which git would stop. */
const ACROSS: Readonly<Record<string, string>> = { GIT_DISCOVERY_ACROSS_FILESYSTEM: '1' };

/**
 * A command's environment block with what is different in its sandbox.
 *
 * @param block `NAME=value` entries joined by NUL, one character a byte.
 */
export function sandboxEnvironment(block: string, sandbox: ResolvedSandbox): string {
  const { secrets } = sandbox;
  const proxy = sandbox.proxyPort === undefined ? {} : proxyVariables(sandbox.proxyPort, block);
  const added = { ...proxy, ...secrets?.variables };
  const own = sandbox.ownTmp ? { ...added, ...CACHES, TMPDIR: '/tmp' } : added;
  const lost = (name: string, value: string): boolean =>
    SOCKET_VARIABLES.includes(name) && !sandbox.sockets.some((path) => value.includes(path));
  const entries = block.split('\0').flatMap((entry) => {
    const at = entry.indexOf('=');
    const name = entry.slice(0, at);
    if (name in own || (sandbox.ownTmp && (name === 'TMP' || name === 'TEMP'))) return [];
    return sandbox.ownTmp && lost(name, entry.slice(at + 1)) ? [] : [entry];
  });
  const given = new Set(entries.map((entry) => entry.slice(0, entry.indexOf('='))));
  const unlessGiven = {
    ...(sandbox.hidden.length > 0 && ACROSS),
    ...(!sandbox.network && NO_NEWER_VERSIONS),
  };
  const other = Object.entries(unlessGiven);
  const pairs = [...Object.entries(own), ...other.filter(([name]) => !given.has(name))].map(
    ([name, value]) => `${name}=${value}`,
  );
  const whole = [...entries.filter((entry) => entry !== ''), ...pairs].join('\0');
  // A variable of another name may have the same value.
  return (secrets?.all ?? []).reduce(
    (text, { value, standIn }) => text.replaceAll(value, () => standIn),
    whole,
  );
}

/**
 * By which programs find the proxy, whichever of them they know. With npm and git a proxy in their user's
 * own settings goes before the usual ones.
 */
function proxyVariables(port: number, block: string): Readonly<Record<string, string>> {
  const http = `http://127.0.0.1:${port}`;
  const not = 'localhost,127.0.0.1,::1';
  return {
    ...{ HTTP_PROXY: http, HTTPS_PROXY: http, http_proxy: http, https_proxy: http },
    ...{ ALL_PROXY: `socks5h://127.0.0.1:${port}`, all_proxy: `socks5h://127.0.0.1:${port}` },
    ...{ NO_PROXY: not, no_proxy: not, NODE_USE_ENV_PROXY: '1' },
    ...{ npm_config_proxy: http, npm_config_https_proxy: http, npm_config_noproxy: not },
    ...gitSetting('http.proxy', http, block),
  };
}

/** One more of the settings that git takes from its environment. */
function gitSetting(name: string, value: string, block: string): Readonly<Record<string, string>> {
  const [, given] = /(?:^|\0)GIT_CONFIG_COUNT=(\d{1,9})(?:\0|$)/.exec(block) ?? [];
  const index = Number(given ?? 0);
  return {
    GIT_CONFIG_COUNT: String(index + 1),
    [`GIT_CONFIG_KEY_${index}`]: name,
    [`GIT_CONFIG_VALUE_${index}`]: value,
  };
}
