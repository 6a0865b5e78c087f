# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# What must hold after every fault. Each function reports through bad() and continues, so
# that one audit lists all violations. Sourced by run and selftest.

rss_slack_kib=4096
audit_s=15 # time limit of each condition
file_slack=6

family() { # of the agent and the supervisor: they, their children and grandchildren
	local pid
	for pid in $agent $engine; do
		echo "$pid"
		pgrep -P "$pid"
		pgrep -P "$(pgrep -d, -P "$pid")" 2>/dev/null
	done
}

none_stopped() {
	local pid
	for pid in $(family); do
		! stopped "$pid" || { stopped_pid=$pid; return 1; }
	done
}
audit_frozen() {
	until_true $audit_s not frozen || bad "the engine's cgroup is frozen"
	until_true $audit_s none_stopped ||
		bad "process $stopped_pid ($(cat "/proc/$stopped_pid/comm")) is stopped"
}

# The trace of a killed agent ends at its last flush; any other is complete.
trace_whole() {
	local trace=$work/disk/trace status=0
	[[ -e $trace ]] || return 0
	"$program" replay "$trace" >/dev/null 2>"$work/replay.err" || status=$?
	[[ $status == 0 ]] || { [[ $agent_status != 0 ]] && grep -q 'truncated or corrupted' "$work/replay.err"; }
}

database_whole() {
	local db=$work/state/davylamp.db
	[[ ! -e $db || $(sqlite3 "file:$db?mode=ro" 'PRAGMA integrity_check' 2>&1) == ok ]]
}

# Files that are put aside were torn, or seemed to be.
audit_torn() {
	until_true $audit_s database_whole || bad "the database is torn: $(sqlite3 "file:$work/state/davylamp.db?mode=ro" 'PRAGMA integrity_check' 2>&1 | head -n 2)"
	"$program" policy show --state "$work/state" --config "$work/config" >"$work/policy" 2>&1 ||
		bad "the policy cannot be read: $(head -n 2 "$work/policy")"
	local aside
	aside=$(find "$work/state/" -name '*.bad*' -o -name '*.tmp' -o -name '*.new')
	[[ ! $aside ]] || bad "files were put aside or left over: $(tr '\n' ' ' <<<"$aside")"
}

# Agents with our state directory, without forks of an agent.
agents() {
	local pid parent
	for pid in $(pgrep -x davylamp); do
		parent=$(sed -n 's/^PPid:\t//p' "/proc/$pid/status" 2>/dev/null)
		[[ $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") != *" run "*"--state $work/state "* ||
			$(cat "/proc/${parent:-0}/comm" 2>/dev/null) == davylamp ]] || echo "$pid"
	done
}
is_one() { [[ $("$@" | wc -l) == 1 ]]; }
engine_is_one() { [[ $(engine_count) == 1 ]]; }
audit_doubled() {
	is_one agents || bad "agents over one state directory: $(agents | wc -l)"
	[[ ! $engine ]] || until_true $audit_s engine_is_one || bad "engines on one port: $(engine_count)"
	[[ $(guard_pid | wc -l) -le 1 && $(children_named "$agent" davylamp-guard | wc -l) -le 1 ]] ||
		bad "the agent has $(children_named "$agent" davylamp-guard | wc -l) guards"
}

# Descriptors except those of probes, whose number depends on the engines of the whole host.
files_of() { find "/proc/$1/fd" -type l ! -lname 'anon_inode:*bpf*link*' ! -lname 'anon_inode:*perf_event*' 2>/dev/null | wc -l; }
probes_of() { find "/proc/$1/fd" -type l -lname 'anon_inode:*bpf*link*' -o -type l -lname 'anon_inode:*perf_event*' 2>/dev/null | wc -l; }
files_told() { ls -l "/proc/$agent/fd" | sed 's/.* -> //; s/[0-9]\+/N/g' | sort | uniq -c | sort -rn | head -n 12 | tr '\n' ';'; }
files_flat() { [[ $(files_of "$agent") -le $((baseline_files + file_slack)) ]]; }
# Engines of other tests that this agent has seen: their probes stay.
strangers_engines() {
	grep '"event":"process"' "$work/agent.out" | jq -es --argjson port "$port" \
		'any(.[]; .engine != null and .engine != "none" and .port != $port and .model != "storm.gguf")' >/dev/null
}
probes_flat() { [[ $(probes_of "$agent") -le $((baseline_probes + file_slack)) ]] || strangers_engines; }
zombies() { ps -o pid=,stat=,comm= --ppid "$agent${engine:+,$engine}" | awk '$2 ~ /^Z/'; }
no_zombies() { [[ -z $(zombies) ]]; }
children_flat() { [[ $(pgrep -c -P "$agent") -le $((baseline_children + 1)) ]]; }
cgroup_left() {
	local pid
	for pid in "${supervisors[@]}"; do
		[[ $pid == "$engine" ]] || find "$cgroup_root" -maxdepth 6 -type d -name "davylamp-exec-$pid" 2>/dev/null
	done
}
no_cgroup_left() { [[ -z $(cgroup_left) ]]; }
# Memory that can leak: pages of files leave after the start and return when they are used.
resident_kib() { awk '/^RssAnon/ { print $2 }' "/proc/$agent/status"; }

# Compared with this agent's first audit.
audit_leaked() {
	if [[ $baseline != "$agent" ]]; then
		baseline=$agent
		baseline_files=$(files_of "$agent") baseline_probes=$(probes_of "$agent") baseline_children=$(pgrep -c -P "$agent")
		baseline_kib=$(resident_kib)
	fi
	until_true $audit_s files_flat || bad "descriptors of the agent: $(files_of "$agent"), first $baseline_files: $(files_told)"
	until_true $audit_s probes_flat || bad "probes of the agent: $(probes_of "$agent"), first $baseline_probes"
	until_true $audit_s children_flat || bad "children of the agent: $(pgrep -c -P "$agent"), first $baseline_children"
	until_true $audit_s no_zombies || bad "zombies: $(zombies | tr '\n' ';')"
	until_true $audit_s no_cgroup_left || {
		bad "a cgroup is left: $(cgroup_left | tr '\n' ' ')"
		cgroup_left | xargs -I '{}' find '{}' -depth -type d -exec rmdir '{}' ';'
		supervisors=("$engine") # report it once
	}
	[[ $(resident_kib) -le $((baseline_kib + rss_slack_kib)) ]] ||
		bad "the agent's memory grew from $baseline_kib to $(resident_kib) KiB"
}

# Only ordered acts are in force, and all processes exist.
audit_answers() { answers_soon "$1" || bad "the agent does not answer"; }
audit_whole() {
	audit_answers 30
	until_true 20 has_guard || bad "the agent has no guard with a standby"
	[[ ! $engine ]] || until_true 30 one_engine_serves || bad "the engine does not serve"
	[[ ! $engine ]] || until_true 30 watched || bad "the engine is not watched"
}

complaints='assert|should not be reached|cannot be undone|renamed to [a-z]*[.]|cannot be closed|corrupt|stack smashing'
audit_said() {
	! grep -hiE "$complaints" "$work/agent.err" >"$work/said" || bad "the agent said: $(head -n 2 "$work/said" | tr '\n' ' ')"
}

audit() {
	audit_whole
	audit_frozen
	audit_torn
	audit_doubled
	audit_leaked
	audit_said
}
