import type { Omission, OutputFilter } from '../filter.js';
import { mayRun } from './programs.js';
import { markSections, type Section } from './section.js';

/** Lines of one kind of noise. */
export interface NoiseRule {
  /** A few words for the lines in the marker. */
  readonly what: string;
  /** Matches a whole line; anchored, and without expressions that could take long. */
  readonly pattern: RegExp;
}

/** A rule for lines that are noise only where their program printed them. */
interface PlacedRule extends NoiseRule {
  /** Where the lines are noise. Default: everywhere. */
  readonly within?: Section;
}

/** What a filter of rules is made of. */
interface RuleFilterParts {
  readonly name: string;
  /** Programs that the filter is for. Default: all. */
  readonly programs?: readonly string[] | undefined;
  readonly noise: readonly PlacedRule[];
  /** Returns further lines that are noise by what stands around them, with a few words for each. */
  readonly more?: (lines: readonly string[]) => ReadonlyMap<number, string>;
  /** Returns lines that match a rule and are no noise, by what stands around them. */
  readonly except?: (lines: readonly string[]) => ReadonlySet<number>;
}

/** Longer lines are not examined: patterns are for lines of progress. */
const LONGEST_LINE = 2000;

const made = new WeakSet<OutputFilter>();

/** Returns whether {@link createRuleFilter} made the filter, which then changes no line that it gets. */
export function isRuleFilter(filter: OutputFilter): boolean {
  return made.has(filter);
}

/** Makes a filter that leaves out the lines that match, except for those that must stay. */
export function createRuleFilter(parts: RuleFilterParts): OutputFilter {
  const { name, programs } = parts;
  const filter: OutputFilter = {
    name,
    ...(programs && { applies: (command: string) => mayRun(command, programs) }),
    *filter(lines, mustStay) {
      const kindOf = kindsOf(lines, parts);
      let open: Omission | undefined;
      for (const index of lines.keys()) {
        const kind = kindOf(index);
        const what = kind === undefined || mustStay(index) ? undefined : kind;
        if (open !== undefined && open.what !== what) {
          yield open;
          open = undefined;
        }
        if (what === undefined) continue;
        open = { start: open?.start ?? index, end: index + 1, what };
      }
      if (open !== undefined) yield open;
    },
  };
  made.add(filter);
  return filter;
}

/** Returns a function that names the kind of noise that a line is. */
function kindsOf(
  lines: readonly string[],
  { noise, more, except }: RuleFilterParts,
): (index: number) => string | undefined {
  const sections = new Map<Section, Uint8Array>();
  const isWithin = (section: Section | undefined, index: number): boolean => {
    if (section === undefined) return true;
    // Most outputs have no line for which it matters, nor one that may be an exception.
    let marks = sections.get(section);
    if (marks === undefined) {
      marks = markSections(lines, section);
      sections.set(section, marks);
    }
    return marks[index] === 1;
  };
  let spared: ReadonlySet<number> | undefined;
  const isSpared = (index: number): boolean => {
    if (except === undefined) return false;
    spared ??= except(lines);
    return spared.has(index);
  };
  const added = more?.(lines);
  return (index) => {
    const line = lines[index] ?? '';
    if (line.length > LONGEST_LINE) return undefined;
    const rule = noise.find(({ pattern, within }) => pattern.test(line) && isWithin(within, index));
    const what = rule?.what ?? added?.get(index);
    return what === undefined || isSpared(index) ? undefined : what;
  };
}
