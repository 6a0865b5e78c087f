#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The first process of a guest that has this host's files (rdinit=/lab/host-init.sh): read-only through 9p, with a
# layer in memory for all writes. systemd of these files is started with the units of /job/unit only. Their job.service
# runs the test; as in init.sh, the second serial port is its output, and the third one has its status.
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in virtio_pci 9pnet_virtio 9p overlay amdgpu; do
	modprobe $module
done
mkdir -p /lower /over /new
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose host /lower
mount -t tmpfs tmpfs /over
mkdir /over/upper /over/work
mount -t overlay -o lowerdir=/lower,upperdir=/over/upper,workdir=/over/work overlay /new || exit
mkdir -p /dev/shm /dev/pts
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
for dir in proc sys dev; do
	mount --move /$dir /new/$dir
done
for dir in run tmp etc/systemd/system var/lib; do
	mount -t tmpfs tmpfs /new/$dir
done
mount -t tracefs tracefs /new/sys/kernel/tracing
mount -t debugfs debugfs /new/sys/kernel/debug
mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
mount -t bpf bpf /new/sys/fs/bpf
mount -t securityfs securityfs /new/sys/kernel/security
ip link set lo up
dmesg -n 7
stty -F /new/dev/ttyS1 raw -echo
stty -F /new/dev/ttyS2 raw -echo
cp -a /job/unit/. /new/etc/systemd/system/
cp -a /job /new/tmp/job
cp -a /lower/var/lib/dpkg /new/var/lib/
echo 0123456789abcdef0123456789abcdef >/new/etc/machine-id
exec switch_root /new /bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --show-status=no \
	--log-target=kmsg --unit=lab.target
