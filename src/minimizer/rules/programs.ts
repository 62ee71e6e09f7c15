const MOST_WORDS = 64;
/** The longest file name; matching a longer word would be slow. */
const LONGEST_NAME = 255;

/** Programs that run the command in their arguments. */
const WRAPPERS = new Set([
  ...['builtin', 'command', 'doas', 'env', 'exec', 'nice', 'nohup', 'setsid'],
  ...['stdbuf', 'sudo', 'time', 'timeout', 'unbuffer', 'xargs'],
]);
/** Programs that run other programs and pass on their output. */
const RUNNERS = new Set([
  ...[
    'act',
    'bash',
    'bazel',
    'bun',
    'bunx',
    'corepack',
    'docker',
    'gradle',
    'gradlew',
    'just',
    'make',
  ],
  ...['mvn', 'mvnw', 'ninja', 'npm', 'npx', 'nox', 'nx', 'pnpm', 'pnpx', 'podman', 'poetry', 'sh'],
  ...['task', 'tox', 'turbo', 'uv', 'uvx', 'yarn', 'zsh'],
]);

/**
 * Returns the names of the programs that a command seems to run. This is no parser: quoted text may be
 * taken for a program; then a filter looks at lines that it does not match.
 */
function programsOf(command: string): Set<string> {
  const programs = new Set<string>();
  for (const part of command.split(/[\n;|&(){}`]+/)) {
    const words = part.trim().split(/\s+/, MOST_WORDS);
    const index = words.findIndex((word) => !isSteppedOver(word));
    const word = words[index] ?? '';
    const program = word.slice(word.lastIndexOf('/') + 1).replace(/^["']|["']$/g, '');
    if (program === '' || program.length > LONGEST_NAME) continue;
    programs.add(program);
    // `python -m pytest`
    const module = words.indexOf('-m', index);
    if (/^(?:python|pypy)[\d.]*$/.test(program) && module !== -1) {
      programs.add(words[module + 1] ?? '');
    }
  }
  return programs;
}

/** Returns whether a command runs one of these programs, or one that may run them: make, npm, a script. */
export function mayRun(command: string, names: readonly string[]): boolean {
  const running = programsOf(command);
  for (const program of running) {
    if (RUNNERS.has(program) || /\.(?:sh|bash)$/.test(program)) return true;
    // `pip3.11`, `pytest-3`
    if (names.includes(program) || names.includes(program.replace(/-?[\d.]+$/, ''))) return true;
  }
  return false;
}

function isSteppedOver(word: string): boolean {
  return (
    WRAPPERS.has(word) ||
    /^(?:[A-Za-z_]\w*=.*|-.*|\d+[smh]?|!|if|then|else|do|while|until)$/.test(word)
  );
}
