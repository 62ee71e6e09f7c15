import type { Scene } from '../../support/sandbox.js';
import { python } from './way.js';

/** A command that wants git to obey it, when its user works in the same repository outside. */
export interface GitWay {
  readonly name: string;
  readonly command: string;
}

/** What its user's git would start, if it obeyed. */
const payload = ({ outside }: Scene) =>
  `[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch ${outside}/ran; false\\n`;

/** A directory of the command's own which has what git would obey. */
const evil = (scene: Scene, path = 'evil') =>
  `mkdir -p ${path} && cp -r .git/objects .git/refs .git/HEAD ${path} && printf '${payload(scene)}' > ${path}/config`;

/** By each call that gives a name to something. `NAME` is to come to be. */
const byCalls = (content: string): readonly (readonly [string, string])[] => {
  const c = 'import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n';
  const text = JSON.stringify(content);
  return [
    ['opening', `echo '${content}' > .git/NAME`],
    ['opening from within', `cd .git && echo '${content}' > NAME`],
    ['opening by a longer way', `echo '${content}' > .git/refs/..//./NAME`],
    ['opening by a link', `ln -s .git g && echo '${content}' > g/NAME`],
    ['opening by /proc', `echo '${content}' > /proc/self/cwd/.git/NAME`],
    ['opening by its root', `echo '${content}' > /proc/self/root$PWD/.git/NAME`],
    [
      'opening from a descriptor',
      python(
        `import os\nd = os.open('.git', os.O_RDONLY)\nf = os.open('NAME', os.O_CREAT | os.O_WRONLY, dir_fd=d)\nos.write(f, ${text}.encode())`,
      ),
    ],
    ['creat', python(`${c}f = libc.creat(b'.git/NAME', 0o644)\nos.write(f, ${text}.encode())`)],
    [
      'openat2',
      python(
        `${c}how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o644, 0)\nf = libc.syscall(437, -100, b'.git/NAME', how, 24)\nos.write(f, ${text}.encode())`,
      ),
    ],
    ['renaming', `echo '${content}' > .git/other && mv -f .git/other .git/NAME`],
    ['renaming from the workspace', `echo '${content}' > other && mv -f other .git/NAME`],
    [
      'exchanging',
      python(
        `${c}open('.git/other', 'w').write(${text})\nopen('.git/index', 'a').close()\nlibc.renameat2(-100, b'.git/other', -100, b'.git/NAME', 2)`,
      ),
    ],
    ['a second name', `echo '${content}' > .git/other && ln -f .git/other .git/NAME`],
    ['a second name from the workspace', `echo '${content}' > other && ln -f other .git/NAME`],
    ['a link', `echo '${content}' > other && ln -sf ../other .git/NAME`],
    [
      'a file without a name',
      python(
        `${c}f = os.open('.git', os.O_TMPFILE | os.O_WRONLY)\nos.write(f, ${text}.encode())\nlibc.linkat(-100, b'/proc/self/fd/%d' % f, -100, b'.git/NAME', 0x400)`,
      ),
    ],
    ['a pipe', `rm -f .git/NAME; mkfifo .git/NAME && (echo '${content}' > .git/NAME &)`],
    [
      'exchanging the path while it is looked at',
      python(`${c}import threading
good, bad = b'.git/free\\0', b'.git/NAME\\0'
path = ctypes.create_string_buffer(good, 64)
stop = False
def swap():
  while not stop:
    ctypes.memmove(path, bad, len(bad))
    ctypes.memmove(path, good, len(good))
threads = [threading.Thread(target=swap) for _ in range(2)]
for t in threads: t.start()
for _ in range(4000):
  f = libc.openat(-100, path, os.O_CREAT | os.O_WRONLY, 0o644)
  if f >= 0:
    os.write(f, ${text}.encode() if os.path.exists('.git/NAME') else b'')
    os.close(f)
stop = True
for t in threads: t.join()`),
    ],
    [
      'exchanging a directory while it is looked at',
      `mkdir -p .git/a d && ln -sfn .git/a way && (for i in $(seq 300); do ln -sfn $PWD/.git way; ln -sfn .git/a way; done) &
for i in $(seq 300); do echo '${content}' > way/NAME; done 2>/dev/null; wait`,
    ],
  ];
};

/** All of them, in a repository whose submodules and worktrees are in `.git` too. */
export function byGitNames(scene: Scene): readonly GitWay[] {
  const { work } = scene;
  const all = byCalls(`${work}/evil`).map(([name, command]) => ({
    name: `names another common directory by ${name}`,
    command: `${evil(scene)}; ${command.replaceAll('NAME', 'commondir')}`,
  }));
  const script = `#!/bin/sh\ntouch ${scene.outside}/ran`;
  const hook = (place: string) =>
    `mkdir -p $(dirname ${place}); printf '${script.replaceAll('\n', '\\n')}\\n' > ${place} && chmod +x ${place}`;
  const config = (place: string) => `printf '${payload(scene)}' >> ${place}`;
  const others: readonly GitWay[] = [
    { name: 'makes a hook', command: hook('.git/hooks/post-index-change') },
    {
      name: 'has the hooks made executable',
      command: `chmod +x .git/hooks/*; cp .git/hooks/pre-commit.sample .git/hooks/pre-commit`,
    },
    {
      name: 'makes the directory of hooks anew',
      command: `rm -rf .git/hooks; mv .git/hooks .git/h; ${hook('.git/hooks/post-index-change')}`,
    },
    { name: 'appends to the configuration', command: config('.git/config') },
    {
      name: 'appends to the configuration without making it',
      command: python(
        `import os\nf = os.open('.git/config', os.O_WRONLY | os.O_APPEND)\nos.write(f, b'''${payload(scene)}''')`,
      ),
    },
    {
      name: 'appends to the configuration by a second name',
      command: `ln .git/config .git/c; ${config('.git/c')}`,
    },
    {
      name: 'takes the configuration away and makes another',
      command: `mv .git/config .git/c; rm -f .git/config; ${config('.git/config')}`,
    },
    {
      name: 'renames over the configuration by a lock, as git does',
      command: `cp .git/config .git/config.lock; ${config('.git/config.lock')}; mv -f .git/config.lock .git/config`,
    },
    {
      name: 'makes the configuration of a worktree',
      command: `git config extensions.worktreeConfig true; ${config('.git/config.worktree')}`,
    },
    {
      name: "edits a worktree's common directory",
      command: `${evil(scene)}; echo ${work}/evil > .git/worktrees/tree/commondir`,
    },
    {
      name: "makes a worktree's directory anew",
      command: `${evil(scene)}; mv .git/worktrees .git/w; mkdir -p .git/worktrees/tree; cp .git/w/tree/* .git/worktrees/tree; echo ${work}/evil > .git/worktrees/tree/commondir`,
    },
    {
      name: "puts a link in the place of a worktree's directory",
      command: `cp -r .git/worktrees ws; mv .git/worktrees .git/w; ln -s ../ws .git/worktrees; ${evil(scene)}; echo ${work}/evil > .git/worktrees/tree/commondir`,
    },
    {
      name: "edits a submodule's configuration",
      command: config('.git/modules/deep/sub/config'),
    },
    {
      name: "makes a submodule's hook",
      command: hook('.git/modules/deep/sub/hooks/post-index-change'),
    },
    {
      name: "makes a submodule's common directory",
      command: `${evil(scene)}; echo ${work}/evil > .git/modules/deep/sub/commondir`,
    },
    {
      name: "makes a submodule's directory anew",
      command: `mv .git/modules/deep .git/d; cp -r .git/d .git/modules/deep; ${config('.git/modules/deep/sub/config')}`,
    },
    {
      name: 'gives objects of others',
      command: 'mkdir -p .git/objects/info; echo /tmp > .git/objects/info/alternates',
    },
    {
      name: 'gives attributes by a directory that it renames',
      command: `mkdir .git/i; echo '* filter=x' > .git/i/attributes; mv .git/info .git/i2; mv .git/i .git/info`,
    },
    {
      name: 'gives attributes by a link',
      command: `mv .git/info .git/i2; mkdir i; echo '* filter=x' > i/attributes; ln -s ../i .git/info`,
    },
    {
      name: 'has the index written through a link',
      command: `rm -f .git/index; ln -s ${scene.outside}/file .git/index`,
    },
    {
      name: 'has references written through a link',
      command: `rm -rf .git/packed-refs .git/logs; ln -s ${scene.outside}/file .git/packed-refs; ln -s ${scene.outside} .git/logs`,
    },
    {
      name: 'renames the repository and makes another',
      command: `mv .git .g; mkdir .git; cp -r .g/* .git; ${config('.git/config')}`,
    },
    {
      name: 'exchanges the repository and another',
      command: `cp -r .git other; ${config('other/config')}; ${python(
        "import ctypes\nctypes.CDLL(None).renameat2(-100, b'other', -100, b'.git', 2)",
      )}`,
    },
    {
      name: 'edits a configuration that is included',
      command: config('included'),
    },
    {
      name: 'makes a hook where hooks are configured to be',
      command: hook('own-hooks/post-index-change'),
    },
    {
      name: 'mounts over the repository',
      command: `cp -r .git other; ${config('other/config')}; mount --bind other .git; unshare -Urm mount --bind other .git`,
    },
    {
      name: 'keeps a descriptor of a lock over its renaming',
      command: python(
        `import os\nf = os.open('.git/config.lock', os.O_CREAT | os.O_RDWR)\ntry: os.rename('.git/config.lock', '.git/config')\nexcept OSError: pass\nos.write(f, b'''${payload(scene)}''')`,
      ),
    },
  ];
  return [...all, ...others];
}
