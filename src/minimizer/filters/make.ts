import { createLineFilter } from '../line-filter.js';

/** make, CMake and ninja: directories entered, compilers called. */
export const makeFilter = createLineFilter({
  name: 'make',
  programs: ['make', 'gmake', 'cmake', 'ninja', 'meson'],
  noise: [
    { what: 'directories', pattern: /^g?make(?:\[\d+\])?: (?:Entering|Leaving) directory / },
    {
      what: 'up to date',
      pattern: /^g?make(?:\[\d+\])?: (?:Nothing to be done for|'.*' is up to date)/,
    },
    {
      what: 'compiler calls',
      pattern:
        /^(?:\S*\/)?(?:\S*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|rustc|nvcc)(?:-[\d.]+)? (?:.* )?-[a-zA-Z]/,
    },
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
  ],
});
