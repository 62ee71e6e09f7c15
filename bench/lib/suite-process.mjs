// The process of one suite: measures it and sends the report to the runner.
/** @import { Message, Settings } from './types.d.ts' */
import { leftOut } from './left-out.mjs';
import { missingPackage, NotMeasured } from './not-measured.mjs';
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

/**
 * @param {unknown} error
 * @returns {Message}
 */
function withoutReport(error) {
  const reason = error instanceof Error ? error.message : String(error);
  const missing = error instanceof NotMeasured ? reason : missingPackage(error);
  return missing === undefined ? { failure: reason } : { missing };
}

const [name = '', settings = '{}'] = process.argv.slice(2);
try {
  const suite = await loadSuite(name);
  const report = await suite.measure(/** @type {Settings} */ (JSON.parse(settings)));
  send({ report, leftOut: leftOut() });
} catch (error) {
  give(withoutReport(error));
}
