import { installed, type Need } from '../../../support/needs.js';
import { GIT_SCENES } from './git-scenes.js';

/** A real tool, in a tree that was made for it. */
export interface ToolScene {
  readonly title: string;
  /** Shell text that makes the tree, outside. */
  readonly setup: string;
  /** The command. */
  readonly command: string;
  /** How much it changes at least: created, changed, deleted, renamed. */
  readonly counts: readonly [number, number, number, number];
  readonly needs?: readonly Need[];
}

const needs = (...programs: readonly string[]) => ({ needs: programs.map(installed) });

const TREE = 'mkdir -p d/e; for i in 1 2 3 4 5; do echo "line $i" >f$i; echo $i >d/e/g$i; done; ';

const EDITORS: readonly ToolScene[] = [
  {
    title: 'sed -i',
    setup: TREE,
    command: 'sed -i s/line/LINE/ f1 f2 f3; sed -i.bak s/4/four/ f4',
    counts: [1, 3, 0, 1],
  },
  {
    title: 'perl -pi',
    setup: TREE,
    command: "perl -pi -e 's/line/LINE/' f*",
    counts: [0, 5, 0, 0],
    ...needs('perl'),
  },
  {
    title: 'ed',
    setup: TREE,
    command: "printf '1s/line/LINE/\\nw\\nq\\n' | ed -s f1",
    counts: [0, 1, 0, 0],
    ...needs('ed'),
  },
  {
    title: 'vim with a swap file and a backup',
    setup: TREE,
    command:
      "HOME=/tmp vim -u NONE -es -c 'set swapfile backup writebackup directory=.' -c '%s/line/LINE/' -c wq f1 </dev/null",
    counts: [1, 1, 0, 0],
    ...needs('vim'),
  },
  {
    title: "an editor's swap file and backup, by hand",
    setup: TREE,
    command:
      'echo swap >.f1.swp; mv f1 f1~; echo new >f1; chmod --reference=f1~ f1; rm f1~ .f1.swp',
    counts: [0, 1, 0, 0],
  },
  {
    title: 'an atomic save: temporary file, fsync, rename',
    setup: TREE,
    command: `/usr/bin/python3 -c "
import os
for name in ('f1', 'd/e/g2'):
  with open(name + '.tmp', 'w') as f: f.write('saved'); f.flush(); os.fsync(f.fileno())
  os.replace(name + '.tmp', name)
os.fsync(os.open('.', os.O_RDONLY))"`,
    counts: [0, 2, 0, 0],
  },
  {
    title: 'patch',
    setup: `${TREE}printf '%s\\n' '--- a/f1' '+++ b/f1' '@@ -1 +1 @@' '-line 1' '+LINE 1' '--- a/f2' '+++ /dev/null' '@@ -1 +0,0 @@' '-line 2' >p`,
    command: 'patch -p1 -b <p',
    counts: [1, 0, 0, 2],
    ...needs('patch'),
  },
  {
    title: 'biome format --write',
    setup:
      "echo '{}' >biome.json; mkdir src; echo 'const  a={b:1 , c : 2}' >src/a.js; echo 'let x  =1' >src/b.js",
    command: `"$BIOME" format --write src`,
    counts: [0, 2, 0, 0],
  },
];

const ARCHIVES: readonly ToolScene[] = [
  {
    title: 'tar x over files that are there',
    setup: `${TREE}tar cf a.tar f1 f2 d; echo other >f1; ln -f f3 f2; chmod 400 d/e/g1; rm d/e/g5`,
    command: 'tar xf a.tar; mkdir out; tar xf a.tar -C out',
    counts: [8, 2, 0, 0],
  },
  {
    title: 'zip and unzip -o',
    setup: `${TREE}zip -qr a.zip f1 f2 d; echo other >f1; rm f2`,
    command: 'unzip -qo a.zip; zip -q a.zip f5',
    counts: [1, 2, 0, 0],
    ...needs('zip', 'unzip'),
  },
  {
    title: 'cp -a over a tree',
    setup: `${TREE}cp -a d other; echo changed >other/e/g1; ln -s x other/link; rm other/e/g2`,
    command: 'cp -a d/. other; cp -al d linked; cp -a --remove-destination d/e/g3 other/e/g4',
    counts: [5, 2, 0, 0],
  },
  {
    title: 'rsync -a --delete',
    setup: `${TREE}cp -a d other; echo changed >other/e/g1; rm other/e/g2; echo more >other/more`,
    command: 'rsync -a --delete d/ other',
    counts: [1, 1, 1, 0],
    ...needs('rsync'),
  },
  {
    title: 'install',
    setup: TREE,
    command: 'install -m 755 f1 f2; install -D -m 600 f3 new/place/f3',
    counts: [1, 1, 0, 0],
  },
  {
    title: 'gzip, split and sort in place',
    setup: TREE,
    command: 'gzip f1; split -b 2 f2 part.; sort -r -o f3 f3 f4',
    counts: [1, 1, 1, 0],
  },
];

const REMOVERS: readonly ToolScene[] = [
  { title: 'find -delete', setup: TREE, command: 'find d -delete', counts: [0, 0, 5, 0] },
  { title: 'rm -rf', setup: TREE, command: 'rm -rf ./* ', counts: [0, 0, 10, 0] },
  {
    title: 'mv of trees',
    setup: TREE,
    command: 'mv d moved; mkdir d; mv moved/e d/e2; mv f1 d; mv f2 f3',
    counts: [0, 0, 0, 2],
  },
  {
    title: 'renames as those of logrotate',
    setup: 'for i in 1 2 3; do echo $i >log.$i; done; echo 0 >log',
    command:
      'rm log.3; for i in 2 1; do mv log.$i log.$((i+1)); done; mv log log.1; : >log; gzip log.3',
    counts: [1, 0, 0, 1],
  },
  {
    title: 'another release by a link',
    setup: 'mkdir r1 r2; echo 1 >r1/v; echo 2 >r2/v; ln -s r1 current',
    command: 'ln -s r2 next && mv -T next current && echo used >>current/v && rm -rf r1',
    counts: [0, 1, 1, 0],
  },
];

export const TOOL_SCENES: readonly ToolScene[] = [
  ...EDITORS,
  ...ARCHIVES,
  ...REMOVERS,
  ...GIT_SCENES,
];
