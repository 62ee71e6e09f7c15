const SPECIAL = /[\\^$.*+?()[\]{}|/]/g;

/**
 * Returns a shell's pattern for paths as a regular expression: `*` and `?` stop at a slash, `**` does
 * not, `[a-z]` and `[!a-z]` are one character, `{a,b}` one or the other, and a backslash makes the next
 * character stand for itself. Names that begin with a dot are matched like any other.
 */
export function globExpression(pattern: string): RegExp {
  return new RegExp(`^${translate(pattern.replace(/^(\.?\/)+/, ''))}$`, 's');
}

/** The special parts of a pattern, longest first; all other text stands for itself. */
const PIECE =
  /\*\*\/|\/\*\*$|\*+|\?|\[(?<not>[!^]?)(?<set>\]?(?:\\.|[^\]\\])*)\]|\{(?<either>(?:\\.|[^{}\\])*)\}|\\(?<itself>.)|./gs;

function translate(pattern: string): string {
  return pattern.replace(PIECE, (piece, ...rest) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if (piece === '**/') return '(?:[^/]+/)*';
    if (piece === '/**') return '/.+';
    if (piece.startsWith('**')) return '.*';
    if (piece === '*') return '[^/]*';
    if (piece === '?') return '[^/]';
    if (groups.set !== undefined) return characterSet(groups.not !== '', groups.set, piece);
    if (groups.either !== undefined) return either(groups.either);
    return literally(groups.itself ?? piece);
  });
}

function either(choices: string): string {
  const parts = choices.match(/(?:\\.|[^,\\])+|(?<=,|^)(?=,|$)/gs) ?? [''];
  return `(?:${parts.map(translate).join('|')})`;
}

/** A set that is not valid, such as `[z-a]`, stands for itself. */
function characterSet(not: boolean, set: string, piece: string): string {
  const safe = set.replace(/\\(.)|[[\]^\\]/gs, (each, itself?: string) => `\\${itself ?? each}`);
  const expression = not ? `[^/${safe}]` : `(?!/)[${safe}]`;
  try {
    new RegExp(expression);
    return set === '' ? literally(piece) : expression;
  } catch {
    return literally(piece);
  }
}

function literally(text: string): string {
  return text.replace(SPECIAL, '\\$&');
}
