// A client: connects by the command that is its first argument, as JSON, and runs the second there.
import { connect } from '../../../dist/remote/index.js';

const [command, text] = process.argv.slice(2);
const far = await connect({ command: JSON.parse(command ?? '[]') });
if (process.env.FORKLINE_TEST_FAR_SIDE === 'static') void far.run(text ?? '');
else {
  const bash = await far.createBashTool({ contract: 'session', cwd: '/tmp' });
  await bash.execute({ command: text ?? '', run_in_background: true });
}
const live = await far.spawn(text ?? '');
console.log(JSON.stringify({ pid: live.pid }));
await live.result;
