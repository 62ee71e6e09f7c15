// Runs a command with the options that it is given, with so many descriptors left; then, when there are
// enough again, once more. Tells of both what came of it.
import { closeSync, openSync } from 'node:fs';
import { LaunchError, run } from '../../../dist/index.js';

const [command = '', options = '{}', left = '0'] = process.argv.slice(2);
const held = [];
try {
  for (;;) held.push(openSync('/dev/null', 'r'));
} catch {
  for (const descriptor of held.splice(0, Number(left))) closeSync(descriptor);
}
const first = await told();
for (const descriptor of held) closeSync(descriptor);
console.log(JSON.stringify([first, await told()]));

async function told() {
  try {
    /** @type {object} */
    const given = JSON.parse(options);
    const { output, sandbox } = await run(command, given);
    const { enforced, unseen } = sandbox ?? {};
    return {
      text: output.kind === 'complete' ? output.text : '',
      network: enforced?.network,
      unseen,
    };
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    return { code: error.code, step: error.step };
  }
}
