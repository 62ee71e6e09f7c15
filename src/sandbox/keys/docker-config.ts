import { readFileSync, statSync } from 'node:fs';

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

function readObject(path: string): object | undefined {
  try {
    if (statSync(path).size > MOST_BYTES) return undefined;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
