import type { Repository } from './repository.js';

/** A bare repository with worktrees, one of which is the workspace. */
export const worktree: Repository = {
  name: 'a worktree of a bare repository',
  made: `
    git init -q --bare origin.git; git init -q seed; cd seed; mkdir d; echo 1 >d/f; echo a >a; commit first
    git switch -qc topic; echo t >t; commit topic; git switch -qc release main; echo r >a; commit release
    git switch -q main; echo b >b; commit b; git push -q ../origin.git --all; cd ..; rm -rf seed
    git clone -q --bare origin.git repo.git; cd repo.git
    git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'; git fetch -q
    git worktree add -q ../work main; git worktree add -q ../other topic
    cd ../other; echo o >o; git add o; cd ../work; echo dirty >>a`,
  writable: ['origin.git'],
  often: [
    'git status --short --branch && git worktree list --porcelain',
    'git commit -qam dirty && git push origin main',
    'git worktree add -q inside release && cd inside && echo i >i && git add i && git commit -qm i',
    'git switch -c mine --track origin/release',
  ],
  commands: [
    'git stash && git switch -q release && git stash pop; git status --short',
    'git branch -D topic; git branch -d release; git branch -a',
    'git branch -u origin/main main && git status -sb',
    'git config user.email other@example.com && git config --get user.email',
    'git config extensions.worktreeConfig true && git config --worktree core.sparseCheckout false',
    'git worktree add ../outside release; git branch -a; ls ..',
    'git worktree add -q -b new inside && git worktree lock inside && git worktree unlock inside && git worktree remove inside',
    'git worktree add -q inside release && git worktree move inside moved && git worktree list',
    'git worktree add -q inside release && rm -rf inside && git worktree prune -v',
    'git worktree remove --force ../other; git worktree list',
    'git worktree repair && git worktree prune',
    'git fetch origin && git log --oneline --all',
    'git pull --rebase --autostash origin release; git status --short',
    'git push -u origin HEAD:refs/heads/pushed',
    'git checkout -q topic; git checkout -q --detach topic && git log -1 --format=%s',
    'git merge --no-edit topic && git log --oneline --graph',
    'git rebase topic; git commit -qam x && git rebase topic',
    'git reset -q --hard && git cherry-pick topic && git revert --no-edit HEAD',
    'git tag -a v1 -m one && git push origin v1',
    'git gc -q --prune=now && git fsck',
    'git bisect start HEAD HEAD~1 && git bisect reset',
    'git remote add up ../up.git && git remote',
    'git restore a && git rm -q b && git commit -qm rm && git commit --amend -qm amended',
    'git reflog expire --expire=now --all && git repack -adq && git pack-refs --all --prune',
    'git clean -fdx && git rev-parse --git-dir --git-common-dir --show-toplevel',
    'git init -q nested && git -C nested commit -q --allow-empty -m nested && git status --short',
  ],
};
