import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { WorkspaceOptions } from '../../../../src/index.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { answerTo, useWorkspaceTools } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const toolOf = useWorkspaceTools(folder);

let files = 0;

function toolWith(rc: string, options: Partial<WorkspaceOptions> = {}) {
  files += 1;
  const rcFile = folder.file(`${files}.rc`);
  writeFileSync(rcFile, rc);
  return toolOf({ shellSnapshot: { rcFile }, ...options });
}

/** The output alone. */
async function outputOf(tool: Parameters<typeof answerTo>[0], command: string, env = {}) {
  return (await answerTo(tool, { command, env })).split('\n\nWall time')[0];
}

test('D2: functions of the rc file come with what they need, as for nvm', async () => {
  const home = folder.file('home');
  mkdirSync(`${home}/.nvm`, { recursive: true });
  writeFileSync(
    `${home}/.nvm/nvm.sh`,
    'nvm() { [ -s "$NVM_DIR/nvm.sh" ] && echo "nvm $1 $NVM_CD_FLAGS" || echo not installed; }\n' +
      'NVM_CD_FLAGS=-q\n',
  );
  const tool = toolWith(
    'export NVM_DIR="$HOME/.nvm"\n[ -s "$NVM_DIR/nvm.sh" ] && . "$NVM_DIR/nvm.sh"\n',
    {
      env: { HOME: home },
    },
  );
  expect(await outputOf(tool, 'nvm use')).toBe('nvm use -q');
  expect(await outputOf(tool, 'env | grep NVM_')).toBe(`NVM_DIR=${home}/.nvm`);
});

test('D2: variables are as the rc file has left them, whatever is in them', async () => {
  const tool = toolWith(`
plain=$'a "b" \\'c\\' $d \`e\` \\\\\n f'
list=(one 'two three')
declare -A map=([k]='v w')
declare -i number=7
export shared=é
`);
  expect(await outputOf(tool, `printf "%s\\n" "$plain" "\${list[@]}" "\${map[k]}"`)).toBe(
    'a "b" \'c\' $d `e` \\\n f\none\ntwo three\nv w',
  );
  expect(await outputOf(tool, "number=number+1; echo $number; bash -c 'echo $shared$plain'")).toBe(
    '8\né',
  );
});

test('D2: no secrets, and nothing over what a caller or the tool has chosen', async () => {
  const tool = toolWith(
    `export MY_TOKEN=x EDITOR=vim PAGER=less URL=https://u:p@h A=rc B=rc IFS=f LEVEL=rc
SECRET_KEY=x; list=(rc)`,
    { env: { B: 'option' } },
  );
  const command =
    'echo "$MY_TOKEN$SECRET_KEY$URL|$PAGER|$A $B $LEVEL|$list"; printf %s "$IFS" | wc -c';
  expect(await outputOf(tool, command)).toBe('|cat|rc option rc|rc\n3');
  expect(await outputOf(tool, command, { LEVEL: 'call', list: 'call' })).toBe(
    '|cat|rc option call|call\n3',
  );
});

test('D3: functions whose names have a character of IFS are kept', async () => {
  const tool = toolWith('IFS=f\nf() { echo F; }\nof() { echo OF; }\n');
  expect(await outputOf(tool, 'f; of')).toBe('F\nOF');
});

test('H5: a handler that calls what is not there is stopped at once', async () => {
  const tool = toolWith(`
command_not_found_handle() { echo "asked for $1"; "$FINDER_TOKEN" "$1"; $FINDER_SECRET nosuch2; }
FINDER_TOKEN=/bin/true; export FINDER_SECRET=/bin/true
`);
  const said = await outputOf(tool, 'nosuch 2>&1; echo $?; echo on');
  expect(said).toBe(
    'asked for nosuch\nbash: : command not found\nbash: nosuch2: command not found\n127\non',
  );
});

test('H5: a handler that works does so', async () => {
  const tool = toolWith(`
finder=printf
command_not_found_handle() { "$finder" 'try %s\\n' "$1"; return 3; }
`);
  expect(await outputOf(tool, 'nosuch x; echo $?')).toBe('try nosuch\n3');
});

test('H6: helpers whose names are computed are there', async () => {
  const tool = toolWith(`
_my_util_ls() { echo "listed $1"; }
_my_util_mkdir() { echo "made $1"; }
for name in ls mkdir; do eval "$name() { \\"_my_util_\\$FUNCNAME\\" \\"\\$@\\"; }"; done
`);
  expect(await outputOf(tool, 'ls a; mkdir b')).toBe('listed a\nmade b');
});
