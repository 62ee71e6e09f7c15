import type {
  Command,
  CommandNode,
  ParsedScript,
  PipelineNode,
  Statement,
  SyntaxNode,
} from 'unbash';
import { firstBytes, visibleText } from '../support/text.js';
import type { ShellParser } from './parser.js';
import type { PipelineCode } from './reading.js';
import { findProgram, programName } from './wrappers.js';

/** Programs that pass their input on, changed or not, and report nothing about the program that wrote it. */
const FILTERS: ReadonlySet<string> = new Set([
  ...['cat', 'tac', 'nl', 'less', 'more', 'head', 'tail', 'tee', 'pv', 'bat'],
  ...['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack', 'sed', 'awk', 'gawk', 'jq', 'yq'],
  ...['sort', 'uniq', 'wc', 'cut', 'tr', 'column', 'fold', 'fmt', 'paste', 'rev', 'ts'],
  ...['strings', 'xxd', 'od', 'hexdump', 'base64', 'sponge', 'expand', 'unexpand'],
]);

/**
 * Programs that only show something: when they show nothing, or an error on stderr, the exit code adds
 * nothing.
 */
const READERS: ReadonlySet<string> = new Set([
  ...FILTERS,
  ...['ls', 'echo', 'printf', 'find', 'fd', 'tree', 'stat', 'file', 'du', 'df', 'seq', 'yes'],
  ...['ps', 'pgrep', 'env', 'printenv', 'date', 'id', 'uname', 'history', 'type', 'which'],
  ...['lsof', 'ss', 'netstat', 'free', 'man', 'help', 'declare', 'set', 'true', ':'],
  ...['git log', 'git show', 'git diff', 'git status', 'git branch', 'git blame', 'git tag'],
  ...['git ls-files', 'git grep', 'git remote', 'git reflog', 'git config'],
]);

/** Programs with a subcommand as their first argument. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set([
  ...['git', 'npm', 'pnpm', 'yarn', 'bun', 'cargo', 'go', 'docker', 'kubectl', 'pip', 'uv'],
  ...['poetry', 'dotnet', 'mvn', 'bazel', 'terraform', 'systemctl', 'make', 'npx', 'deno'],
]);

/** Builtins that may end the script before the pipeline, or change what its exit code means. */
const OTHER_WAYS: ReadonlySet<string> = new Set(['exit', 'exec', 'trap', 'eval', 'return']);
const SOURCE: ReadonlySet<string> = new Set(['source', '.']);
/** Files that are often sourced before a command, and leave the shell's options alone. */
const HARMLESS_FILE = /(?:^|\/)(?:activate|nvm\.sh)$/;
const ERREXIT = /\bset[ \t]+-\w*e|\berrexit\b/;

/** Parsing a longer text would block the host's thread for too long. */
const MOST_CHARACTERS = 32 * 1024;

/**
 * Returns whether a text may end in a pipeline whose exit code needs an explanation. Most texts need no
 * parser after this check.
 */
export function mayHavePipelineCode(text: string): boolean {
  return text.includes('|') && text.length <= MOST_CHARACTERS && !text.includes('pipefail');
}

/**
 * Returns which program set the exit code, when the script ends in a pipeline with a filter as its last
 * program. Returns undefined unless that is certain.
 *
 * @param text The script's text, for which `mayHavePipelineCode()` has returned true.
 * @param exitCode The exit code of the shell.
 */
export function findPipelineCode(
  parser: ShellParser,
  script: ParsedScript,
  text: string,
  exitCode: number,
): PipelineCode | undefined {
  // With `errexit`, a failure before the pipeline would have ended the script.
  if (exitCode !== 0 && ERREXIT.test(text)) return undefined;
  const code = inStatements(script.commands, exitCode);
  return code === undefined || goesOtherWays(parser, script) ? undefined : code;
}

/** Returns whether the shell itself, not a child of its, may leave the order of lines. */
function goesOtherWays(parser: ShellParser, node: SyntaxNode): boolean {
  if (node.type === 'Command' && steers(node)) return true;
  let found = false;
  parser.forEachChild(node, (child) => {
    found ||= !isOtherShell(child) && goesOtherWays(parser, child);
  });
  return found;
}

/** Builtins in these nodes affect a subshell only. */
function isOtherShell(node: SyntaxNode): boolean {
  if (node.type === 'Pipeline') return node.commands.length > 1;
  return node.type === 'Subshell' || node.type === 'Word';
}

function steers({ name, args }: Command): boolean {
  const program = name?.value ?? '';
  const [file] = args;
  if (SOURCE.has(program)) return file?.type !== 'Word' || !HARMLESS_FILE.test(file.value);
  return OTHER_WAYS.has(program);
}

function inStatements(statements: readonly Statement[], code: number): PipelineCode | undefined {
  const last = statements.at(-1);
  if (last === undefined || last.background) return undefined;
  const { command } = last;
  if (command.type !== 'AndOr') return inPipeline(command, code);
  const [node, operator] = [command.commands.at(-1), command.operators.at(-1)];
  // With the other exit code, the command before the operator may have been the last to run.
  if (node === undefined || (code === 0) !== (operator === '&&')) return undefined;
  return inPipeline(node, code);
}

function inPipeline(node: PipelineNode, code: number): PipelineCode | undefined {
  if (node.type !== 'Pipeline') return inCommand(node, code);
  if (node.prefixes.some(({ type }) => type !== 'Time')) return undefined;
  const last = node.commands.at(-1);
  if (last?.type !== 'Command') return undefined;
  const program = nameOf(last);
  if (!FILTERS.has(program)) return undefined;
  return { program, before: node.commands.slice(0, -1).map(nameOf) };
}

/** A group's exit code is that of its last command. */
function inCommand(node: CommandNode, code: number): PipelineCode | undefined {
  switch (node.type) {
    case 'Subshell':
    case 'BraceGroup':
      return inStatements(node.body.commands, code);
    case 'Redirected':
      return inCommand(node.command, code);
    default:
      return undefined;
  }
}

/** The name of a stage, without its arguments: `pytest`, `npm test`, `./run`, `while`. */
function nameOf(node: CommandNode): string {
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
  const [word = 'the assignment', next] = values.slice(findProgram(values) ?? 0);
  const program = programName(word);
  const isWhole =
    next !== undefined && WITH_SUBCOMMANDS.has(program) && /^[a-z][\w:-]*$/.test(next);
  return visibleText(firstBytes(isWhole ? `${program} ${next}` : program, SHOWN_BYTES));
}

/** The programs with relevant exit codes, which the pipeline's exit code hides. */
export function hiddenPrograms({ before }: PipelineCode): readonly string[] {
  return [...new Set(before)].filter((program) => !READERS.has(program));
}
