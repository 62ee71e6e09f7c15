import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();
const root = fileURLToPath(new URL('../../', import.meta.url));
let transcript = '';

/** Runs the example, and answers its questions as they come. */
function played(): Promise<string> {
  const example = spawn(process.execPath, [join(root, 'examples/build/permissions.js')]);
  let text = '';
  example.stdout.on('data', (bytes: Buffer) => {
    text += bytes.toString();
    if (!/^\? .*\n$/m.test(text.split(/^> /m).at(-1) ?? '') || !/\n\? .*\n$/.test(text)) return;
    const command = text.split(/^\$ /m).at(-1) ?? '';
    example.stdin.write(/^(?:python3|find)/.test(command) ? 'yes\n' : 'no\n');
  });
  return new Promise((resolve) => example.on('close', () => resolve(text)));
}

/** What was shown of a command that begins like this: questions, and what the model read. */
function shownOf(command: string): string {
  const parts = transcript.split(/^\$ /m);
  return parts.find((part) => part.startsWith(command)) ?? '';
}

beforeAll(async () => {
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'examples'], { cwd: root });
  transcript = await played();
});

test('a push from a Makefile is asked about, and denied', () => {
  const shown = shownOf('printf');
  expect(shown).toMatch(
    /\n\? git push -q origin main\n\? in \S+\/project, run by make < bash\n> no\n/,
  );
  expect(shown).toContain(
    "The sandbox's rules denied: `git push -q origin main` (run by make). The user has not allowed it. Do without it.",
  );
});

test('a push from Python is asked about, and allowed', () => {
  const shown = shownOf('python3');
  expect(shown).toMatch(/\n\? git push -q origin main\n\? in .*python3.*\n> yes\n/);
  expect(shown).toMatch(/[\da-f]{40}\\trefs\/heads\/main\\n/);
});

test('a removal that is piped into a shell is asked about, and the model is told what to do instead', () => {
  const shown = shownOf('echo');
  expect(shown).toMatch(/\n\? rm -r build\n/);
  expect(shown).toContain('not allowed it. Leave directories where they are, or move them into');
});

test('a removal by find is asked about, and allowed; one of a file is not asked about', () => {
  expect(shownOf('find')).toMatch(/\n\? rm -rf build\/cache\n.*> yes\n.*"stdout":"main\.o\\n"/s);
  expect(shownOf('rm build/main.o')).toMatch(/^[^?]*"stdout":""[^?]*$/);
});
