import { onBehalfOfNobody } from '../engine/caller.js';
import { warnHost } from '../support/logger.js';
import { engineCommand, requested } from './execute.js';
import { runApart } from './promise.js';

const NAME = 'LC_ALL=';
/** What bash says at its start, and whenever it starts another one. */
const WARNING = /^bash: warning: setlocale: LC_ALL: cannot change locale/m;
/** A shell that does nothing is over long before, in milliseconds. */
const LOOK_MS = 5000;

/** Values of LC_ALL, as the host had them, that name no locale of this system. */
const missing = new Set<string>();
const asked = new Set<string>();
let looking: Promise<void> | undefined;

/**
 * Begins to find out whether a shell knows the locale that is asked for by the LC_ALL of an
 * environment block. Each value is asked for once.
 */
export function lookForLocale(environment: string): void {
  const value = localeOf(environment);
  if (value === undefined || asked.has(value)) return;
  asked.add(value);
  const look = onBehalfOfNobody(() => findOut(value)).finally(() => {
    if (looking === look) looking = undefined;
  });
  looking = look;
}

/** Settles once that is known; undefined: nothing is being found out. */
export function localeIsKnown(): Promise<void> | undefined {
  return looking;
}

/**
 * What is laid over an inherited environment whose LC_ALL is known to name no locale of this system:
 * each shell would begin the output that a model reads with a warning.
 *
 * @param given Takes precedence, as those before it do.
 */
export function overLocale(inherited: string, defaults: Variables, given: Variables): Variables {
  if (missing.size === 0) return given;
  const value = localeOf(inherited);
  return value !== undefined && missing.has(value) ? { LC_ALL: 'C', ...defaults, ...given } : given;
}

type Variables = Readonly<Record<string, string | undefined>> | undefined;

function localeOf(environment: string): string | undefined {
  const at = environment.startsWith(NAME) ? 0 : environment.indexOf(`\0${NAME}`) + 1;
  if (at === 0 && !environment.startsWith(NAME)) return undefined;
  const start = at + NAME.length;
  const end = environment.indexOf('\0', start);
  const value = environment.slice(start, end === -1 ? undefined : end);
  return value === '' || value === 'C' || value === 'POSIX' ? undefined : value;
}

/** Whether bash warns of it. That it can't be asked is left to the commands to tell. */
async function findOut(value: string): Promise<void> {
  const options = { cwd: '/', timeoutMs: LOOK_MS };
  const command = engineCommand(
    requested(':', options),
    `LC_ALL=${value}`,
    { ...options, streams: 'separate' },
    false,
    undefined,
    false,
  );
  const result = await runApart(command, undefined).catch(() => undefined);
  if (result === undefined || !('stderr' in result) || result.stderr.kind !== 'complete') return;
  if (!WARNING.test(result.stderr.text)) return;
  missing.add(value);
  warnHost(
    `LC_ALL is ${value}, a locale that this system does not have: commands of tools get LC_ALL=C, ` +
      'which has the same effect, without a warning at the start of each output.',
    'FORKLINE_NO_LOCALE',
  );
}
