import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/house.js';
import { CASES } from './cases.js';
import { literalsIn } from './literals.js';
import { FOLLOWED_ELSEWHERE, NOT_FOLLOWED } from './not-followed.js';

/** Where the texts of answers are made. */
const ROOMS = [
  ...['src/contracts', 'src/receipt', 'src/tasks', 'src/persistent-shell', 'src/urls'],
  'src/support/names.ts',
];

/** What a model is told ahead of its calls, and what is told to the programmer of a host. */
const AHEAD = /\/(?:schema|until|options|sandbox\/description)\.ts$/;

/** Words by which something is advised. */
const ADVICE =
  /\b(?:use|pass|call|read|begin|send|put|start|split|write|stop|keep|leave|look|ask|do|try|set|make|give|choose|replace|wait|commit|follow|let|run it|did you mean|in its place|expected to come|expected exactly|[rR]aw output|whole output|[aA]ll of its output|ends them|meanwhile|beside|[iI]t is kept)\b|[Ff]or more time/i;

const literals = literalsIn(ROOMS).filter(
  ({ file, text }) => !AHEAD.test(file) && text.includes(' ') && ADVICE.test(text),
);
const known = [...CASES, ...FOLLOWED_ELSEWHERE, ...NOT_FOLLOWED];

test('every advice in an answer has a case that follows it, or a reason why there is none', () => {
  // A new one: see `AdviceCase` in advice-case.ts.
  const unknown = literals.filter(({ text }) => !known.some(({ says }) => says.test(text)));
  expect(unknown).toEqual([]);
});

test('every case is about an advice that there is', () => {
  const stale = known.filter(({ says }) => !literals.some(({ text }) => says.test(text)));
  expect(stale.map(({ says }) => says.source)).toEqual([]);
});

test('what is followed elsewhere is followed there', () => {
  for (const { by } of FOLLOWED_ELSEWHERE) expect(existsSync(join(root, by))).toBe(true);
});
