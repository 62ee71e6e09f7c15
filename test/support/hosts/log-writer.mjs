// Appends entries to an interaction log: node log-writer.mjs PATH ID COUNT
import { createInteractionLog } from '../../../dist/index.js';

const [path = '', id = '', count = '0'] = process.argv.slice(2);
const log = createInteractionLog({ path });
for (let index = 0; index < Number(count); index += 1) {
  const padding = index % 10 === 0 ? 'x'.repeat(100_000) : '';
  log.append({
    time: new Date().toISOString(),
    command: `${id} ${String(index).padStart(4, '0')} ${padding}`,
    exitCode: 0,
    stdoutBytes: 0,
    stderrBytes: 0,
    durationMs: 0,
  });
  // So that the processes take turns.
  if (index % 5 === 0) await log.flush();
}
await log.flush();
