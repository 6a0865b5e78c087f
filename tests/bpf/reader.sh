# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # sourced by run, which has "program" and "work"
#
# Processes of user nobody that stand in the agent's way (hostile.c): it looks at them through
# readers, and nothing that they do stops it.
gcc -O1 -pthread -D_GNU_SOURCE -Wall -Wextra -o "$work/hostile" tests/bpf/hostile.c || exit 1
chmod 755 "$work"
hostile=''
server='' # of its file system
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
# Those of this agent; processes of others may be named alike.
readers() { pgrep -P "$agent" -x davylamp-reader; }
told_lost() { saw '.event == "sensor" and .name == "reader" and .state == "lost" and (.reason | test("process '"$1"' of user 65534"))'; }

# A page of a file system of its own under mmap_lock: who reads its command line waits as long as it likes.
mkdir "$work/mnt"
"$work/hostile" hang "$work/mnt" >"$work/pid" 2>"$work/hostile.err" &
hostile=$!
until_true 20 bash -c "test \$(wc -l <'$work/pid') = 2 || ! kill -0 $hostile 2>/dev/null"
if ! kill -0 "$hostile" 2>/dev/null; then
	skip "a process that hangs who reads it" "this kernel mounts no FUSE"
else
	{ read -r server && read -r hung; } <"$work/pid"
	check "an agent starts beside a process whose command line hangs who reads it" start_agent observe
	check "what it cost is told: a reader, by process and user" until_true 30 told_lost "$hung"
	check "and counted in the status" reader_status '.lost >= 1'
	check "with as many readers as before" until_true 10 reader_status '.live == 3'
	"$work/llama-server" -m /models/x.gguf 6 0 2>/dev/null &
	pid=$!
	check "another user's engine is recognised meanwhile" until_true 10 saw \
		".event == \"process\" and .pid == $pid and .engine == \"llama-server\""
	check "and its exceptions arrive" until_true 10 saw ".event == \"exception\" and .pid == $pid"
	wait "$pid"
	check "none of the agent's threads waits in the kernel for it" bash -c "! grep -qE '^[0-9]+ \(.*\) D' /proc/$agent/stat"
	end_hostile
	check "the agent ends well" end_agent
fi

# Forks without end of a process that is an engine by its name, with 4,000 open files.
start_agent enforce
setpriv --reuid=65534 --regid=65534 --clear-groups true || exit 1
"$work/hostile" storm 4000 >"$work/storm" 2>"$work/hostile.err" &
hostile=$!
check "a process of nobody's with 4,000 files forks without end" until_true 10 test -s "$work/storm"
check "it is seen" until_true 20 saw ".event == \"process\" and .pid == $(cat "$work/storm")"
"$program" exec --socket "$work/sock" --state "$work/state" -- "$work/llama-server" -m /models/x.gguf 6 abort \
	>"$work/exec.out" 2>&1 &
engine=$!
check "status answers in under a second" timeout 1 "$program" status --socket "$work/sock"
check "an adopted engine is recognised within it" until_true 20 saw \
	'.event == "process" and .workload == 1 and .engine == "llama-server"'
check "its exceptions arrive" until_true 20 saw '.event == "exception" and .exception == "N2vk15DeviceLostErrorE"'
check "and are acted on" until_true 20 bash -c \
	"grep '\"type\":\"decision\"' '$work/out' | jq -es 'any(.[]; .workload == 1 and .hazard == \"engine_exception\")' >/dev/null"
check "status still answers in under a second" timeout 1 "$program" status --socket "$work/sock"
check "no reader was lost to it" reader_status '.lost == 0'
wait "$engine"
end_hostile

# A reader is a process without rights of its own.
one=$(readers | head -n 1)
check "a reader has a user of its own" bash -c "grep -q '^Uid:.65521.65521' /proc/$one/status"
check "and three capabilities" bash -c "grep -q '^CapEff:.0000010000080004' /proc/$one/status"
check "no new ones, by its bounding set and no_new_privs" bash -c \
	"grep -q '^CapBnd:.0000010000080004' /proc/$one/status && grep -q '^NoNewPrivs:.1' /proc/$one/status"
check "a filter of system calls" bash -c "grep -q '^Seccomp:.2' /proc/$one/status"
check "and four files: none of the agent's" test 4 = "$(ls "/proc/$one/fd" | wc -l)"
fdinfo=$(pgrep -P "$agent" -x davylamp-fdinfo)
check "the reader of fdinfo has that user, two capabilities and a filter" bash -c \
	"grep -q '^Uid:.65521.65521' /proc/$fdinfo/status && grep -q '^CapEff:.0000000000080004' /proc/$fdinfo/status &&
		grep -q '^Seccomp:.2' /proc/$fdinfo/status"
check "nobody cannot kill it" not setpriv --reuid=65534 --regid=65534 --clear-groups kill -9 "$one"
kill -9 "$one"
check "one that was killed is replaced" until_true 10 bash -c "test 3 = \$(pgrep -c -P $agent -x davylamp-reader)"
before=$(readers)
kill -STOP $before
"$work/llama-server" -m /models/x.gguf 0 0 2>/dev/null &
check "those that stand still are, too" until_true 30 reader_status '.lost >= 1 and .live == 3'
wait $!
check "the agent ends well" end_agent
check "and leaves no reader" bash -c "! ps -o pid= -p '${before//$'\n'/,}' >/dev/null"
