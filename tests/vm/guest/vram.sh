# SPDX-License-Identifier: GPL-2.0
#
# For the guest's scripts about VRAM, after lab.sh: an agent, its status, processes in a cgroup, the driver's own figures.
fact() { echo "fact $*"; }
quiet() { "$@" >/tmp/out 2>&1 || { cat /tmp/out; return 1; }; }
sock=/tmp/agent.sock
root=/sys/fs/cgroup

agent_run() {
	davylamp run --json --mode "$1" --socket $sock --state /tmp/state --config /tmp/config >>/tmp/agent.out 2>>/tmp/agent.err &
	agent=$!
}

# said NAME: the agent's status becomes the section status.NAME.
said() { davylamp status --json --socket $sock >"/tmp/status.$1"; }
status_has() { davylamp status --json --socket $sock 2>/dev/null | grep -q "$1"; }

# show FILE...: as sections of the output.
show() {
	for show_file in "$@"; do
		echo "== $show_file"
		cat "/tmp/$show_file"
	done
	echo "== facts"
}

# inside GROUP COMMAND...: in that cgroup, in place of the shell: for ( ) and &.
inside() {
	mkdir -p $root/$1
	inside_group=$1
	shift
	echo 0 >$root/$inside_group/cgroup.procs
	exec "$@"
}

# The VRAM of the processes in a cgroup and below it by their fdinfo, each client of the driver once.
fdinfo_kib() {
	for fdinfo_pid in $(find "$root/$1" -name cgroup.procs -exec cat {} +); do
		cat /proc/"$fdinfo_pid"/fdinfo/* 2>/dev/null
	done | awk '/^drm-client-id:/ { id = $2 } /^drm-memory-vram:/ { kib[id] = $2 } END { for (i in kib) n += kib[i]; print n + 0 }'
}
evictions() { gpu-client --seconds 0 hold 4096 | sed -n 's/.*evictions=\([0-9]*\).*/\1/p'; }
