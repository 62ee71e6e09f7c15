import { SOCKET_VARIABLES } from './defaults.js';
import type { ResolvedSandbox } from './resolve.js';

/** Caches of programs that use the home directory, where a sandbox has no caches that can be written to. */
const NO_CACHES: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: '/tmp/.cache',
  npm_config_cache: '/tmp/.npm',
};

/**
 * Programs that check for a newer version of themselves connect to a host that is not part of the
 * command's work: the denial would be reported as if it were. Values that a caller has set stay.
 */
const NO_NEWER_VERSIONS: Readonly<Record<string, string>> = {
  npm_config_update_notifier: 'false',
  NO_UPDATE_NOTIFIER: '1',
  GH_NO_UPDATE_NOTIFIER: '1',
};

/** Caches are on another file system than the workspace: without this, uv says so at each installation. */
const NO_LINKS: Readonly<Record<string, string>> = { UV_LINK_MODE: 'copy' };

/** Directories with hidden files are on other file systems than their parents, at which git would stop. */
const ACROSS: Readonly<Record<string, string>> = { GIT_DISCOVERY_ACROSS_FILESYSTEM: '1' };

/**
 * Adapts a command's environment block to its sandbox.
 *
 * @param block `NAME=value` entries joined by NUL, one character a byte.
 */
export function sandboxEnvironment(block: string, sandbox: ResolvedSandbox): string {
  const { secrets } = sandbox;
  const proxy = sandbox.proxyPort === undefined ? {} : proxyVariables(sandbox.proxyPort, block);
  const added = { ...proxy, ...secrets?.variables, ...sandbox.agents.variables };
  const caches = cachesFor(block, sandbox);
  const own = sandbox.ownTmp ? { ...added, ...caches, TMPDIR: '/tmp' } : { ...added, ...caches };
  const lost = (name: string, value: string): boolean =>
    SOCKET_VARIABLES.includes(name) && !sandbox.sockets.some((path) => value.includes(path));
  const replaced = new Set(Object.keys(caches).map((name) => name.toLowerCase()));
  const entries = block.split('\0').flatMap((entry) => {
    const at = entry.indexOf('=');
    const name = entry.slice(0, at);
    if (replaced.has(name.toLowerCase())) return [];
    if (name in own || (sandbox.ownTmp && (name === 'TMP' || name === 'TEMP'))) return [];
    return sandbox.ownTmp && lost(name, entry.slice(at + 1)) ? [] : [entry];
  });
  const given = new Set(entries.map((entry) => entry.slice(0, entry.indexOf('='))));
  const unlessGiven = {
    ...(sandbox.hidden.length > 0 && ACROSS),
    ...(!sandbox.network && NO_NEWER_VERSIONS),
    ...(sandbox.caches !== undefined && NO_LINKS),
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
 * Returns the variables by which programs find their caches, except those that the command has been given
 * with a value of its own. The sandbox's are those of a home, and of a value of `XDG_CACHE_HOME`, that the
 * command need not have.
 */
function cachesFor(
  block: string,
  { caches, ownTmp }: ResolvedSandbox,
): Readonly<Record<string, string>> {
  const entries = block.split('\0').map((entry): [string, string] => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)];
  });
  const isHosts = (name: string): boolean =>
    process.env[name] === entries.find(([other]) => other === name)?.[1];
  // npm reads its variables in any spelling.
  const isGiven = (name: string): boolean =>
    entries.some(
      ([other, value]) =>
        other.toLowerCase() === name.toLowerCase() && process.env[other] !== value,
    );
  const isOfHome = caches !== undefined && isHosts('HOME') && isHosts('XDG_CACHE_HOME');
  const all = isOfHome ? caches.variables : ownTmp ? NO_CACHES : {};
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isGiven(name)));
}

/**
 * Returns the variables by which programs find the proxy, for each common convention. For npm and git, a
 * proxy in the user's own settings overrides the usual variables.
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

/** Adds one to the settings that git takes from its environment. */
function gitSetting(name: string, value: string, block: string): Readonly<Record<string, string>> {
  const [, given] = /(?:^|\0)GIT_CONFIG_COUNT=(\d{1,9})(?:\0|$)/.exec(block) ?? [];
  const index = Number(given ?? 0);
  return {
    GIT_CONFIG_COUNT: String(index + 1),
    [`GIT_CONFIG_KEY_${index}`]: name,
    [`GIT_CONFIG_VALUE_${index}`]: value,
  };
}
