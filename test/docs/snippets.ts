// The fenced blocks of the pages, as modules and scripts that a test can compile and run.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { quote } from '../support/commands.js';
import { filesIn, read, root } from '../support/house.js';

/** The pages whose blocks are checked. */
export const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...filesIn('docs').filter((file) => file.endsWith('.md')),
];

/** The pages of which another test, named like the page, runs all blocks below the first such heading. */
const RUN_BY_OWN_TEST: Readonly<Record<string, string>> = { 'docs/frameworks.md': '\n### ' };

/** Libraries that are installed under another name than users have them under, by page or everywhere. */
const ALIASES: readonly { name: string; installed: string; page?: string }[] = [
  { name: 'node-pty', installed: '@lydell/node-pty' },
  { name: 'ai', installed: 'ai-7', page: 'docs/frameworks-sandboxes.md' },
];

/** A fenced block of a page. */
export interface Snippet {
  readonly page: string;
  /** The line of its fence. */
  readonly line: number;
  /** Whether another test runs it. */
  readonly isRunElsewhere: boolean;
  readonly language: 'ts' | 'js' | 'sh';
  readonly text: string;
  /**
   * The comments above its fence, which readers do not see: `<!-- not run: why -->`, `<!-- not compiled:
   * why -->`, `<!-- fails: a part of the error -->`.
   */
  readonly marks: Readonly<Partial<Record<'not run' | 'not compiled' | 'fails', string>>>;
}

const BLOCK = /((?:^<!-- .* -->\n)*)^```(ts|js|sh)\n(.*?)^```$/gms;
const MARK = /^<!-- (not run|not compiled|fails): (.+) -->$/gm;

/** Returns the blocks of a page. */
function snippetsOf(page: string): Snippet[] {
  const text = read(page);
  return [...text.matchAll(BLOCK)].map((found) => {
    const [, above = '', language = '', body = ''] = found;
    const marks = [...above.matchAll(MARK)].map(([, kind = '', why = '']) => [kind, why]);
    const start = found.index + above.length;
    return {
      page,
      isRunElsewhere: text.slice(0, start).includes(RUN_BY_OWN_TEST[page] ?? '\0'),
      line: text.slice(0, start).split('\n').length,
      language: language as Snippet['language'],
      text: body,
      marks: Object.fromEntries(marks),
    };
  });
}

/** All blocks of all pages. */
export const snippets = PAGES.flatMap(snippetsOf);

/** The name of a block in titles and messages. */
export const titleOf = ({ page, line }: Snippet): string => `${page}:${line}`;

/** Returns the file that a block is compiled as. */
export const fileOf = ({ page, line, language }: Snippet): string =>
  `${page.replaceAll(/\W/g, '-')}-${line}.${language === 'js' ? 'mjs' : 'ts'}`;

/** Returns the file that its compiled program is in. */
export const programOf = (snippet: Snippet): string => fileOf(snippet).replace(/ts$/, 'js');

/** Whether a block is a program that the test compiles. */
export const isCompiled = ({ language, marks }: Snippet): boolean =>
  language !== 'sh' && marks['not compiled'] === undefined;

/** Whether a block is a program, or a script of the command line, that the test runs. */
export function isRun({ language, text, marks, isRunElsewhere }: Snippet): boolean {
  const isLeftOut = (marks['not run'] ?? marks['not compiled']) !== undefined;
  if (isRunElsewhere || isLeftOut) return false;
  return language !== 'sh' || /^(npx )?forkline |^tmux /m.test(text);
}

/** The names that the examples take from their surroundings: their types, and values for a run. */
const SURROUNDINGS: Readonly<Record<string, readonly [type: string, value: string]>> = {
  cwd: ['string', 'process.cwd()'],
  input: ['unknown', "{ command: 'true' }"],
  // Each framework has its own.
  model: ['never', 'undefined as never'],
  prompt: ['string', "''"],
  onOutput: ['(chunk: object) => void', '() => {}'],
  onUpdate: ['(update: object) => void', '() => {}'],
  signal: ['AbortSignal', 'new AbortController().signal'],
  skills: ['Map<string, string>', 'new Map()'],
  tellModel: ['(what: string, text: string) => void', '() => {}'],
  tracer: [
    '{ startSpan(name: string): { end(): void; recordException(error: string): void; ' +
      'setAttributes(attributes: Record<string, string | number | undefined>): unknown } }',
    '{ startSpan: () => ({ end() {}, recordException() {}, setAttributes() {} }) }',
  ],
  tools: ['never', 'undefined as never'],
  transport: ["import('@modelcontextprotocol/server').Transport", 'undefined as never'],
};
const UNIMPORTED = ['createBashTool', 'TaskManager', 'spawn', 'run'];

/** The folders that the examples name, below the one of a run. */
const PLACES = ['/srv/', '/work/', '/var/log/', '/var/lib/'];

/** The functions that an example only declares. */
const DECLARED = `Object.assign(globalThis, {
  tokenFromVault: async () => 'a-token-of-some-length',
  nextCommand: async (last?: string) => (last === undefined ? 'mkdir -p x && rm -r x' : undefined),
  confirmed: async () => true,
});`.replaceAll('\n', ' ');

/**
 * Returns an example as a module: with what it uses and does not say where from.
 *
 * @param place The folder that stands for the root of the folders which the example names.
 */
export function toModule({ page, text, language }: Snippet, place: string): string {
  const aliases = ALIASES.filter((alias) => (alias.page ?? page) === page);
  const installed = aliases.reduce(
    (naming, alias) => naming.replaceAll(`from '${alias.name}'`, `from '${alias.installed}'`),
    text,
  );
  const moved = PLACES.reduce(
    (moving, name) => moving.replaceAll(`'${name}`, `'${place}${name}`),
    installed,
  );
  if (language === 'js') return moved;
  const uses = (name: string) => new RegExp(`(?<![.\\w])${name}\\b`).test(text);
  const surroundings = Object.entries(SURROUNDINGS)
    .filter(([name]) => uses(name) && !new RegExp(`(const|let) ${name}\\b`).test(text))
    .map(([name, [type, value]]) => `const ${name}: ${type} = ${value};`);
  const imported = /^import /m.test(text) ? [] : UNIMPORTED.filter(uses);
  const imports = `import { ${imported.join(', ')} } from 'forkline';`;
  return [imports, DECLARED, ...surroundings, moved].join('\n');
}

/** Returns the lines that a block says it prints: `console.log(…); // TEXT`, or `COMMAND # TEXT` of a script. */
export function printedBy({ text, language }: Snippet): string[] {
  const said = language === 'sh' ? /^[^#\n]*\S +# (.*)$/gm : /console\.log\(.*\);\s*\/\/ (.*)$/gm;
  return [...text.matchAll(said)].map(([, line = '']) => line.trim());
}

/** Returns whether a printed line is as it was said; `…` stands for any text. */
export function isAsSaid(line: string, said: string): boolean {
  const parts = said.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(line.trimEnd());
}

/** Programs that the examples start, which do little at once. */
const STAND_INS: Readonly<Record<string, string>> = {
  docker: 'shift 3; exec "$@"',
  'forkline-far': 'exec forkline "$@"',
  forkline: `exec ${quote(process.execPath)} ${quote(`${root}dist/cli.js`)} "$@"`,
  gh: 'echo created',
  make: 'echo Done',
  npm:
    'case "$*" in "run dev") exec node -e \'require("node:http").createServer((_, answer) => ' +
    'answer.end("hello")).listen(0, () => console.log("ready"))\';; *) echo "$*";; esac',
  npx: 'exec "$@"',
  pytest: 'echo "1 passed"',
};

/** Makes the surroundings of a run in a folder, and returns the environment that leads to them. */
export function surroundingsIn(place: string): NodeJS.ProcessEnv {
  const folders = ['bin', 'tmp', 'home', 'srv/app', 'srv/project/crates', 'srv/agent/files'];
  for (const folder of [...folders, 'work/project', 'var/log/agent', 'var/lib/agent']) {
    mkdirSync(join(place, folder), { recursive: true });
  }
  for (const [name, script] of Object.entries(STAND_INS)) {
    writeFileSync(join(place, 'bin', name), `#!/bin/bash\n${script}\n`);
    chmodSync(join(place, 'bin', name), 0o755);
  }
  const path = [join(place, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  const temporary = join(place, 'tmp');
  return {
    ...process.env,
    ...{ PATH: path, HOME: join(place, 'home'), TMPDIR: temporary, TMUX_TMPDIR: temporary },
    XDG_STATE_HOME: temporary,
    TMUX: undefined,
  };
}
