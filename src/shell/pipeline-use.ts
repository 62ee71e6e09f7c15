import type { AndOr, Command, CommandNode, PipelineNode, Statement, SyntaxNode } from 'unbash';
import type { ShellParser } from './parser.js';
import { filteredCode, goesOtherWays, hiddenPrograms } from './pipeline-code.js';
import type { PipelineUse } from './reading.js';

/** Builtins that run text of which nothing is known: it may have set `pipefail`. */
const UNKNOWN_TEXT: ReadonlySet<string> = new Set(['eval']);

/**
 * Returns the last place where a script goes by the exit code of a filter, although a program before it has
 * one that matters: `pytest | tail; echo $?`, `make | tail && ./run`, `if make | tail; then`. Undefined
 * unless that is certain, and where the filter's own verdict is what is asked for: `make | grep -q x && y`.
 *
 * @param text The script's text, for which `mayHavePipelineCode()` has returned true.
 */
export function findPipelineUse(
  parser: ShellParser,
  script: SyntaxNode & { readonly commands: readonly Statement[] },
  text: string,
): PipelineUse | undefined {
  if (text.includes('PIPESTATUS') || !/\$\{?\?|&&|\|\||\b(?:if|while|until)\b/.test(text)) {
    return undefined;
  }
  const found = inList(parser, script.commands);
  return found === undefined || goesOtherWays(parser, script, UNKNOWN_TEXT) ? undefined : found;
}

function inList(parser: ShellParser, statements: readonly Statement[]): PipelineUse | undefined {
  for (let at = statements.length - 1; at >= 0; at -= 1) {
    const [statement, next] = [statements[at], statements[at + 1]];
    if (statement === undefined || statement.background) continue;
    const printed =
      next && asksForStatus(parser, next) ? useOf(statement.command, '$?') : undefined;
    const found = printed ?? inStatement(parser, statement.command);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inStatement(parser: ShellParser, node: Statement['command']): PipelineUse | undefined {
  switch (node.type) {
    case 'AndOr':
      return inAndOr(parser, node);
    case 'Subshell':
    case 'BraceGroup':
      return inList(parser, node.body.commands);
    case 'Redirected':
      return inStatement(parser, node.command);
    case 'If': {
      const clauses = [node.clause, ...node.elif.map(({ clause }) => clause)];
      return clauses.map(({ commands }) => decidedBy(commands, 'if')).find((use) => use);
    }
    case 'While':
      return decidedBy(node.clause.commands, node.kind);
    default:
      return undefined;
  }
}

function inAndOr(parser: ShellParser, { commands, operators }: AndOr): PipelineUse | undefined {
  for (let at = commands.length - 1; at >= 0; at -= 1) {
    const [node, operator] = [commands[at], operators[at]];
    if (node === undefined) continue;
    const decided = operator && withoutVerdict(useOf(node, operator));
    const found = decided ?? inStatement(parser, node);
    if (found !== undefined) return found;
  }
  return undefined;
}

function decidedBy(
  statements: readonly Statement[],
  usedBy: PipelineUse['usedBy'],
): PipelineUse | undefined {
  const last = statements.at(-1);
  return last && withoutVerdict(useOf(last.command, usedBy));
}

/** A condition on what `grep` finds is one on purpose. */
function withoutVerdict(use: PipelineUse | undefined): PipelineUse | undefined {
  return use === undefined || VERDICTS.has(use.program) ? undefined : use;
}

const VERDICTS: ReadonlySet<string> = new Set([
  ...['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack', 'awk', 'gawk', 'jq', 'yq', 'sed'],
]);

/** Describes the exit code with which these commands end, if it is that of a filter. */
function useOf(node: Statement['command'], usedBy: PipelineUse['usedBy']): PipelineUse | undefined {
  switch (node.type) {
    case 'AndOr': {
      const last = node.commands.at(-1);
      return last && useOf(last, usedBy);
    }
    case 'Subshell':
    case 'BraceGroup': {
      const last = node.body.commands.at(-1);
      const use = last && !last.background ? useOf(last.command, usedBy) : undefined;
      // Outside of the group, `PIPESTATUS` has the group's code.
      return use?.remedy === 'PIPESTATUS' ? { ...use, remedy: 'file' } : use;
    }
    case 'Redirected':
      return useOf(node.command, usedBy);
    case 'Pipeline': {
      const code = filteredCode(node, usedBy !== '$?');
      return code && hiddenPrograms(code).length > 0 ? { ...code, usedBy } : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns whether the first command of a statement has `$?` among its words. */
function asksForStatus(parser: ShellParser, { command }: Statement): boolean {
  const first = firstCommand(command);
  return first !== undefined && hasStatus(parser, first);
}

type Conditional = Extract<CommandNode, { type: 'TestCommand' | 'ArithmeticCommand' }>;

/** The command that the shell runs first. Others see the status of those before them. */
function firstCommand(
  node: Statement['command'] | PipelineNode,
): Command | Conditional | undefined {
  switch (node.type) {
    case 'Command':
    case 'TestCommand':
    case 'ArithmeticCommand':
      return node;
    case 'AndOr':
    case 'Pipeline':
      return node.commands[0] && firstCommand(node.commands[0]);
    case 'Redirected':
      return firstCommand(node.command);
    case 'If':
      return node.clause.commands[0] && firstCommand(node.clause.commands[0].command);
    case 'Subshell':
    case 'BraceGroup':
      return node.body.commands[0] && firstCommand(node.body.commands[0].command);
    default:
      return undefined;
  }
}

function hasStatus(parser: ShellParser, node: SyntaxNode): boolean {
  if (node.type === 'SimpleExpansion' && node.text === '$?') return true;
  if (node.type === 'ParameterExpansion' && /^\$\{\?/.test(node.text)) return true;
  if (node.type === 'ArithmeticCommand') return /\$\?/.test(node.body);
  let found = false;
  parser.forEachChild(node, (child) => {
    found ||= hasStatus(parser, child);
  });
  return found;
}
