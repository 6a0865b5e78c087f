# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # sourced by run, which has "program" and "work"
#
# Processes of user nobody that obstruct the agent (hostile.c): the agent reads them through readers,
# and they cannot block it.
gcc -O1 -pthread -D_GNU_SOURCE -Wall -Wextra -o "$work/hostile" tests/bpf/hostile.c || exit 1
chmod 755 "$work"
hostile=''
server='' # pid of the hanging file system's server
agent=''
end_hostile() {
	[[ $hostile ]] || return 0
	kill -9 $server "$hostile" 2>/dev/null
	umount -l "$work/mnt" 2>/dev/null
	wait "$hostile" 2>/dev/null
	hostile='' server=''
}
reader_close() {
	end_hostile
	close
}
trap reader_close EXIT
start_agent() {
	"$program" run --json --mode "$1" --socket "$work/sock" --state "$work/state" --config "$work" \
		>"$work/out" 2>"$work/err" &
	agent=$!
	until_true 30 "$program" status --socket "$work/sock" >/dev/null 2>&1
}
end_agent() {
	kill "$agent"
	wait "$agent"
	local status=$?
	agent=''
	return $status
}
reader_status() { "$program" status --json --socket "$work/sock" | jq -e ".reader | $1" >/dev/null; }
# Readers of this agent only; other processes may have the same name.
readers() { pgrep -P "$agent" -x davylamp-reader; }
told_lost() { saw '.event == "sensor" and .name == "reader" and .state == "lost" and (.reason | test("process '"$1"' of user 65534"))'; }

# A page of a FUSE file system under mmap_lock: a reader of the command line waits for the file system.
mkdir "$work/mnt"
"$work/hostile" hang "$work/mnt" >"$work/pid" 2>"$work/hostile.err" &
hostile=$!
until_true 20 bash -c "test \$(wc -l <'$work/pid') = 2 || ! kill -0 $hostile 2>/dev/null"
if ! kill -0 "$hostile" 2>/dev/null; then
	skip "a process that hangs who reads it" "this kernel mounts no FUSE"
else
	{ read -r server && read -r hung; } <"$work/pid"
	check "an agent starts beside a process whose command line blocks its readers" start_agent observe
	check "a lost reader is reported with process and user" until_true 30 told_lost "$hung"
	check "status counts the lost reader" reader_status '.lost >= 1'
	check "a lost reader is replaced" until_true 10 reader_status '.live == 3'
	"$work/llama-server" -m /models/x.gguf 6 0 2>/dev/null &
	pid=$!
	check "another user's engine is recognised during the hang" until_true 10 saw \
		".event == \"process\" and .pid == $pid and .engine == \"llama-server\""
	check "exceptions of another user's engine arrive during the hang" until_true 10 saw ".event == \"exception\" and .pid == $pid"
	wait "$pid"
	check "no thread of the agent waits in the kernel for the hanging process" bash -c "! grep -qE '^[0-9]+ \(.*\) D' /proc/$agent/stat"
	end_hostile
	check "the agent exits with 0 after the hang" end_agent
fi

# An endless fork storm of a process that has an engine's name and 4,000 open files.
start_agent enforce
setpriv --reuid=65534 --regid=65534 --clear-groups true || exit 1
"$work/hostile" storm 4000 >"$work/storm" 2>"$work/hostile.err" &
hostile=$!
check "a process of an unprivileged user with 4,000 files forks without end" until_true 10 test -s "$work/storm"
check "the forking process is recognised" until_true 20 saw ".event == \"process\" and .pid == $(cat "$work/storm")"
"$program" exec --socket "$work/sock" --state "$work/state" -- "$work/llama-server" -m /models/x.gguf 6 abort \
	>"$work/exec.out" 2>&1 &
engine=$!
check "status answers in under a second during the storm" timeout 1 "$program" status --socket "$work/sock"
check "an adopted engine is recognised during the storm" until_true 20 saw \
	'.event == "process" and .workload == 1 and .engine == "llama-server"'
check "exceptions of the adopted engine arrive during the storm" until_true 20 saw '.event == "exception" and .exception == "N2vk15DeviceLostErrorE"'
check "the agent acts on exceptions during the storm" until_true 20 bash -c \
	"grep '\"type\":\"decision\"' '$work/out' | jq -es 'any(.[]; .workload == 1 and .hazard == \"engine_exception\")' >/dev/null"
check "status still answers in under a second" timeout 1 "$program" status --socket "$work/sock"
check "no reader is lost to the storm" reader_status '.lost == 0'
kill "$engine" # the engine throws on the CPU, too: the next actions follow, after longer and longer pauses
wait "$engine"
end_hostile

# A reader is an unprivileged process.
one=$(readers | head -n 1)
check "a reader runs as a separate user" bash -c "grep -q '^Uid:.65521.65521' /proc/$one/status"
check "a reader has exactly three capabilities" bash -c "grep -q '^CapEff:.0000010000080004' /proc/$one/status"
check "a reader cannot gain capabilities: bounding set and no_new_privs" bash -c \
	"grep -q '^CapBnd:.0000010000080004' /proc/$one/status && grep -q '^NoNewPrivs:.1' /proc/$one/status"
check "a reader has a seccomp filter" bash -c "grep -q '^Seccomp:.2' /proc/$one/status"
has_four_descriptors() { [[ $(ls "/proc/$one/fd" | wc -l) == 4 ]]; } # while it reads, one more
check "an idle reader has four descriptors, none of the agent's" until_true 20 has_four_descriptors
fdinfo=$(pgrep -P "$agent" -x davylamp-fdinfo)
check "davylamp-fdinfo has the reader's user, two capabilities and a seccomp filter" bash -c \
	"grep -q '^Uid:.65521.65521' /proc/$fdinfo/status && grep -q '^CapEff:.0000000000080004' /proc/$fdinfo/status &&
		grep -q '^Seccomp:.2' /proc/$fdinfo/status"
check "an unprivileged user cannot kill a reader" not setpriv --reuid=65534 --regid=65534 --clear-groups kill -9 "$one"
kill -9 "$one"
check "a killed reader is replaced" until_true 10 bash -c "test 3 = \$(pgrep -c -P $agent -x davylamp-reader)"
before=$(readers)
kill -STOP $before
"$work/llama-server" -m /models/x.gguf 0 0 2>/dev/null &
check "stopped readers are replaced" until_true 30 reader_status '.lost >= 1 and .live == 3'
wait $!
check "the agent exits with 0 after the storm" end_agent
check "the agent leaves no reader" bash -c "! ps -o pid= -p '${before//$'\n'/,}' >/dev/null"
