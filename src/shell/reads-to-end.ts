import type { Command, CommandNode } from 'unbash';
import { programName } from './wrappers.js';

/**
 * How a stage reads its input: `all` of it, failing by errors alone; all of it, with an exit code that is a
 * `verdict` on it; or perhaps only a `part`.
 */
type Reading = 'all' | 'verdict' | 'part';

type Judge = (options: readonly string[], operands: readonly string[]) => Reading;

/** A filter whose arguments are known well enough. */
interface KnownFilter {
  /** Letters of the options whose value is the next argument: `n` for `-n 5`. */
  readonly valued?: string;
  readonly judge: Judge;
}

/** With an operand, the filter reads a file in place of its input. */
const withoutFile: Judge = (_, operands) =>
  operands.every((each) => each === '-' || /^\+\d+$/.test(each)) ? 'all' : 'part';
const always: Judge = () => 'all';
const plain = (valued: string): KnownFilter => ({ valued, judge: withoutFile });

const sed: Judge = (options, operands) => {
  const scripts = Math.max(1, options.filter((option) => option.endsWith('e')).length);
  const isReadable = options.every((option) => /^-[nErsuze]+$/.test(option));
  // `q` and `Q` end sed early. Where the letters are only text, other advice is given, which works, too.
  const isSure = isReadable && operands.length <= scripts && !/[qQ\0]/.test(operands.join());
  return isSure ? 'all' : 'part';
};

const awk: Judge = (options, operands) => {
  const [script = '', ...files] = operands;
  const isReadable = options.every((option) => /^-[Fv]/.test(option));
  const isSure =
    isReadable && script !== '' && files.length === 0 && !/exit|getline|BEGIN|\0/.test(script);
  return isSure ? 'all' : 'part';
};

/** Options after which grep stops at a match, reads files, or does not read at all. */
const PARTLY =
  /^-(?:[A-Za-z]*[qmlLrRf]|-(?!(?:color|ignore-case|invert|line|count|extended|perl|fixed|only|word)\b))/;

const grep: Judge = (options, operands) => {
  const files = operands.length - (options.includes('-e') ? 0 : 1);
  return files <= 0 && !options.some((option) => PARTLY.test(option)) ? 'verdict' : 'part';
};
const grepLike: KnownFilter = { valued: 'eABC', judge: grep };

const FILTERS: ReadonlyMap<string, KnownFilter> = new Map(
  Object.entries({
    cat: plain(''),
    tac: plain('s'),
    nl: plain('bdfhilnsvw'),
    rev: plain(''),
    tail: plain('nc'),
    wc: plain(''),
    sort: {
      valued: 'kTSto',
      judge: (options, operands) =>
        options.some((option) => /^-(?:[A-Za-z]*[cC]|-check)/.test(option))
          ? 'part'
          : withoutFile(options, operands),
    },
    uniq: plain('fsw'),
    cut: plain('bcdf'),
    column: plain('cso'),
    fold: plain('w'),
    fmt: plain('w'),
    paste: plain('d'),
    expand: plain('t'),
    unexpand: plain('t'),
    tr: { judge: always },
    tee: { judge: always },
    ts: { judge: always },
    sponge: { judge: always },
    sed: { valued: '', judge: sed },
    awk: { valued: 'Fv', judge: awk },
    gawk: { valued: 'Fv', judge: awk },
    grep: grepLike,
    egrep: grepLike,
    fgrep: grepLike,
    rg: grepLike,
  } satisfies Record<string, KnownFilter>),
);

/** Returns how a stage of a pipeline reads its input; `part` where that is not certain. */
export function readingOf(node: CommandNode): Reading {
  if (node.type !== 'Command' || node.name === undefined) return 'part';
  const filter = FILTERS.get(programName(node.name.value));
  if (filter === undefined || readsElsewhere(node)) return 'part';
  const { options, operands } = split(node, filter.valued ?? '');
  const reading = filter.judge(options, operands);
  // GNU grep stops at the first match when nobody can see it.
  return reading === 'verdict' && isUnseen(node) ? 'part' : reading;
}

/** Returns whether input comes from elsewhere, or output goes to a program that may stop reading. */
function readsElsewhere({ args, redirects }: Command): boolean {
  if (redirects.some(({ operator }) => operator.startsWith('<'))) return true;
  const words = [...args, ...redirects.flatMap((each) => ('target' in each ? [each.target] : []))];
  return words.some((word) => word !== undefined && /[<>]\(/.test(word.text));
}

function isUnseen({ redirects }: Command): boolean {
  return redirects.some((each) => 'target' in each && each.target?.value === '/dev/null');
}

/** A word with an expansion has a NUL in its place, since its text is not known. */
function split({ args }: Command, valued: string) {
  const options: string[] = [];
  const operands: string[] = [];
  const words = args.map((word) => {
    if (word.type !== 'Word') return word.text;
    const isKnown = !/[$`]/.test(word.text) || /^'[^']*'$/.test(word.text);
    return isKnown ? word.value : '\0';
  });
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!/^-./.test(word)) {
      operands.push(word);
      continue;
    }
    options.push(word);
    if (word.length === 2 && valued.includes(word.slice(1))) at += 1;
  }
  return { options, operands };
}
