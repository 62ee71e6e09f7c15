import type { Repository } from './repository.js';

/** A clone of the last commit only, and its remote. */
export const shallow: Repository = {
  name: 'shallow',
  made: `
    git init -q --bare origin.git; git -C origin.git config uploadpack.allowFilter true; git init -q seed; cd seed
    for n in 1 2 3 4 5 6; do echo $n >n; seq $((n * 100)) >seq; commit "number $n"; done; git tag -a v1 -m 1 HEAD~2
    git switch -qc topic HEAD~3; echo t >t; commit topic; git switch -q main; git push -q ../origin.git --all; git push -q ../origin.git --tags; cd ..; rm -rf seed
    git clone -q --depth 1 --no-single-branch "file://$PWD/origin.git" work; cd work`,
  writable: ['origin.git'],
  often: [
    'git log --oneline --all && cat .git/shallow && git status',
    'git fetch -q --deepen 1 && git log --oneline',
    'echo x >x && git add x && git commit -qm x && git push -q origin main && git log --oneline',
  ],
  commands: [
    'git fetch -q --unshallow && git log --oneline && ls .git',
    'git fetch -q --depth 3 && git log --oneline',
    'git fetch -q --shallow-since=2023-11-14T22:17:00Z && git log --oneline',
    'git fetch -q --shallow-exclude=v1 && git log --oneline',
    'git fetch -q origin tag v1 && git describe --always',
    'git switch topic && git log --oneline && git branch -vv',
    'git switch -c mine && git push -u origin mine',
    'git merge topic --no-edit; git merge --allow-unrelated-histories --no-edit topic; git status --short',
    'git rebase origin/topic; git status --short; git rebase --abort',
    'git fetch -q --unshallow && git rebase origin/topic && git log --oneline --graph',
    'git pull -q && git pull --rebase -q --depth 2; git log --oneline',
    'git clone -q . copy && git -C copy log --oneline && cat copy/.git/shallow',
    'git clone -q --depth 1 "file://$PWD/../origin.git" copy && git -C copy remote set-branches origin topic && git -C copy fetch -q --depth 1',
    'git clone -q --filter=blob:none "file://$PWD/../origin.git" partial && git -C partial log --oneline && git -C partial checkout -q HEAD~3',
    'git clone -q --filter=tree:0 --no-checkout "file://$PWD/../origin.git" partial && cd partial && git checkout -q topic && ls',
    'git gc -q --prune=now && git fsck && git repack -adq',
    'git commit -q --allow-empty --amend -m amended && git reflog && git reflog expire --expire=now --all && git gc -q --prune=now',
    'git remote set-branches origin main && git fetch -q --prune && git branch -r',
    'git remote add second "file://$PWD/../origin.git" && git fetch -q --depth 2 second && git log --oneline second/main',
    'git config remote.origin.tagOpt --no-tags; git config fetch.prune true; git fetch -q',
    'git bundle create -q b.bundle --all; git bundle verify b.bundle',
    'git format-patch -q -1; git archive -o a.tar HEAD && tar tf a.tar; git show --stat --oneline',
    'git worktree add -q tree topic && git -C tree log --oneline && git -C tree fetch -q --unshallow && git log --oneline topic',
    'git stash; echo 1 >>n && git stash && git stash pop && git commit -qam n && git revert --no-edit HEAD',
    'git replace --graft HEAD && git log --oneline && git replace -d HEAD',
    'git tag -a v2 -m two && git push -q origin v2 && git ls-remote --tags origin',
    'git push -q origin :topic && git fetch -q --prune && git branch -a && git blame -s n',
  ],
};
