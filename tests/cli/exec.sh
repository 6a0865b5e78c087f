# SPDX-License-Identifier: GPL-2.0-or-later
#
# davylamp exec in front of a command: its options, and the descriptors, signals and status that it passes on.
# tests/cli/run calls these functions; tests/launch tests its decisions with real engines.

# through PROGRAM [OPTION...] -- COMMAND...: without an agent and without rules of the operator.
through() {
	local p=$1
	shift
	"$p" exec --socket "$work/none" --state "$work/stateless" --config "$work/none" "$@"
}

# exec_option_checks PROGRAM
exec_option_checks() {
	local p=$1
	check "exec --backend with an unknown backend exits with 2" exits 2 "$p" exec --backend gpu -- true
	check "the error of exec --backend lists the backends" says "--backend 'gpu': expected auto, vulkan, rocm, cuda, sycl or cpu"
	check "exec --backend with control characters exits with 2" exits 2 "$p" exec --backend $'\e[2J\n' -- true
	check "the error of exec --backend escapes control characters" says "--backend '\\x1b[2J\\x0a': expected"
	check "exec --force-gpu cpu exits with 2" exits 2 "$p" exec --force-gpu cpu -- true
	check "the error of exec --force-gpu lists the GPU backends" says "expected vulkan, rocm, cuda or sycl"
	check "exec --force-cpu with --force-gpu exits with 2" exits 2 "$p" exec --force-cpu --force-gpu vulkan -- true
	check "exec --backend with --force-cpu exits with 2" exits 2 "$p" exec --backend vulkan --force-cpu -- true
	check "exec reports that two backend options exclude each other" says "exclude each other"
	check "exec --gpu-only with --force-cpu exits with 2" exits 2 "$p" exec --gpu-only --force-cpu -- true
	check "exec reports that the selected CPU excludes --gpu-only" says "the CPU is selected, which excludes --gpu-only"
	check "exec --reserve without a number exits with 2" exits 2 "$p" exec --reserve much -- true
	check "exec --reserve with a negative number exits with 2" exits 2 "$p" exec --reserve -1 -- true
	check "exec --memory-max 0 exits with 2" exits 2 "$p" exec --memory-max 0 -- true
	check "exec --memory-max with an unknown unit exits with 2" exits 2 "$p" exec --memory-max 16Q -- true
	check "the error of exec --memory-max shows a size" says "--memory-max '16Q': expected a size such as '16G'"
	check "exec --vram-max 0 exits with 2" exits 2 "$p" exec --vram-max 0 -- true
	check "the error of exec --vram-max shows a size" says "--vram-max '0': expected a size such as '12G'"
	check "exec --memory-max beyond 64 bits exits with 2" exits 2 "$p" exec --memory-max 99999999999T -- true
	check "exec --json without --explain or --dry-run exits with 2" exits 2 "$p" exec --json -- true
	check "exec --json reports that it needs --explain or --dry-run" says "--json needs --explain or --dry-run"
	check "exec --model with an empty name exits with 2" exits 2 "$p" exec --model '' -- true
	check "exec --device with a missing GPU exits with 4" exits 4 "$p" exec --device 0000:ff:1f.7 -- true
	check "exec --device names the missing GPU" says "--device '0000:ff:1f.7': no such GPU"
	check "exec --gpu-only without a GPU starts nothing" exits 4 through "$p" --gpu-only -- true
	check "exec --gpu-only reports that no GPU is present" says "nothing is started: no GPU was found, and --gpu-only refuses the CPU"
	check "--explain starts nothing" test -z "$(through "$p" --explain -- sh -c 'echo started >&2' 2>&1 | grep -x started)"
	check "exec --explain exits with 0" exits 0 through "$p" --explain -- llama-server -m x.gguf
	check "exec --explain prints what is known about the model" says "model: 'x.gguf' is unknown to the policy"
	check "exec --explain prints the requested backend" says "asked: nothing: the policy decides"
	check "exec --explain prints the resulting command" says "would start: llama-server -m x.gguf"
	check "--explain --json is one object" bash -c "'$p' exec --explain --json --socket '$work/none' --state '$work/stateless' \
		--config '$work/none' -- llama-server -m x.gguf | jq -se 'length == 1 and .[0].argv == [\"llama-server\", \"-m\", \"x.gguf\"] and
		(.[0].tree | map(.step) | index(\"chosen\") != null) and .[0].unknown'"
	check "exec --dry-run --json is one object" bash -c "'$p' exec --dry-run --json --socket '$work/none' --state '$work/stateless' --config '$work/none' \
		--force-cpu -- ollama serve 2>/dev/null | jq -e '.backend == \"cpu\" and (.environment | any(.name == \"OLLAMA_LLM_LIBRARY\" and .value == \"cpu\"))'"
	check "exec --dry-run --force-gpu of Ollama exits with 0" exits 0 through "$p" --dry-run --force-gpu vulkan -- ollama serve
	check "exec selects the backend of Ollama by an environment variable" says "would set: OLLAMA_LLM_LIBRARY=vulkan"
	check "exec --force-cpu of vLLM exits with 4" exits 4 through "$p" --dry-run --force-cpu -- vllm serve x
	check "exec reports that vllm cannot use the CPU" says "vllm has no option for cpu"
	check "exec --backend cpu of an unknown program exits with 0" exits 0 through "$p" --dry-run --backend cpu -- sleep 1
	check "exec --backend cpu hides GPUs from an unknown program by environment variables" says "would set: CUDA_VISIBLE_DEVICES=-1"
	check "exec reports that the program is not a known engine" says "'sleep' is not a known engine"
}

# ends STATUS COMMAND...: exec with a command; its status must be STATUS.
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

# begin COMMAND...: exec in the background; its pid is in $began. A shell's background jobs ignore SIGINT.
begin() {
	: >"$work/out"
	set -m # its own process group, whose parent is in another: an orphaned group does not stop
	env --default-signal=INT,QUIT "$program_through" exec --socket "$work/none" --state "$work/stateless" --config "$work/none" -- \
		"$@" >"$work/out" 2>/dev/null </dev/null &
	began=$!
	set +m
}
# finished STATUS: the command ends with STATUS within 20 s.
finished() {
	local status=0
	until_true 20 eval '! kill -0 $began 2>/dev/null || [[ $(state_of $began) == Z ]]' || { kill -9 $began; return 1; }
	wait $began || status=$?
	[[ $status -eq $1 ]] || { echo "status $status"; return 1; }
}

# passes SIGNAL: exec passes it to the engine, and ends as the engine does.
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
agent_pause_is_no_stop() { # SIGSTOP pauses an engine: its supervisor keeps running
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

# in_terminal ACTION WANTED COMMAND...: exec as the job of a terminal; its output is in $work/tty.
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
	check "exec returns every exit status of the engine" all_statuses_come_back
	check "exec returns 128 + the number of every signal that ends the engine" all_signals_are_told
	for signal in TERM INT HUP QUIT USR1 USR2 WINCH CONT; do
		check "exec passes SIG$signal to the engine" passes $signal
	done
	check "SIGTSTP stops exec and the engine, SIGCONT resumes both" stops_and_goes_on
	check "a paused engine does not stop its supervisor" agent_pause_is_no_stop
	head -c 3000000 /dev/urandom >"$work/bytes"
	check "exec passes 3 MB from a pipe unchanged" bash -c "'$1' exec --socket '$work/none' --state '$work/stateless' --config '$work/none' -- \
		cat <'$work/bytes' 2>/dev/null | cmp - '$work/bytes'"
	check "exec passes the end of stdin to the engine" bash -c "printf '' | '$1' exec --socket '$work/none' --state '$work/stateless' --config '$work/none' -- cat 2>/dev/null | cmp - /dev/null"
	check "the engine writes to the same stderr as exec" bash -c "'$1' exec --socket '$work/none' --state '$work/stateless' --config '$work/none' -- \
		sh -c 'echo mine >&2' 2>&1 >/dev/null | grep -qx mine"
	check "exec works with a closed stdin" bash -c "'$1' exec --socket '$work/none' --state '$work/stateless' --config '$work/none' -- true <&- 2>/dev/null"
	check "a terminal stays a terminal for the engine" in_terminal tty 'tty: all three' sh -c 'test -t 0 && test -t 1 && test -t 2 && echo tty: all three'
	check "the engine is the foreground job of its terminal" in_terminal type 'read: typed' sh -c 'echo ready; read x; echo "read: $x"'
	check "^C sends exactly one SIGINT to the engine" in_terminal int 'one' bash -c 'n=0; trap "n=\$((n+1))" INT; echo ready; sleep 0.6; sleep 0.3; [[ $n == 1 ]] && echo && echo one'
	check "exec returns 130 when SIGINT ends the engine" in_terminal int 'status 130' sh -c 'echo ready; sleep 30'
	check "the engine sees a changed window size" in_terminal winch 'size 50 132' bash -c 'trap "echo size \$(stty size)" WINCH; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done'
	check "^Z stops the job" in_terminal stop 'stopped' bash -c 'echo ready; sleep 1; echo went on'
	check "the job continues after ^Z and SIGCONT" grep -qx 'went on' "$work/tty"
	check "the continued job returns its exit status" grep -qx 'status 0' "$work/tty"
}
