const MOST_WORDS = 64;
/** No file has a longer name; expressions take their time on what is longer. */
const LONGEST_NAME = 255;

/** Words that run the command after them. */
const WRAPPERS = new Set([
  ...['builtin', 'command', 'doas', 'env', 'exec', 'nice', 'nohup', 'setsid'],
  ...['stdbuf', 'sudo', 'time', 'timeout', 'unbuffer', 'xargs'],
]);
/** What runs other programs whose output becomes its own. */
const RUNNERS = new Set([
  ...['act', 'bash', 'bazel', 'bun', 'docker', 'gradle', 'gradlew', 'just', 'make', 'mvn', 'ninja'],
  ...['npm', 'npx', 'nox', 'pnpm', 'podman', 'poetry', 'sh', 'task', 'tox', 'uv', 'yarn', 'zsh'],
]);

/**
 * The names of the programs that a command seems to run. It is no parser: what is quoted may be
 * taken for a program, and then a filter looks at lines that are not what it looks for.
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

/** Whether one of these programs runs, or one that may run them: make, npm, a script. */
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
