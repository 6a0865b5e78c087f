# SPDX-License-Identifier: GPL-2.0
#
# The fault campaign in the guest: one seeded fault after the other while the real amdgpu hangs and is
# reset. After each fault: an audit, and a hang that the agent must report. /job has seed, minutes and step.
# busybox sh. tests/vm/chaos is the host's part.
. /lab/lab.sh

seed=$(cat /job/seed) minutes=$(cat /job/minutes) only=$(cat /job/step)
sock=/tmp/agent.sock
page=/models/tiny.gguf
kinds="kill_agent_in_reset stop_agent_in_reset kill_guard_in_reset kill_both_in_reset module_reload
	module_reload_agent_killed fault_storm exec_storm clock_jump busy no_descriptors kill_supervisor"

quiet() { "$@" >/tmp/out 2>&1 || { cat /tmp/out; return 1; }; }
not() { ! "$@"; }
now() { cut -d. -f1 /proc/uptime; }

# next_random LIMIT: the next number of the seed, in $random.
next_random() {
	chaos_state=$(((chaos_state * 1103515245 + 12345) & 0x7fffffff))
	random=$((chaos_state / 65536 % $1))
}
bad() {
	wrong=$((wrong + 1))
	echo "note: seed $seed step $step ($kind): $*"
}

mark() { marked=$(($(wc -l </tmp/agent.out) + 1)); }
since() { tail -n "+$marked" /tmp/agent.out | grep -q -e "$1"; }
answers() { timeout 10 davylamp status --json --socket $sock >/tmp/status 2>/dev/null; }
alive() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:.[ZX]' "/proc/$1/status"; }

agent_start() {
	rm -f $sock
	davylamp run --json --mode enforce --socket $sock --state /tmp/state --config /tmp \
		--record /tmp/trace >/tmp/agent.out 2>/tmp/agent.err &
	agent=$!
	baseline=
	marked=1
	lab_soon 60 answers && lab_soon 60 since '"name":"amdgpu_tdr","state":"live"'
}
agent_kill() { # with further processes
	kill -9 $agent "$@"
	wait $agent 2>/dev/null
	: >/tmp/engine.out
}

# A workload under the agent's supervisor, which prints its number at each registration.
supervise() {
	davylamp exec --socket $sock --state /tmp/state -- sleep 1000000 >>/tmp/engine.out 2>&1 &
	supervisor=$!
	lab_soon 30 workload
}
workload() {
	number=$(sed -n 's/.*watched by the agent as workload \([0-9]*\),.*/\1/p' /tmp/engine.out | tail -n 1)
	[ "$number" ]
}
act_pause() { lab_soon 30 workload && davylamp act pause "$number" --lease 60s --socket $sock >/tmp/act 2>&1; }
frozen() { grep -qs 'frozen 1' /sys/fs/cgroup/davylamp-exec-*/cgroup.events; }
child_named() { # PARENT NAME
	for lab_stat in /proc/[0-9]*/status; do
		grep -qsx "PPid:	$1" "$lab_stat" && grep -qsx "Name:	$2" "$lab_stat" &&
			sed -n 's/^Pid:	//p' "$lab_stat" && return
	done
	return 1
}
has_guard() { guard=$(child_named $agent davylamp-guard) && standby=$(child_named "$guard" davylamp-guard); }
another_guard() { has_guard && [ "$guard" != "$1" ]; }

# The driver's line about the end of its last reset.
last_reset() { dmesg | grep 'GPU reset([0-9]*) succeeded' | tail -n 1; }
reset_ended() { [ "$(last_reset)" != "$reset_before" ]; }

# hang_begin: a client whose job never ends; hang_end: the reset has ended the job, and the ring is idle.
hang_begin() {
	lab_soon 20 lab_rings_idle
	mark
	reset_before=$(last_reset)
	quiet fire engine off
	/tmp/llama-server -m $page --comm llama-server hang >/tmp/hang 2>&1 &
	hanger=$!
}
hang_end() {
	lab_soon 40 not alive $hanger || bad "the hanging client does not end"
	wait $hanger
	quiet fire engine "$gpu" || bad "the engine does not start again"
	for dump in /sys/class/devcoredump/devcd*/data; do
		[ ! -e "$dump" ] || echo 1 >"$dump" 2>/dev/null
	done
}
stall_told() { since "\"hazard\":\"job_stall\",\"pid\":$hanger,"; }
timeout_told() { since "\"event\":\"job_timeout\",\"pid\":$hanger,"; }
next_hang_is_told() {
	hang_begin
	lab_soon 20 timeout_told || bad "the next hang's timeout is not told"
	stall_told || bad "the next hang is not foreseen"
	hang_end
	# 162 s were seen beside 20 busy processes: they also slow down the driver's workers.
	lab_soon 100 reset_ended || bad "the driver's reset does not end"
	lab_soon 20 since '"event":"reset".*"begun":false' || bad "the end of the next reset is not told"
}

inject_kill_agent_in_reset() {
	act_pause || bad "a pause was refused: $(tail -n 1 /tmp/act)"
	hang_begin
	lab_soon 20 stall_told || bad "the hang is not foreseen"
	agent_kill
	lab_soon 3 not frozen || bad "frozen after the end of the agent"
	hang_end
	agent_start || bad "no agent comes up after it"
}
inject_stop_agent_in_reset() {
	act_pause || bad "a pause was refused: $(tail -n 1 /tmp/act)"
	davylamp act undo "$number" --socket $sock >/dev/null 2>&1
	hang_begin
	kill -STOP $agent
	hang_end
	kill -CONT $agent
	lab_soon 20 timeout_told || bad "a timeout while the agent was stopped is not told"
}
inject_kill_guard_in_reset() {
	has_guard
	killed=$guard
	act_pause || bad "a pause was refused: $(tail -n 1 /tmp/act)"
	hang_begin
	lab_soon 20 stall_told || bad "the hang is not foreseen"
	kill -9 "$killed"
	lab_soon 3 not frozen || bad "frozen after the end of the guard"
	hang_end
	lab_soon 20 another_guard "$killed" || bad "no other guard is started"
}
inject_kill_both_in_reset() {
	has_guard
	act_pause || bad "a pause was refused: $(tail -n 1 /tmp/act)"
	hang_begin
	next_random 3
	[ "$random" = 0 ] || lab_soon 20 stall_told
	agent_kill "$guard"
	davylamp release --all --socket /tmp/none --state /tmp/state >/tmp/released 2>&1 || bad "release: $(tail -n 1 /tmp/released)"
	lab_soon 3 not frozen || bad "frozen after the release"
	hang_end
	agent_start || bad "no agent comes up after it"
}
inject_module_reload() {
	lab_soon 20 lab_rings_idle
	lab_unbind
	if [ "${1-}" ]; then
		agent_kill
	else
		davylamp release --module amdgpu --socket $sock >/dev/null || bad "the agent does not let go"
	fi
	lab_soon 20 quiet rmmod amdgpu || bad "rmmod is refused"
	mark
	lab_load && lab_bind && quiet fire engine "$gpu" || bad "amdgpu does not come again"
	[ "${1-}" ] || lab_soon 60 since '"name":"amdgpu_tdr","state":"live"' || bad "its sensor is not live again"
	[ ! "${1-}" ] || agent_start || bad "no agent comes up after it"
}
inject_module_reload_agent_killed() { inject_module_reload killed; }
inject_fault_storm() {
	taskset -c 0 fire iv --pasid 41001 --vmid 3 --client 0x1b --src 0 --addr 0x1000 --count 200000 >/dev/null 2>&1 &
	storm=$!
	taskset -c 1 fire iv --pasid 41002 --vmid 3 --client 0x1b --src 0 --addr 0x1000 --count 200000 >/dev/null 2>&1
	wait $storm
}
inject_exec_storm() {
	(for n in $(seq 1500); do /bin/true; done) &
	storm=$!
	next_hang_is_told
	wait $storm
}
inject_clock_jump() {
	next_random 6
	kept=$(date +%s)
	began=$(now)
	case $random in
	0) date -s @$((kept + 3600)) ;; 1) date -s @$((kept - 3600)) ;; 2) date -s @$((kept + 315360000)) ;;
	3) date -s @$((kept - 315360000)) ;; 4) date -s @1 ;; 5) date -s @2147483660 ;;
	esac >/dev/null
	next_hang_is_told
	act_pause || bad "a pause was refused: $(tail -n 1 /tmp/act); after the clock jumped"
	davylamp act undo "$number" --socket $sock >/dev/null 2>&1
	date -s @$((kept + $(now) - began)) >/dev/null
}
inject_busy() {
	busy=
	for n in $(seq 20); do
		(while :; do :; done) &
		busy="$busy $!"
	done
	next_hang_is_told
	kill $busy
	wait $busy 2>/dev/null
}
inject_no_descriptors() {
	free=0
	while [ -e /proc/$agent/fd/$free ]; do free=$((free + 1)); done
	prlimit --pid $agent --nofile=$free:4096
	hang_begin
	hang_end
	alive $agent || bad "the agent ended without descriptors"
	prlimit --pid $agent --nofile=4096:4096
}
inject_kill_supervisor() {
	act_pause || bad "a pause was refused: $(tail -n 1 /tmp/act)"
	held=$(child_named $supervisor sleep)
	kill -9 $supervisor
	wait $supervisor 2>/dev/null
	: >/tmp/engine.out
	lab_soon 20 not alive "$held" || bad "the engine of a killed supervisor lives"
	supervise || bad "the next engine is not watched"
}

files_of_agent() { ls /proc/$agent/fd | wc -l; }
files_flat() { [ "$(files_of_agent)" -le $((baseline_files + 12)) ]; }
resident_kib() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) .*/\1/p' /proc/$agent/status; }
stopped_of() {
	for lab_stat in /proc/$agent /proc/$supervisor $(has_guard && echo "/proc/$guard /proc/$standby"); do
		! grep -qs '^State:.T (' "$lab_stat/status" || return 0
	done
	return 1
}
no_zombie() { ! child_zombie | grep -q .; }
child_zombie() {
	for lab_stat in $(grep -lsx "PPid:	$agent" /proc/[0-9]*/status); do
		! grep -qs '^State:.Z' "$lab_stat" || sed -n 's/^Name:	//p' "$lab_stat"
	done
}
database_whole() { [ "$(sqlite3 'file:/tmp/state/davylamp.db?mode=ro' 'PRAGMA integrity_check' 2>&1)" = ok ]; }

audit() {
	alive $agent || { bad "the agent has ended: $(tail -n 1 /tmp/agent.err)"; wait $agent; : >/tmp/engine.out; agent_start; }
	lab_soon 20 answers || bad "the agent does not answer"
	lab_soon 10 not frozen || bad "the workload is frozen"
	lab_soon 5 not stopped_of || bad "a process is stopped"
	lab_soon 20 has_guard || bad "no guard with a standby"
	lab_soon 10 database_whole || bad "the database is torn"
	[ -z "$(find /tmp/state -name '*.bad*')" ] || bad "files were put aside: $(find /tmp/state -name '*.bad*')"
	[ "$(ls -d /sys/fs/cgroup/davylamp-exec-* | wc -l)" = 1 ] || {
		bad "cgroups of supervisors: $(ls -d /sys/fs/cgroup/davylamp-exec-* | tr '\n' ' ')"
		rmdir /sys/fs/cgroup/davylamp-exec-*/* /sys/fs/cgroup/davylamp-exec-* 2>/dev/null
	}
	if [ "$baseline" != $agent ]; then
		baseline=$agent baseline_files=$(files_of_agent) baseline_kib=$(resident_kib)
	fi
	lab_soon 10 files_flat || bad "descriptors: $(files_of_agent), first $baseline_files"
	lab_soon 10 no_zombie || bad "the agent has a zombie: $(child_zombie | tr '\n' ' ')"
	[ "$(resident_kib)" -le $((baseline_kib + 6144)) ] || bad "memory: $(resident_kib) KiB, first $baseline_kib"
	! grep -qiE 'assert|should not be reached|cannot be undone|renamed to [a-z]*[.]' /tmp/agent.err || {
		bad "the agent said: $(grep -iE 'assert|should not be reached|cannot be undone|renamed to [a-z]*[.]' /tmp/agent.err | head -n 1)"
		: >/tmp/agent.err
	}
	! dmesg | grep -qE 'BUG:|WARNING:|Oops|general protection' || {
		bad "the kernel's log: $(dmesg | grep -E 'BUG:|WARNING:|Oops|general protection' | head -n 1)"
		dmesg -c >/dev/null
	}
}

# Each kind once per round, in random order.
kind_of() {
	chaos_state=$((seed * 1009 + $1 / kind_count))
	left=$kinds place=$(($1 % kind_count)) count=$kind_count
	while :; do
		next_random $count
		set -- $left
		shift $random
		kind=$1
		[ $place -gt 0 ] || return
		left=$(echo " $(echo $left) " | sed "s/ $kind / /")
		place=$((place - 1)) count=$((count - 1))
	done
}
one_step() {
	wrong=0
	chaos_state=$((seed * 7919 + step))
	began=$(now)
	inject_$kind
	audit
	next_hang_is_told
	echo "note: seed $seed step $step ($kind): $(($(now) - began)) s, agent $(resident_kib) KiB, $(files_of_agent) files"
	[ $wrong = 0 ]
}

printf '[agent]\nclean = 24 h\n[budget]\nacts_per_hour = 10000\nhost_acts_per_hour = 100000\nsettle = 0 s\n[breaker]\nfailures = 1000\nquarantine = 1000\n' >/tmp/hazards.conf
cp /lab/gpu-client /tmp/llama-server
set -- $kinds
kind_count=$#
check "the injector loads" insmod /lab/davylamp-inject.ko
check "amdgpu loads" lab_load
check "the real driver takes the device" lab_bind
gpu=$(lab_gpu)
check "the engine starts" quiet fire engine "$gpu"
check "the agent starts" agent_start
check "a workload is watched" supervise
step=start kind=none wrong=0
audit
next_hang_is_told
check "the agent reports a hang before any fault" test $wrong = 0
step=${only:-0}
end=$(($(now) + 60 * minutes))
while [ "$(now)" -lt $end ]; do
	kind_of $step
	echo "chaos injected $kind"
	check "step $step: $kind" one_step
	[ $wrong != 0 ] || echo "chaos survived $kind"
	[ $wrong = 0 ] || { echo "== agent.err at step $step"; tail -n 5 /tmp/agent.err; tail -n 3 /tmp/agent.out | cut -c1-300; echo "=="; }
	[ ! "$only" ] || break
	step=$((step + 1))
done
kill $supervisor
wait $supervisor
kill $agent
wait $agent
check "the agent exits with 0" test $? = 0
check "the agent's trace is complete" davylamp replay /tmp/trace >/dev/null
echo "== end"
lab_end
