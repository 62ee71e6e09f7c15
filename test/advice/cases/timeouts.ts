import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type AdviceCase, companion, type Kit } from '../advice-case.js';
import { said } from '../answers.js';

/** Some containers show system calls of no process: then a timeout cannot say why. */
function isUnseen(text: string): boolean {
  if (!text.includes('For more time')) return false;
  expect(text).not.toContain('waited for');
  return true;
}

const make = (kit: Kit, options?: object) => kit.make('workspace', options);

export const TIMEOUTS: readonly AdviceCase[] = [
  {
    name: 'a program that asks at a terminal',
    says: /^More time does not help: use a program that asks nothing, or options with which it asks/,
    async follow(kit) {
      const tool = make(kit);
      const script = '#!/bin/sh\n[ "$1" = -y ] || read -r sure\necho done\n';
      writeFileSync(kit.folder.file('ask'), script);
      chmodSync(kit.folder.file('ask'), 0o755);
      const onTerminal = (args: string) =>
        `python3 -c 'import pty, sys; pty.spawn(["./ask"] + sys.argv[1:])' ${args}`;
      const { text } = await kit.ask(tool, { command: onTerminal(''), timeout: 1 });
      if (isUnseen(text)) return;
      const option = said(text, /with which it asks nothing \(`(-\w)`\)/);
      expect((await kit.ask(tool, { command: onTerminal(option) })).text).toContain('done');
    },
  },
  {
    name: 'a program that waits for its input',
    says: /^More time does not help: give it its input in the command/,
    async follow(kit) {
      const tool = kit.make('session');
      const input = { command: 'true; cat; echo ended', run_in_background: true };
      const started = await kit.ask(tool, { ...input, stdin: true, timeout: 1000 });
      const task = JSON.parse(said(started.text, /call task_output with (\{.*?\})/));
      const output = companion(tool, 'task_output');
      const { text } = await kit.ask(output, { ...task, seconds: 30 });
      if (isUnseen(text)) return;
      const [pipe, file] = said(text, /in the command \((.*?)\), or none/).split(', ');
      const none = said(text, /or none \(`(.*?)`\)/);
      expect([pipe, file]).toEqual(['`printf … |`', '`<file`']);
      writeFileSync(kit.folder.file('file'), 'hi\n');
      for (const command of ['printf hi | cat', 'cat <file', `cat ${none}`]) {
        expect(await kit.ask(tool, { command })).toMatchObject({ exitCode: 0 });
      }
    },
  },
  {
    name: 'a program that waits for a lock',
    says: /^Run it again once the lock is free\.$/,
    async follow(kit) {
      const tool = make(kit);
      const hold = 'flock lock sh -c "touch held; sleep 3" >/dev/null 2>&1 &';
      await kit.ask(tool, { command: `${hold} until [ -e held ]; do sleep 0.02; done` });
      const command = 'flock lock echo got it';
      const { text } = await kit.ask(tool, { command, timeout: 1 });
      if (isUnseen(text)) return;
      said(text, /(Run it again once the lock is free)/);
      await kit.ask(tool, { command: 'flock lock true' });
      expect((await kit.ask(tool, { command })).text).toContain('got it');
    },
  },
  {
    name: 'a program that goes on until it is ended',
    says: /^To see what it prints at first, put `timeout 10` before it; or start it …\.$/,
    async follow(kit) {
      const tool = make(kit);
      const command = 'tail -f log';
      writeFileSync(kit.folder.file('log'), 'first\n');
      const { text } = await kit.ask(tool, { command, timeout: 1 });
      const first = said(text, /put `(timeout \d+)` before it/);
      expect((await kit.ask(tool, { command: `${first} ${command}` })).text).toMatch(/^first\n/);
      const how = said(text, /or start it with `(&)` at its end and its output in a file/);
      const started = await kit.ask(tool, { command: `${command} >out 2>&1 ${how}` });
      expect(started).toMatchObject({ exitCode: 0 });
      expect((await kit.ask(tool, { command: 'sleep 0.3; cat out' })).text).toMatch(/^first\n/);
    },
  },
  {
    name: 'a server',
    says: /^Start it …\.$/,
    async follow(kit) {
      const server = `python3 -c 'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); open("up", "w"); time.sleep(600)'`;
      const tool = make(kit, { async: true });
      const { text } = await kit.ask(tool, { command: server, timeout: 1 });
      const field = said(text, /a server does not end by itself\. Start it with `(\w+): true`/);
      const started = await kit.ask(tool, { command: `rm up; ${server}`, [field]: true });
      expect(started.text).toContain('Background job');
      await expect.poll(() => existsSync(kit.folder.file('up'))).toBe(true);
    },
  },
];
