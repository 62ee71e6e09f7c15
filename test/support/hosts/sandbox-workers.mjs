// A main thread that has run a command already, and workers with sandboxes that reach some hosts: one
// of them ends before the other's second command. Tells what each was answered by the server at a port.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { run } from '../../../dist/index.js';

/**
 * @param {string} port
 * @param {string} cwd
 */
async function ask(port, cwd) {
  const command = `curl -sS --noproxy '' http://localhost:${port}/ http://example.com/ 2>/dev/null`;
  const sandbox = { network: { allowedDomains: ['localhost'] } };
  try {
    const { output, sandbox: report } = await run(command, { cwd, sandbox });
    const denied = report?.denials.map(({ target }) => target);
    return { text: output.kind === 'complete' ? output.text : '', denied };
  } catch (error) {
    return String(error);
  }
}

if (isMainThread) {
  const [port = '', cwd = ''] = process.argv.slice(2);
  await run('true');
  const start = () => new Worker(new URL(import.meta.url), { workerData: { port, cwd } });
  const tell = async (/** @type {Worker} */ worker) => {
    worker.postMessage('ask');
    return (await once(worker, 'message'))[0];
  };
  const [one, two] = [start(), start()];
  const first = [await tell(one), await tell(two)];
  await one.terminate();
  const second = [await tell(two), await ask(port, cwd)];
  await two.terminate();
  console.log(JSON.stringify([...first, ...second]));
} else {
  const { port, cwd } = workerData;
  parentPort?.on('message', async () => parentPort?.postMessage(await ask(port, cwd)));
}
