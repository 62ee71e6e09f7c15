import {
  loadShellParser,
  parseShell,
  preloadShellParser,
  type ShellParser,
} from '../../../shell/parser.js';
import type { Computed } from '../../../shell/reading.js';
import { findStages, type Stage } from '../../../shell/stages.js';
import { checkSwitch, isMissing, type OptionNames, readOptions } from '../../../support/checks.js';
import { disregard, InputError, messageOf, showValue } from '../../../support/errors.js';
import { isExecRule } from './intercept-exec.js';
import {
  DEFAULT_INTERCEPTOR_RULES,
  type InterceptorExecRule,
  type InterceptorNeeds,
  type InterceptorRule,
} from './intercept-rules.js';
import { canDo, type InterceptorTools, type KnownTools, readTools } from './intercept-tools.js';

/** Options of the interceptor: rules that block commands for which there is a better tool. */
export interface InterceptorOptions {
  /** Whether the interceptor is on. Default: false. */
  readonly enabled?: boolean | undefined;
  /**
   * The runtime's tools: their names, or what each can do by its name, as `{ write: { append: true } }`; a
   * function if they may change. A command that asks for more than a tool can passes.
   */
  readonly tools: InterceptorTools | (() => InterceptorTools);
  /** The rules. Default: `DEFAULT_INTERCEPTOR_RULES`. */
  readonly rules?: readonly (InterceptorRule | InterceptorExecRule)[] | undefined;
}

const NAMES: OptionNames<InterceptorOptions> = { enabled: true, tools: true, rules: true };
const RULE_NAMES: OptionNames<InterceptorRule> = {
  pattern: true,
  flags: true,
  tool: true,
  message: true,
  needs: true,
};
const NEED_NAMES: OptionNames<InterceptorNeeds> = { output: true, computed: true };

/** Finds the first rule that applies and matches one of the texts of a command. */
export type Interceptor = (...commands: string[]) => Promise<InterceptorRule | undefined>;

interface CompiledRule {
  readonly rule: InterceptorRule;
  readonly expression: RegExp;
}

/**
 * Makes an interceptor; undefined: it is off.
 *
 * @param warn Receives one warning for each rule with an invalid pattern, which is skipped.
 * @throws {InputError} The options are not valid.
 */
export function createInterceptor(
  options: InterceptorOptions | undefined,
  warn: (message: string) => void,
): Interceptor | undefined {
  if (isMissing(options)) return undefined;
  readOptions('interceptor', options, NAMES, { within: 'interceptor.' });
  checkSwitch('interceptor.enabled', options.enabled);
  if (options.enabled !== true) return undefined;
  const { tools } = options;
  const fixed = typeof tools === 'function' ? undefined : readTools(tools);
  if (!isMissing(options.rules) && !Array.isArray(options.rules)) {
    throw new InputError(`interceptor.rules: expected an array, got ${showValue(options.rules)}`);
  }
  options.rules?.forEach(checkRule);
  const all = options.rules ?? DEFAULT_INTERCEPTOR_RULES;
  const rules = compileRules(
    all.filter((rule) => !isExecRule(rule)),
    warn,
  );
  if (fixed === undefined || rules.some(({ rule }) => fixed.has(rule.tool))) {
    preloadShellParser();
  }
  const told = once((why) => warn(`interceptor: commands are not checked: ${why}`));
  return async (...commands) => {
    const known = fixed ?? toolsOfNow(tools, told);
    const live = rules.filter(({ rule }) => known.has(rule.tool));
    if (live.length === 0) return undefined;
    const parser = await loadShellParser();
    const stages = [...new Set(commands)].flatMap((command) => stagesOf(parser, command));
    return live.find((each) => stages.some((stage) => applies(each, stage, known)))?.rule;
  };
}

/** Checks the names of a rule's fields, since a misspelt one would silently have no effect. */
function checkRule(rule: InterceptorRule | InterceptorExecRule, index: number): void {
  const name = `interceptor.rules[${index}]`;
  // The tool's sandbox keeps it.
  if (isExecRule(rule)) return;
  const { needs } = readOptions(name, rule, RULE_NAMES, { within: `${name}.` });
  if (needs) readOptions(`${name}.needs`, needs, NEED_NAMES, { within: `${name}.needs.` });
}

/** Returns the present tools. When the function fails, all commands pass. */
function toolsOfNow(tools: InterceptorOptions['tools'], warn: (why: string) => void): KnownTools {
  try {
    const given = typeof tools === 'function' ? tools() : tools;
    disregard(given);
    return readTools(given);
  } catch (error) {
    warn(messageOf(error));
  }
  return new Map();
}

function once(warn: (message: string) => void): (message: string) => void {
  let warned = false;
  return (message) => {
    if (!warned) warn(message);
    warned = true;
  };
}

/** Makes the message for the model about a blocked command. */
export function blockedMessage(rule: InterceptorRule, command: string): string {
  return `Blocked: ${rule.message}\n\nOriginal command: ${command}`;
}

function stagesOf(parser: ShellParser, command: string): readonly Stage[] {
  const script = parseShell(parser, command);
  if (script === undefined) return [];
  try {
    return findStages(script);
  } catch {
    // The parser reads words lazily. A command at which it fails passes.
    return [];
  }
}

function compileRules(
  rules: readonly InterceptorRule[],
  warn: (message: string) => void,
): CompiledRule[] {
  return rules.flatMap((rule) => {
    try {
      // With `g` and `y`, an expression would remember the end of the last match.
      const flags = (rule.flags ?? '').replace(/[gy]/g, '');
      return [{ rule, expression: new RegExp(rule.pattern, flags) }];
    } catch (error) {
      const why = messageOf(error);
      warn(`interceptor: the rule for ${showValue(rule.tool)} is skipped: ${why}`);
      return [];
    }
  });
}

function applies(
  { rule: { tool, needs }, expression }: CompiledRule,
  stage: Stage,
  known: KnownTools,
): boolean {
  if (needs?.output !== undefined && !goesTo(stage, needs.output)) return false;
  if (needs?.computed !== undefined && RANK[stage.computed] > RANK[needs.computed]) return false;
  if (!canDo(known.get(tool) ?? {}, stage.asks)) return false;
  return stage.texts.some((text) => expression.test(text));
}

/** The end of a file is in a file. */
function goesTo({ output }: Stage, asked: InterceptorNeeds['output']): boolean {
  return output === asked || (output === 'append' && asked === 'file');
}

const RANK: Readonly<Record<Computed, number>> = { nothing: 0, variables: 1, commands: 2 };
