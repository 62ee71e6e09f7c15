// Figures of the house, room by room: `node scripts/house/figures.mjs [PATH...]`. Lines of code without comments
// and blanks, how many sentences of comments begin with a word that has to be decoded, and how many of a
// thousand words are `who`, `whoever`, `nobody`, `somebody`. `--list` prints those sentences instead.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { countsOf, sentencesOf } from './prose.mjs';

const asked = process.argv.slice(2).filter((argument) => argument !== '--list');
const paths = asked.length > 0 ? asked : ['src', 'native'];
const files = execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((file) => /\.(ts|mjs|rs|cc|h)$/.test(file));

if (process.argv.includes('--list')) {
  for (const file of files) {
    for (const { text, isRiddle, persons } of sentencesOf(readFileSync(file, 'utf8'))) {
      if (isRiddle || persons > 0) console.log(`${file}: ${text}`);
    }
  }
} else {
  console.log(
    'room                       files  lines  sentences  riddles  persons of 1,000 words',
  );
  const roomOf = (/** @type {string} */ file) => file.split('/').slice(0, 2).join('/');
  for (const room of [...new Set(files.map(roomOf))])
    print(
      room,
      files.filter((file) => roomOf(file) === room),
    );
  print('all', files);
}

/** @param {string} room @param {string[]} of */
function print(room, of) {
  const texts = of.map((file) => readFileSync(file, 'utf8'));
  const { lines, sentences, riddles, words, persons } = countsOf(texts);
  console.log(
    room.padEnd(26),
    String(of.length).padStart(5),
    String(lines).padStart(6),
    String(sentences).padStart(10),
    `${((100 * riddles) / Math.max(1, sentences)).toFixed(1)} %`.padStart(8),
    ((1000 * persons) / Math.max(1, words)).toFixed(1).padStart(8),
  );
}
