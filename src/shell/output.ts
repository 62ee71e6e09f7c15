import type { CommandNode, Redirection } from 'unbash';
import { maskedWord, maskedWords } from './text.js';
import { programName } from './wrappers.js';

/** The destination of a stage's output: the caller, a file or its end, or something else. */
export type StageOutput = 'shown' | 'file' | 'append' | 'elsewhere';

/** Programs that show their input, or a part of it. */
const VIEWERS: ReadonlySet<string> = new Set([
  ...['cat', 'head', 'tail', 'less', 'more', 'nl'],
  ...['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack'],
]);

/** Devices and kernel files, which a tool for files can't replace. */
const SPECIAL_FILE = /^\/(?:dev|proc|sys)\//;

/** Returns where redirections send the output; undefined when they leave it alone. */
export function redirectedOutput(redirections: readonly Redirection[]): StageOutput | undefined {
  let output: StageOutput | undefined;
  // The last redirection of stdout counts.
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
  // A copy of the other stream's descriptor: both are one output.
  if (operator === '>&' && /^\d+$/.test(target.value)) return 'shown';
  if (operator === '>&' && target.value === '-') return 'elsewhere';
  if (/^\/dev\/std(?:out|err)$/.test(target.value)) return 'shown';
  if (!isFileName(maskedWord(target))) return 'elsewhere';
  return operator.endsWith('>>') ? 'append' : 'file';
}

/** Returns where output goes that is piped into `stages`. */
export function pipedOutput(stages: readonly CommandNode[], end: StageOutput): StageOutput {
  for (const stage of stages) {
    if (stage.type !== 'Command' || stage.name === undefined) return 'elsewhere';
    const [first = '', ...words] = maskedWords(stage);
    const name = programName(first);
    // `sudo tee` does not count: it writes files that a tool for files may not write.
    if (name === 'tee') return teeOutput(words);
    if (!VIEWERS.has(name)) return 'elsewhere';
    if ((redirectedOutput(stage.redirects) ?? 'shown') !== 'shown') return 'elsewhere';
  }
  return end;
}

/** Returns where `tee` with these arguments writes, besides its output. */
export function teeOutput(words: readonly string[]): StageOutput {
  const writes = words.some((word) => !word.startsWith('-') && isFileName(word));
  if (!writes) return 'elsewhere';
  return words.some((word) => /^-(?:[ip]*a|-append)/.test(word)) ? 'append' : 'file';
}

function isFileName(masked: string): boolean {
  return !SPECIAL_FILE.test(masked) && !/^[<>]\(/.test(masked);
}
