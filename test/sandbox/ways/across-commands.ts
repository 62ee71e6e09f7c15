import type { Scene } from '../../support/sandbox.js';

/** Two commands: what the first one writes is to give the second one more than it had. */
export interface Crossing {
  readonly name: string;
  /** Done outside, before. */
  readonly before?: string;
  readonly first: string;
  readonly next: string;
  /** The sandbox of both; by default 'workspace-write'. */
  readonly sandbox?: object;
  /** Where the second one starts. */
  readonly cwd?: string;
}

const fakeWorktree = (common: string) =>
  `mkdir -p fake/worktrees/x && echo $PWD/.git > fake/worktrees/x/gitdir && echo ${common} > fake/worktrees/x/commondir &&
  echo 'ref: refs/heads/x' > fake/worktrees/x/HEAD && echo "gitdir: $PWD/fake/worktrees/x" > .git`;

/**
 * They would write into `outside`, or print what is hidden. The workspace of those of the first list has no
 * repository.
 */
export function acrossCommands({ home, work, outside }: Scene): readonly Crossing[] {
  const write = `echo x > ${outside}/new; echo x >> ${outside}/file; mkdir ${outside}/made`;
  const at = (place: string) => `echo x > ${place}/new`;
  const without = 'rm -rf .git';
  const paths = (filesystem: object) => ({ filesystem });
  return [
    {
      name: 'a link to others for `.git`',
      before: without,
      first: `ln -s ${outside} .git`,
      next: write,
    },
    {
      name: 'a link to the home for `.git`',
      before: without,
      first: `ln -s ${home} .git`,
      next: at(home),
    },
    {
      name: 'a link to everything for `.git`',
      before: without,
      first: 'ln -s / .git',
      next: `${write}; ${at(home)}`,
    },
    {
      name: 'a chain of links for `.git`',
      before: without,
      first: `ln -s ../outside a; ln -s a b; ln -s b .git`,
      next: write,
    },
    {
      name: 'a link to a repository of others for `.git`',
      before: `${without}; git init -q ${outside}/repo`,
      first: `ln -s ${outside}/repo/.git .git`,
      next: `${at(`${outside}/repo/.git`)}; ${at(`${outside}/repo/.git/hooks`)}`,
    },
    {
      name: 'a false worktree that names others',
      before: without,
      first: fakeWorktree(outside),
      next: write,
    },
    {
      name: 'a false worktree that names the home',
      before: without,
      first: fakeWorktree(home),
      next: at(home),
    },
    {
      name: 'a false worktree that names everything',
      before: without,
      first: fakeWorktree('/'),
      next: `${write}; ${at(home)}`,
    },
    {
      name: 'a false worktree that names a repository of others',
      before: `${without}; git init -q ${outside}/repo`,
      first: fakeWorktree(`${outside}/repo/.git`),
      next: at(`${outside}/repo/.git`),
    },
    {
      name: 'a false worktree by a link into the list of others',
      before: `${without}; git init -q ${outside}/repo; mkdir -p ${outside}/repo/.git/worktrees/real; echo x > ${outside}/repo/.git/worktrees/real/gitdir`,
      first: `mkdir -p fake; ln -s ${outside}/repo/.git/worktrees fake/worktrees; echo "gitdir: $PWD/fake/worktrees/real" > .git`,
      next: at(`${outside}/repo/.git`),
    },
    {
      name: 'a false submodule that names itself',
      before: without,
      first: `mkdir -p fake && git init -q --bare fake && git -C fake config core.worktree $PWD && ln -s ${outside} fake/objects2 && echo "gitdir: $PWD/fake" > .git && rm -rf fake && ln -s ${outside} fake`,
      next: write,
    },
    {
      name: 'a `.git` file that names others as they are',
      before: without,
      first: `echo "gitdir: ${outside}" > .git`,
      next: write,
    },
    {
      name: 'a repository of its own with the common directory of others',
      before: `${without}; git init -q ${outside}/repo`,
      first: `git init -q . && echo ${outside}/repo/.git > .git/commondir`,
      next: `${at(`${outside}/repo/.git`)}; ${at(`${outside}/repo/.git/hooks`)}`,
    },
    {
      name: 'a configuration that has others written to as its hooks',
      before: without,
      first: `git init -q . && git config core.hooksPath ${outside} && git config include.path ${outside}/file`,
      next: write,
    },
    {
      name: 'a link for what may be written to below what may be',
      first: `mkdir c; rm -rf c/sub; ln -s ${outside} c/sub`,
      next: `${write}; echo x > c/sub/new`,
      sandbox: paths({ allowWrite: ['c', 'c/sub'] }),
    },
    {
      name: 'a link for a directory on the way to what may be written to',
      before: 'mkdir -p c/way/sub',
      first: `mv c/way c/w2; mkdir -p d; ln -s ${outside} c/way`,
      next: `${write}; echo x > c/way/new`,
      sandbox: paths({ allowWrite: ['c', 'c/way/sub', 'c/way'] }),
    },
    {
      name: 'a link for what may be written to and was not there',
      first: `ln -s ${outside} later`,
      next: `${write}; echo x > later/new`,
      sandbox: paths({ allowWrite: ['later'] }),
    },
    {
      name: 'a chain of links for what may be written to, by another place that may be',
      before: `mkdir -p ${home}/cache`,
      first: `ln -s ${home}/cache/go later; ln -s ${outside} ${home}/cache/go`,
      next: write,
      sandbox: paths({ allowWrite: ['later', `${home}/cache`] }),
    },
    {
      name: 'a link to keys for what may be read',
      first: `rm -rf peek; ln -s ${home}/.ssh peek`,
      next: `cat peek/id_rsa ${home}/.ssh/id_rsa`,
      sandbox: paths({ allowRead: ['peek'] }),
    },
    {
      name: 'a link to a key for a file that may be read',
      before: 'touch peek',
      first: `ln -sf ${home}/.ssh/id_rsa peek`,
      next: `cat peek ${home}/.ssh/id_rsa`,
      sandbox: paths({ allowRead: ['peek'] }),
    },
    {
      name: 'a link for the directory that it starts in',
      before: 'mkdir -p sub',
      first: `rmdir sub; ln -s ${outside} sub`,
      next: `${write}; echo x > new`,
      cwd: `${work}/sub`,
    },
    {
      name: 'a link for a directory above the one that it starts in',
      before: `mkdir -p a/sub; mkdir -p ${outside}/sub`,
      first: `mv a b; ln -s ${outside} a`,
      next: `${write}; ${at(`${outside}/sub`)}; echo x > new`,
      cwd: `${work}/a/sub`,
    },
    {
      name: 'another directory by the name of one with something hidden',
      before: `mkdir secrets; cp ${home}/.ssh/id_rsa secrets/.env`,
      first: 'mv secrets s2; mkdir secrets; touch secrets/.env',
      next: 'cat s2/.env secrets/.env',
      sandbox: paths({ denyRead: ['secrets/.env'] }),
    },
    {
      name: 'another directory by the name of one far above something hidden',
      before: `mkdir -p a/b/secrets; cp ${home}/.ssh/id_rsa a/b/secrets/.env`,
      first: 'mv a a2; mv a/b b2; mkdir -p a/b/secrets; touch a/b/secrets/.env',
      next: 'cat a2/b/secrets/.env b2/secrets/.env a/b2/secrets/.env',
      sandbox: paths({ denyRead: ['a/b/secrets/.env'] }),
    },
    {
      name: 'a second name of something hidden',
      before: `cp ${home}/.ssh/id_rsa .env`,
      first: 'ln .env e2; mv .env e3; cp .env e4',
      next: 'cat e2 e3 e4',
      sandbox: paths({ denyRead: ['.env'] }),
    },
  ];
}
