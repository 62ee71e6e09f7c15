// Tells whether commits changed comments alone: `node scripts/house/words-only.mjs BASE [HEAD]` names each
// source file in which code differs, and ends with 1 where there is one. For commits that reword a room.

import { execFileSync } from 'node:child_process';
import { parseAst } from 'rolldown/parseAst';

/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 30 });

/** Comments, and all texts in which a comment's signs are none. */
const TOKEN =
  /\/\/.*|\/\*[\s\S]*?\*\/|\bb?r(#*)"[\s\S]*?"\1|b?"(?:\\[\s\S]|[^"\\])*"|'(?:\\[^']+|\\'|[^'\\])'/g;

/** The code of a source without its comments, and without what its layout depends on them. */
function codeOf(/** @type {string} */ path, /** @type {string} */ text) {
  if (!/\.(rs|cc|h)$/.test(path)) {
    const tree = parseAst(text, { lang: 'ts' }, path);
    return JSON.stringify(tree, (key, value) =>
      /^(?:start|end|range|loc|comments)$/.test(key) ? undefined : value,
    );
  }
  const kept = text.replace(TOKEN, (found) => (/^\/[/*]/.test(found) ? ' ' : found));
  return kept.replace(/\s+/g, '');
}

const [base = 'HEAD~1', head = 'HEAD'] = process.argv.slice(2);
const changed = git('diff', '--name-status', '--no-renames', base, head).trim().split('\n');
const differing = changed.flatMap((line) => {
  const [status = '', path = ''] = line.split('\t');
  if (!/\.(ts|mjs|rs|cc|h)$/.test(path)) return [];
  if (status !== 'M') return [`${status} ${path}`];
  const [before, after] = [base, head].map((at) => codeOf(path, git('show', `${at}:${path}`)));
  return before === after ? [] : [path];
});
for (const line of differing) console.log(line);
process.exitCode = differing.length === 0 ? 0 : 1;
