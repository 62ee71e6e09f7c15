#!/usr/bin/env bash
# Tells what `forkline doctor` says of the sandbox on Debian's kernels, each in a virtual machine, as root and as an
# ordinary user: the table "Kernels" of docs/sandbox.md. By hand, as root, on a Debian on x64:
#
#     npm run build && bash scripts/kernels/kernels.sh
#     bash scripts/kernels/kernels.sh 5.10 6.1      only these
#
# The kernels come from Debian's releases and backports, whichever of them this machine's mirror has. A minute for
# each with /dev/kvm, else several.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$PWD/build/kernels
root=$work/root
mkdir -p "$work/apt"/{lists/partial,archives/partial}

command -v qemu-system-x86_64 mmdebstrap cpio depmod xz >/dev/null ||
  apt-get install -y -qq --no-install-recommends qemu-system-x86 mmdebstrap cpio kmod xz-utils

# Package lists of several releases, beside this machine's own.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 -v security)
key=/usr/share/keyrings/debian-archive-keyring.gpg
for suite in bullseye bookworm bookworm-backports trixie trixie-backports; do
  echo "deb [signed-by=$key] $mirror $suite main"
done >"$work/apt/sources.list"
apt=(-qq -o "Dir::Etc::sourcelist=$work/apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/apt/lists"
  -o "Dir::Cache::archives=$work/apt/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
apt-get "${apt[@]}" update || true

# A small Debian with git, this machine's Node, and what was built.
[ -e "$work/root.tar" ] ||
  mmdebstrap --quiet --variant=minbase --include=git,kmod,util-linux bookworm "$work/root.tar" "$mirror"
rm -rf "$root" && mkdir "$root"
tar -xf "$work/root.tar" -C "$root" --exclude=./dev/*
rm -rf "$root"/usr/share/{doc,man,info,locale} "$root/var/lib/apt"
cp "$(readlink -f "$(command -v node)")" "$root/usr/bin/node"
chroot "$root" useradd --create-home --uid 1000 user
for home in "$root/root" "$root/home/user"; do
  mkdir -p "$home/.ssh" && echo secret >"$home/.ssh/id_rsa"
  chroot "$root" chown -R --reference="${home#"$root"}" "${home#"$root"}"
done
mkdir -p "$root/checkout/native/prebuilt"
cp -r package.json dist "$root/checkout/"
cp -r native/prebuilt/linux-x64-gnu "$root/checkout/native/prebuilt/"

# pivot_root cannot leave the kernel's first file system: all of it is copied to another one first.
cat >"$root/init" <<'INIT'
#!/bin/bash
insmod /overlay.ko
mkdir /new && mount -t tmpfs -o size=80% new /new
for folder in bin etc home lib lib64 root run sbin srv tmp usr var checkout tests.sh; do cp -a "/$folder" /new/; done
mkdir /new/{proc,sys,dev}
mount --move /dev /new/dev 2>/dev/null || mount -t devtmpfs dev /new/dev
exec switch_root /new /tests.sh
INIT
cat >"$root/tests.sh" <<'TESTS'
#!/bin/bash
mount -t proc proc /proc && mount -t sysfs sys /sys
mkdir -p /dev/shm /dev/pts && mount -t tmpfs shm /dev/shm && mount -t devpts pts /dev/pts
chmod 1777 /tmp /dev/shm
sysctl -q kernel.unprivileged_userns_clone=1 2>/dev/null
cd /
doctor='echo "DOCTOR $1 $(node /checkout/dist/cli.js doctor --json)"'
HOME=/root bash -c "$doctor" sh root
HOME=/home/user setpriv --reuid=1000 --regid=1000 --clear-groups bash -c "$doctor" sh user
echo ALL IS DONE
echo o >/proc/sysrq-trigger
sleep 60
TESTS
chmod +x "$root"/{init,tests.sh}

accel=${ACCEL:-tcg}
[ $# -gt 0 ] || set -- 5.10 6.1 6.18
for one; do
  name=$(apt-cache "${apt[@]}" search "^linux-image-${one//./\\.}[.+].*cloud-amd64\$" | cut -d ' ' -f 1 | sort -V | tail -n 1)
  [ -n "$name" ] || { echo "no package has Linux $one" && continue; }
  kernel=$work/kernel-$one
  [ -d "$kernel/boot" ] ||
    (mkdir -p "$kernel" && cd "$work" && apt-get "${apt[@]}" download "$name" && dpkg -x "$name"_*.deb "$kernel" && rm "$name"_*.deb)
  module=$(find "$kernel" -name 'overlay.ko*')
  rm -f "$root/overlay.ko"
  case $module in *.xz) xz -dc "$module" >"$root/overlay.ko" ;; *) cp "$module" "$root/overlay.ko" ;; esac
  (cd "$root" && find . -print0 | cpio --null --quiet --create --format=newc) | gzip -1 >"$work/initrd"
  timeout 900 qemu-system-x86_64 -machine "q35,accel=$accel" -cpu Nehalem -smp 2 -m 3072 -nographic -no-reboot -nic none \
    -kernel "$kernel"/boot/vmlinuz-* -initrd "$work/initrd" -append 'console=ttyS0 quiet rdinit=/init panic=-1 oops=panic' \
    </dev/null >"$work/log-$one" || true
  grep -q 'ALL IS DONE' "$work/log-$one" || echo "Linux $one: see $work/log-$one"
done
node scripts/kernels/table.mjs "$work"/log-*
