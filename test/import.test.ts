import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const entry = new URL('../dist/index.js', import.meta.url).href;

/** What of Node an expression loads in a new process beyond what every module makes it load. */
function loadedBy(expression: string): string[] {
  const script = `
    await import('data:text/javascript,');
    const before = new Set(process.moduleLoadList);
    await (${expression});
    console.log(process.moduleLoadList.filter((name) => !before.has(name)).join());`;
  const args = ['--input-type=module', '-e', script];
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8', cwd });
  return printed.trim().split(',');
}

test('P13: a contract is loaded when the first tool of it is made', () => {
  const script = `
    const { createBashTool } = await import(${JSON.stringify(entry)});
    const { Session } = await import('node:inspector');
    const session = new Session();
    session.connect();
    const scripts = [];
    session.on('Debugger.scriptParsed', ({ params }) => scripts.push(params.url));
    session.post('Debugger.enable');
    const parts = () => scripts.filter((url) => /contracts-[a-z]+-tool/.test(url)).length;
    const before = parts();
    createBashTool({ contract: 'plain', cwd: '/' });
    console.log(before, parts());`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script]);
  expect(String(printed).trim()).toBe('0 1');
});

test('P13: importing the package loads nothing of Node that takes long and is not needed yet', () => {
  const loaded = loadedBy(`import(${JSON.stringify(entry)})`);
  for (const name of ['crypto', 'worker_threads', 'child_process', 'http', 'net', 'readline']) {
    expect(loaded).not.toContain(`NativeModule ${name}`);
  }
});

test('P13: a plain command loads no further file, one with limits loads theirs', () => {
  const script = `
    const { run } = await import(${JSON.stringify(entry)});
    const { basename } = await import('node:path');
    const { Session } = await import('node:inspector');
    const session = new Session();
    session.connect();
    const loaded = [];
    let characters = 0;
    session.on('Debugger.scriptParsed', ({ params }) => {
      if (!params.url.includes('/dist/')) return;
      loaded.push(basename(params.url));
      characters += params.length;
    });
    session.post('Debugger.enable');
    console.log(characters);
    loaded.length = 0;
    await run('exit 3');
    console.log(loaded.length);
    await run('exit 3', { limits: { cpuSeconds: 9 } });
    console.log(loaded[0]);`;
  const args = ['--input-type=module', '-e', script];
  const [characters, more, part] = execFileSync(process.execPath, args, { encoding: 'utf8' })
    .trim()
    .split('\n');
  // The time that V8 takes for the package grows with its text.
  expect(Number(characters)).toBeLessThan(200_000);
  expect([more, part]).toEqual(['0', 'command-limits-groups.cjs']);
});
