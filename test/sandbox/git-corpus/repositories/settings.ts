import type { Repository } from './repository.js';

/** Tracked settings of editors, agents and package managers, others on each branch, and none on one. */
export const settings: Repository = {
  name: 'tracked settings',
  made: `
    settings() { mkdir -p .vscode .claude; echo "{\\"$1\\": 1}" >.vscode/settings.json; echo "{\\"$1\\": 2}" >.claude/settings.json
      echo "{\\"mcpServers\\": {\\"$1\\": {}}}" >.mcp.json; echo "tag=$1" >.npmrc; }
    git init -q --bare origin.git; git init -q work; cd work; mkdir src; echo a >src/a; settings first; commit first
    settings main; commit main; git switch -qc release; settings release; echo r >src/r; commit release
    git switch -qc without main; git rm -qr .vscode .claude .mcp.json .npmrc; commit without
    git switch -qc tasks main; echo '{"tasks": []}' >.vscode/tasks.json; commit tasks
    git switch -q main; echo b >src/b; commit b; git remote add origin ../origin.git; git push -q --all origin; git fetch -q
    git clone -q ../origin.git ../other; cd ../other; git switch -qc foreign; settings foreign; commit foreign; git push -q origin foreign; rm -rf ../other`,
  writable: ['origin.git'],
  often: [
    'git status && git ls-files',
    'git checkout release && git status --short',
    'git checkout without && git status --short && ls -A',
    'echo c >src/c && git add -A && git commit -qm c && git push origin main',
  ],
  commands: [
    'git switch tasks && git status --short && ls .vscode',
    'git checkout -q release && git checkout -q main && git status --short',
    'git checkout -q without && git checkout -q main && git status --short',
    'git checkout release -- .npmrc && git status --short',
    'git checkout HEAD~2 -- .vscode .claude && git status --short',
    'git restore --source release .mcp.json && git status --short',
    'git reset --hard release && git status --short',
    'git reset --hard HEAD~2 && git status --short',
    'git merge --no-edit release && git status --short',
    'git merge --no-edit tasks && git status --short',
    'git rebase release && git status --short',
    'git rebase without && git status --short',
    'git switch -q release && git rebase main; git status --short',
    'git cherry-pick release && git status --short',
    'git revert --no-edit HEAD~1 && git status --short',
    'git bisect start release HEAD~2 && git bisect good && git bisect reset && git status --short',
    'git rm -qr --cached .vscode && git commit -qm untracked && git status --short',
    'git worktree add -q tree release && git -C tree status --short && cat tree/.npmrc',
    'git worktree add -q tree without && cd tree && git merge --no-edit main && git status --short && ls -A',
    'git fetch -q && git diff --stat main origin/release -- .npmrc .vscode && git show release:.mcp.json',
    'git clone -q . copy && cat copy/.npmrc && git -C copy checkout -q release && cat copy/.npmrc',
    'git archive -o a.tar release && tar tf a.tar && git stash list',
    'echo x >>src/a && git stash -u && git status --short && git stash pop && git status --short',
    'echo x >>src/a && git commit -qam x && git format-patch -q -1 && git am -q 0001* ; git status --short',
    'git pull -q origin release; git status --short',
    'git read-tree -mu release && git status --short; git diff --cached --stat',
  ],
};
