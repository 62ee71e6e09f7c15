// Is stopped for a second while a command executes many programs, and says how many it was told of. Its arguments: a
// writable folder, and the number of programs.
import { spawn } from 'node:child_process';
import { run } from '../../../dist/index.js';

const [cwd, many] = process.argv.slice(2);
const sandbox = /** @type {const} */ ({ mode: 'workspace-write', exec: { record: true } });
await run('true', { cwd, sandbox });
const text = `sleep 0.3; for i in $(seq ${many}); do /bin/true; done`;
const running = run(text, { cwd, sandbox });
spawn('sh', ['-c', 'kill -STOP $PPID; sleep 1.3; kill -CONT $PPID']);
const { executed = [], moreExecuted = 0 } = await running;
console.log(JSON.stringify(executed.length + moreExecuted));
