#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's first process: mounts what a test needs, runs /job/run and powers off. The job's
# output goes to the second serial port, its exit status to the third; the first one is the
# kernel's. run-vm.sh is the other side.
export PATH=/bin:/usr/bin:/usr/local/bin HOME=/root
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
mount -t securityfs securityfs /sys/kernel/security
ip link set lo up
# The kernel was quiet during boot, since each line costs time; the log is complete from here on.
dmesg -n 7
# On a busy host amdgpu 7.2 is loaded for minutes, with ftrace's lock (ftrace_module_enable).
[ ! -e /proc/sys/kernel/hung_task_timeout_secs ] || echo 1200 >/proc/sys/kernel/hung_task_timeout_secs
stty -F /dev/ttyS1 raw -echo
stty -F /dev/ttyS2 raw -echo
cd /job || exit
sh ./run >/dev/ttyS1 2>&1 </dev/null
echo "exit $?" >/dev/ttyS2
sync
poweroff -f
