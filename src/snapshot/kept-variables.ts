import { quoteWord } from '../support/quote.js';
import type { CapturedShell, Variable } from './capture-script.js';

/**
 * Variables of the shell itself, and those that only fit a terminal: `IFS` would change what a
 * command means, and the rest is not true of another shell.
 */
const SHELLS_OWN =
  /^(?:BASH|COMP_|EPOCH|HIST|MAIL|PROMPT|READLINE_|forkline_|PS\d$|OPT(?:ARG|IND|ERR)$)|^(?:_|COLUMNS|COMPREPLY|COPROC|DIRSTACK|EUID|FCEDIT|FIGNORE|FUNCNAME|FUNCNEST|GROUPS|IFS|IGNOREEOF|INPUTRC|LINENO|LINES|OLDPWD|PATH|PIPESTATUS|PPID|PWD|RANDOM|REPLY|SECONDS|SHLVL|SRANDOM|TIMEFORMAT|TMOUT|UID)$/;

/** What commands take of an rc file's variables. */
interface KeptVariables {
  /** For the environment, by name. */
  readonly exported: Readonly<Record<string, string>>;
  /** For the shell alone, arrays among them; by name. */
  readonly declared: ReadonlyMap<string, Variable>;
}

/**
 * What an rc file has set and its functions and aliases may need.
 *
 * @param mayKeep Whether a command may have a variable. Text is one character a byte.
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
 * Text that declares those variables that are not there.
 *
 * @param readable Those whose declarations bash reads as they were. Others take nothing with them.
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

/** What needs no `declare`: text without attributes, between double quotes. Most are that. */
const PLAIN = /^declare -- (\w+="(?:[^"\\$`]|\\[\s\S])*")\n$/;

/** The agent for keys that the file has started is gone by now. */
function namesEndedAgent(name: string, variables: ReadonlyMap<string, Variable>): boolean {
  return (name === 'SSH_AUTH_SOCK' || name === 'SSH_AGENT_PID') && variables.has('SSH_AGENT_PID');
}

function textOf({ value }: Variable): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}
