import type { Repository } from './repository.js';

/** A package of a repository whose `.git` lies two directories above it. */
export const monorepo: Repository = {
  name: 'a package of a monorepo',
  workspace: 'work/packages/app',
  made: `
    git init -q --bare origin.git; git init -q work; cd work; mkdir -p packages/app/src packages/lib; echo app >packages/app/src/app; echo lib >packages/lib/lib
    printf 'tag=app\\n' >packages/app/.npmrc; echo root >root; printf 'dist/\\n' >.gitignore; commit first
    git switch -qc app; echo 2 >>packages/app/src/app; echo n >packages/app/new; commit 'app alone'
    git switch -qc lib main; echo 2 >>packages/lib/lib; commit 'lib alone'; git switch -qc both app; echo 3 >>packages/lib/lib; echo 3 >>packages/app/src/app; commit both
    git switch -q main; echo b >packages/app/b; commit b; git remote add origin ../origin.git; git push -q --all origin; git fetch -q; mkdir packages/app/dist; echo d >packages/app/dist/d`,
  writable: ['origin.git'],
  often: [
    'git status && git log --oneline -- .',
    'echo c >c && git add . && git commit -qm c && git push origin main',
    'git switch app && git status --short && cat src/app',
    'git switch both; git status --short; git branch --show-current',
  ],
  commands: [
    'git commit --allow-empty --amend -qm amended && git log -1 --format=%s',
    'git switch -c feature && git mv b moved && git commit -qm moved && git show --stat',
    'git config user.email other@example.com && git commit -q --allow-empty -m x && git log -1 --format=%ae',
    'git push -u origin main:feature && git branch -vv',
    'git branch -D app && git branch -a',
    'git switch lib; git status --short',
    'git merge --no-edit app && git status --short',
    'git merge --no-edit lib; git status --short',
    'git rebase app && git status --short',
    'git rebase lib; git status --short',
    'git cherry-pick app && git status --short',
    'git checkout both -- src && git status --short && git commit -qm src',
    'git checkout both -- ../lib; git status --short',
    'git restore --source app . && git status --short',
    'echo x >>src/app && git stash && git status --short && git stash pop && git diff --stat',
    'echo x >x && git stash -u && ls -A && git stash pop -q && ls -A',
    'git reset -q --hard HEAD~1 && git status --short && ls',
    'git reset -q --hard both; git status --short',
    'git rm -q src/app && git commit -qm rm && git revert --no-edit HEAD && cat src/app',
    'git clean -fdx . && ls -A && git status --short',
    'git worktree add -q tree both && cd tree && git status --short && ls packages',
    'git bisect start HEAD HEAD~1 && git bisect reset && git log --oneline --all',
    'git fetch -q && git pull -q --rebase && git gc -q --prune=now && git fsck',
    'git remote add up ../../../origin.git; git remote; git fetch -q up',
    'git grep app && git diff main app --relative --stat && git archive -o a.tar HEAD && tar tf a.tar',
    'git init -q && git add . && git commit -qm own && git log --oneline',
  ],
};
