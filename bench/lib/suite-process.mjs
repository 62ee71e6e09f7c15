// The process of one suite: measures it and sends the report to the runner.
/** @import { Message, Settings } from './types.d.ts' */
import { loadSuite } from './suites.mjs';

/** @param {Message} message */
const send = (message) => process.send?.(message, () => process.disconnect());

const [name = '', settings = '{}'] = process.argv.slice(2);
try {
  const suite = await loadSuite(name);
  send({ report: await suite.measure(/** @type {Settings} */ (JSON.parse(settings))) });
} catch (error) {
  send({ failure: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
