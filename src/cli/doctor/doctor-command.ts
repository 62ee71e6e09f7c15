import { Command } from 'commander';
import { expectOutputErrors, writeOrTell } from '../standard-output.js';
import type { Finding } from './finding.js';
import { records } from './records.js';
import { surroundings } from './surroundings.js';
import { trial } from './trial.js';

/** The exit code when commands do not run here. */
const FAILED = 1;

const SIGNS: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok     ',
  limited: 'limited',
  failed: 'FAILED ',
};

/** Makes `forkline doctor`: checks whether commands run here, and what is missing. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Tell whether commands can run here, and what is missing; exit code 0 if they can')
    .option('--json', 'print the findings as one line of JSON')
    .action(async ({ json }: { readonly json?: true }) => {
      expectOutputErrors();
      const findings = [...surroundings(), ...(await records()), ...(await trial())];
      const canRun = findings.every(({ status }) => status !== 'failed');
      const text = json ? `${JSON.stringify({ canRun, findings })}\n` : findings.map(line).join('');
      const written = await writeOrTell(text);
      process.exitCode = canRun && written ? 0 : FAILED;
    });
}

function line({ name, status, found, cost }: Finding): string {
  const costs = cost === undefined ? '' : `\n${' '.repeat(8)}${cost}`;
  return `${SIGNS[status]} ${name}: ${found}${costs}\n`;
}
