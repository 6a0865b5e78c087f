#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The first process of a guest that runs systemd (rdinit=/lab/systemd-init.sh): like init.sh, but
# the job is a service and its first process is systemd.
export PATH=/bin:/usr/bin:/lab
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
ip link set lo up
dmesg -n 7
stty -F /dev/ttyS1 raw -echo
stty -F /dev/ttyS2 raw -echo
. /lab/units.sh
mkdir -p /etc/systemd/system /var/lib
lab_router="/bin/true"
lab_units /etc/systemd/system "/bin/env LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/llama chroot /engine /usr/bin/llama-server -m /models/tiny.gguf"
cat >>/etc/systemd/system/lab.target <<END
Wants=job.service
END
lab_unit job "/bin/sh -c 'cd /job; sh ./run >/dev/ttyS1 2>&1; echo exit \$? >/dev/ttyS2; sync; poweroff -f'"
echo 0123456789abcdef0123456789abcdef >/etc/machine-id
exec env -i PATH=/bin:/usr/bin /lib/systemd/systemd --system --show-status=no --log-target=kmsg --unit=lab.target
