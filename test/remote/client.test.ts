import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FAR_SIDE } from '../support/far.js';

const entry = (name: string) => new URL(`../../dist/${name}/index.js`, import.meta.url).href;

/** What a program prints, which is run in a process of its own. */
function printedBy(script: string): string {
  const args = ['--input-type=module', '-e', script];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}

test('a client needs no engine of its own: the addon is not loaded, and no keeper started', () => {
  const printed = printedBy(`
    import { readFileSync, readdirSync } from 'node:fs';
    import { connect } from ${JSON.stringify(entry('remote'))};
    const far = await connect({ command: ${JSON.stringify(FAR_SIDE)} });
    await far.run('echo hi', { onOutput: () => {} });
    const bash = await far.createBashTool({ contract: 'session', cwd: '/' });
    await bash.execute({ command: 'echo hi' });
    const live = await far.spawn('cat', { stdin: 'pipe', encoding: 'utf-16le' });
    live.end();
    await live.result;
    console.log(/\\.node$/m.test(readFileSync('/proc/self/maps', 'utf8')));
    await far.dispose();`);
  expect(printed).toBe('false');
});

test('nothing keeps a process alive that has no call under way', () => {
  const printed = printedBy(`
    import { connect } from ${JSON.stringify(entry('remote'))};
    const far = await connect({ command: ${JSON.stringify(FAR_SIDE)} });
    const bash = await far.createBashTool({ contract: 'session', cwd: '/' });
    await bash.execute({ command: 'echo hi' });
    const live = await far.spawn('sleep 60');
    live.unref();
    console.log('at the end');`);
  expect(printed).toBe('at the end');
});

test('the library of the broker is loaded when a fleet is connected to, and not before', () => {
  const printed = printedBy(`
    import { connectFleet } from ${JSON.stringify(entry('fleet'))};
    import { Session } from 'node:inspector';
    const session = new Session();
    session.connect();
    const urls = [];
    session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
    session.post('Debugger.enable');
    const loaded = () => urls.some((url) => url.includes('@nats-io'));
    const before = loaded();
    await connectFleet({ servers: 'nats://127.0.0.1:1' }).catch(() => {});
    console.log(before, loaded());`);
  expect(printed).toBe('false true');
});
