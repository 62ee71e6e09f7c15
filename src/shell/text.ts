import type { Command, Redirection, Word, WordPart } from 'unbash';
import type { Computed } from './reading.js';

/**
 * Returns a word as rules see it, in which quoted or escaped text cannot be taken for syntax or a name.
 * `"a > b"` is `""`, `x\ y` is `x_y`, `$(date)` is `$()`.
 */
export function maskedWord(word: Word): string {
  if (word.parts === undefined) return maskEscapes(word.text);
  return word.parts.map(maskedPart).join('');
}

/** Returns the words of a command as rules see them, the program first. */
export function maskedWords({ name, args }: Command): readonly string[] {
  const words = name === undefined ? args : [name, ...args];
  return words.map((word) => (word.type === 'Word' ? maskedWord(word) : word.text));
}

/**
 * Returns a redirection as rules see it, without blanks: `>file`, `2>&1`, `<<EOF`; without the body of a
 * here-document.
 */
export function maskedRedirection(redirection: Redirection): string {
  const { descriptor, operator } = redirection;
  const number = descriptor?.type === 'FileDescriptor' ? String(descriptor.value) : '';
  if (redirection.type === 'HereDoc') {
    const { delimiter } = redirection;
    return `${number}${operator}${delimiter?.quoted ? "''" : (delimiter?.value ?? '')}`;
  }
  const target = redirection.target === undefined ? '' : maskedWord(redirection.target);
  return `${number}${operator}${target}`;
}

/** Returns the most that the shell must evaluate for any of these. */
export function mostComputed(items: readonly (Word | Redirection)[]): Computed {
  const parts = items.flatMap(partsOf);
  return computedIn(parts);
}

function partsOf(item: Word | Redirection): readonly WordPart[] {
  switch (item.type) {
    case 'Word':
      return item.parts ?? [];
    case 'HereDoc':
      return item.body.parts ?? [];
    default:
      return item.target?.parts ?? [];
  }
}

function computedIn(parts: readonly WordPart[]): Computed {
  let most: Computed = 'nothing';
  for (const part of parts) {
    const found = computedBy(part);
    if (found === 'commands') return found;
    if (found === 'variables') most = found;
  }
  return most;
}

function computedBy(part: WordPart): Computed {
  switch (part.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return 'commands';
    // These may contain a command: `${x:-$(date)}`.
    case 'ParameterExpansion':
    case 'ArithmeticExpansion':
      return /[`(]/.test(part.text.slice(3)) ? 'commands' : 'variables';
    case 'SimpleExpansion':
      return 'variables';
    case 'DoubleQuoted':
    case 'LocaleString':
    case 'BraceExpansion':
    case 'ExtendedGlob':
      return computedIn(part.parts ?? []);
    default:
      return 'nothing';
  }
}

function maskedPart(part: WordPart): string {
  switch (part.type) {
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return "''";
    case 'DoubleQuoted':
    case 'LocaleString':
      return '""';
    case 'SimpleExpansion':
      return part.text;
    case 'ParameterExpansion':
      return '$';
    case 'CommandExpansion':
      return '$()';
    case 'ArithmeticExpansion':
      return '$(())';
    case 'ProcessSubstitution':
      return `${part.operator}()`;
    case 'BraceExpansion':
      return '{}';
    case 'ExtendedGlob':
      return '*';
    case 'Literal':
    case 'Glob':
      return maskEscapes(part.text);
  }
}

function maskEscapes(text: string): string {
  return text.replace(/\\[\s\S]/g, '_');
}
