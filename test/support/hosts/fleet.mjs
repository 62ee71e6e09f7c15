// A client of a fleet: the address of the broker, the lease, and a command that it runs in two ways.
import { connectFleet } from '../../../dist/fleet/index.js';

const [servers = '', leaseMs, text = ''] = process.argv.slice(2);
const fleet = await connectFleet({ servers, leaseMs: Number(leaseMs) });
const bash = await fleet.createBashTool({ contract: 'session', cwd: '/tmp' });
await bash.execute({ command: text, run_in_background: true });
const live = await fleet.spawn(text);
console.log(JSON.stringify({ pid: live.pid }));
await live.result;
