# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Faults of resources: disk, descriptors, memory, the clock, configuration. See faults-process.sh for
# the rules of an inject_NAME.

fill_disk() {
	dd if=/dev/zero of="$work/disk/filler" bs=64k status=none 2>/dev/null
	[[ $(stat -f -c %a "$work/disk") == 0 ]]
}

inject_disk_full() {
	until_true 5 fill_disk || bad "the disk could not be filled"
	device_is_lost
	answers_soon 10 || bad "no answer with a full disk"
	rm -f "$work/disk/filler"
	engine_anew
}

# The fault also affects the start of an agent; unwritten data must not be lost.
inject_disk_full_start() {
	beneath
	kill -9 "$agent"
	chaos_reap
	rm -f "$work/disk/trace" # the next agent writes none
	until_true 5 not frozen || bad "frozen after the end of the agent"
	until_true 5 fill_disk || bad "the disk could not be filled"
	rm -f "$work/sock"
	start_agent "$work/agent-program" --mode enforce --record /dev/null
	until_true 30 ended_or_answers || bad "an agent with a full disk neither ends nor answers"
	rm -f "$work/disk/filler"
	if alive "$agent"; then
		chaos_stop
	else
		chaos_reap
		[[ $agent_status -lt 128 ]] || bad "with a full disk the agent died by signal $((agent_status - 128))"
	fi
	chaos_start || bad "no agent comes up after a full disk"
}
ended_or_answers() { not alive "$agent" || answers; }

cpu_ticks() { sed 's/.*) //' "/proc/$agent/stat" | awk '{ print $12 + $13 }'; }

inject_no_descriptors() {
	local ticks began limit
	limit=$(prlimit --pid "$agent" --nofile --noheadings --output SOFT,HARD)
	set -- $limit
	prlimit --pid "$agent" --nofile="$(highest_file):$2"
	background serves 3
	fault lost
	wait "$last_background"
	# Connections that cannot be accepted must not make the agent spin: less than 70 % of a CPU.
	ticks=$(cpu_ticks) began=${EPOCHREALTIME/./}
	timeout 1 "$program" status --socket "$work/sock" >/dev/null 2>&1
	ticks=$(($(cpu_ticks) - ticks)) began=$(((${EPOCHREALTIME/./} - began) / 10000))
	[[ $ticks -lt $((began * 70 / 100)) ]] || bad "the agent spins without descriptors: $ticks ticks of CPU in $began"
	echo "    without descriptors: $ticks ticks of CPU in $began"
	alive "$agent" || bad "the agent ended without descriptors"
	mark
	prlimit --pid "$agent" --nofile="$1:$2"
	fault ok
	answers_soon 20 || bad "no answer after the descriptors came back"
	engine_anew
}
# The lowest free number, so that no further file can be opened.
highest_file() {
	local n=0
	while [[ -e /proc/$agent/fd/$n ]]; do n=$((n + 1)); done
	echo "$n"
}

# An allocation site that has not failed yet fails, after a seeded number of other sites. An agent may then
# end with an error, never by a signal, and the next agent must start.
fail_allocations() { # COUNT SKIP
	page_write $page_round $(($(page_read $page_round) % 255 + 1))
	page_write $page_skip "$2"
	page_write $page_armed "$1"
}
after_no_memory() {
	page_write $page_armed 0
	if ! alive "$agent"; then
		chaos_reap
		[[ $agent_status -lt 128 ]] ||
			bad "the agent died by signal $((agent_status - 128)) of $(tail -n 1 "$work/allocations")"
		chaos_start || bad "no agent comes up after it"
		return
	fi
	"$1"
}
inject_no_memory_start() {
	chaos_stop
	fail_allocations 3 $((RANDOM % 700))
	rm -f "$work/sock"
	start_agent "$work/agent-program" --mode enforce --record "$work/disk/trace"
	until_true 30 ended_or_answers || bad "an agent without memory neither ends nor answers"
	after_no_memory chaos_restart
}
chaos_restart() {
	chaos_stop
	chaos_start || bad "no agent comes up"
}

inject_no_memory_serve() {
	local number
	number=$(workload)
	fail_allocations 3 $((RANDOM % 64))
	answers 5
	timeout 10 "$program" act pause "$number" --lease 1s --socket "$work/sock" >/dev/null 2>&1
	serves 5
	fault lost
	serves 5
	answers 5
	fault ok
	after_no_memory true
	until_true 10 not frozen || bad "frozen after a failed allocation"
	engine_anew
}

inject_no_memory_stop() {
	fail_allocations 2 $((RANDOM % 16))
	kill "$agent"
	until_true 20 not alive "$agent" || { bad "the agent does not end without memory"; kill -9 "$agent"; }
	after_no_memory false
}

inject_slow_disk() {
	page_write $page_sync_us 300000
	page_write $page_write_us 20000
	stopped_under_lease "$(standby_pid)" "the standby, and the disk is slow,"
	device_is_lost lost 90
	page_calm
	answers_soon 30 || bad "no answer after the disk was slow"
	engine_anew
}

inject_clock_jump() {
	local jumps=(3600 -3600 86400 -86400 315360000 -315360000 2147483648)
	page_write $page_wall_s "${jumps[RANDOM % ${#jumps[@]}]}"
	answers_soon 10 || bad "no answer after the clock jumped"
	act pause "$(workload)" --lease 500ms || bad "a pause was refused after the clock jumped"
	until_true 5 not frozen || bad "a lease does not end after the clock jumped"
	device_is_lost
	page_calm
	engine_anew
}

broken_config() {
	local file=$work/config/hazards.conf
	rm -rf "$file"
	case $((RANDOM % 6)) in
	0) echo 'nonsense' >"$file" ;;
	1) printf '[agent]\nmode = sometimes\n' >"$file" ;;
	2) head -c 4096 /dev/urandom >"$file" ;;
	3) yes '[agent]' | head -c 2000000 >"$file" ;;
	4) mkdir "$file" ;;
	5) mkfifo "$file" ;;
	esac
}
inject_broken_config() {
	cp "$work/config/hazards.conf" "$work/hazards.kept"
	broken_config
	kill -HUP "$agent"
	answers_soon 10 || bad "no answer with a broken configuration"
	alive "$agent" || bad "the agent ended of a broken configuration"
	act pause "$(workload)" --lease 500ms || bad "the configuration before does not stay in force: $(tail -n 1 "$work/act.out")"
	until_true 5 not frozen || bad "a lease does not end"
	rm -rf "$work/config/hazards.conf"
	cp "$work/hazards.kept" "$work/config/hazards.conf"
	kill -HUP "$agent"
	answers_soon 10 || bad "no answer with a mended configuration"
}

inject_broken_rules() {
	printf '[vulkan\n\xff\xfe = =\n' >"$work/config/backend.conf"
	kill -HUP "$agent"
	answers_soon 10 || bad "no answer with broken rules"
	rm "$work/config/backend.conf"
	kill -HUP "$agent"
	answers_soon 10 || bad "no answer with mended rules"
}
