import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { quote } from '../../support/commands.js';
import type { AdviceCase, Kit } from '../advice-case.js';
import { said } from '../answers.js';

const make = (kit: Kit) => kit.make('workspace', { sandbox: 'workspace-write' });
const NODE = quote(process.execPath);

/** Advice of denials; these need a folder that is not below `/tmp`, of which a sandbox has one of its own. */
export const SANDBOX: readonly AdviceCase[] = [
  {
    name: 'a file outside of the workspace',
    says: /^Write to … instead\.$/,
    async follow(kit) {
      const tool = make(kit);
      const { text } = await kit.ask(tool, { command: `touch ${quote(kit.outside)}/new` });
      const places = said(text, /\(allowWrite\)\. Write to (.*) instead\./).split(' or ');
      expect(places.length).toBeGreaterThanOrEqual(2);
      for (const place of places) {
        const path = quote(join(place.replace(/ \(the sandbox's own\)$/, ''), 'new'));
        const followed = await kit.ask(tool, { command: `echo in >${path} && cat ${path}` });
        expect(followed.text).toMatch(/^in\n/);
        expect(followed.text).not.toContain('denied');
      }
    },
  },
  {
    name: 'a file in the host’s /tmp',
    says: /^\/tmp is the sandbox's own: keep files in the working directory\.$/,
    async follow(kit) {
      const place = mkdtempSync('/tmp/forkline-advice-');
      const file = join(place, 'of-the-host');
      writeFileSync(file, 'hers\n');
      const tool = make(kit);
      const { text } = await kit.ask(tool, { command: `cat ${file}` });
      rmSync(place, { recursive: true });
      expect(text).toContain("/tmp is the sandbox's own: keep files in the working directory.");
      writeFileSync(kit.folder.file('of-the-host'), 'hers\n');
      expect((await kit.ask(tool, { command: 'cat of-the-host' })).text).toMatch(/^hers\n/);
    },
  },
  {
    name: 'a socket outside of the sandbox',
    says: /^Start one in the sandbox, or ask the user to allow that socket\.$/,
    async follow(kit) {
      const path = join(kit.outside, 'socket');
      const server = createServer((socket) => socket.end('outside')).listen(path);
      const tool = make(kit);
      const connect = (to: string) =>
        `${NODE} -e 'require("net").connect(process.argv[1]).on("error", console.log).pipe(process.stdout)' ${quote(to)}`;
      const { text } = await kit.ask(tool, { command: connect(path) });
      server.close();
      expect(text).toContain('Start one in the sandbox');
      const serve = `${NODE} -e 'require("net").createServer((s) => s.end("inside")).listen("own")'`;
      const wait = 'until [ -S own ]; do sleep 0.05; done';
      const command = `${serve} >/dev/null 2>&1 & ${wait}; ${connect('own')}; kill $!`;
      expect((await kit.ask(tool, { command })).text).toMatch(/^inside/);
    },
  },
  {
    name: 'a file that is kept, of which git may have left work half done',
    says: /^Ask the user to change it\. .* look at `git status`, and commit none of that\.$/,
    async follow(kit) {
      const { folder } = kit;
      mkdirSync(folder.file('.vscode'));
      writeFileSync(folder.file('.vscode/settings.json'), '{}\n');
      const git = 'git -c user.name=a -c user.email=a@b.c -c commit.gpgsign=false';
      const plain = kit.make('workspace');
      await kit.ask(plain, { command: 'git init -q . && git add . && git status' });
      await kit.ask(plain, { command: `${git} commit -qm first` });
      const tool = make(kit);
      const { text } = await kit.ask(tool, { command: 'echo 1 > .vscode/settings.json' });
      const command = said(text, /look at `(git status)`, and commit none/);
      const followed = await kit.ask(tool, { command });
      expect(followed).toMatchObject({ exitCode: 0 });
      expect(followed.text).toMatch(/nothing to commit/);
    },
  },
];
