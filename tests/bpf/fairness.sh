# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Uprobes when a stranger wants them all: 300 processes of an unprivileged user that look like engines,
# each with a library of its own, while an adopted engine and one of another user live. Sourced by
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

# An engine that throws when its file appears. NAME COMMAND...: its pid is in $work/NAME.pid.
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
# Adopted and other engines have libraries of their own, as containers do.
cp -L "$(ldconfig -p | awk '/libstdc\+\+\.so\.6 .*x86-64/ { print $NF; exit }')" "$work/fair/libstdc++.so.6"
mkdir "$work/fair/own" && cp "$work/fair/libstdc++.so.6" "$work/fair/own/"

check "an agent starts" start_fair_agent
thrower adopted "$program" exec --socket "$work/sock" --state "$work/state" -- \
	env LD_LIBRARY_PATH="$work/fair"
check "an engine under davylamp exec is seen" until_true 20 eval \
	'[[ -s $work/adopted.pid ]] && engine_is "$(pid_of adopted)" ".workload > 0 and .exceptions_seen"'
thrower other env LD_LIBRARY_PATH="$work/fair/own" setpriv --reuid=65532 --regid=65532 --clear-groups
check "and one of another user" until_true 20 eval \
	'[[ -s $work/other.pid ]] && engine_is "$(pid_of other)" .exceptions_seen'
mkfifo "$work/hold"
as_mallory "$work/fair/llama-server" "$work/fair/libstdc++.so.6" 300 <"$work/hold" >"$work/mapped" 2>&1 &
exec 7>"$work/hold"
check "a stranger starts 300 engines with a library each" until_true 60 grep -q ready "$work/mapped"
check "his quota is reached, and the rest refused" until_true 120 crowding '.probes_refused >= 200 and .probes <= 80'
check "which is an event that names him" until_true 10 saw \
	".event == \"sensor\" and .name == \"probes\" and .state == \"lost\" and (.reason | test(\"user $mallory \"))"
check "status shows it" bash -c "'$program' status --socket '$work/sock' | grep -qE '^crowding: [0-9]{3} probes refused'"
check "and that exceptions of some of his engines are not seen" bash -c \
	"'$program' status --json --socket '$work/sock' | jq -e 'any(.processes[]; .probes_lost and (.exceptions_seen | not))'"
check "the adopted engine's exceptions are seen as before" engine_is "$(pid_of adopted)" \
	'.exceptions_seen and (.probes_lost | not)'
check "an exception of the adopted engine arrives" throws adopted
check "one of the other user's too" throws other
thrower late "$program" exec --socket "$work/sock" --state "$work/state" -- env LD_LIBRARY_PATH="$work/fair/own"
check "an engine that is adopted now finds room" until_true 20 eval \
	'[[ -s $work/late.pid ]] && engine_is "$(pid_of late)" ".workload > 0 and .exceptions_seen"'
check "its exception arrives" throws late
exec 7>&-
check "the stranger's end frees his probes, one by one" until_true 60 crowding '.probes < 64'
kill "$agent"
wait "$agent"
check "the agent ends well" test $? = 0
agent=''
