import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { startHost } from '../../support/hosts.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';
import { installed, where } from '../../support/needs.js';
import { as, describeForAll, give, runDetachedAs, useShortScenes } from '../../support/sandbox.js';
import { SSH_LOGIN, startSshd } from '../../support/sshd.js';
import { type AgentScene, run, SSH_AGENT, sayEach, withSshAgent } from './user-agents.js';

leavesNothingBehind();
const scenes = useShortScenes();
const newFolder = useFolders();
const CLIENT = fileURLToPath(new URL('agent.py', import.meta.url));

/** Puts the client into the workspace. */
function withClient(scene: AgentScene): AgentScene {
  copyFileSync(CLIENT, join(scene.work, 'agent.py'));
  give(scene.person, scene.work);
  return scene;
}

/** Has git sign with the agent's key. */
const SIGNED = `git config --global user.name me; git config --global user.email me@example.com
  git config --global gpg.format ssh; git config --global user.signingkey ~/.ssh/id_ed25519.pub`;
const asMe = (scene: AgentScene) => run(scene.person, scene.env, ['sh', '-c', SIGNED]);
const COMMIT = 'git commit -q --allow-empty -S -m';

describe.skipIf(!SSH_AGENT.isMet || !installed('git').isMet)('ssh', () => {
  describeForAll('%s', (person) => {
    test('U10: a commit is signed, once for each command, and told', where(SSH_AGENT), async () => {
      const scene = await withSshAgent(scenes.path, person);
      asMe(scene);
      const verify = 'git cat-file commit HEAD | grep -c "BEGIN SSH SIGNATURE"';
      const [first, second, third] = await sayEach(
        scene,
        [
          `${COMMIT} one; ${verify}`,
          `${COMMIT} two; ${COMMIT} three; git log --format=%s`,
          'ssh-add -l',
        ],
        { sshAgent: true },
      );
      const print = run(person, scene.env, ['ssh-add', '-l']).split(' ')[1];
      const signature = { agent: 'ssh', key: print, comment: 'me', purpose: 'git', target: '' };
      expect(first).toMatchObject({ text: '1\n', signatures: [signature], denials: [] });
      expect(second?.text).toMatch(/two\none\n$/);
      expect(second?.signatures).toMatchObject([signature]);
      expect(second?.denials).toMatchObject([
        {
          kind: 'sign',
          rule: 'sshAgent',
          source: 'broker',
          target: expect.stringMatching(/one more/),
        },
      ]);
      expect(third?.text).toContain(print);
      expect(third?.signatures).toEqual([]);
    });

    test('no key and no second signature is obtainable from inside', where(SSH_AGENT), async () => {
      const scene = withClient(await withSshAgent(scenes.path, person));
      const often = { sshAgent: { maxSignatures: 1000 } };
      const [refused] = await sayEach(scene, ['python3 agent.py refused'], often);
      const lines = refused?.text.trim().split('\n') ?? [];
      expect(lines.filter((line) => !line.endsWith(': refused'))).toEqual([]);
      expect(lines.length).toBeGreaterThan(35);
      expect(refused?.signatures).toHaveLength(1);
      const [again, atOnce] = await sayEach(
        scene,
        ['python3 agent.py again', 'python3 agent.py at-once'],
        { sshAgent: true },
      );
      const tries = again?.text.trim().split('\n') ?? [];
      expect(tries.filter((line) => !line.endsWith(': refused'))).toEqual([]);
      expect(tries).toHaveLength(7);
      expect(again?.signatures).toHaveLength(1);
      expect(atOnce).toMatchObject({ text: 'signed 1\n', signatures: [{ purpose: 'git' }] });
    });

    test('what a command leaves running gets no signature', where(SSH_AGENT), async () => {
      const scene = withClient(await withSshAgent(scenes.path, person));
      const wait = 'touch go; until [ -e said ]; do sleep 0.02; done; cat said';
      const [, after] = await sayEach(scene, ['python3 agent.py later', wait], { sshAgent: true });
      expect(after).toMatchObject({ text: 'refused refused', signatures: [] });
    });

    test('a call of a persistent shell tells what was refused', where(SSH_AGENT), async () => {
      const scene = withClient(await withSshAgent(scenes.path, person));
      const options = { contract: 'session', persistent: true, cwd: scene.work };
      const args = [JSON.stringify({ ...options, sandbox: { sshAgent: true } })];
      const host = startHost('conversation', { under: as(person), env: scene.env, args });
      const ask = async (command: string) => {
        host.child.stdin?.write(`${JSON.stringify({ command })}\n`);
        return (await host.next<{ text: string }>()).text;
      };
      const refused =
        'The sandbox denied: sign ssh: one more signature for this command (sshAgent)';
      expect(await ask('python3 agent.py again')).toContain(refused);
      expect(await ask('true')).not.toContain(refused);
      expect(await ask('python3 agent.py again')).toContain(refused);
      host.child.stdin?.end();
      await host.ended;
    });

    test('a command has 16 connections, and leaves none of them', where(SSH_AGENT), async () => {
      const scene = withClient(await withSshAgent(scenes.path, person));
      const full = 'python3 agent.py full';
      const wait = 'until [ -e ended ]; do sleep 0.02; done; cat ended';
      const [first, second, ended] = await sayEach(scene, [full, full, wait], { sshAgent: true });
      for (const said of [first, second]) {
        expect(said?.text).toBe('open 16\n');
        expect(said?.denials).toMatchObject([
          { kind: 'sign', target: expect.stringMatching(/^ssh: one more connection/) },
        ]);
      }
      expect(ended?.text).toBe('ended 16');
    });

    test(
      'what is left of a command whose cradle it has killed gets none',
      where(SSH_AGENT),
      async () => {
        const scene = withClient(await withSshAgent(scenes.path, person));
        const kill = 'exec python3 agent.py orphans';
        const [, after] = await sayEach(scene, [kill, 'wc -c < signed'], { sshAgent: true });
        expect(after?.text).toBe('0\n');
      },
    );

    test(
      'a detached command has one signature, which is in its receipt',
      where(SSH_AGENT),
      async () => {
        const scene = withClient(await withSshAgent(scenes.path, person));
        const sandbox = { sshAgent: { socket: scene.env.SSH_AUTH_SOCK } };
        const options = { cwd: scene.work, sandbox };
        const said = await runDetachedAs(person, scene, 'python3 agent.py at-once', options);
        expect(said.text).toBe('signed 1\n');
        expect(said.receipt?.sandbox).toMatchObject({
          signatures: [{ agent: 'ssh', purpose: 'git' }],
          denials: [{ kind: 'sign', rule: 'sshAgent' }],
        });
      },
    );

    test(
      'a receipt has all signatures and what is held, whatever was denied',
      where(SSH_AGENT, installed('git')),
      async () => {
        const scene = withClient(await withSshAgent(scenes.path, person));
        const ssh = { socket: scene.env.SSH_AUTH_SOCK, maxSignatures: 40 };
        const connect = `import socket
for port in range(1, 201): socket.socket().connect_ex(("192.0.2.1", port))`;
        const command = `python3 -c '${connect}'; python3 agent.py many; git config core.fsmonitor ./x`;
        const options = { cwd: scene.work, sandbox: { sshAgent: ssh } };
        const { receipt } = await runDetachedAs(person, scene, command, options);
        expect(receipt?.sandbox?.signatures).toHaveLength(40);
        expect(receipt?.sandbox?.held).toMatchObject([{ keys: ['core.fsmonitor'] }]);
        expect(receipt?.sandbox?.unseen?.join()).toMatch(
          /^there was no room for \d+ more denials$/,
        );
      },
    );

    test('keys are read by no path', where(SSH_AGENT), async () => {
      const scene = await withSshAgent(scenes.path, person);
      const socket = scene.env.SSH_AUTH_SOCK;
      const tries = `key=${scene.home}/.ssh/id_ed25519
        for root in '' /proc/self/root /proc/$PPID/root /proc/1/root /proc/1/cwd/../../../../..; do
          cat $root$key
        done
        for each in /proc/[0-9]*/fd/* /proc/[0-9]*/root$key /run/forkline/* /run/forkline-gnupg/*; do
          [ -f "$each" ] && head -c 100 "$each"
        done
        grep -rl "PRIVATE KEY" ~/.ssh /run /tmp
        SSH_AUTH_SOCK=${socket} ssh-add -l; rm -f /run/forkline/ssh-agent; ssh-add -l >/dev/null && echo stands`;
      const [said] = await sayEach(scene, [tries], { sshAgent: true });
      expect(said?.text).not.toMatch(/BEGIN|openssh-key/);
      expect(said?.text).not.toMatch(/^\/.*id_ed25519$/m);
      expect(said?.text).toMatch(/Error connecting to agent|Could not open a connection/);
      expect(said?.text).toMatch(/stands\n$/);
    });

    test('only the keys that the policy names sign, and are listed', where(SSH_AGENT), async () => {
      const scene = withClient(await withSshAgent(scenes.path, person));
      const keys = [`SHA256:${'A'.repeat(43)}`];
      asMe(scene);
      const [said] = await sayEach(scene, [`ssh-add -l; ${COMMIT} one`], { sshAgent: { keys } });
      expect(said?.text).toMatch(/The agent has no identities/);
      expect(said?.signatures).toEqual([]);
    });

    test('a certificate signs, and is told, as its key', where(SSH_AGENT), async () => {
      const scene = withClient(await withSshAgent(scenes.path, person));
      const certify = `cd ~/.ssh; ssh-keygen -q -t ed25519 -N '' -f ca
        ssh-keygen -q -s ca -I me -n me id_ed25519.pub; ssh-add -q id_ed25519; ssh-add -l`;
      const listed = run(person, scene.env, ['sh', '-c', certify]);
      const [, print = '', again] = /^\d+ (\S+) me.*\n\d+ (\S+) me.*CERT/.exec(listed) ?? [];
      expect(again).toBe(print);
      const [said] = await sayEach(scene, ['ssh-add -l; python3 agent.py each'], {
        sshAgent: { keys: [print], maxSignatures: 2 },
      });
      expect(said?.text).toBe(`${listed}signed 2\n`);
      expect(said?.signatures).toMatchObject([{ key: print }, { key: print }]);
    });

    test(
      'git push goes over ssh to a server that is known, and to no other',
      where(SSH_AGENT, SSH_LOGIN),
      async () => {
        const scene = await withSshAgent(scenes.path, person);
        asMe(scene);
        const folder = newFolder();
        const sshd = await startSshd(folder, folder);
        try {
          const publicKey = readFileSync(join(scene.home, '.ssh/id_ed25519.pub'), 'utf8');
          appendFileSync(join(folder, 'user_key.pub'), publicKey);
          const port = sshd.ssh[sshd.ssh.indexOf('-p') + 1];
          const target = sshd.ssh.at(-1);
          execFileSync('git', ['init', '-q', '--bare', join(folder, 'bare.git')]);
          const ssh = `ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=`;
          const push = (file: string) =>
            `GIT_SSH_COMMAND="${ssh}${file}" git push -q ssh://${target}:${port}${folder}/bare.git HEAD:main && echo pushed`;
          const sandbox = { sshAgent: true, network: 'full' };
          const commit = 'git commit -q --allow-empty -m one';
          const [, unknown] = await sayEach(scene, [commit, push('/dev/null')], sandbox);
          expect(unknown?.text).not.toContain('pushed');
          expect(unknown?.signatures).toEqual([]);
          expect(unknown?.denials).toMatchObject([
            { target: expect.stringContaining('not in known_hosts') },
          ]);
          const hostKey = readFileSync(join(folder, 'host_key.pub'), 'utf8');
          writeFileSync(join(scene.home, '.ssh/known_hosts'), `[127.0.0.1]:${port} ${hostKey}`);
          give(person, scene.home);
          const known = push(`${scene.home}/.ssh/known_hosts`);
          const [pushed, without] = [
            ...(await sayEach(scene, [known], sandbox)),
            ...(await sayEach(scene, [known], { network: 'full' })),
          ];
          expect(pushed?.text).toMatch(/pushed\n$/);
          expect(pushed?.signatures).toMatchObject([
            { purpose: 'login', target: `${target?.split('@')[0]}@[127.0.0.1]:${port}` },
          ]);
          expect(without?.text).toMatch(/Permission denied/);
        } finally {
          await sshd.stop();
        }
      },
    );
  });
});
