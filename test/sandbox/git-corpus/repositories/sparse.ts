import type { Repository } from './repository.js';

/** A sparse checkout of two of five directories. */
export const sparse: Repository = {
  name: 'sparse',
  made: `
    git init -q --bare origin.git; git init -q seed; cd seed; for d in one two three four five; do mkdir -p $d/in; echo $d >$d/f; echo $d >$d/in/f; done
    echo root >root; commit first; git switch -qc topic; echo t >one/t; echo t >five/t; commit topic
    git switch -qc side main; git rm -qr two; echo s >three/f; commit side; git switch -q main; echo b >four/b; commit b
    git push -q ../origin.git --all; cd ..; rm -rf seed
    git clone -q --no-checkout origin.git work; cd work; git sparse-checkout set --cone one two; git checkout -q main`,
  writable: ['origin.git'],
  often: [
    'git sparse-checkout list && git status && git ls-files -t',
    'git sparse-checkout add three && git status --short',
    'git switch topic && git sparse-checkout set one five && ls -R',
  ],
  commands: [
    'git sparse-checkout set four && ls',
    'git sparse-checkout set --no-cone "/one/*" "!/one/in" && ls -R',
    'git sparse-checkout disable && ls && git sparse-checkout init --cone && ls',
    'git sparse-checkout init --cone --sparse-index && git ls-files --sparse',
    'git sparse-checkout reapply --no-sparse-index && git sparse-checkout list',
    'git config core.sparseCheckout false && git read-tree -mu HEAD && ls',
    'git checkout topic && ls -R one five; git log -1 --format=%s',
    'git switch side && ls -R',
    'git merge --no-edit topic && git ls-files -t',
    'git merge --no-edit side && git ls-files -t',
    'git rebase topic && git status',
    'git cherry-pick topic && git show --stat',
    'echo x >>one/f && git commit -qam x && git push origin main',
    'echo x >three-new && mkdir three && echo x >three/x && git add --sparse three/x three-new && git commit -qm x && git status',
    'git add three/missing; mkdir -p five && echo x >five/x && git add five/x; git status --short',
    'git rm -r --sparse -q three && git commit -qm "no three" && git ls-files',
    'git mv --sparse one/f four/moved && git status --short',
    'echo x >>one/f && git stash && git sparse-checkout add four && git stash pop && git status --short',
    'git reset -q --hard topic && git ls-files -t && git reset --hard side && ls',
    'git restore --source topic one five; git status --short',
    'git checkout topic -- five; ls; git status --short',
    'git worktree add -q tree topic && cd tree && git sparse-checkout list; ls',
    'git worktree add -q --no-checkout tree side && cd tree && git sparse-checkout set four && git checkout -q side && ls',
    'git pull -q origin topic && git sparse-checkout reapply && git status',
    'git clone -q --sparse . copy && cd copy && git sparse-checkout add five && ls',
    'git branch -u origin/topic main && git status -sb && git config --list --show-scope | grep -v ^global',
    'git grep -c t topic && git diff --stat main side && git gc -q --prune=now && git fsck',
  ],
};
