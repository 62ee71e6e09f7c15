import { checkExecRule } from '../../../sandbox/exec/check-exec.js';
import type { ExecRule } from '../../../sandbox/exec/exec-policy.js';
import type { SandboxOption, SandboxPolicy } from '../../../sandbox/policy.js';
import { readSandbox } from '../../../sandbox/read-policy.js';
import { type OptionNames, readOptions } from '../../../support/checks.js';
import { InputError, showValue } from '../../../support/errors.js';
import type { InterceptorExecRule, InterceptorRule } from './intercept-rules.js';
import { type InterceptorTools, readTools } from './intercept-tools.js';

const NAMES: OptionNames<InterceptorExecRule> = {
  program: true,
  argv: true,
  exact: true,
  tool: true,
  message: true,
  needs: true,
};

/** The options of a tool that have to do with such rules. */
interface ExecTerms {
  readonly sandbox?: SandboxOption | undefined;
  readonly interceptor?:
    | {
        readonly enabled?: boolean | undefined;
        readonly tools: InterceptorTools | (() => InterceptorTools);
        readonly rules?: readonly (InterceptorRule | InterceptorExecRule)[] | undefined;
      }
    | undefined;
}

/** Whether a rule holds for what is executed. */
export function isExecRule(
  rule: InterceptorRule | InterceptorExecRule,
): rule is InterceptorExecRule {
  return rule?.needs === 'exec';
}

/** @throws {InputError} A field of the rule is not known or not valid. */
function checkInterceptorExecRule(name: string, given: InterceptorExecRule): void {
  const rule = readOptions(name, given, NAMES, {
    within: `${name}.`,
    mistakes: { pattern: "beside needs: 'exec' it is `program` and `argv`" },
  });
  for (const field of ['tool', 'message'] as const) {
    if (typeof rule[field] === 'string') continue;
    throw new InputError(`${name}.${field}: expected a string, got ${showValue(rule[field])}`);
  }
  if (rule.program === undefined && !rule.argv?.length) {
    throw new InputError(`${name}.program: expected a program, or patterns in argv, got nothing`);
  }
  checkExecRule(name, toRule(rule));
}

/**
 * Returns a tool's options with the interceptor's rules for programs in the policy of its sandbox.
 *
 * @throws {InputError} A rule is not valid, there is no sandbox that could keep it, or the runtime's tools may
 * change.
 */
export function withExecRules<Options extends ExecTerms>(options: Options): Options {
  const { interceptor, sandbox } = options;
  const all = interceptor?.enabled === true ? interceptor.rules : undefined;
  const rules = Array.isArray(all) ? (all as NonNullable<typeof all>) : [];
  for (const [at, rule] of rules.entries()) {
    if (isExecRule(rule)) checkInterceptorExecRule(`interceptor.rules[${at}]`, rule);
  }
  const index = rules.findIndex(isExecRule);
  if (interceptor === undefined || index < 0) return options;
  const name = `interceptor.rules[${index}].needs`;
  if (typeof interceptor.tools === 'function') {
    throw new InputError(
      `${name}: expected no 'exec' where tools is a function: what a sandbox denies does not change`,
    );
  }
  const policy = readSandbox(sandbox);
  if (sandbox === undefined || policy === undefined || policy.require === 'landlock') {
    const expected = "expected no 'exec' without a sandbox that judges programs";
    throw new InputError(`${name}: ${expected}, got sandbox: ${showValue(sandbox)}`);
  }
  const known = readTools(interceptor.tools);
  const live = rules.filter(isExecRule).filter(({ tool }) => known.has(tool));
  if (live.length === 0) return options;
  return { ...options, sandbox: withRulesBefore(sandbox, live.map(toRule)) };
}

function withRulesBefore(sandbox: SandboxOption, rules: readonly ExecRule[]): SandboxPolicy {
  const policy = typeof sandbox === 'string' ? { mode: sandbox } : sandbox;
  const { exec } = policy;
  return { ...policy, exec: { ...exec, rules: [...rules, ...(exec?.rules ?? [])] } };
}

function toRule({ program, argv, exact, message }: InterceptorExecRule): ExecRule {
  return { program, argv, exact, answer: 'deny', say: message };
}
