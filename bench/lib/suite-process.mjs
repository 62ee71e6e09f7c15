// The process of one suite: measures it and sends the report to the runner.
/** @import { Message, Settings } from './types.d.ts' */
import { NotMeasured } from './not-measured.mjs';
import { loadSuite } from './suites.mjs';

/** @param {Message} message */
const send = (message) =>
  process.send?.(message, () => {
    process.off('disconnect', abandoned);
    process.disconnect();
  });

/** The runner has been killed. */
const abandoned = () => process.exit(1);
process.once('disconnect', abandoned);

/**
 * A suite that has failed may have left commands running, which would keep its process. They end with it.
 * @param {Message} message
 */
const give = (message) => process.send?.(message, () => process.exit(1));

const [name = '', settings = '{}'] = process.argv.slice(2);
try {
  const suite = await loadSuite(name);
  send({ report: await suite.measure(/** @type {Settings} */ (JSON.parse(settings))) });
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  give(error instanceof NotMeasured ? { missing: reason } : { failure: reason });
}
