# SPDX-License-Identifier: GPL-2.0
#
# The agent without some permission or resource, in the guest: each case of /job/cases runs one agent, ends a
# process by a signal, loads drivers, makes one of them fail for lack of memory, and records the agent's
# messages, its exit status and its cost. The kernel's lockdown is set at boot. tests/vm/degraded
# is the host's part.
. /lab/lab.sh

fact() { echo "fact $*"; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# settled PID: its loop runs and it answers, or it has ended.
settled() { gone "$1" || davylamp status --socket "$sock" >/dev/null 2>&1; }

# all_known PID FILE: no sensor of a driver is reported as "absent".
all_known() {
	gone "$1" && return
	for sensor in drm_sched ttm drm; do
		grep "\"name\":\"$sensor\"" "$2" | tail -n 1 | grep -qv '"state":"absent"' || return 1
	done
}

# A separate shell, which a signal kills.
end_badly() {
	sh -c 'kill -SEGV $$' 2>/dev/null &
	fact "${name}_victim" $!
	wait $!
}

# qxl does not free its interrupt, and the next load would crash (6.1, 7.2): it stays loaded.
load_drivers() {
	modprobe qxl
	$scheduler
	lab_soon 8 all_known $agent "$out"
	ttm-client --comm huge alloc 1 128 >/tmp/huge # more than the device has
	fact "${name}_client" "$(sed -n 's/^pid=\([0-9]*\) .*/\1/p' /tmp/huge)"
	sleep 0.5
}

# The last report of the sensor $1 contains $2.
last_has() { grep "\"name\":\"$1\"" "$out" | tail -n 1 | grep -q -e "$2"; }

# Who asks for kernel.ftrace_enabled waits for ftrace's lock, which the kernel holds for seconds while it
# loads a large module.
switch_functions() {
	echo 'p:lab/asked proc_dointvec what=+0(+0($arg1)):string' >$lab_tracing/dynamic_events
	lab_trace on lab
	cat /proc/sys/kernel/ftrace_enabled >/dev/null
	sleep 8
	lab_trace off
	check "the trace has what asks for ftrace_enabled" lab_trace_has ' cat-.*what="ftrace_enabled"'
	check "an agent does not ask for it while nothing changes" lab_trace_count ' davylamp-.*what="ftrace_enabled"' 0
	echo >$lab_tracing/dynamic_events
	echo 0 >/proc/sys/kernel/ftrace_enabled
	check "functions that are switched off are reported" lab_soon 10 last_has ttm '"state":"refused".*ftrace_enabled'
	echo 1 >/proc/sys/kernel/ftrace_enabled
	check "they are used when they are on again, and the gap is reported" lab_soon 10 last_has ttm \
		'"state":"live".*"gap_ns":[1-9]'
}

# run_case COMMAND...: the agent under that command.
run_case() {
	out=/tmp/$name.out sock=/tmp/$name.sock state=/tmp/$name.state
	mkdir -m 0777 "$state"
	began=$(ms)
	"$@" davylamp run --json --mode advise --socket "$sock" --state "$state" >"$out" \
		2>"/tmp/$name.err" &
	agent=$!
	lab_soon 30 settled $agent
	fact "${name}_ready_ms" $(($(ms) - began))
	end_badly
	load_drivers
	$during
	fact "${name}_pace_ms" "$(lab_pace_ms)"
	began=$(ms)
	davylamp status --json --socket "$sock" >"/tmp/$name.status" 2>&1
	fact "${name}_status_exit" $?
	fact "${name}_status_ms" $(($(ms) - began))
	fact "${name}_cpu_ms" "$(awk '{ print ($14 + $15) * 10 }' /proc/$agent/stat 2>/dev/null)"
	began=$(ms)
	kill $agent 2>/dev/null
	wait $agent
	fact "${name}_exit" $?
	fact "${name}_end_ms" $(($(ms) - began))
	rmmod gpu_sched 2>/dev/null
	for part in out err status; do
		echo "== $name.$part"
		cat "/tmp/$name.$part"
	done
	echo "== "
}

plain() { exec "$@"; }
# busybox has its own setpriv.
less_privileged() { exec /bin/setpriv --bounding-set "$caps" --inh-caps "$caps" "$@"; }
nobody() { exec /bin/setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# deny NAME: takes away what the case is named after.
deny() {
	how=plain scheduler='modprobe gpu_sched' during=:
	case $1 in
	no_bpf)
		echo 2 >/proc/sys/kernel/unprivileged_bpf_disabled
		how=less_privileged caps=-bpf,-perfmon,-sys_admin
		;;
	only_bpf) how=less_privileged caps=-all,+bpf,+perfmon ;;
	nobody) how=nobody ;;
	no_tracefs) umount /sys/kernel/debug/tracing /sys/kernel/tracing /sys/kernel/debug 2>/dev/null ;;
	no_ftrace) echo 0 >/proc/sys/kernel/ftrace_enabled ;;
	switched) during=switch_functions ;;
	no_btf) mount -t tmpfs tmpfs /sys/kernel/btf ;;
	module_no_btf) scheduler="insmod /lab/gpu-sched.ko" ;;
	esac
}

give_back() {
	case $1 in
	no_tracefs)
		mount -t tracefs tracefs /sys/kernel/tracing
		mount -t debugfs debugfs /sys/kernel/debug
		;;
	no_ftrace) echo 1 >/proc/sys/kernel/ftrace_enabled ;;
	no_btf) umount /sys/kernel/btf ;;
	esac
}

fact lockdown "$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/security/lockdown)"
for name in $(cat /job/cases); do
	deny "$name"
	run_case $how
	give_back "$name"
done
check "no BUG and no WARNING is in the log" lab_log_clean
lab_end
