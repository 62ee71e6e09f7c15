#!/usr/bin/env bash
# Checks how limits are enforced by control groups of version 2, in a full emulation of a machine with
# Debian's kernel and systemd: the host of the commands is put into one kind of group after the other. By
# hand, as root, on a Debian on x64:
#
#     npm run build && bash scripts/cgroup-v2.sh
#
# Takes some minutes, and fewer with ACCEL=kvm where that is available.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$PWD/build/cgroup-v2
root=$work/root
mkdir -p "$work"

command -v qemu-system-x86_64 mmdebstrap cpio depmod >/dev/null ||
  apt-get install -y -qq --no-install-recommends qemu-system-x86 mmdebstrap cpio kmod

# A small Debian, the kernel modules that are needed, and this machine's Node.
packages=systemd,systemd-sysv,dbus,libpam-systemd,dbus-user-session,python3-minimal,util-linux,kmod
if [ ! -e "$work/root.tar" ]; then
  mmdebstrap --quiet --variant=minbase --include="$packages" bookworm "$work/root.tar"
fi
if [ ! -d "$work/kernel/boot" ]; then
  kernel=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: //p' | head -n 1)
  (cd "$work" && apt-get download -qq "$kernel" && dpkg -x "$kernel"_*.deb kernel)
fi
rm -rf "$root" && mkdir "$root"
tar -xf "$work/root.tar" -C "$root" --exclude=./dev/*
version=$(basename "$work"/kernel/lib/modules/*)
for part in fs/9p fs/fscache fs/netfs net/9p drivers/virtio drivers/block/zram mm lib crypto; do
  modules=lib/modules/$version/kernel/$part
  [ ! -d "$work/kernel/$modules" ] && continue
  mkdir -p "$root/usr/$modules" && cp -r "$work/kernel/$modules/." "$root/usr/$modules"
done
cp "$work/kernel/lib/modules/$version"/modules.{order,builtin} "$root/usr/lib/modules/$version/"
depmod -b "$root" "$version" 2>/dev/null
cp "$(readlink -f "$(command -v node)")" "$root/usr/bin/node"
chroot "$root" useradd --create-home --uid 1000 user
mkdir -p "$root/var/lib/systemd/linger" "$root/checkout" && touch "$root/var/lib/systemd/linger/user"

# pivot_root cannot leave the kernel's first file system: all of it is copied to another one first.
cat >"$root/init" <<'INIT'
#!/bin/bash
mkdir /new && mount -t tmpfs -o size=80% new /new
for folder in bin etc home lib lib64 mnt opt root run sbin srv tmp usr var checkout tests.sh; do
  cp -a "/$folder" /new/
done
mkdir /new/{proc,sys,dev}
exec switch_root /new /sbin/init
INIT

cat >"$root/etc/systemd/system/tests.service" <<'UNIT'
[Unit]
After=basic.target user@1000.service
Wants=user@1000.service
[Service]
ExecStart=/tests.sh
StandardOutput=file:/dev/console
StandardError=file:/dev/console
[Install]
WantedBy=multi-user.target
UNIT
ln -sf ../tests.service "$root/etc/systemd/system/multi-user.target.wants/tests.service"

cat >"$root/tests.sh" <<'TESTS'
#!/bin/bash
modprobe -a 9p 9pnet_virtio virtio_pci zram
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro checkout /checkout
# Swap, since a limit that only moved memory there would be none.
echo 1G >/sys/block/zram0/disksize && mkswap -q /dev/zram0 && swapon /dev/zram0

cat >/usr/bin/checks <<'CHECKS'
#!/bin/bash
# Usage: checks EXPECTED TITLE: what should enforce `memoryBytes` in this group.
echo "== $2: $1"
exec node /checkout/test/environments/limits.mjs "$1"
CHECKS
chmod +x /usr/bin/checks
unit() { systemd-run --quiet --wait --pipe --collect "$@"; }
inside='umount /sys/fs/cgroup && mount -t cgroup2 -o "$0" cgroup2 /sys/fs/cgroup && exec checks "$@"'

unit -p Delegate=yes checks group 'a unit of root, delegated'
unit -p Delegate=yes -p MemoryMax=1G checks group 'the same with a limit of memory'
unit -p Delegate=yes -p User=user -p MemoryMax=1G checks group 'a unit of a user, delegated and limited'
export XDG_RUNTIME_DIR=/run/user/1000
setpriv --reuid=1000 --regid=1000 --init-groups \
  systemd-run --user --quiet --wait --pipe --collect checks group "a unit of a user's own manager"
unit -p Delegate=yes unshare -Cm sh -c "$inside" rw group 'a container'
(echo 0 >/sys/fs/cgroup/cgroup.procs && checks group 'the root')
few=(-p MemoryMax=500M -p MemorySwapMax=0 -p OOMPolicy=continue)
unit -p User=user "${few[@]}" checks oom-score 'a unit of a user'
unit "${few[@]}" unshare -Cm sh -c "$inside" ro oom-score 'a container that may not change its own'
echo "ALL IS DONE"
systemctl poweroff --force --force
TESTS
chmod +x "$root"/{init,tests.sh}
(cd "$root" && find . -print0 | cpio --null --quiet --create --format=newc) | gzip -1 >"$work/initrd"

timeout 1800 qemu-system-x86_64 -machine "q35,accel=${ACCEL:-tcg}" -cpu max -smp 2 -m 4096 -nographic -no-reboot \
  -nic none -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/initrd" \
  -virtfs "local,path=$PWD,mount_tag=checkout,security_model=none,readonly=on" \
  -append 'console=ttyS0 quiet rdinit=/init systemd.show_status=0 systemd.unified_cgroup_hierarchy=1' \
  </dev/null | tee "$work/log"
[ "$(grep -c '"ok":true' "$work/log")" = 54 ] && grep -q 'ALL IS DONE' "$work/log"
