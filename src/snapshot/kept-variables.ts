import { quoteWord } from '../support/quote.js';
import type { CapturedShell, Variable } from './capture-script.js';

/**
 * Variables of the shell itself, and those that only fit a terminal: `IFS` would change what a command
 * means, and the others would be wrong in another shell.
 */
const SHELLS_OWN =
  /^(?:BASH|COMP_|EPOCH|HIST|MAIL|PROMPT|READLINE_|forkline_|PS\d$|OPT(?:ARG|IND|ERR)$)|^(?:_|COLUMNS|COMPREPLY|COPROC|DIRSTACK|EUID|FCEDIT|FIGNORE|FUNCNAME|FUNCNEST|GROUPS|IFS|IGNOREEOF|INPUTRC|LINENO|LINES|OLDPWD|PATH|PIPESTATUS|PPID|PWD|RANDOM|REPLY|SECONDS|SHLVL|SRANDOM|TIMEFORMAT|TMOUT|UID)$/;

/** The variables of an rc file that commands get. */
interface KeptVariables {
  /** Variables for the environment, by name. */
  readonly exported: Readonly<Record<string, string>>;
  /** Variables for the shell alone, arrays included; by name. */
  readonly declared: ReadonlyMap<string, Variable>;
}

/**
 * Selects the variables that an rc file has set and its functions and aliases may need.
 *
 * @param mayKeep Returns whether a command may have a variable. Text is one character a byte.
 */
export function keptVariables(
  { variables }: Pick<CapturedShell, 'variables'>,
  mayKeep: (name: string, value: string) => boolean,
): KeptVariables {
  const exported: Record<string, string> = {};
  const declared = new Map<string, Variable>();
  for (const [name, variable] of variables) {
    if (SHELLS_OWN.test(name) || namesEndedAgent(name, variables)) continue;
    if (!mayKeep(name, variable.declaration)) continue;
    const [, attributes, isSet] = /^declare -(\S+) \w+(=?)/.exec(variable.declaration) ?? [];
    if (attributes === undefined || isSet === '') continue;
    if (/x/.test(attributes) && !/[aA]/.test(attributes)) exported[name] = textOf(variable);
    else declared.set(name, variable);
  }
  return { exported, declared };
}

/**
 * Makes text that declares the variables that are not set yet.
 *
 * @param readable Variables whose declarations bash reads back unchanged. Errors in the others affect no
 * further line.
 */
export function declarationsOf(
  declared: ReadonlyMap<string, Variable>,
  readable: ReadonlySet<string>,
): string[] {
  return [...declared].map(([name, { declaration }]) => {
    const [, assignment] = PLAIN.exec(declaration) ?? [];
    const text = assignment ?? declaration.trimEnd();
    // `declare` must be the first word, or bash does not know that an array follows.
    const set = readable.has(name) ? text : `\\eval -- ${quoteWord(text, 'plain')}`;
    return `[[ -v ${name} ]] || ${set}`;
  });
}

/** A declaration that needs no `declare`: text without attributes, between double quotes, as most are. */
const PLAIN = /^declare -- (\w+="(?:[^"\\$`]|\\[\s\S])*")\n$/;

/** Returns whether a variable names a key agent that the rc file started, and that has ended since. */
function namesEndedAgent(name: string, variables: ReadonlyMap<string, Variable>): boolean {
  return (name === 'SSH_AUTH_SOCK' || name === 'SSH_AGENT_PID') && variables.has('SSH_AGENT_PID');
}

function textOf({ value }: Variable): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}
