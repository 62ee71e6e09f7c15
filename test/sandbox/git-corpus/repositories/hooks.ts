import type { Repository } from './repository.js';

/** Hooks of all kinds, which a directory beside git's has too. */
export const hooks: Repository = {
  name: 'hooks',
  made: `
    git init -q --bare origin.git; git init -q work; cd work; mkdir .githooks scripts; echo a >a; echo sources >scripts/s
    cat >.githooks/pre-commit <<'END'
#!/bin/sh
echo "pre-commit of .githooks"; git diff --cached --name-only | sed 's/^/checked: /'
END
    chmod +x .githooks/*; commit first; git switch -qc topic; echo t >t; commit topic
    git switch -qc release main; echo 'exit 1' >>.githooks/pre-commit; commit release; git switch -q main; echo b >b; commit b
    git remote add origin ../origin.git; git push -q --all origin; git fetch -q
    for hook in pre-commit commit-msg post-commit post-checkout post-merge pre-rebase post-rewrite pre-push reference-transaction; do
      printf '#!/bin/sh\\necho %s "$#" >>hooks.log\\n' $hook >.git/hooks/$hook; chmod +x .git/hooks/$hook; done
    printf '#!/bin/sh\\nprintf "Signed-off-by: a hook\\\\n" >>"$1"\\n' >.git/hooks/prepare-commit-msg; chmod +x .git/hooks/prepare-commit-msg
    printf '#!/bin/sh\\ngrep -q forbidden a && { echo "a is forbidden"; exit 1; }; exec sed -i "s/ *$//" b\\n' >.git/hooks/pre-commit; echo hooks.log >.git/info/exclude`,
  writable: ['origin.git'],
  often: [
    'echo c >c && git add c && git commit -m c && git log -1 --format=%B && cat hooks.log',
    'echo forbidden >>a && git commit -am no',
    'git switch -c feature && git merge --no-edit topic && git push origin feature && cat hooks.log',
  ],
  commands: [
    'echo forbidden >>a && git commit --no-verify -qam anyway && git log -1 --format=%B',
    'echo "b  " >b && git add b && git commit -qm b && git status --short; cat b',
    'git commit --amend --no-edit --allow-empty && cat hooks.log',
    'git rebase topic && cat hooks.log',
    'git rebase -q --no-verify topic && git log -2 --format=%B',
    'git cherry-pick topic && cat hooks.log',
    'git revert --no-edit HEAD && cat hooks.log',
    'git checkout release -- .githooks && git commit -qm hooks && cat .githooks/pre-commit',
    'git switch -q release && git -c core.hooksPath=.githooks commit --allow-empty -m refused',
    'echo x >x && git add x && git -c core.hooksPath=.githooks commit -m x && git status --short',
    'git -c core.hooksPath=/dev/null commit --allow-empty -qm none && git log -1 --format=%B',
    'git checkout -q release && git checkout -q - && cat hooks.log',
    'git stash -u; git stash list; cat hooks.log',
    'git hook run pre-commit; git hook run --ignore-missing absent',
    'git push origin HEAD:refs/heads/new && git push --no-verify origin HEAD:refs/heads/newer && cat hooks.log',
    'git tag -a v1 -m one && git branch -d topic; cat hooks.log',
    'git pull --rebase origin topic && cat hooks.log',
    'git merge --no-ff -m merged topic && git reset -q --hard HEAD~1 && cat hooks.log',
    'git worktree add -q tree topic && cd tree && echo w >w && git add w && git commit -m w && git log -1 --format=%B',
    'git clone -q . copy && ls copy/.git/hooks && cd copy && git commit -q --allow-empty -m c',
    'git init -q --template=.githooks made && ls made made/.git',
    'git gc -q --prune=now && git update-server-info && cat hooks.log',
    'git format-patch -q -1 topic && git am 0001-* && cat hooks.log',
    'GIT_DIR=.git git --work-tree=. commit -q --allow-empty -m env && git log -1 --format=%B',
    'git rm -q a && git commit -qm rm; git status --short',
    'git interpret-trailers --trailer "Acked-by: me" <.githooks/pre-commit && git bisect start HEAD HEAD~1 && git bisect reset && cat hooks.log',
    'ls -l .git/hooks | cut -c1-10 | sort | uniq -c && test -x .git/hooks/pre-push && git var GIT_EDITOR',
  ],
};
