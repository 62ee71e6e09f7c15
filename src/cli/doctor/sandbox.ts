import { LaunchError, run } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { type Finding, fine, limited } from './finding.js';

/** Checks whether a command can be run in a sandbox, and in which. */
export async function sandboxTrial(): Promise<Finding> {
  const name = 'sandbox';
  try {
    await run('true', { cwd: '/', sandbox: 'read-only' });
    return fine(name, 'namespaces, Landlock and seccomp');
  } catch (error) {
    if (!(error instanceof LaunchError) || error.step !== 'sandbox') {
      return limited(name, messageOf(error), 'no command can run in a sandbox');
    }
    const weaker = await run('true', {
      cwd: '/',
      sandbox: { mode: 'read-only', require: 'landlock' },
    }).catch(messageOf);
    const cost =
      typeof weaker === 'string'
        ? 'no command can run in a sandbox'
        : "a sandbox needs `require: 'landlock'`, which enforces less";
    return limited(name, messageOf(error), cost);
  }
}
