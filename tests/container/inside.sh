#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/container/run in its namespaces: a loopback without other addresses, and nothing of this host's runtimes.
. tests/lib.sh
place=davylamp-$$
. tests/container/lib.sh
. tests/container/agent.sh
. tests/container/steps.sh
. tests/container/hostile.sh
. tests/container/pods.sh

mount -t tmpfs tmpfs /run
umount -R -l /sys # its cgroup trees would be found first
{ mount -t sysfs sysfs /sys && mount -t cgroup2 cgroup2 /sys/fs/cgroup; } || {
	skip "everything" "namespaces with a cgroup tree are not possible here"
	finish container
}
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
busybox ip link set lo up
work=$(mktemp -d)
mount -t tmpfs tmpfs "$work" # containers are made a hundred times
mkdir -p "$dir"
[[ -e $O/lab/tiny.gguf ]] || "$O/lab/mkmodel" -o "$O/lab/tiny.gguf" >/dev/null
tests/e2e/lab-place.sh "$place" "$O/lab/tiny.gguf" "$O"/lab/vk/* >/dev/null
trap lab_close EXIT
on_failure() { cat "$work/answer" "$work/answer.err"; tail -n 20 "$work/agent.out" "$work/agent.err" | cut -c1-400; }

hostile_cases
pod_cases
for runtime in docker pod; do
	kind=${runtime/#pod/podman}
	echo "== $kind"
	if ! runtime_files "$kind" || ! start_"$kind" || ! image_tree | "$runtime" import - lab/engine:1 >/dev/null; then
		tail -n 5 "$work/$kind.log"
		check "$kind starts" false
		continue
	fi
	if ! "$runtime" run --rm --network host ${plain_limits[$kind]} lab/engine:1 /bin/busybox true >"$work/first" 2>&1; then
		skip "$kind" "no container starts here: $(tail -n 1 "$work/first")"
		continue
	fi
	publishes=yes
	if [[ $kind == podman ]] && ! podman_publishes; then
		publishes=''
		skip "published ports of Podman" "it cannot publish one here: $(tail -n 1 "$work/publishes")"
	fi
	step_cases
	agent_cases
	"$runtime" ps -aq | xargs -r "$runtime" rm -f >/dev/null
	stop_daemon
	umount -l /usr
done
finish container
