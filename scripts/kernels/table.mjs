// Prints what `forkline doctor` found on several kernels as a table: node scripts/kernels/table.mjs LOG...

import { readFileSync } from 'node:fs';

/** @typedef {{ name: string, status: string, found: string, cost?: string }} Finding */

/** @type {{ readonly kernel: string, readonly person: string, readonly findings: readonly Finding[] }[]} */
const runs = process.argv.slice(2).flatMap((log) => {
  const lines = readFileSync(log, 'utf8').matchAll(/DOCTOR (\w+) (\{.*\})/g);
  return [...lines].map(([, person = '', json = '']) => {
    /** @type {{ findings: Finding[] }} */
    const { findings } = JSON.parse(json);
    const platform = findings.find(({ name }) => name === 'platform')?.found ?? '';
    return { kernel: platform.replace(/^.* kernel /, ''), person, findings };
  });
});
const order = new Intl.Collator('en', { numeric: true });
runs.sort((one, other) => order.compare(one.kernel, other.kernel));

const ofSandbox = runs.map(({ findings }) =>
  findings.filter(({ name }) => name === 'pidfd' || name.startsWith('sandbox')),
);
const names = [...new Set(ofSandbox.flat().map(({ name }) => name))];
const title = runs.map(({ kernel, person }) => `${kernel}, ${person}`);
console.log(`| | ${title.join(' | ')} |\n| --- |${' --- |'.repeat(runs.length)}`);
for (const name of names) {
  const cells = ofSandbox.map((all) => all.find((each) => each.name === name)?.found ?? '');
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
