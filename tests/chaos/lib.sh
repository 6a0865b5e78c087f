# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Additions of the campaign to tests/e2e/lib.sh: the page shared with preload.c, the agent under it,
# an act or load during a fault, and functions that find processes. Sourced by run and selftest.

chaos_page=$work/page
chaos_lib=$(realpath "$O/chaos/preload.so")
supervisors=() # every started supervisor: their cgroups must disappear with them

# page_write OFFSET NUMBER, page_read OFFSET: one number of struct page (preload.c).
page_armed=0 page_skip=8 page_failed=16 page_seen=24 page_sync_us=40 page_write_us=48 page_wall_s=56 page_round=64
page_write() {
	local n=$2 byte text=''
	for byte in 0 1 2 3 4 5 6 7; do
		text+=$(printf '\\x%02x' $(((n >> (8 * byte)) & 255)))
	done
	# shellcheck disable=SC2059
	printf "$text" | dd of="$chaos_page" bs=1 seek="$1" conv=notrunc status=none
}
page_read() { od -An -t d8 -j "$1" -N 8 "$chaos_page" | tr -d ' '; }
page_calm() {
	local field
	for field in $page_armed $page_skip $page_sync_us $page_write_us $page_wall_s; do
		page_write "$field" 0
	done
}

# The state directory and the trace are on a file system that can be filled.
chaos_open() {
	mkdir -p "$work/disk"
	mount -t tmpfs -o size=64m,mode=755 davylamp-chaos "$work/disk" || return 1
	mkdir -m 700 "$work/disk/state"
	ln -s disk/state "$work/state"
	truncate -s 262144 "$chaos_page"
	chmod 755 "$work"
	cat >"$work/agent-program" <<-END2
		#!/bin/sh
		exec env LD_PRELOAD=$chaos_lib DAVYLAMP_CHAOS_PAGE=$chaos_page \\
			DAVYLAMP_CHAOS_LOG=$work/allocations $program "\$@"
	END2
	chmod 755 "$work/agent-program"
	# Acts follow each other within seconds here, and none is undone in between.
	thresholds=$'[agent]\nclean = 24 h\n[budget]\nacts_per_hour = 10000\nhost_acts_per_hour = 100000\nsettle = 0 s
[breaker]\nfailures = 1000\nquarantine = 1000\n[restart]\nforget = 0 s\nbackoff = 0 s\n'
}

chaos_close() {
	local pid
	for pid in "${chaos_pids[@]-}"; do
		[[ ! $pid ]] || kill -9 "$pid" 2>/dev/null
	done
	stop_engine
	stop_agent
	umount -l "$work/disk" 2>/dev/null
	lab_close
}

# Background processes of the campaign.
chaos_pids=()
background() {
	"$@" &
	chaos_pids+=($!)
	last_background=$!
}
background_end() {
	local pid
	for pid in "$@"; do
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
}

answers() { timeout "${1:-5}" "$program" status --json --socket "$work/sock" >"$work/status" 2>/dev/null; }
answers_soon() { until_true "${1:-20}" answers; }
workload() { answers 10 && jq -e '[.processes[].workload | select(. > 0)] | max // empty' "$work/status"; }
watched() { workload >/dev/null; }
standing() { jq -e ".in_force | length $1" "$work/status" >/dev/null; }
act() { timeout 60 "$program" act "$@" --socket "$work/sock" >"$work/act.out" 2>&1; }

# name_is PID NAME, children_named PID NAME: by comm, which a program's forks inherit.
children_named() { pgrep -x -P "$1" "${2:0:15}"; }
guard_pid() { children_named "$agent" davylamp-guard | head -n 1; }
standby_pid() { local g; g=$(guard_pid); [[ $g ]] && children_named "$g" davylamp-guard | head -n 1; }
# One of the agent's children other than guard and probe; seeded.
reader_pid() {
	local pid pids=()
	for pid in $(pgrep -P "$agent"); do
		case $(cat "/proc/$pid/comm" 2>/dev/null) in
		davylamp-guard | davylamp-probe | '') ;;
		*) pids+=("$pid") ;;
		esac
	done
	[[ ${#pids[@]} == 0 ]] || echo "${pids[$1 % ${#pids[@]}]}"
}
# Of the agent or of the supervisor.
probe_pid() { pgrep -x -P "$agent,$engine" davylamp-probe | head -n 1; }
has_guard() { [[ $(guard_pid) && $(standby_pid) ]]; }
# A guard other than PID, with its standby.
has_another_guard() { [[ $(guard_pid) != "$1" ]] && has_guard; }
has_another_standby() { local now; now=$(standby_pid); [[ $now && $now != "$1" ]]; }

# chaos_start [OPTION...]: starts the agent, as systemd restarts it.
agent_starts=0
chaos_start() {
	agent_starts=$((agent_starts + 1))
	rm -f "$work/sock"
	cat "$work/agent.err" >>"$work/errors" 2>/dev/null
	start_agent "$work/agent-program" --mode enforce --record "$work/disk/trace" "$@" || return 1
	answers_soon 30 && baseline=''
}

# The agent ended, or we ended it: its status is in $agent_status.
chaos_reap() {
	wait "$agent" 2>/dev/null
	agent_status=$?
	agent=''
	trace_whole || bad "the trace is torn: $(<"$work/replay.err")"
}

chaos_stop() {
	local began=$SECONDS probes
	probes=$(probes_of "$agent")
	kill "$agent"
	until_true 80 not alive "$agent" || { bad "the agent does not end at SIGTERM"; kill -9 "$agent"; }
	[[ $((SECONDS - began)) -lt 10 ]] || echo "    note: the agent with $probes probes took $((SECONDS - began)) s to end"
	chaos_reap
	[[ $agent_status == 0 ]] || bad "the agent ended with status $agent_status"
}

engine_cgroup() {
	echo "$cgroup_root$(sed -n 's|^0::\(.*/davylamp-exec-[0-9]*\).*|\1|p' "/proc/$(engine_pid)/cgroup")"
}
cgroup_root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)

# A GPU engine that the agent watches. --backend: ignores the policy that earlier faults created.
chaos_engine() {
	fault ok
	start_engine --backend vulkan
	supervisors+=("$engine")
	comes_up 240 || { bad "the engine does not come up"; return 1; }
	cgroup=$(engine_cgroup)
	until_true 30 watched || { bad "the agent does not watch the engine"; return 1; }
}

engine_count() { pgrep -f "^[^ ]*llama-server .*--port $port " | wc -l; }
one_engine_serves() { serves 10 && [[ $(engine_count) == 1 ]]; }
frozen() { grep -qs 'frozen 1' "$cgroup/cgroup.events"; }
stopped() { grep -qs '^State:.T (' "/proc/$1/status"; }

# The agent's decisions since mark().
mark() { marked=$(wc -l <"$work/agent.out"); }
since() { tail -n "+$((marked + 1))" "$work/agent.out" | grep '"type":"decision"'; }
since_decided() { since | jq -es "any(.[]; $1)" >/dev/null 2>&1; }
since_moved() { since_decided '.rung == "outcome" and .result == 0 and .ended == "migrate_cpu"'; }

# The first graphs of an engine compile shaders: only later ones must end within seconds.
past_first_graphs() { "$e2e/ask-token.sh" "$url" 60 32 >/dev/null 2>&1; }

# device_is_lost [FAULT [SECONDS]]: the agent must migrate the engine to the CPU, and the port must answer.
device_is_lost() {
	[[ ${1-} != hang ]] || past_first_graphs
	mark
	fault "${1:-lost}"
	background serves "${2:-60}"
	until_true "${2:-60}" since_moved || { bad "a lost device is not answered by a migration"; return 1; }
	background_end "$last_background"
	until_true 30 one_engine_serves || { bad "no token after the migration"; return 1; }
	strictly_cpu || { bad "the engine still uses the device"; return 1; }
	cgroup=$(engine_cgroup)
}

# The next step's engine runs on the GPU again.
engine_anew() {
	stop_engine
	chaos_engine
}
