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
import {
  DEFAULT_INTERCEPTOR_RULES,
  type InterceptorNeeds,
  type InterceptorRule,
} from './intercept-rules.js';

/** Options of the interceptor: rules that block commands for which there is a better tool. */
export interface InterceptorOptions {
  /** Whether the interceptor is on. Default: false. */
  readonly enabled?: boolean | undefined;
  /** Names of the runtime's tools; a function if they may change. */
  readonly tools: readonly string[] | (() => readonly string[]);
  /** The rules. Default: `DEFAULT_INTERCEPTOR_RULES`. */
  readonly rules?: readonly InterceptorRule[] | undefined;
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
  if (!Array.isArray(tools) && typeof tools !== 'function') {
    throw new InputError(
      `interceptor.tools: expected an array or a function, got ${showValue(tools)}`,
    );
  }
  if (!isMissing(options.rules) && !Array.isArray(options.rules)) {
    throw new InputError(`interceptor.rules: expected an array, got ${showValue(options.rules)}`);
  }
  options.rules?.forEach(checkRule);
  const rules = compileRules(options.rules ?? DEFAULT_INTERCEPTOR_RULES, warn);
  if (typeof tools === 'function' || rules.some(({ rule }) => tools.includes(rule.tool))) {
    preloadShellParser();
  }
  const told = once((why) => warn(`interceptor: commands are not checked, tools: ${why}`));
  return async (...commands) => {
    const names = namesOf(tools, told);
    const live = rules.filter(({ rule }) => names.includes(rule.tool));
    if (live.length === 0) return undefined;
    const parser = await loadShellParser();
    const stages = [...new Set(commands)].flatMap((command) => stagesOf(parser, command));
    return live.find((each) => stages.some((stage) => applies(each, stage)))?.rule;
  };
}

/** Checks the names of a rule's fields, since a misspelt one would silently have no effect. */
function checkRule(rule: InterceptorRule, index: number): void {
  const name = `interceptor.rules[${index}]`;
  const { needs } = readOptions(name, rule, RULE_NAMES, { within: `${name}.` });
  if (needs) readOptions(`${name}.needs`, needs, NEED_NAMES, { within: `${name}.needs.` });
}

/** Returns the present tools. When the function fails, all commands pass. */
function namesOf(
  tools: InterceptorOptions['tools'],
  warn: (why: string) => void,
): readonly string[] {
  if (typeof tools !== 'function') return tools;
  try {
    const names: unknown = tools();
    if (Array.isArray(names)) return names;
    disregard(names);
    warn(`expected an array of names, got ${showValue(names)}`);
  } catch (error) {
    warn(messageOf(error));
  }
  return [];
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

function applies({ rule: { needs }, expression }: CompiledRule, stage: Stage): boolean {
  if (needs?.output !== undefined && needs.output !== stage.output) return false;
  if (needs?.computed !== undefined && RANK[stage.computed] > RANK[needs.computed]) return false;
  return stage.texts.some((text) => expression.test(text));
}

const RANK: Readonly<Record<Computed, number>> = { nothing: 0, variables: 1, commands: 2 };
