// A host that is to be killed: it starts a command by the named peer, and prints its pid.
import { setTimeout as sleep } from 'node:timers/promises';
import { SHELLS } from './shells.mjs';

const name = /** @type {keyof typeof SHELLS} */ (process.argv[2]);
const command = SHELLS[name]('echo $$; exec sleep 30');
while (!/^\d+\r?\n/m.test(command.text())) await sleep(20);
process.stdout.write(command.text());
setInterval(() => {}, 1000);
