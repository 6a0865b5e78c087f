# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Faults of processes: SIGKILL, and SIGSTOP for a bounded time. An inject_NAME restores the host's
# state, reports violations through bad(), and returns 2 when it has no target.

# beneath: an act in force, or a running request, during the fault; seeded.
beneath() {
	local number
	beneath=nothing
	number=$(workload) || { bad "no workload"; return 1; }
	case $((RANDOM % 4)) in
	0) beneath="a pause of 60 s" && act pause "$number" --lease 60s ;;
	1) beneath="a throttle of 60 s" && act throttle "$number" --duty 25% --lease 60s ;;
	2)
		beneath="a request"
		background "$e2e/ask-token.sh" "$url" 60 200 >/dev/null 2>&1
		;;
	esac || bad "$beneath was refused: $(tail -n 1 "$work/act.out")"
}

inject_kill_agent() {
	beneath
	kill -9 "$agent"
	chaos_reap
	until_true 5 not frozen || bad "frozen after the end of the agent"
	serves 10 || bad "the engine does not serve without an agent"
	chaos_start || bad "no agent comes up after it"
}

inject_kill_guard() {
	local guard
	guard=$(guard_pid)
	[[ $guard ]] || return 2
	beneath
	kill -9 "$guard"
	[[ $beneath != *pause* ]] || until_true 5 not frozen || bad "frozen after the end of the guard"
	until_true 20 has_another_guard "$guard" || bad "no other guard is started"
}

inject_kill_standby() {
	local standby
	standby=$(standby_pid)
	[[ $standby ]] || return 2
	beneath
	kill -9 "$standby"
	until_true 20 has_another_standby "$standby" || bad "no other standby is started"
	act undo "$(workload)"
}

inject_kill_guard_and_standby() {
	local guard
	guard=$(guard_pid)
	[[ $guard ]] || return 2
	beneath
	kill -9 "$(standby_pid)" "$guard"
	[[ $beneath != *pause* ]] || until_true 5 not frozen || bad "frozen after the end of the guard and its standby"
	until_true 20 has_another_guard "$guard" || bad "no other guard is started"
}

inject_kill_all() {
	local guard
	guard=$(guard_pid)
	beneath
	# shellcheck disable=SC2046
	kill -9 $guard "$agent"
	chaos_reap
	"$program" release --all --socket "$work/none" --state "$work/state" >"$work/released" 2>&1 ||
		bad "release: $(tail -n 1 "$work/released")"
	until_true 5 not frozen || bad "frozen after the release"
	chaos_start || bad "no agent comes up after it"
}

inject_kill_supervisor() {
	local pid
	pid=$(engine_pid)
	beneath
	kill -9 "$engine"
	wait "$engine" 2>/dev/null
	engine=''
	until_true 20 not alive "$pid" || bad "the engine of a killed supervisor lives"
	chaos_engine
}

inject_kill_engine() {
	local pid
	pid=$(engine_pid)
	beneath
	mark
	kill -9 "$pid"
	until_true 60 since_decided '.rung == "outcome" and .result == 0 and (.ended == "restart" or .ended == "migrate_cpu")' ||
		bad "a killed engine is not replaced"
	until_true 30 one_engine_serves || bad "no token after the replacement"
}

# A probe runs long only while the engine hangs.
probe_meanwhile() {
	past_first_graphs
	mark
	fault hang
	background "$e2e/ask-token.sh" "$url" 60 4 >/dev/null 2>&1
	until_true 30 probe_there || { bad "no probe is started at a hanging engine"; return 1; }
	"$@" "$probe"
	until_true 90 since_moved || bad "a hang is not answered by a migration"
	fault ok
	background_end "$last_background"
	until_true 30 one_engine_serves || bad "no token after the migration"
	engine_anew
}
probe_there() { probe=$(probe_pid); [[ $probe ]]; }
inject_kill_probe() { probe_meanwhile kill -9; }
stop_for_good() { kill -STOP "$1"; stopped_probe=$1; }
inject_stop_probe() {
	probe_meanwhile stop_for_good
	until_true 30 not alive "$stopped_probe" || bad "a stopped probe is never ended"
}

inject_kill_reader() {
	local reader
	reader=$(reader_pid $RANDOM)
	[[ $reader ]] || return 2
	beneath
	kill -9 "$reader"
	until_true 20 not alive "$reader" || bad "a killed reader stays"
}

inject_stop_reader() {
	local reader
	reader=$(reader_pid $RANDOM)
	[[ $reader ]] || return 2
	kill -STOP "$reader"
	answers_soon 10 || bad "no answer while a reader is stopped"
	device_is_lost
	kill -CONT "$reader" 2>/dev/null
	engine_anew
}

# A pause whose end the stopped process would have to execute.
stopped_under_lease() {
	local pid=$1 number
	number=$(workload)
	act pause "$number" --lease 700ms || bad "a pause was refused: $(tail -n 1 "$work/act.out")"
	kill -STOP "$pid"
	until_true 5 not frozen || bad "a lease does not end while $2 is stopped"
	kill -CONT "$pid"
	until_true 5 not stopped "$pid" || bad "$2 is still stopped"
}
inject_stop_guard() { stopped_under_lease "$(guard_pid)" "the guard"; }
inject_stop_standby() { stopped_under_lease "$(standby_pid)" "the standby"; }

inject_stop_agent() {
	stopped_under_lease "$agent" "the agent"
	# A device is lost meanwhile.
	mark
	kill -STOP "$agent"
	fault lost
	serves 3
	kill -CONT "$agent"
	until_true 60 since_moved || bad "a device lost while the agent was stopped is not answered"
	until_true 30 one_engine_serves || bad "no token after the migration"
	engine_anew
}

inject_stop_supervisor() {
	mark
	kill -STOP "$engine"
	fault lost
	background serves 5
	until_true 60 since_decided '.rung == "migrate_cpu" and .verdict == "go"' ||
		bad "a device lost while the supervisor is stopped is not decided upon"
	kill -CONT "$engine"
	until_true 60 since_moved || bad "the supervisor does not migrate after it went on"
	background_end "$last_background"
	until_true 30 one_engine_serves || bad "no token after the migration"
	engine_anew
}

inject_second_agent() {
	local second status=0
	"$program" run --json --mode enforce --socket "$work/sock" --state "$work/state" --config "$work/config" \
		>/dev/null 2>"$work/second.err" &
	second=$!
	until_true 20 not alive "$second" || { bad "a second agent runs"; kill -9 "$second"; }
	wait "$second" || status=$?
	[[ $status != 0 ]] || bad "a second agent ends without an error"
	answers_soon 5 || bad "the first agent does not answer after a second one came"
}

inject_device_lost() { device_is_lost lost && engine_anew; }
inject_device_crash() { device_is_lost crash && engine_anew; }
inject_device_hang() { device_is_lost hang 90 && engine_anew; }
