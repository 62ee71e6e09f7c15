import type { Command, CommandNode, PipelineNode, Script, Statement } from 'unbash';
import { askedByProgram, askedByWords } from './asks.js';
import { pipedOutput, redirectedOutput, type StageOutput, teeOutput } from './output.js';
import type { Computed, ToolAbility } from './reading.js';
import { maskedRedirection, maskedWords, mostComputed } from './text.js';
import { findProgram, programName } from './wrappers.js';

/** A simple command that reads no pipe, as rules see it. */
export interface Stage {
  /**
   * Program, arguments and redirections, separated by one blank, without leading assignments, `sudo`,
   * `env` and `command`. Quoted text is empty there: `grep "a b" >x` is `grep "" >x`. For a program
   * called by a path in a standard directory, a second text has the program's name instead.
   */
  readonly texts: readonly string[];
  readonly output: StageOutput;
  /** The most that the shell must evaluate in its words, redirections and here-documents. */
  readonly computed: Computed;
  /** What it asks of a tool in its place, together with the programs that show its output. */
  readonly asks: ReadonlySet<ToolAbility>;
}

/** Where the output of a stage goes, and what is asked of it on the way. */
interface StagePlace {
  readonly output: StageOutput;
  readonly asks: readonly ToolAbility[];
}

/**
 * Finds the stages of a command that a model could have asked a tool for: those of its lists, groups and
 * branches. Leaves out what a tool cannot replace: later stages of a pipe, conditions, loops, functions,
 * and the contents of `$(…)`, backquotes and `<(…)`.
 *
 * The other readers of shell text: `findWordTokens()` for values, `takeLeadingCd()` for one `cd`.
 */
export function findStages(script: Script): Stage[] {
  return inList(script.commands, { output: 'shown', asks: [] });
}

function inList(statements: readonly Statement[], around: StagePlace): Stage[] {
  return statements.flatMap(({ command }) =>
    command.type === 'AndOr'
      ? command.commands.flatMap((each) => inPipeline(each, around))
      : inPipeline(command, around),
  );
}

function inPipeline(node: PipelineNode, around: StagePlace): Stage[] {
  if (node.type !== 'Pipeline') return inCommand(node, around);
  const [first, ...later] = node.commands;
  if (first === undefined) return [];
  const asked = later.flatMap((each) =>
    each.type === 'Command' ? askedByProgram(maskedWords(each)) : [],
  );
  const output = pipedOutput(later, around.output);
  return inCommand(first, { output, asks: [...around.asks, ...asked] });
}

function inCommand(node: CommandNode, around: StagePlace): Stage[] {
  switch (node.type) {
    case 'Command':
      return simpleStage(node, around);
    case 'Subshell':
    case 'BraceGroup':
      return inList(node.body.commands, around);
    case 'If': {
      const branches = [node.then, ...node.elif.map((elif) => elif.then)];
      if (node.else !== undefined) branches.push(node.else);
      return branches.flatMap((branch) => inList(branch.commands, around));
    }
    case 'Case':
      return node.items.flatMap((item) => inList(item.body.commands, around));
    case 'Redirected': {
      // A group with redirected input, or whose output is collected from several commands.
      if (node.redirects.some(({ operator }) => operator.startsWith('<'))) return [];
      const redirected = redirectedOutput(node.redirects) ?? 'shown';
      const output = redirected === 'shown' ? around.output : 'elsewhere';
      return inCommand(node.command, { ...around, output });
    }
    default:
      return [];
  }
}

function simpleStage(command: Command, around: StagePlace): Stage[] {
  const { name, args, redirects } = command;
  if (name === undefined) return [];
  const items = [name, ...args];
  const words = maskedWords(command);
  const index = findProgram(words);
  if (index === undefined) return [];
  const [program = '', ...operands] = words.slice(index);
  const names = [...new Set([program, programName(program)])];
  const rest = [...operands, ...redirects.map(maskedRedirection)];
  const values = items.flatMap((item) => {
    if (item.type === 'Word') return [item];
    return item.value.type === 'Word' ? [item.value] : item.value.elements;
  });
  const tee = programName(program) === 'tee' ? teeOutput(operands) : 'elsewhere';
  const output = tee !== 'elsewhere' ? tee : (redirectedOutput(redirects) ?? around.output);
  const targets = redirects.flatMap((each) => ('target' in each && each.target) || []);
  return [
    {
      texts: names.map((name) => [name, ...rest].join(' ')),
      output,
      computed: mostComputed([...values, ...redirects]),
      asks: new Set([
        ...around.asks,
        ...askedByProgram([program, ...operands]),
        ...askedByWords([...values, ...targets]),
        ...(words.slice(0, index).some(isSudo) ? (['root'] as const) : []),
        ...(output === 'append' ? (['append'] as const) : []),
      ]),
    },
  ];
}

function isSudo(word: string): boolean {
  return programName(word) === 'sudo';
}
