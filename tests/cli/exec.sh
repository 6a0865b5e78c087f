# SPDX-License-Identifier: GPL-2.0-or-later
#
# davylamp exec as a program in front of another: its options, and what passes through it. tests/cli/run
# calls these; what it decides with real engines is in tests/launch.

# through PROGRAM [OPTION...] -- COMMAND...: with no agent, no rules of people's.
through() {
	local p=$1
	shift
	"$p" exec --socket "$work/none" --state "$work/stateless" --config "$work/none" "$@"
}

# exec_option_checks PROGRAM
exec_option_checks() {
	local p=$1
	check "exec --backend wants a backend" exits 2 "$p" exec --backend gpu -- true
	check "and says which" says "--backend 'gpu': expected auto, vulkan, rocm, cuda, sycl or cpu"
	check "what it was given is shown, not obeyed" exits 2 "$p" exec --backend $'\e[2J\n' -- true
	check "as text" says "--backend '\\x1b[2J\\x0a': expected"
	check "--force-gpu wants one of a GPU" exits 2 "$p" exec --force-gpu cpu -- true
	check "and says which" says "expected vulkan, rocm, cuda or sycl"
	check "one backend is asked for" exits 2 "$p" exec --force-cpu --force-gpu vulkan -- true
	check "in whatever way" exits 2 "$p" exec --backend vulkan --force-cpu -- true
	check "which is said" says "exclude each other"
	check "the CPU and --gpu-only" exits 2 "$p" exec --gpu-only --force-cpu -- true
	check "contradict each other" says "the CPU is selected, which excludes --gpu-only"
	check "--reserve wants a number" exits 2 "$p" exec --reserve much -- true
	check "and no negative one" exits 2 "$p" exec --reserve -1 -- true
	check "--memory-max wants a size" exits 2 "$p" exec --memory-max 0 -- true
	check "in words that are known" exits 2 "$p" exec --memory-max 16Q -- true
	check "and says so" says "--memory-max '16Q': expected a size such as '16G'"
	check "not one beyond numbers" exits 2 "$p" exec --memory-max 99999999999T -- true
	check "--json alone" exits 2 "$p" exec --json -- true
	check "is for what prints" says "--json needs --explain or --dry-run"
	check "--model wants a name" exits 2 "$p" exec --model '' -- true
	check "a device that is not there" exits 4 "$p" exec --device 0000:ff:1f.7 -- true
	check "is named" says "--device '0000:ff:1f.7': no such GPU"
	check "--gpu-only without a GPU starts nothing" exits 4 through "$p" --gpu-only -- true
	check "and says why" says "nothing is started: no GPU was found, and --gpu-only refuses the CPU"
	check "--explain starts nothing" test -z "$(through "$p" --explain -- sh -c 'echo started >&2' 2>&1 | grep -x started)"
	check "and tells each step" exits 0 through "$p" --explain -- llama-server -m x.gguf
	check "the model" says "model: 'x.gguf' is unknown to the policy"
	check "what is asked" says "asked: nothing: the policy decides"
	check "and what would be started" says "would start: llama-server -m x.gguf"
	check "--explain --json is one object" bash -c "'$p' exec --explain --json --socket '$work/none' --state '$work/stateless' \
		--config '$work/none' -- llama-server -m x.gguf | jq -se 'length == 1 and .[0].argv == [\"llama-server\", \"-m\", \"x.gguf\"] and
		(.[0].tree | map(.step) | index(\"chosen\") != null) and .[0].unknown'"
	check "--dry-run --json too" bash -c "'$p' exec --dry-run --json --socket '$work/none' --state '$work/stateless' --config '$work/none' \
		--force-cpu -- ollama serve 2>/dev/null | jq -e '.backend == \"cpu\" and (.environment | any(.name == \"OLLAMA_LLM_LIBRARY\" and .value == \"cpu\"))'"
	check "Ollama is told by variables" exits 0 through "$p" --dry-run --force-gpu vulkan -- ollama serve
	check "of its own" says "would set: OLLAMA_LLM_LIBRARY=vulkan"
	check "vLLM has one backend" exits 4 through "$p" --dry-run --force-cpu -- vllm serve x
	check "which is said" says "vllm has no option for cpu"
	check "a program that is no engine is told by variables" exits 0 through "$p" --dry-run --backend cpu -- sleep 1
	check "that hide every GPU" says "would set: CUDA_VISIBLE_DEVICES=-1"
	check "and what that is worth" says "'sleep' is not a known engine"
}

# ends STATUS COMMAND...: through exec, nothing else changed.
ends() {
	local want=$1 got=0
	shift
	through "$program_through" -- "$@" >"$work/out" 2>/dev/null </dev/null || got=$?
	[[ $got -eq $want ]] || { echo "status $got"; return 1; }
}
all_statuses_come_back() {
	local i
	for i in $(seq 0 255); do ends "$i" sh -c "exit $i" || return 1; done
}
all_signals_are_told() {
	local signal
	for signal in 1 2 3 6 8 9 10 11 12 13 14 15 30; do ends $((128 + signal)) sh -c "ulimit -c 0; kill -$signal \$\$" || return 1; done
}

# begin COMMAND...: through exec in the background; its pid is in $began. A shell's background ignores SIGINT.
begin() {
	: >"$work/out"
	set -m # a process group of its own, whose parent is in another: one that is orphaned does not stop
	env --default-signal=INT,QUIT "$program_through" exec --socket "$work/none" --state "$work/stateless" --config "$work/none" -- \
		"$@" >"$work/out" 2>/dev/null </dev/null &
	began=$!
	set +m
}
# finished STATUS: it ends so, within 20 s.
finished() {
	local status=0
	until_true 20 eval '! kill -0 $began 2>/dev/null || [[ $(state_of $began) == Z ]]' || { kill -9 $began; return 1; }
	wait $began || status=$?
	[[ $status -eq $1 ]] || { echo "status $status"; return 1; }
}

# passes SIGNAL: sent to exec, the engine gets it; exec ends as the engine does.
passes() {
	begin bash -c "trap 'echo got $1; exit 5' $1; echo ready; for i in {1..400}; do sleep 0.05; done"
	until_true 20 grep -q ready "$work/out" || return 1
	kill -"$1" $began
	finished 5 && grep -qx "got $1" "$work/out"
}

state_of() { sed 's/.*) //' "/proc/$1/stat" | cut -c1; }
stops_and_goes_on() {
	local child
	begin sh -c 'echo ready; exec sleep 60'
	until_true 20 grep -q ready "$work/out" || return 1
	child=$(pgrep -P $began)
	kill -TSTP $began
	until_true 10 eval '[[ $(state_of $child) == T && $(state_of $began) == T ]]' || return 1
	kill -CONT $began
	until_true 10 eval '[[ $(state_of $child) == S && $(state_of $began) == S ]]' || return 1
	kill $began
	finished 143
}
agent_pause_is_no_stop() { # SIGSTOP is how an engine is paused: its supervisor goes on
	local child
	begin sh -c 'echo ready; exec sleep 60'
	until_true 20 grep -q ready "$work/out" || return 1
	child=$(pgrep -P $began)
	kill -STOP "$child"
	until_true 10 eval '[[ $(state_of $child) == T ]]' || return 1
	sleep 0.2
	[[ $(state_of $began) != T ]] || return 1
	kill -CONT "$child"
	kill $began
	finished 143
}

# in_terminal ACTION WANTED COMMAND...: as a terminal's job; its words are in $work/tty.
in_terminal() {
	local action=$1 wanted=$2
	shift 2
	"$work/pty" "$action" "$program_through" exec --socket "$work/none" --state "$work/stateless" --config "$work/none" -- "$@" \
		2>&1 | tr -d '\r' >"$work/tty"
	grep -qx "$wanted" "$work/tty" || { cat "$work/tty"; return 1; }
}

# exec_through_checks PROGRAM
exec_through_checks() {
	program_through=$1
	gcc -O1 -o "$work/pty" tests/cli/pty.c -lutil || return
	check "every exit status comes back" all_statuses_come_back
	check "death by a signal is 128 and its number" all_signals_are_told
	for signal in TERM INT HUP QUIT USR1 USR2 WINCH CONT; do
		check "SIG$signal is passed on" passes $signal
	done
	check "SIGTSTP stops both, SIGCONT wakes both" stops_and_goes_on
	check "an engine that is paused does not stop its supervisor" agent_pause_is_no_stop
	head -c 3000000 /dev/urandom >"$work/bytes"
	check "a pipe of 3 MB comes through, byte for byte" bash -c "'$1' exec --socket '$work/none' --state '$work/stateless' --config '$work/none' -- \
		cat <'$work/bytes' 2>/dev/null | cmp - '$work/bytes'"
	check "the end of stdin, too" bash -c "printf '' | '$1' exec --socket '$work/none' --state '$work/stateless' --config '$work/none' -- cat 2>/dev/null | cmp - /dev/null"
	check "stderr is the engine's, beside our words" bash -c "'$1' exec --socket '$work/none' --state '$work/stateless' --config '$work/none' -- \
		sh -c 'echo mine >&2' 2>&1 >/dev/null | grep -qx mine"
	check "a closed stdin is survived" bash -c "'$1' exec --socket '$work/none' --state '$work/stateless' --config '$work/none' -- true <&- 2>/dev/null"
	check "a terminal stays a terminal" in_terminal tty 'tty: all three' sh -c 'test -t 0 && test -t 1 && test -t 2 && echo tty: all three'
	check "whose foreground job the engine is" in_terminal type 'read: typed' sh -c 'echo ready; read x; echo "read: $x"'
	check "^C ends the engine once" in_terminal int 'one' bash -c 'n=0; trap "n=\$((n+1))" INT; echo ready; sleep 0.6; sleep 0.3; [[ $n == 1 ]] && echo && echo one'
	check "by the signal, when it does not catch it" in_terminal int 'status 130' sh -c 'echo ready; sleep 30'
	check "a larger window is told" in_terminal winch 'size 50 132' bash -c 'trap "echo size \$(stty size)" WINCH; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done'
	check "^Z stops the job, and it goes on" in_terminal stop 'stopped' bash -c 'echo ready; sleep 1; echo went on'
	check "to its end" grep -qx 'went on' "$work/tty"
	check "with its status" grep -qx 'status 0' "$work/tty"
}
