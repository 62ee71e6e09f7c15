import type { Command, CommandNode, Statement } from 'unbash';
import { firstBytes, visibleText } from '../support/text.js';
import { findNamedProgram, programName } from './wrappers.js';

/** Programs with a subcommand as their first argument. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set([
  ...['git', 'npm', 'pnpm', 'yarn', 'bun', 'cargo', 'go', 'docker', 'kubectl', 'pip', 'uv'],
  ...['poetry', 'dotnet', 'mvn', 'bazel', 'terraform', 'systemctl', 'make', 'npx', 'deno'],
]);

/** The name of a stage, without its arguments: `pytest`, `npm test`, `./run`, `while`. */
export function nameOf(node: CommandNode): string {
  switch (node.type) {
    case 'Command':
      return programOf(node);
    case 'Redirected':
      return nameOf(node.command);
    case 'Subshell':
    case 'BraceGroup':
      return nameOfLast(node.body.commands);
    default:
      return `the ${node.type.toLowerCase()}`;
  }
}

function nameOfLast(statements: readonly Statement[]): string {
  const last = statements.at(-1)?.command;
  const node = last?.type === 'AndOr' ? last.commands.at(-1) : last;
  const command = node?.type === 'Pipeline' ? node.commands.at(-1) : node;
  return command === undefined ? 'the group' : nameOf(command);
}

const SHOWN_BYTES = 40;

function programOf({ name, args }: Command): string {
  const words = name === undefined ? [] : [name, ...args];
  const values = words.map((word) => (word.type === 'Word' ? word.value : word.text));
  const [word = 'the assignment', next] = values.slice(findNamedProgram(values));
  const program = programName(word);
  const isWhole =
    next !== undefined && WITH_SUBCOMMANDS.has(program) && /^[a-z][\w:-]*$/.test(next);
  return visibleText(firstBytes(isWhole ? `${program} ${next}` : program, SHOWN_BYTES));
}
