import type { CommandNode, Redirection } from 'unbash';
import { maskedWord } from './text.js';
import { programName } from './wrappers.js';

/** Where a stage's output goes: to the one who asked, into a file, or to something else. */
export type StageOutput = 'shown' | 'file' | 'elsewhere';

/** Programs that show what they are fed, or a part of it. */
const VIEWERS: ReadonlySet<string> = new Set([
  ...['cat', 'head', 'tail', 'less', 'more', 'nl'],
  ...['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack'],
]);

/** Files that are not files: a tool for files is no replacement. */
const SPECIAL_FILE = /^\/(?:dev|proc|sys)\//;

/** Where redirections send the output; undefined when they leave it alone. */
export function redirectedOutput(redirections: readonly Redirection[]): StageOutput | undefined {
  let output: StageOutput | undefined;
  // The last one holds.
  for (const redirection of redirections) output = outputOf(redirection) ?? output;
  return output;
}

function outputOf(redirection: Redirection): StageOutput | undefined {
  if (redirection.type !== 'Redirect') return undefined;
  const { descriptor, operator, target } = redirection;
  if (!/>/.test(operator) || operator === '<>' || target === undefined) return undefined;
  if (descriptor !== undefined) {
    if (descriptor.type !== 'FileDescriptor' || descriptor.value !== 1) return undefined;
  }
  // To the other stream: both are one output.
  if (operator === '>&' && /^\d+$/.test(target.value)) return 'shown';
  if (operator === '>&' && target.value === '-') return 'elsewhere';
  if (/^\/dev\/std(?:out|err)$/.test(target.value)) return 'shown';
  return isFileName(maskedWord(target)) ? 'file' : 'elsewhere';
}

/** Where output goes that is fed to these stages of a pipeline. */
export function pipedOutput(stages: readonly CommandNode[], end: StageOutput): StageOutput {
  for (const stage of stages) {
    if (stage.type !== 'Command' || stage.name === undefined) return 'elsewhere';
    const [first = '', ...words] = [stage.name, ...stage.args].map((word) =>
      word.type === 'Word' ? maskedWord(word) : word.text,
    );
    const name = programName(first);
    // Not `sudo tee`: that is how one writes where a tool for files may not.
    if (name === 'tee') return writesByTee(words) ? 'file' : 'elsewhere';
    if (!VIEWERS.has(name)) return 'elsewhere';
    if ((redirectedOutput(stage.redirects) ?? 'shown') !== 'shown') return 'elsewhere';
  }
  return end;
}

/** Whether `tee` with these words after it writes a file. */
export function writesByTee(words: readonly string[]): boolean {
  return words.some((word) => !word.startsWith('-') && isFileName(word));
}

function isFileName(masked: string): boolean {
  return !SPECIAL_FILE.test(masked) && !/^[<>]\(/.test(masked);
}
