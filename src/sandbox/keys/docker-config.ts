import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reachableDirectories } from '../../support/directories/reachable.js';
import { followTrusted } from '../pins/follow.js';

/**
 * Directories in `~/.docker` with programs, and with the names and addresses of contexts. All else is hidden, since
 * docker and its plug-ins have credentials under many names: copies of `config.json`, keys, tokens.
 */
const SHOWN: readonly string[] = ['cli-plugins', 'contexts/meta'];

/** Settings of docker's `config.json` that contain no credentials and start no program for them. */
const HARMLESS: readonly string[] = [
  'currentContext',
  'cliPluginsExtraDirs',
  'aliases',
  'detachKeys',
  'experimental',
  'features',
  'imagesFormat',
  'networksFormat',
  'nodesFormat',
  'pluginsFormat',
  'psFormat',
  'secretFormat',
  'serviceInspectFormat',
  'servicesFormat',
  'statsFormat',
  'tasksFormat',
  'volumesFormat',
];
const MOST_BYTES = 1024 * 1024;

/**
 * Returns what commands see of docker's `config.json`: none of its credentials, nor the programs that have
 * them. Undefined: there is no such file, or it is not readable as JSON.
 */
export function shownDockerConfig(path: string): string | undefined {
  const whole = readObject(path);
  if (whole === undefined) return undefined;
  const shown = Object.entries(whole).filter(([name]) => HARMLESS.includes(name));
  return `${JSON.stringify(Object.fromEntries(shown), undefined, 2)}\n`;
}

/** Returns the directories in `~/.docker` that commands may read, by real paths. */
export function publicDockerDirectories(home: string): readonly string[] {
  const docker = join(home, '.docker');
  return SHOWN.flatMap((name) => {
    const found = followTrusted(join(docker, name), reachableDirectories());
    return found?.exists ? found.real : [];
  });
}

function readObject(path: string): object | undefined {
  try {
    if (statSync(path).size > MOST_BYTES) return undefined;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
