// Records a terminal in which `forkline run --pty` is typed, and draws it: docs/pictures/terminal.svg.
// Run it by hand, after a build: the recording takes time, and no two are equal.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import xterm from '@xterm/headless';
import { film } from './film.mjs';

const SIZE = { columns: 76, rows: 10 };
const DEPLOY = `#!/bin/bash
read -rsp 'Passphrase for deploy@staging: ' passphrase; echo
for done in 4 9 13 18 22 24; do
  printf -v bar '%*s' "$done" ''
  printf '\\r\\e[36mupload\\e[0m [%-24s] %3d %%' "\${bar// /#}" $((done * 100 / 24))
  sleep 0.25
done
echo
printf '\\e[32m✓\\e[0m %s\\n' 'staging runs 3f2c1a9' 'health check passed'
sleep 1.2
`;

/**
 * Fills a directory with the programs that are typed.
 * @param {string} directory
 */
function install(directory) {
  writeFileSync(join(directory, 'deploy'), DEPLOY, { mode: 0o755 });
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
  const program = `#!/bin/bash\nexec '${process.execPath}' '${cli}' "$@"\n`;
  writeFileSync(join(directory, 'forkline'), program, { mode: 0o755 });
}

/**
 * @param {import('../../src/index.js').LiveProcess<import('../../src/index.js').BytesChunk>} shell
 * @param {string} keys
 */
async function type(shell, keys) {
  for (const key of keys) {
    await shell.write(key);
    await sleep(key === '\r' ? 0 : 55);
  }
}

/** @param {string} directory */
async function record(directory) {
  const { spawn } = await import('../../dist/index.js');
  const terminal = new xterm.Terminal({
    cols: SIZE.columns,
    rows: SIZE.rows,
    allowProposedApi: true,
  });
  const shell = await spawn(['/bin/bash', '--norc', '--noprofile'], {
    pty: SIZE,
    encoding: 'bytes',
    cwd: directory,
    env: {
      PATH: `${directory}:${process.env.PATH}`,
      TERM: 'xterm-256color',
      PS1: '$ ',
      PROMPT_COMMAND: undefined,
    },
  });
  const frames = film(terminal);
  const shown = (async () => {
    for await (const { bytes } of shell) terminal.write(bytes);
  })();
  await sleep(600);
  await type(shell, "forkline run --pty --timeout 60 './deploy staging'\r");
  await sleep(1800);
  await type(shell, 'secret\r');
  await sleep(5000);
  await type(shell, 'echo "exit code $?"\r');
  await sleep(600);
  const picture = frames.end();
  await shell.kill({ graceMs: 100 });
  await shown;
  return picture;
}

const directory = mkdtempSync(join(tmpdir(), 'terminal-'));
try {
  install(directory);
  const file = fileURLToPath(new URL('../../docs/pictures/terminal.svg', import.meta.url));
  writeFileSync(file, await record(directory));
} finally {
  rmSync(directory, { recursive: true });
}
