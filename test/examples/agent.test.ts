import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'forkline-test-'));
let transcript = '';

beforeAll(() => {
  const compiler = join(root, 'node_modules/.bin/tsc');
  execFileSync(compiler, ['-p', 'examples'], { cwd: root });
  const environment = { ...process.env, TMPDIR: temporary };
  const script = join(root, 'examples/build/agent.js');
  transcript = execFileSync(process.execPath, [script], { env: environment, encoding: 'utf8' });
});
afterAll(() => rmSync(temporary, { recursive: true }));

/** What the model read after a call. */
function answerTo(call: string): string {
  const [, after = ''] = transcript.split(`\n${call}\n`);
  const [answer = ''] = after.split(/\n(?=bash |job |sum\(\) )/);
  return answer.replace(/\d+\.\d\d seconds/g, 'T seconds').trimEnd();
}

test('the example finds the bug, mends it and says so', () => {
  const failed = answerTo('bash {"command":"node test.mjs"}');
  expect(failed).toMatch(/Command exited with code 1\n {4}\(error\)$/);
  const mended = answerTo(`bash {"command":"sed -i 's/a - b/a + b/' sum.mjs && node test.mjs"}`);
  expect(mended).toBe('    ok\n\n    Wall time: T seconds');
  expect(transcript).toMatch(/\nsum\(\) was subtracting; it adds now, and its test passes\.\n$/);
});

test('the agent reads the end of a long output from its artifact', () => {
  expect(answerTo('bash {"command":"seq 1 30000"}')).toContain(
    '[Showing lines 21468-30000 of 30000 (50.0KB limit). Read artifact://0 for full output: sed -n 21268,21467p artifact://0]',
  );
  expect(answerTo('bash {"command":"tail -n 1 artifact://0"}')).toMatch(/^ {4}30000\n/);
});

test('the agent hears of a job, of a timeout and of a wrong directory', () => {
  expect(answerTo('bash {"command":"sleep 0.2; echo built","async":true}')).toMatch(
    /^ {4}Background job bg_1 started: sleep 0.2; echo built\n/,
  );
  expect(answerTo('job {"poll":["bg_1"]}')).toMatch(/^ {4}Job bg_1 completed after T seconds/);
  expect(answerTo('bash {"command":"sleep 60","timeout":1}')).toBe(
    '    Command timed out after 1 second\n' +
      '    For more time, pass a larger `timeout` (at most 3600); with `async: true`, other commands can run meanwhile.\n' +
      '    (error)',
  );
  expect(transcript).toMatch(/Working directory does not exist: \S+\/no\/such\/directory\n/);
});

test("it leaves nothing behind but the user's own directory for such things, empty", () => {
  const left = readdirSync(temporary, { recursive: true });
  expect(left).toEqual([`forkline-${process.getuid?.()}`]);
});
