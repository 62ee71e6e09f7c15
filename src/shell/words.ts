import type { ParsedScript, SyntaxNode, Word, WordPart } from 'unbash';
import type { WordPlace } from '../support/quote.js';
import type { ShellParser } from './parser.js';

/** A piece of a command that may be a value by itself. */
export interface WordToken {
  /** The text without quotes and escapes. */
  readonly value: string;
  /** Whether the piece is quoted. */
  readonly quoted: boolean;
  /** Start and end of the piece in the command, quotes included. */
  readonly pos: number;
  readonly end: number;
  readonly place: WordPlace;
}

/**
 * Finds the pieces of a command that may be values: whole words, quoted or not, or what follows
 * `--name=`, `name=` or `@`. An unquoted piece ends at the first quote, expansion or pattern. Words
 * inside substitutions count, text inside quotes and here-documents does not.
 *
 * One of three readers of shell text, each as strict as its use allows: this one finds values to replace
 * (internal URLs), `findStages()` what is run (the interceptor), `takeLeadingCd()` one `cd`.
 */
export function findWordTokens(parser: ShellParser, script: ParsedScript): WordToken[] {
  const tokens: WordToken[] = [];
  visit(script, 'plain', false);
  return tokens;

  function visit(node: SyntaxNode, place: WordPlace, inQuotes: boolean): void {
    const visitChildren = (within: WordPlace, quoted = inQuotes) =>
      parser.forEachChild(node, (child) => visit(child, within, quoted));
    switch (node.type) {
      case 'Word': {
        const token = tokenOf(node);
        if (token !== undefined) tokens.push({ ...token, place });
        visitChildren(place);
        return;
      }
      case 'CommandExpansion':
      case 'ProcessSubstitution':
        if (isReadAsWritten(node.script)) {
          const isOld = node.text.startsWith('`');
          const old = inQuotes ? 'backquotes in double quotes' : 'backquotes';
          visitChildren(isOld ? old : place, isOld && inQuotes);
        }
        return;
      case 'DoubleQuoted':
        visitChildren(place, true);
        return;
      // Patterns and the words they are compared with: neither names a file to open.
      case 'Case':
        for (const item of node.items) visit(item, place, inQuotes);
        return;
      case 'CaseItem':
        visit(node.body, place, inQuotes);
        return;
      case 'TestBinary':
        if (!/^(?:=|==|!=|=~)$/.test(node.operator)) visitChildren(place);
        return;
      // Names and arithmetic.
      case 'Function':
        visit(node.body, place, inQuotes);
        return;
      case 'ParameterExpansion':
      case 'ArithmeticExpansion':
      case 'ArithmeticCommand':
        return;
      default:
        visitChildren(place);
    }
  }
}

/**
 * Returns whether positions in a substitution are positions in the command, and the substitution was
 * parsed without guessing.
 */
function isReadAsWritten(script: ParsedScript | undefined): boolean {
  if (script === undefined || script.source !== undefined) return false;
  return script.errors === undefined || script.errors.length === 0;
}

type UnplacedToken = Omit<WordToken, 'place'>;

function tokenOf(word: Word): UnplacedToken | undefined {
  const parts = word.parts ?? [];
  const count = word.parts === undefined ? 0 : parts.findIndex(({ type }) => type !== 'Literal');
  const after = count === -1 ? undefined : parts[count];
  const end = after?.pos ?? word.end;
  const literal = word.text.slice(0, end - word.pos);
  // `--file=`, `of=`, curl's `@` and `file=@`.
  const [before = ''] = /^(?:[\w.+-]*=)?@?/.exec(literal) ?? [];
  const pos = word.pos + before.length;
  if (pos < end) {
    return { value: withoutEscapes(literal.slice(before.length)), quoted: false, pos, end };
  }
  // A quoted piece is a value only as a whole word.
  if (after === undefined || after.end !== word.end) return undefined;
  const value = quotedValue(after);
  return value === undefined ? undefined : { value, quoted: true, pos: after.pos, end: after.end };
}

function quotedValue(part: WordPart): string | undefined {
  switch (part.type) {
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    case 'DoubleQuoted': {
      const values = part.parts.map((each) => (each.type === 'Literal' ? each.value : undefined));
      return values.includes(undefined) ? undefined : values.join('');
    }
    default:
      return undefined;
  }
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, escaped: string) => (escaped === '\n' ? '' : escaped));
}
