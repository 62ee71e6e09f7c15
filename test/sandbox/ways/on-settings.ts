import { python } from './way.js';

/** A command after which git, run by its user outside, is to start nothing that was not there before. */
export interface SettingAttack {
  readonly name: string;
  readonly command: string;
}

/** By settings that start a program or lead elsewhere. `RAN` is the program. */
const BY_KEYS: readonly string[] = [
  'core.fsmonitor RAN',
  'core.hooksPath ../evil-hooks',
  'core.sshCommand RAN',
  'core.editor RAN',
  'core.pager RAN',
  'core.askPass RAN',
  'core.gitProxy RAN',
  'core.alternateRefsCommand RAN',
  'core.attributesFile ../evil-attributes',
  'core.worktree /',
  'core.bare true',
  'diff.external RAN',
  'diff.evil.textconv RAN',
  'diff.evil.command RAN',
  'filter.evil.clean RAN',
  'filter.evil.smudge RAN',
  'filter.evil.process RAN',
  'merge.evil.driver RAN',
  'alias.last !RAN',
  'include.path ../evil-config',
  'includeIf.gitdir:/.path ../evil-config',
  'credential.helper !RAN',
  'gpg.program RAN',
  'gpg.ssh.program RAN',
  'commit.gpgSign true',
  'user.signingKey x',
  'remote.origin.uploadpack RAN',
  'remote.origin.receivepack RAN',
  'remote.origin.vcs evil',
  'remote.origin.url ext::RAN',
  'remote.origin.pushurl ./evil.git',
  'remote.origin.url --upload-pack=RAN',
  'remote.ext::x.url https://h/r',
  'branch.main.remote ext::RAN',
  'branch.main.pushRemote ./evil.git',
  'branch.main.mergeOptions -sRAN',
  'url.ext::RAN.insteadOf /',
  'protocol.ext.allow always',
  'submodule.deep/sub.update !RAN',
  'submodule.deep/sub.url ext::RAN',
  'submodule.recurse true',
  'pager.log RAN',
  'sequence.editor RAN',
  'http.proxy ext::RAN',
  'init.templateDir ../evil-hooks',
  'extensions.objectFormat sha256',
];

/** By ways in which a file comes to be there. `EVIL` and `BYTES` are a configuration, `LOCK` makes a lock with it. */
const BY_WAYS: Readonly<Record<string, string>> = {
  'renames a lock over the configuration': 'LOCK; mv -f .git/config.lock .git/config',
  'keeps a descriptor of a lock that is inert': python(`import os
open('.git/config.lock', 'w').write(open('.git/config').read() + '[user]\\n\\tname = x\\n')
f = os.open('.git/config.lock', os.O_RDWR | os.O_APPEND)
os.rename('.git/config.lock', '.git/config')
os.write(f, BYTES)`),
  'rewrites a lock while it is looked at': python(`import os, threading
good = open('.git/config', 'rb').read() + b'[user]\\n\\tname = y\\n'
stop = False
def swap():
  while not stop:
    for content in (good, good + BYTES):
      try:
        f = os.open('.git/config.lock', os.O_WRONLY | os.O_TRUNC)
        os.write(f, content)
        os.close(f)
      except OSError: pass
t = threading.Thread(target=swap)
t.start()
for _ in range(20):
  open('.git/config.lock', 'wb').write(good)
  try: os.rename('.git/config.lock', '.git/config')
  except OSError: pass
stop = True
t.join()`),
  'exchanges two names': `LOCK; ${python("import ctypes\nctypes.CDLL(None).renameat2(-100, b'.git/config.lock', -100, b'.git/config', 2)")}`,
  'links a lock to the configuration': 'LOCK; ln -f .git/config.lock .git/config',
  'makes a link of the configuration': 'printf "EVIL" > evil; ln -sf ../evil .git/config',
  'renames a link over the configuration':
    'printf "EVIL" > evil; ln -s ../evil .git/config.lock; mv -f .git/config.lock .git/config',
  'appends in place': 'printf "EVIL" >> .git/config',
  'removes the configuration and makes another':
    'cp .git/config c; rm -f .git/config; cp c .git/config; printf "EVIL" >> .git/config',
  'removes it and renames': 'rm -f .git/config; LOCK; mv -n .git/config.lock .git/config',
  'copies over it':
    'cp .git/config c; printf "EVIL" >> c; cp -f c .git/config; mv -f c .git/config',
  'puts another section on a line':
    'cp .git/config .git/config.lock; printf "[user] name = x\\n[core] fsmonitor = RAN\\n" >> .git/config.lock; mv -f .git/config.lock .git/config',
  'writes in capitals':
    'cp .git/config .git/config.lock; printf "[CORE]\\n\\tFSMONITOR = RAN\\n" >> .git/config.lock; mv -f .git/config.lock .git/config',
  'has a line go on in the next':
    'cp .git/config .git/config.lock; printf "[user]\\n\\tname = x \\\\\\\\\\n[core]\\n\\tfsmonitor = RAN\\n" >> .git/config.lock; mv -f .git/config.lock .git/config',
  'ends lines in two characters':
    'cp .git/config .git/config.lock; printf "[core]\\r\\n\\tfsmonitor = RAN\\r\\n" >> .git/config.lock; mv -f .git/config.lock .git/config',
  'writes a value of two lines': "git config user.name 'x\n[core]\n\tfsmonitor = RAN'",
  'names a remote with a section':
    'git config \'remote.x"]\\n[core]\\nfsmonitor = RAN\\n[remote "y.url\' https://h/r',
  'writes so much that nobody reads it':
    'cp .git/config .git/config.lock; (yes "# x" | head -c 2000000; printf "EVIL") >> .git/config.lock; mv -f .git/config.lock .git/config',
  'spells the name otherwise':
    'LOCK; mv -f .git/config.lock .git/CONFIG; mv -f .git/CONFIG .git/config',
  'goes by a descriptor of the directory': python(
    `import os\nopen('.git/config.lock', 'wb').write(open('.git/config', 'rb').read() + BYTES)\nd = os.open('.git', os.O_RDONLY)\nos.rename('config.lock', 'config', src_dir_fd=d, dst_dir_fd=d)`,
  ),
  'makes the configuration of a worktree':
    'git config extensions.worktreeConfig true; printf "EVIL" > .git/worktrees/tree/w.lock; mv .git/worktrees/tree/w.lock .git/worktrees/tree/config.worktree; printf "EVIL" > .git/w.lock; mv .git/w.lock .git/config.worktree',
  'makes that of the first worktree by git':
    'git config extensions.worktreeConfig true; git config --worktree core.fsmonitor RAN; git -C tree config --worktree core.pager RAN',
  "edits a submodule's":
    'git -C sub config core.fsmonitor RAN; git -C sub config core.worktree ../../../../..',
  'has a submodule without its configuration':
    'rm -f .git/modules/deep/sub/config; printf "[core]\\n\\tbare = false\\nEVIL" > .git/modules/deep/sub/c; mv .git/modules/deep/sub/c .git/modules/deep/sub/config',
  'makes a hook':
    'printf "#!/bin/sh\\nRAN\\n" > .git/hooks/post-index-change; chmod +x .git/hooks/*',
  'makes hooks of samples':
    'for h in pre-commit post-checkout post-index-change reference-transaction; do printf "#!/bin/sh\\nRAN\\n" > .git/hooks/$h.sample; chmod +x .git/hooks/$h.sample; mv .git/hooks/$h.sample .git/hooks/$h; ln -f .git/hooks/$h.sample .git/hooks/$h; done',
  'writes a hook once it has been looked at': python(`import os
f = os.open('.git/hooks/pre-commit', os.O_CREAT | os.O_RDWR, 0o755)
g = os.open('/proc/self/fd/%d' % f, os.O_RDWR)
os.close(f)
os.mkdir('.git/x')
os.write(g, b'#!/bin/sh\\nRAN\\n')
os.close(g)`),
  'makes the hooks anew':
    'mv .git/hooks .git/h; rm -rf .git/hooks; mkdir -p .git/hooks; mkdir h2; cp evil-hooks/* h2; mv h2 .git/hooks; cp -r evil-hooks .git/h3; mv .git/h3 .git/hooks',
  "makes a submodule's hook":
    'cp evil-hooks/* .git/modules/deep/sub/hooks/; ln -sf $PWD/evil-hooks/pre-commit .git/modules/deep/sub/hooks/pre-commit',
  'has another common directory':
    'cp -r .git/refs .git/objects .git/HEAD evil.git; for d in .git .git/modules/deep/sub .git/worktrees/tree; do echo $PWD/evil.git > $d/commondir; echo ../../evil.git > $d/c; mv -f $d/c $d/commondir; done',
  "has a worktree's common directory one level too high":
    'printf "EVIL" > .git/modules/config; mkdir -p .git/modules/worktrees/x; echo ../.. > .git/modules/worktrees/x/commondir',
  'writes the common directory twice': python(`import os
f = os.open('.git/worktrees/tree/commondir', os.O_CREAT | os.O_RDWR | os.O_TRUNC)
g = os.open('/proc/self/fd/%d' % f, os.O_RDWR)
os.write(f, b'../..\\n')
os.close(f)
os.pwrite(g, b'../../../evil.git\\n', 0)
os.close(g)
open('.git/other', 'w').close()`),
  'has a worktree lie elsewhere':
    'echo /etc/.git > .git/worktrees/tree/gitdir; ln -s / root; echo $PWD/root/srv/.git > .git/worktrees/tree/gitdir',
  'gives attributes and a filter':
    'echo "* filter=evil diff=evil" > .git/info/attributes; echo "* filter=evil diff=evil" > .git/a; mv .git/a .git/info/attributes; git config filter.evil.clean RAN',
  'gives objects of others':
    'echo /tmp > .git/objects/info/alternates; echo /tmp > .git/a; mv .git/a .git/objects/info/alternates',
  "makes a submodule's directory by renaming":
    'cp -r evil.git .git/new; mkdir -p .git/modules/other; mv .git/new .git/modules/other/git; mv .git/modules/deep .git/d; cp -r evil.git .git/modules/deep',
  "makes a worktree's directory by renaming":
    'cp -r .git/worktrees/tree .git/t; printf "EVIL" > .git/t/config.worktree; mv .git/worktrees/tree .git/t2; mv .git/t .git/worktrees/tree; mv .git/t .git/worktrees/more',
  "has a submodule's worktree among kept settings":
    'git -C sub config core.worktree ../../../../.vscode',
  'takes away the remote that a branch has':
    'cp -r evil.git foo; git config remote.foo.url /nowhere; git config branch.main.remote foo; git config --unset remote.foo.url',
  'uses names of the gate':
    'LOCK; for i in $(seq 50); do mv .git/config.lock .git/.forkline-gate-0 2>/dev/null; ls -A .git | grep forkline-gate && printf "EVIL" >> .git/.forkline-gate*; done; touch .git/.forkline-gate-1',
};

/** All of them; `ran` is a program. */
export function onSettings(ran: string): readonly SettingAttack[] {
  const evil = `[core]\\n\\tfsmonitor = ${ran}\\n`;
  const byKeys = BY_KEYS.map((setting) => {
    const [key = '', ...value] = setting.split(' ');
    return { name: `sets ${setting}`, command: `git config '${key}' '${value.join(' ')}'` };
  });
  const byWays = Object.entries(BY_WAYS).map(([name, command]) => ({ name, command }));
  return [...byKeys, ...byWays].map(({ name, command }) => ({
    name,
    command: command
      .replaceAll('LOCK', 'cp .git/config .git/config.lock; printf "EVIL" >> .git/config.lock')
      .replaceAll('BYTES', `b'''${evil}'''`)
      .replaceAll('EVIL', evil)
      .replaceAll('RAN', ran),
  }));
}
