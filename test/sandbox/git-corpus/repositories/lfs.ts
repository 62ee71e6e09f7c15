import { installed } from '../../../support/needs.js';
import type { Repository } from './repository.js';

/** Large files by git-lfs, whose remote is a folder. */
export const lfs: Repository = {
  name: 'LFS',
  needs: [installed('git-lfs')],
  made: `
    git lfs install --skip-repo >/dev/null; git init -q --bare origin.git; git init -q work; cd work; git lfs install --local >/dev/null
    git remote add origin "file://$PWD/../origin.git"; git lfs track '*.bin' >/dev/null; seq 2000 >big.bin; echo a >a; commit first
    git switch -qc topic; seq 3000 >big.bin; seq 10 >other.bin; commit topic
    git switch -qc plain main; git rm -q big.bin; seq 4 >text; commit plain; git switch -q main; seq 5 >more.bin; commit more
    git push -q --all origin; git fetch -q; git branch -q -u origin/main main`,
  writable: ['origin.git'],
  often: [
    'git lfs ls-files && git status && cat .gitattributes',
    'seq 50 >new.bin && git add new.bin && git commit -qm new && git push -q origin main >/dev/null && git lfs ls-files',
    'git switch -q topic && wc -l big.bin && git lfs status',
  ],
  commands: [
    'git lfs track "*.iso" && seq 9 >x.iso && git add -A && git commit -qm iso && git lfs ls-files',
    'git lfs untrack "*.bin" && git add --renormalize . && git status --short',
    'git switch -q plain && ls && git switch -q main && wc -l big.bin',
    'git merge --no-edit plain; git status --short',
    'git merge --no-edit topic; git status --short',
    'git rebase topic; git status --short; git lfs ls-files',
    'git cherry-pick topic; git lfs ls-files',
    'seq 77 >big.bin && git stash && wc -l big.bin && git stash pop -q && wc -l big.bin',
    'seq 77 >big.bin && git diff --stat && git checkout big.bin && wc -l big.bin',
    'git rm -q big.bin && git commit -qm rm && git reset -q --hard HEAD~1 && wc -l big.bin',
    'rm -rf .git/lfs/objects && git lfs fetch --all >/dev/null && git lfs fsck',
    'rm -rf .git/lfs/objects big.bin && git lfs pull >/dev/null && git checkout big.bin && wc -l big.bin',
    'git lfs prune --dry-run && git lfs env | grep -c Endpoint',
    'git lfs push --all origin >/dev/null && git lfs fsck --pointers',
    'GIT_LFS_SKIP_SMUDGE=1 git checkout -q topic && head -c 20 big.bin && git lfs checkout >/dev/null && wc -l big.bin',
    'git lfs migrate info --everything --top=3',
    'git lfs migrate import --include="*.txt" --yes >/dev/null 2>&1; git log --oneline',
    'git lfs install --local --force && git config --local --list | grep lfs',
    'git lfs uninstall --local; git config --local --list | grep lfs',
    'git lfs update --force && ls .git/hooks',
    'git clone -q . copy && cd copy && git lfs ls-files && wc -l big.bin',
    'git worktree add -q tree topic && cd tree && wc -l big.bin && git lfs ls-files',
    'git lfs pointer --file big.bin && git show HEAD:big.bin',
    'git archive -o a.tar HEAD && tar tf a.tar',
    'git push -q -u origin main:feature >/dev/null && git lfs locks --local',
    'git gc -q --prune=now && git fsck && git lfs fsck',
    'git bisect start HEAD HEAD~1 && git bisect reset && wc -l *.bin',
  ],
};
