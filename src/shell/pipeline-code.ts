import type {
  Command,
  CommandNode,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Statement,
  SyntaxNode,
} from 'unbash';
import type { ShellParser } from './parser.js';
import type { PipelineCode } from './reading.js';
import { readingOf } from './reads-to-end.js';
import { nameOf } from './stage-names.js';

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

/**
 * Returns whether the shell itself, not a child of its, runs one of these builtins, or text of which
 * nothing is known. By default those by which it may leave the order of lines.
 */
export function goesOtherWays(
  parser: ShellParser,
  node: SyntaxNode,
  builtins: ReadonlySet<string> = OTHER_WAYS,
): boolean {
  if (node.type === 'Command' && steers(node, builtins)) return true;
  let found = false;
  parser.forEachChild(node, (child) => {
    found ||= !isOtherShell(child) && goesOtherWays(parser, child, builtins);
  });
  return found;
}

/** Builtins in these nodes affect a subshell only. */
function isOtherShell(node: SyntaxNode): boolean {
  if (node.type === 'Pipeline') return node.commands.length > 1;
  return node.type === 'Subshell' || node.type === 'Word';
}

function steers({ name, args }: Command, builtins: ReadonlySet<string>): boolean {
  const program = name?.value ?? '';
  const [file] = args;
  if (SOURCE.has(program)) return file?.type !== 'Word' || !HARMLESS_FILE.test(file.value);
  return builtins.has(program);
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
  return node.type === 'Pipeline' ? filteredCode(node) : inCommand(node, code);
}

/**
 * Describes the exit code of a pipeline whose last program is a filter; undefined for another one.
 *
 * @param mayNegate Whether a `!` before it makes no difference to the caller.
 */
export function filteredCode(node: Pipeline, mayNegate = false): PipelineCode | undefined {
  const isOther = (type: string) => type !== 'Time' && !(mayNegate && type === 'Negation');
  if (node.prefixes.some(({ type }) => isOther(type))) return undefined;
  const last = node.commands.at(-1);
  if (last?.type !== 'Command') return undefined;
  const program = nameOf(last);
  if (!FILTERS.has(program)) return undefined;
  const before = node.commands.slice(0, -1).map(nameOf);
  const remedy = remedyFor(node, before);
  return { program, before, ...(remedy && { remedy }) };
}

function remedyFor(node: Pipeline, before: readonly string[]): PipelineCode['remedy'] {
  const first = before.findIndex((program) => !READERS.has(program));
  const readings = node.commands.slice(first + 1).map(readingOf);
  if (readings.includes('part')) return 'file';
  return readings.includes('verdict') ? 'PIPESTATUS' : undefined;
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

/** The programs with relevant exit codes, which the pipeline's exit code hides. */
export function hiddenPrograms({ before }: PipelineCode): readonly string[] {
  return [...new Set(before)].filter((program) => !READERS.has(program));
}
