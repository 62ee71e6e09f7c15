// An agent's loop that asks its user before `git push` and `rm -r`, whatever wraps them: a Makefile, Python, a pipe
// into a shell. The model here is a script, so that the example runs anywhere; the user is whoever types.
//
//     npx tsc -p examples && node examples/build/permissions.js
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createBashTool, describeExec, type OnExec, type SandboxExec } from 'forkline';

const exec: SandboxExec = {
  rules: [
    { program: 'git', argv: ['push'], answer: 'ask' },
    {
      program: 'rm',
      argv: [/^-\w*[rR]|^--recursive$/],
      answer: 'ask',
      say: 'Leave directories where they are, or move them into `trash`.',
    },
  ],
};

/** What the model does, one command after another; a real one reads the answers. */
const COMMANDS = [
  'printf "release:\\n\\tgit push -q origin main\\n" >Makefile && make -s release',
  `python3 -c 'import subprocess; subprocess.run(["git", "push", "-q", "origin", "main"], check=True)' && git ls-remote origin`,
  'echo "rm -r build" | sh',
  'find build -type d -name cache -prune -exec rm -rf {} +; ls build',
  'rm build/main.o; ls build',
];

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** One question after another: several programs may wait at once. */
let asked: Promise<unknown> = Promise.resolve();

const onExec: OnExec = (request) => {
  const answer = asked.then(async () => {
    if (request.signal.aborted) return 'deny';
    console.log(
      describeExec(request)
        .map((line) => `? ${line}`)
        .join('\n'),
    );
    // A program that wants a window or a chat message awaits that here, and `request.signal` as well.
    const { value = '' } = await lines.next();
    console.log(`> ${value}\n`);
    return /^y/i.test(value) ? 'allow' : 'deny';
  });
  asked = answer;
  return answer;
};

const place = await mkdtemp(join(tmpdir(), 'forkline-example-'));
const work = join(place, 'project');
const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: work });
await mkdir(join(work, 'build/cache'), { recursive: true });
await writeFile(join(work, 'build/main.o'), '');
git('init', '-q', '-b', 'main');
git('init', '-q', '--bare', 'origin.git');
git('remote', 'add', 'origin', './origin.git');
git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first');

const tool = createBashTool({ contract: 'plain', cwd: work, sandbox: { exec }, onExec });
try {
  for (const command of COMMANDS) {
    console.log(`$ ${command}`);
    const { text } = await tool.answer({ command });
    console.log(`${text}\n`);
  }
} finally {
  await tool.dispose();
  await rm(place, { recursive: true });
}
process.stdin.destroy();
