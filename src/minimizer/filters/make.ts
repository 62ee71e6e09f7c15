import { createRuleFilter } from '../rules/rule-filter.js';

const COMPILER =
  '(?:\\S*[/-])?(?:gcc|g\\+\\+|cc|c\\+\\+|clang|clang\\+\\+|rustc|nvcc)(?:-[\\d.]+)?';
/** ninja tells how far it is before a call, `[3/11] `, and has a shell join several. */
const CALL = new RegExp(
  `^(?:\\[ *\\d+\\/\\d+\\] )?(?:: && )?(?:ccache )?${COMPILER} (?:.* )?-[a-zA-Z]`,
);
const SOURCE = /(?<= )\S+\.(?:c|cc|cpp|cxx|m|mm|s|S|cu|f90|rs)(?= |$)/g;
/** A place in a source file, as compilers tell it. */
const PLACE = /^(?:In file included from )?(?<file>[^\s:]+):\d+[:,]/;
const LONGEST_CALL = 2000;

/** Finds the compilers' calls of which errors and warnings follow, however far below. */
function callsWithErrors(lines: readonly string[]): Set<number> {
  const calls = new Map<string, number>();
  const found = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (line.length > LONGEST_CALL) continue;
    if (CALL.test(line)) {
      for (const [source] of line.matchAll(SOURCE)) calls.set(source, index);
      continue;
    }
    const call = calls.get(PLACE.exec(line)?.groups?.file ?? '');
    if (call !== undefined) found.add(call);
  }
  return found;
}

/** make, CMake and ninja: directories entered, compilers called. */
export const makeFilter = createRuleFilter({
  name: 'make',
  programs: ['make', 'gmake', 'cmake', 'ninja', 'meson', 'samu'],
  noise: [
    {
      what: 'directories',
      pattern: /^(?:g?make(?:\[\d+\])?: (?:Entering|Leaving)|ninja: Entering) directory /,
    },
    {
      what: 'up to date',
      pattern: /^g?make(?:\[\d+\])?: (?:Nothing to be done for|'.*' is up to date)/,
    },
    { what: 'compiler calls', pattern: CALL },
    { what: 'compiler calls', pattern: /^(?:\S*-)?(?:ar \w*[rq]\w*|ranlib) \S+\.a\b/ },
    {
      what: 'compiler calls',
      pattern: /^(?:libtool: (?:compile|link):|\/bin\/(?:ba)?sh \S*libtool) /,
    },
    {
      what: 'build steps',
      pattern: /^ {2}(?:CC|CXX|LD|AR|AS|GEN|HOSTCC|HOSTLD|CCLD|CXXLD|MKDIR|CP|LINK)(?: \[M\])? +\S/,
    },
    {
      what: 'build steps',
      pattern:
        /^\[ *\d+(?:%|\/\d+)\] (?:Building|Linking|Generating|Built|Compiling|Scanning|Automatic)\b/,
    },
    {
      what: 'configure checks',
      pattern:
        /^checking (?:for|whether|how|if) .*\.\.\. (?:\(cached\) )?(?:yes|none needed|\/\S+)$/,
    },
    {
      what: 'configure checks',
      pattern:
        /^-- (?:Detecting \S+ .*|Check for working \S+ compiler: .*|Looking for .* - found)$/,
    },
  ],
  except: callsWithErrors,
});
