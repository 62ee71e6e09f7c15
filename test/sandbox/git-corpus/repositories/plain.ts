import type { Repository } from './repository.js';

/** Branches that have parted, a remote that is ahead, a tag, a file of every kind. */
export const plain: Repository = {
  name: 'plain',
  made: `
    git init -q --bare origin.git; git init -q work; cd work
    mkdir -p src/deep; seq 40 >src/lines; echo one >src/deep/one; echo a >a; ln -s a link
    printf '#!/bin/sh\\necho run\\n' >run.sh; chmod +x run.sh; printf 'build/\\n*.log\\n' >.gitignore
    commit first; git tag -a v1 -m 'version 1'
    git switch -qc topic; sed -i 's/^7$/seven/' src/lines; commit topic; echo t >topic-file; commit topic-file
    git switch -qc release main; sed -i 's/^30$/thirty/' src/lines; git rm -qr src/deep; commit release
    git switch -qc clash main; sed -i 's/^7$/siete/' src/lines; commit clash
    git switch -q main; echo b >b; commit b; sed -i 's/^20$/twenty/' src/lines; commit twenty
    git remote add origin ../origin.git; git push -q --all origin; git push -q --tags origin; git fetch -q
    git branch -q -u origin/main main; git branch -q -u origin/topic topic
    git clone -q ../origin.git ../other; cd ../other; git switch -qc remote-only; echo r >r; commit r
    git push -q origin remote-only; git switch -q main; echo ahead >ahead; commit ahead; git push -q origin main
    cd ../work; rm -rf ../other; mkdir build; echo built >build/out; echo log >x.log`,
  writable: ['origin.git'],
  often: [
    'git status && git status --short --branch --ignored',
    'echo new >new && git add new && git commit -m new',
    'git config user.email other@example.com',
    'git push -u origin main:feature',
  ],
  commands: [
    'git worktree add -q tree -b side && cd tree && echo 1 >f && git add f && git commit -qm f && git -C .. worktree list',
    'git gc -q --prune=now',
    'git remote add up git@example.com:o/up.git && git remote -v',
    'git pull --rebase',
    'git branch -D topic',
    'git fetch origin && git switch -c mine origin/remote-only',
    'git commit --amend --allow-empty -qm amended && git branch -m topic renamed && git branch -u origin/main renamed && git branch -vv',
    'git config --unset branch.topic.merge; git config branch.main.description "about main"',
    'git remote set-url --push origin https://example.com/else.git && git remote set-branches origin main && git remote rename origin upstream',
    'git remote remove origin',
    'git merge --no-edit topic',
    'git merge clash topic; git status --short',
    'git rebase topic',
    'git revert --no-edit HEAD~1 HEAD',
    'echo 1 >>a && echo u >u && git stash -u && git status --short && git stash pop --index',
    'echo 1 >>a && git add a && git reset --hard HEAD~1',
    'git bisect start HEAD v1 && git bisect run test ! -e b && git bisect reset',
    'git checkout -q --detach v1 && git switch -q -c from-tag && git tag -a v2 -m two && git tag -d v1 && git describe',
    'git mv a moved && git rm -q b && chmod -x run.sh && git commit -qam moves && git show --stat --summary',
    'git format-patch -q main~2 && git reset -q --hard main~2 && git am 0*.patch',
    'git notes add -m note && git replace --graft HEAD && git log --notes -1 && git reflog expire --expire=now --all',
    'git clone -q . copy && cd copy && git config user.name x && git switch -qc c && echo c >c && git add c && git commit -qm c && git push -q origin c',
    'git archive --format=tar -o a.tar HEAD && git bundle create -q all.bundle --all && git clean -fdxq && git fsck --strict',
    'git repack -adq && git pack-refs --all && git commit-graph write --reachable && git multi-pack-index write && git update-index --split-index',
    'git -c core.fsmonitor=false -c user.name=Once commit --allow-empty -qm once && git log -1 --format=%an && git filter-branch -f --msg-filter cat HEAD~1..HEAD',
    'git init -q nested && cd nested && echo n >n && git add n && git commit -qm nested && git log --oneline',
  ],
};
