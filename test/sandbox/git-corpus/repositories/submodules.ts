import type { Repository } from './repository.js';

/** Two submodules, of which one is there, and one that is not is in a branch. */
export const submodules: Repository = {
  name: 'submodules',
  made: `
    for part in lib ext more; do git init -q $part; cd $part; echo $part >$part; commit $part; echo 2 >>$part; commit "$part 2"; cd ..
      git clone -q --bare $part $part.git; rm -rf $part; done
    git init -q --bare origin.git; git init -q work; cd work; echo a >a; commit first
    git submodule add -q ../lib.git lib; git submodule add -q --name deep/ext -b main ../ext.git parts/ext; commit submodules
    git switch -qc old; git -C lib checkout -q HEAD~1; commit 'lib back'
    git switch -qc more main; git submodule -q update; git submodule add -q ../more.git more; commit more
    git switch -q main; rm -rf more; git submodule -q update; git submodule -q deinit parts/ext; git config --remove-section submodule.more
    rm -rf .git/modules/more; git remote add origin ../origin.git; git push -q --all origin; git fetch -q`,
  writable: ['origin.git'],
  often: [
    'git submodule status && git status',
    'git submodule update --init parts/ext',
    'git submodule add ../more.git third && git commit -qm third',
    'cd lib && git switch -c fix && echo fix >fix && git add fix && git commit -qm fix && cd .. && git commit -qam "lib fixed"',
  ],
  commands: [
    'git submodule init && git submodule status',
    'git submodule update --init --recursive',
    'git submodule deinit lib && git submodule status',
    'git submodule deinit -f --all',
    'git submodule sync && git submodule summary',
    'git submodule foreach "git log --oneline | cat"',
    'git submodule set-url lib ../more.git',
    'git submodule set-branch -b main lib',
    'git submodule update --remote lib && git status --short',
    'git checkout old && git submodule update && git submodule status',
    'git checkout more && git submodule update --init && git submodule status',
    'git checkout --recurse-submodules old && git status',
    'git switch -q --recurse-submodules old && git switch -q --recurse-submodules main && git status',
    'git -C lib config user.name Other && git -C lib config user.name',
    'cd lib && git checkout -q main && echo 3 >>lib && git commit -qam 3 && git push ../../origin.git main:lib',
    'cd lib && git checkout -q main && git pull -q && git branch -u origin/main && git status',
    'git rm -q lib && git commit -qm "without lib" && git status',
    'git mv lib moved && git commit -qm moved && git submodule status',
    'git submodule absorbgitdirs && git fsck',
    'git init -q mine && git -C mine commit -q --allow-empty -m mine && git submodule add ./mine mine; git status --short',
    'git clone -q --recurse-submodules .. again 2>&1; git clone -q --recurse-submodules . copy; ls copy',
    'git stash && git reset -q --hard old && git submodule update && git reset --hard -q --recurse-submodules main && git status',
    'git worktree add -q tree old && cd tree && git submodule update --init lib && git submodule status',
    'git push --recurse-submodules=on-demand origin main:elsewhere',
    'git fetch --recurse-submodules && git pull --recurse-submodules origin main',
    'git diff --submodule=log main old && git grep --recurse-submodules 2',
  ],
};
