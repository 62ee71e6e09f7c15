// Steps of commands that change files, as shell text.
import { inBash, namesOf } from './names.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./trees.mjs').Tree} Tree */

const MODES = /** @type {const} */ ([
  ...['000', '444', '200', '600', '755', 'u+s', 'g+s', '+t', 'a-w', 'a=', 'u=rwx,go='],
]);
const SIZES = /** @type {const} */ ([0, 1, 100, 4096, 5000, 70_000, 2_000_000]);
const DATES = /** @type {const} */ ([
  ...['2001-02-03 04:05:06.789', '@0', '1969-12-31', 'now', '2060-01-01 00:00:00.000000001'],
]);

/**
 * @param {Random} random
 * @param {Tree} tree
 */
export function shellStep(random, tree) {
  const { file, directory, any, fresh } = namesOf(random, tree, inBash);
  return random.text([
    () => contentStep(random, file, fresh),
    () => contentStep(random, file, fresh),
    () => nameStep(random, { file, directory, any, fresh }),
    () => nameStep(random, { file, directory, any, fresh }),
    () => directoryStep(random, { file, directory, any, fresh }),
    () => attributeStep(random, any),
  ]);
}

/**
 * @param {Random} random
 * @param {() => string} file
 * @param {() => string} fresh
 */
function contentStep(random, file, fresh) {
  const size = random.pick(SIZES);
  return random.text([
    () => `echo new >${file()}`,
    () => `echo more >>${file()}`,
    () => `: >${file()}`,
    () => `echo made >${fresh()}`,
    () => `cat ${file()} >${file()} </dev/null`,
    () => `cp -f ${file()} ${file()}`,
    () => `cp -a --sparse=always ${file()} ${fresh()}`,
    () => `truncate -s ${size} ${file()}`,
    () => `truncate -s +${size} ${file()}`,
    () => `head -c ${size} /dev/urandom | dd of=${file()} bs=4k seek=1 conv=notrunc status=none`,
    () => `dd if=/dev/zero of=${file()} bs=1 count=1 seek=${size} conv=notrunc status=none`,
    () => `fallocate -p -o 0 -l 8192 ${file()}`,
    () => `fallocate -l ${size || 1} ${file()}`,
    () => `fallocate -n -l 300000 ${file()}`,
    () => `fallocate -d ${file()}`,
    () => `sed -i s/line/LINE/ ${file()}`,
    () => `sed -i.orig s/a/A/g ${file()}`,
    () => `sort -o ${file()} ${file()}`,
    () => `tee ${file()} ${fresh()} </etc/hostname >/dev/null`,
    () => `perl -pi -e s/a/b/ ${file()}`,
    () => `shred -n 1 -u ${file()}`,
    () => `gzip -f ${file()}`,
    () => `split -b 3000 ${file()} ${fresh()}`,
    () => `exec 7<>${file()} && echo over >&7; exec 7>&-`,
    () => `(exec 8>>${file()}; mv ${file()} ${fresh()}; echo late >&8)`,
    () => `(exec 8<>${file()}; rm -f ${file()}; echo ghost >&8; cat /dev/fd/8 >${fresh()})`,
  ]);
}

/**
 * @param {Random} random
 * @param {{ file(): string, directory(): string, any(): string, fresh(): string }} names
 */
function nameStep(random, { file, directory, any, fresh }) {
  return random.text([
    () => `mv ${file()} ${file()}`,
    () => `mv ${any()} ${fresh()}`,
    () => `mv -T ${any()} ${any()}`,
    () => `mv -b ${file()} ${file()}`,
    () => `mv -t ${directory()} ${any()} ${any()}`,
    () => `ln ${file()} ${fresh()}`,
    () => `ln -f ${file()} ${file()}`,
    () => `ln -s ../a ${fresh()}`,
    () => `ln -sfn nowhere ${any()}`,
    () => `rm -f ${file()}`,
    () => `rm -f ${file()} ${file()}; echo again >${file()}`,
    () => `rm -f ${file()}; mkdir -p ${file()}/x; touch ${file()}/x/y`,
    () => `mkfifo ${fresh()}`,
    () => `rm -rf ${any()}; mkfifo ${any()}`,
    () => `unlink ${any()}`,
    () => `cp -al ${directory()} ${fresh()}`,
    () => `f=${file()}; mv "$f" "$f.tmp" && cp -a "$f.tmp" "$f" && rm "$f.tmp"`,
    () => `f=${file()}; echo x >"$f.swp"; cp -p "$f" "$f~"; mv "$f.swp" "$f"`,
  ]);
}

/**
 * @param {Random} random
 * @param {{ file(): string, directory(): string, any(): string, fresh(): string }} names
 */
function directoryStep(random, { file, directory, any, fresh }) {
  return random.text([
    () => `mkdir -p ${fresh()}/x/y; echo z >${fresh()}/x/y/z`,
    () => `mkdir -m 0500 ${fresh()}`,
    () => `rmdir ${directory()}`,
    () => `rm -rf ${directory()}`,
    () => `d=${directory()}; rm -rf "$d"; mkdir "$d"; echo k >"$d/a"`,
    () =>
      `d=${directory()}; n=${fresh()}; mv -T "$d" "$n"; echo k >"$n/a"; rm -f "$n/b"; mv -T "$n" "$d"`,
    () => `d=${directory()}; n=${fresh()}; mv -T "$d" "$n"; mkdir "$d"; mv "$n"/* "$d"`,
    () => `cp -a ${directory()} ${fresh()}`,
    () => `cp -a ${directory()}/. ${directory()}`,
    () => `tar c ${directory()} 2>/dev/null | tar x -C ${directory()} --strip-components=1`,
    () => `tar c . 2>/dev/null | tar x --unlink-first`,
    () => `find ${directory()} -delete`,
    () => `find ${directory()} -type f -exec sh -c 'echo + >>"$1"' _ {} \\;`,
    () => `chmod -R ${random.pick(MODES)} ${directory()}`,
    () => `(cd ${directory()} && echo w >w; mv ../n1 . ; rm -rf "$PWD"; echo v >v)`,
    () => `install -D -m 640 ${file()} ${fresh()}`,
    () => `mv ${directory()} ${any()}; mv ${directory()} ${fresh()}`,
    () => `for i in 1 2 3 4 5 6 7 8; do echo $i >${fresh()}.$i & done; wait`,
  ]);
}

/**
 * @param {Random} random
 * @param {() => string} any
 */
function attributeStep(random, any) {
  return random.text([
    () => `chmod ${random.pick(MODES)} ${any()}`,
    () => `chmod ${random.pick(MODES)} ${any()} ${any()} ${any()}`,
    () => `touch ${any()}`,
    () => `touch -d '${random.pick(DATES)}' ${any()}`,
    () => `touch -h -d '${random.pick(DATES)}' ${any()}`,
    () => `touch -r ${any()} ${any()}`,
    () => `chgrp 0 ${any()}; chown -h 0:0 ${any()}`,
    () => `chmod 0 ${any()}; chmod 777 ${any()}; echo o >>${any()}`,
  ]);
}
