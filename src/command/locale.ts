import { onBehalfOfNobody } from '../engine/caller.js';
import { warnHost } from '../support/logger.js';
import { engineCommand, requested } from './execute.js';
import { runApart } from './promise.js';

const NAME = 'LC_ALL=';
/** The warning that each bash prints at its start if it does not know the locale. */
const WARNING = /^bash: warning: setlocale: LC_ALL: cannot change locale/m;
/** The time limit of the check in milliseconds; a shell that does nothing ends much sooner. */
const CHECK_MS = 5000;

/** Values of LC_ALL of the host that name no locale of this system. */
const unknownValues = new Set<string>();
const checkedValues = new Set<string>();
let currentCheck: Promise<void> | undefined;

/**
 * Begins to check whether a shell knows the locale that LC_ALL names in an environment block. Each value
 * is checked once.
 */
export function lookForLocale(environment: string): void {
  const value = localeOf(environment);
  if (value === undefined || checkedValues.has(value)) return;
  checkedValues.add(value);
  const check = onBehalfOfNobody(() => checkLocale(value)).finally(() => {
    if (currentCheck === check) currentCheck = undefined;
  });
  currentCheck = check;
}

/** Settles once the current check has ended; undefined: no check is under way. */
export function localeIsKnown(): Promise<void> | undefined {
  return currentCheck;
}

/**
 * Returns the variables to set on top of an inherited environment. If the LC_ALL there is known to name no
 * locale of this system, they have `LC_ALL=C`, because otherwise each shell would begin its output, which a
 * model reads, with a warning.
 *
 * @param defaults Variables that take precedence over this `LC_ALL`.
 * @param given Variables that take precedence over both.
 */
export function overLocale(inherited: string, defaults: Variables, given: Variables): Variables {
  if (unknownValues.size === 0) return given;
  const value = localeOf(inherited);
  return value !== undefined && unknownValues.has(value)
    ? { LC_ALL: 'C', ...defaults, ...given }
    : given;
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

/** Checks whether bash warns of the locale. Ignores a failure to start bash: commands will report it. */
async function checkLocale(value: string): Promise<void> {
  const options = { cwd: '/', timeoutMs: CHECK_MS };
  const command = engineCommand(
    requested(':', options),
    `LC_ALL=${value}`,
    { ...options, streams: 'separate' },
    false,
    undefined,
    false,
  );
  const result = await runApart({ command }, undefined).catch(() => undefined);
  if (result === undefined || !('stderr' in result) || result.stderr.kind !== 'complete') return;
  if (!WARNING.test(result.stderr.text)) return;
  unknownValues.add(value);
  warnHost(
    `LC_ALL is ${value}, a locale that this system does not have: commands of tools get LC_ALL=C, ` +
      'which has the same effect, without a warning at the start of each output.',
    'FORKLINE_NO_LOCALE',
  );
}
