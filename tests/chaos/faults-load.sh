# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Load caused by an unprivileged user: storms of processes, floods of connections, busy CPUs. A
# device is lost meanwhile. See faults-process.sh for the rules of an inject_NAME.

# Only in the background: the ended process is the program.
stranger() { exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

busy_loop() { exec -a davylamp-busy bash -c 'while :; do :; done'; }
inject_busy() {
	local pids=() n
	for n in {1..20}; do
		background busy_loop
		pids+=("$last_background")
	done
	device_is_lost lost 90
	answers_soon 10 || bad "no answer beside 20 busy processes"
	background_end "${pids[@]}"
	engine_anew
}

flooding() { grep -q flooding "$work/flood.out"; }
inject_flood() {
	local pid
	: >"$work/flood.out"
	background stranger prlimit --nofile=1024 "$O/chaos/flood" "$work/sock" $((16 + RANDOM % 600)) >"$work/flood.out"
	pid=$last_background
	until_true 20 flooding || bad "no flood"
	answers_soon 10 || bad "root gets no answer during a flood"
	inject_second_agent
	[[ ${#wrong[@]} == 0 ]] || { background_end "$pid"; return; }
	stop_engine
	chaos_engine && device_is_lost || bad "an engine that is started during a flood is not looked after"
	background_end "$pid"
	engine_anew
}

# storm_of KIND COUNT
storm_of() {
	local pid
	background stranger "$O/chaos/storm" "$1" "$2"
	pid=$last_background
	device_is_lost lost 90
	until_true 60 not alive "$pid" || bad "the storm does not end"
	background_end "$pid"
	answers_soon 10 || bad "no answer after a storm of $1"
	engine_anew
}
inject_fork_storm() { storm_of fork 20000; }
inject_exec_storm() { storm_of exec 4000; }
inject_crash_storm() { storm_of crash 4000; }

# Exceptions of another user's program with an engine's name.
inject_exception_storm() {
	local pid
	background stranger "$O/chaos/llama-server" -m /models/storm.gguf 20000 0
	pid=$last_background
	device_is_lost lost 90
	until_true 60 not alive "$pid" || bad "the storm does not end"
	background_end "$pid"
	engine_anew
}
