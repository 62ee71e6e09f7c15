import {
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import type { ExecRule, SandboxExec } from './exec-policy.js';
import { checkPattern, checkText } from './patterns.js';

const NAMES: OptionNames<SandboxExec> = {
  record: true,
  rules: true,
  otherwise: true,
  askTimeoutMs: true,
};
const RULE_NAMES: OptionNames<ExecRule> = {
  program: true,
  argv: true,
  exact: true,
  answer: true,
  say: true,
};
const MOST_RULES = 256;
/** The most programs of a rule, and the most patterns. */
const MOST_OF_A_RULE = 64;
const LONGEST_ASK_MS = 3_600_000;

/**
 * Checks what a policy says about programs.
 *
 * @throws {InputError} Names the field, what is expected and what was given.
 */
export function checkExec(given: SandboxExec): void {
  const exec = readOptions('sandbox.exec', given, NAMES, { within: 'sandbox.exec.' });
  checkSwitch('sandbox.exec.record', exec.record);
  if (exec.otherwise !== undefined) checkAnswer('sandbox.exec.otherwise', exec.otherwise);
  if (exec.askTimeoutMs !== undefined) {
    wholeFrom('sandbox.exec.askTimeoutMs', 1, exec.askTimeoutMs, LONGEST_ASK_MS);
  }
  if (exec.rules === undefined) return;
  checkArray('sandbox.exec.rules', exec.rules, MOST_RULES, 'rules');
  for (const [index, rule] of exec.rules.entries()) {
    checkExecRule(`sandbox.exec.rules[${index}]`, rule);
  }
}

/**
 * Checks one rule.
 *
 * @param name Of the rule in error messages.
 * @throws {InputError} Names the field, what is expected and what was given.
 */
export function checkExecRule(name: string, given: ExecRule): void {
  const rule = readOptions(name, given, RULE_NAMES, { within: `${name}.` });
  checkAnswer(`${name}.answer`, rule.answer);
  checkSwitch(`${name}.exact`, rule.exact);
  if (rule.program !== undefined) checkPrograms(`${name}.program`, rule.program);
  if (rule.say !== undefined) checkText(`${name}.say`, rule.say, 'a text');
  if (rule.argv === undefined) return;
  checkArray(`${name}.argv`, rule.argv, MOST_OF_A_RULE, 'patterns');
  for (const [index, pattern] of rule.argv.entries()) {
    checkPattern(`${name}.argv[${index}]`, pattern);
  }
}

function checkAnswer(name: string, answer: unknown): void {
  if (answer === 'allow' || answer === 'deny' || answer === 'ask') return;
  throw new InputError(`${name}: expected 'allow' or 'deny' or 'ask', got ${showValue(answer)}`);
}

function checkPrograms(name: string, given: unknown): void {
  if (!Array.isArray(given)) {
    checkProgram(name, given);
    return;
  }
  checkArray(name, given, MOST_OF_A_RULE, 'programs');
  // Without a name a rule would be about any program.
  if (given.length === 0) throw new InputError(`${name}: expected at least one program, got []`);
  for (const [index, one] of given.entries()) checkProgram(`${name}[${index}]`, one);
}

function checkProgram(name: string, program: unknown): void {
  checkText(name, program, 'the name of a program, or a path');
  // `~user` and directories are no programs.
  const isProgram = program !== '' && !/(?:^|\/)\.{0,2}$/.test(String(program));
  if (isProgram) return;
  const expected = 'the name of a program, or a path';
  throw new InputError(`${name}: expected ${expected}, got ${showValue(program)}`);
}

function checkArray(
  name: string,
  given: unknown,
  most: number,
  what: string,
): asserts given is readonly unknown[] {
  if (isMissing(given) || !Array.isArray(given)) {
    throw new InputError(`${name}: expected an array of ${what}, got ${showValue(given)}`);
  }
  if (given.length <= most) return;
  throw new InputError(`${name}: expected at most ${most} ${what}, got ${given.length}`);
}
