#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# boot.sh WORK DIR...: the first process of new pid, mount, cgroup, ipc, uts and network namespaces. Builds a
# root of this host's files (written to a tmpfs, with the DIRs unchanged), and executes systemd there.
# WORK/unit holds all its units; no service of this host is started.
set -eu

work=$1
shift
root=$work/root
mount --make-rprivate /
mkdir -p "$root"
mount -t tmpfs tmpfs "$work/over"
mkdir "$work/over/upper" "$work/over/work"
mount -t overlay -o "lowerdir=/,upperdir=$work/over/upper,workdir=$work/over/work" overlay "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/dev"
for node in null zero full random urandom; do
	cp -a "/dev/$node" "$root/dev/"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
: >"$root/dev/console"
mount --bind "$work/console" "$root/dev/console"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/etc/systemd/system"
mount -t tmpfs tmpfs "$root/var/lib"
for dir in "$work" "$@"; do
	mkdir -p "$root$dir"
	mount --bind "$dir" "$root$dir"
done
mkdir "$root/lab"
mount --bind "$work/lab" "$root/lab"
cp -r "$work"/unit/* "$root/etc/systemd/system/"
echo 0123456789abcdef0123456789abcdef >"$root/etc/machine-id"
busybox ip link set lo up
: >"$work/made"
cd "$root"
mkdir -p old
pivot_root . old
umount -l /old
systemd=/lib/systemd/systemd
[ -x $systemd ] || systemd=/usr/lib/systemd/systemd
exec env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin $systemd --system --log-target=console \
	--show-status=no --unit=lab.target
