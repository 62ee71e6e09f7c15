import type { Repository } from './repository.js';

/** Repositories in a repository: one that is ignored, one that is a link without `.gitmodules`, one that is not known. */
export const nested: Repository = {
  name: 'nested',
  made: `
    git init -q --bare origin.git; git init -q work; cd work; echo a >a; echo vendor/ >.gitignore; commit first
    for inner in vendor/one linked stray; do git init -q $inner; (cd $inner; echo i >i; commit inner; git switch -qc side; echo s >s; commit side; git switch -q main); done
    git add linked 2>/dev/null; git commit -qm linked; mv stray ../stray; git switch -qc topic; echo t >t; commit topic; git switch -q main; mv ../stray stray
    git remote add origin ../origin.git; git push -q --all origin; git fetch -q; git -C vendor/one remote add origin ../../../inner.git
    git init -q --bare ../inner.git; git -C vendor/one push -q origin main; git clone -q --bare ../inner.git ../other.git`,
  writable: ['origin.git', 'inner.git'],
  often: [
    'git status && git -C vendor/one status && git -C linked log --oneline',
    'cd vendor/one && echo 1 >>i && git commit -qam i && git push -q origin main && git switch side',
    'git init fresh && cd fresh && git config user.name Fresh && echo f >f && git add f && git commit -qm f && git remote add origin ../../inner.git && git fetch -q',
  ],
  commands: [
    'cd linked && git switch -q side && cd .. && git commit -qam "linked moved" && git ls-tree HEAD',
    'cd vendor/one && git config core.autocrlf true && git config --list --local',
    'cd vendor/one && git branch -u origin/main; git fetch -q && git branch -u origin/main && git status -sb',
    'cd vendor/one && git remote rename origin up && git branch -m main trunk',
    'cd vendor/one && printf "#!/bin/sh\\necho hook\\n" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && git commit --allow-empty -m x',
    'git clone -q ../inner.git cloned && cd cloned && git log --oneline && git switch -qc c && git push -q -u origin c',
    'git clone -q --depth 1 "file://$PWD/../inner.git" shallow && git -C shallow log --oneline',
    'git clone -q --bare ../inner.git bare.git && git -C bare.git config core.logAllRefUpdates true && ls bare.git',
    'git clone -q --mirror ../inner.git mirror.git && git -C mirror.git remote update',
    'git clone -q --separate-git-dir=apart.git ../inner.git cloned && cat cloned/.git && git -C cloned status -s; ls apart.git',
    'git init -q --separate-git-dir=apart.git fresh && git -C fresh commit -q --allow-empty -m x && ls apart.git',
    'git init -q --bare new.git && git push -q new.git main && git -C new.git log --oneline main',
    'git init -q -b trunk a-new && git -C a-new branch --show-current; git -C a-new status',
    'git init && git status --short',
    'git add stray && git commit -qm stray && git ls-tree HEAD; git status --short',
    'git add stray/ && git rm -q --cached stray linked && git status --short',
    'git submodule add ../other.git sub; git status --short',
    'git switch topic && git status --short && ls',
    'git clean -ndx && git clean -fd && ls',
    'git clean -ffdx && ls',
    'git stash -u; git status --short; git stash pop',
    'rm -rf stray && mv vendor/one stray && git -C stray log --oneline && git status --short',
    'rm -rf linked/.git && git add linked; git status --short',
    'mkdir -p deep/er && git init -q deep/er/est && cd deep/er/est && git worktree add -q --orphan wt 2>&1; git commit -q --allow-empty -m x && git worktree add -q wt && git worktree list',
    'cd vendor/one && git worktree add -q ../two side && cd ../two && echo w >w && git add w && git commit -qm w && git log --oneline',
    'cp -r vendor/one copied && git -C copied commit -q --allow-empty -m copied && git -C copied log --oneline',
    'cd stray && git rebase -q side && git gc -q --prune=now && git tag t && cd .. && rm -rf stray && git status --short',
  ],
};
