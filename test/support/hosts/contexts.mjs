// Serves requests, each in an async context of its own, with whatever there is to be used; then
// tells which of the contexts are still remembered although nobody else does.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createBashTool, run, spawn, TaskManager } from '../../../dist/index.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const storage = new AsyncLocalStorage();

const tasks = new TaskManager({ keepMs: 1 });
const workspace = createBashTool({ contract: 'workspace', cwd: '/', async: true, tasks });
const tools = {
  workspace,
  modes: createBashTool({ contract: 'modes', cwd: '/' }),
  session: createBashTool({ contract: 'session', cwd: '/' }),
  plain: createBashTool({ contract: 'plain' }),
};
const listeners = { onOutput() {}, onUpdate() {} };
const long = 'seq 1 100000; cat local-file >/dev/null 2>&1; true';

/** @type {Record<string, () => Promise<unknown>>} */
const requests = {
  run: () => run('echo x', { onOutput() {} }),
  async spawn() {
    const live = await spawn('echo x');
    for await (const chunk of live) if (chunk.text === '') break;
    await live.result;
  },
  async job() {
    await workspace.execute({ command: 'echo x', async: true }, listeners);
    await workspace.job?.execute({ poll: [] });
  },
};
for (const [name, tool] of Object.entries(tools)) {
  requests[name] = () => tool.execute({ command: long }, listeners);
}

/** @param {() => Promise<unknown>} request */
async function serve(request) {
  const store = { of: request.name };
  await storage.run(store, request);
  return new WeakRef(store);
}

/** @type {[string, WeakRef<object>][]} */
const served = [];
for (const [name, request] of Object.entries(requests)) served.push([name, await serve(request)]);
// What a second request of each does, no longer has to do with the first.
for (const request of Object.values(requests)) await serve(request);

const remembered = () => served.flatMap(([name, store]) => (store.deref() ? [name] : []));
for (let round = 0; round < 20 && remembered().length > 0; round += 1) {
  await sleep(20);
  collect();
}
console.log(JSON.stringify({ served: served.length, remembered: remembered() }));
await Promise.all(Object.values(tools).map((tool) => tool.dispose()));
