import type { Command, CommandNode, PipelineNode, Script, Statement } from 'unbash';
import { pipedOutput, redirectedOutput, type StageOutput, writesByTee } from './output.js';
import type { Computed } from './reading.js';
import { maskedRedirection, maskedWord, mostComputed } from './text.js';
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
}

/**
 * Finds the stages of a command that a model could have asked a tool for: those of its lists, groups and
 * branches. Leaves out what a tool cannot replace: later stages of a pipe, conditions, loops, functions,
 * and the contents of `$(…)`, backquotes and `<(…)`.
 *
 * The other readers of shell text: `findWordTokens()` for values, `takeLeadingCd()` for one `cd`.
 */
export function findStages(script: Script): Stage[] {
  return inList(script.commands, 'shown');
}

function inList(statements: readonly Statement[], output: StageOutput): Stage[] {
  return statements.flatMap(({ command }) =>
    command.type === 'AndOr'
      ? command.commands.flatMap((each) => inPipeline(each, output))
      : inPipeline(command, output),
  );
}

function inPipeline(node: PipelineNode, output: StageOutput): Stage[] {
  if (node.type !== 'Pipeline') return inCommand(node, output);
  const [first, ...later] = node.commands;
  return first === undefined ? [] : inCommand(first, pipedOutput(later, output));
}

function inCommand(node: CommandNode, output: StageOutput): Stage[] {
  switch (node.type) {
    case 'Command':
      return simpleStage(node, output);
    case 'Subshell':
    case 'BraceGroup':
      return inList(node.body.commands, output);
    case 'If': {
      const branches = [node.then, ...node.elif.map((elif) => elif.then)];
      if (node.else !== undefined) branches.push(node.else);
      return branches.flatMap((branch) => inList(branch.commands, output));
    }
    case 'Case':
      return node.items.flatMap((item) => inList(item.body.commands, output));
    case 'Redirected': {
      // A group with redirected input, or whose output is collected from several commands.
      if (node.redirects.some(({ operator }) => operator.startsWith('<'))) return [];
      const redirected = redirectedOutput(node.redirects) ?? 'shown';
      return inCommand(node.command, redirected === 'shown' ? output : 'elsewhere');
    }
    default:
      return [];
  }
}

function simpleStage({ name, args, redirects }: Command, output: StageOutput): Stage[] {
  if (name === undefined) return [];
  const items = [name, ...args];
  const words = items.map((item) => (item.type === 'Word' ? maskedWord(item) : item.text));
  const index = findProgram(words);
  if (index === undefined) return [];
  const [program = '', ...operands] = words.slice(index);
  const names = [...new Set([program, programName(program)])];
  const rest = [...operands, ...redirects.map(maskedRedirection)];
  const values = items.flatMap((item) => {
    if (item.type === 'Word') return [item];
    return item.value.type === 'Word' ? [item.value] : item.value.elements;
  });
  const tee = programName(program) === 'tee' && writesByTee(operands);
  return [
    {
      texts: names.map((name) => [name, ...rest].join(' ')),
      output: tee ? 'file' : (redirectedOutput(redirects) ?? output),
      computed: mostComputed([...values, ...redirects]),
    },
  ];
}
