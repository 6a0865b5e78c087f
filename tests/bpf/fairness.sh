# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# One user tries to take all uprobes: 300 processes of an unprivileged user that look like engines, each
# with a different library, while an adopted engine and one of another user run. Sourced by
# tests/bpf/run.

mallory=65533
as_mallory() { setsid setpriv --reuid=$mallory --regid=$mallory --clear-groups "$@"; }
status() { "$program" status --json --socket "$work/sock"; }
engine_is() { status | jq -es "any(.[].processes[]?; .pid == $1 and ($2))" >/dev/null; }
crowding() { status | jq -es "any(.[]; .crowding | $1)" >/dev/null; }
exception_of() { saw ".event == \"exception\" and .pid == $1"; }

start_fair_agent() {
	: >"$work/out"
	"$program" run --json --mode observe --socket "$work/sock" --state "$work/state" --config "$work" \
		>"$work/out" 2>"$work/err" &
	agent=$!
	until_true 20 saw '.event == "sensor" and .name == "engine" and .state == "live"'
}

# NAME COMMAND...: an engine that throws when its file appears. Its pid is in $work/NAME.pid.
thrower() {
	local name=$1
	shift
	: >"$work/$name.pid"
	chmod 666 "$work/$name.pid"
	THROW_WHEN=$work/$name.go THROW_PID=$work/$name.pid "$@" "$work/llama-server" -m /models/x.gguf 1 0 &
}
pid_of() { cat "$work/$1.pid"; }
throws() { touch "$work/$1.go"; until_true 20 exception_of "$(pid_of "$1")"; }

chmod 755 "$work"
mkdir -m 777 "$work/fair"
gcc -O1 -static -o "$work/fair/llama-server" tests/bpf/mapper.c &&
	echo 'void __cxa_throw(void); void __cxa_throw(void) { __asm__ volatile("push %rbp; pop %rbp"); }' |
	gcc -x c -shared -nostdlib -fomit-frame-pointer -o "$work/fair/lib" - || exit 1
for i in $(seq 0 299); do
	cp "$work/fair/lib" "$work/fair/libstdc++.so.6.$i"
done
chmod 644 "$work"/fair/lib*
# Adopted and other engines have separate libraries, as in containers.
cp -L "$(ldconfig -p | awk '/libstdc\+\+\.so\.6 .*x86-64/ { print $NF; exit }')" "$work/fair/libstdc++.so.6"
mkdir "$work/fair/own" && cp "$work/fair/libstdc++.so.6" "$work/fair/own/"

check "an agent for the uprobe quota starts" start_fair_agent
thrower adopted "$program" exec --socket "$work/sock" --state "$work/state" -- \
	env LD_LIBRARY_PATH="$work/fair"
check "an engine under davylamp exec is recognised" until_true 20 eval \
	'[[ -s $work/adopted.pid ]] && engine_is "$(pid_of adopted)" ".workload > 0 and .exceptions_seen"'
thrower other env LD_LIBRARY_PATH="$work/fair/own" setpriv --reuid=65532 --regid=65532 --clear-groups
check "an engine of another user is recognised" until_true 20 eval \
	'[[ -s $work/other.pid ]] && engine_is "$(pid_of other)" .exceptions_seen'
mkfifo "$work/hold"
as_mallory "$work/fair/llama-server" "$work/fair/libstdc++.so.6" 300 <"$work/hold" >"$work/mapped" 2>&1 &
exec 7>"$work/hold"
check "a user starts 300 engines with a library each" until_true 60 grep -q ready "$work/mapped"
check "probes beyond the user's quota are refused" until_true 120 crowding '.probes_refused >= 200 and .probes <= 80'
check "an event names the user whose probes are refused" until_true 10 saw \
	".event == \"sensor\" and .name == \"probes\" and .state == \"lost\" and (.reason | test(\"user $mallory \"))"
check "status shows the refused probes" bash -c "'$program' status --socket '$work/sock' | grep -qE '^crowding: [0-9]{3} probes refused'"
check "status shows that exceptions of some engines of the user are not seen" bash -c \
	"'$program' status --json --socket '$work/sock' | jq -e 'any(.processes[]; .probes_lost and (.exceptions_seen | not))'"
check "exceptions of the adopted engine remain traced" engine_is "$(pid_of adopted)" \
	'.exceptions_seen and (.probes_lost | not)'
check "an exception of the adopted engine arrives" throws adopted
check "an exception of the other user's engine arrives" throws other
thrower late "$program" exec --socket "$work/sock" --state "$work/state" -- env LD_LIBRARY_PATH="$work/fair/own"
check "an engine that is adopted later gets a probe" until_true 20 eval \
	'[[ -s $work/late.pid ]] && engine_is "$(pid_of late)" ".workload > 0 and .exceptions_seen"'
check "an exception of the later engine arrives" throws late
exec 7>&-
check "the end of the user's engines frees their probes" until_true 60 crowding '.probes < 64'
kill "$agent"
wait "$agent"
check "the agent with the uprobe quota exits with 0" test $? = 0
agent=''
