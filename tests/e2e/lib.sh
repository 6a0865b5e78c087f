# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests with a real llama-server: an agent and a separate engine, the fault layer between
# engine and lavapipe, and queries of the agent's output. Sourced after tests/lib.sh.

e2e=$PWD/tests/e2e
export LAB_ROOT=$CACHE/engine-root
port=${E2E_PORT:-18200}
url=http://127.0.0.1:$port
place=davylamp-$$
inside=/srv/lab/$place
fault_file=$LAB_ROOT$inside/fault
agent='' engine=''

# Prepares the root, the model and the fault layer; false when the root is not available.
lab_open() {
	"$e2e/fetch-root.sh" "$CACHE" || return 1
	work=$(mktemp -d)
	[[ -e $O/lab/tiny.gguf ]] || "$O/lab/mkmodel" -o "$O/lab/tiny.gguf" >/dev/null
	"$e2e/lab-place.sh" "$place" "$O/lab/tiny.gguf" "$O/lab/libfailgraph.so" \
		"$O"/lab/vk/* >/dev/null
	mkdir -p "$LAB_ROOT$inside/slots"
	trap lab_close EXIT
	warm_shaders
}

# Once per cache: every batch size that tests use. With a cold cache a graph takes seconds at
# its first batch of a new size, which tests would take for a hang.
warm_shaders() {
	local warm=$LAB_ROOT/srv/lab/shaders/warm words

	[[ ! -e $warm ]] || return 0
	echo "shaders are compiled for the first time"
	MESA_SHADER_CACHE_DIR=/srv/lab/shaders VK_LAYER_PATH=$inside GGML_VK_VISIBLE_DEVICES=0 \
		"$e2e/llama-server" -m "$inside/tiny.gguf" --host 127.0.0.1 --port "$port" -t 1 -np 1 \
		-c 1024 -fit off >"$work/warm.out" 2>&1 &
	engine=$!
	"$e2e/wait-health.sh" "$url" 240 "$engine" >/dev/null
	for words in 1 4 16 40 120; do
		curl -s -m 240 -o /dev/null "$url/completion" -d "$(jq -n --argjson n "$words" \
			'{prompt: ("the lamp " * $n), n_predict: 8, cache_prompt: false, ignore_eos: true}')" ||
			break
	done
	[[ $words != 120 ]] || touch "$warm"
	stop_engine
}

lab_close() {
	stop_engine
	stop_agent
	"$e2e/lab-place.sh" --remove "$place"
	rm -rf "$work"
}

# alive PID: whether the child still runs (a zombie has ended).
alive() { [[ $1 && $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) =~ ^[^ZX] ]]; }

# end PID: SIGTERM, and SIGKILL after ten seconds (times PATIENCE): a killed agent leaves a torn trace.
end() {
	kill "$1" 2>/dev/null || return 0
	until_true 10 not alive "$1" || kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# start_agent PROGRAM [OPTION...]: with a state directory that is kept until fresh_state, and $thresholds.
thresholds=''
start_agent() {
	local program=$1
	shift
	mkdir -p "$work/config"
	printf '[engine_wedged]\ngraph_age = 1500 ms\ngraph_ratio = 4\n%s' "$thresholds" >"$work/config/hazards.conf"
	"$program" run --json --socket "$work/sock" --state "$work/state" --config "$work/config" \
		--record "$work/trace" "$@" >"$work/agent.out" 2>"$work/agent.err" &
	agent=$!
	# Not the socket or the output of an agent that was killed before.
	until_true 20 agent_answers
}
agent_answers() { "$STAGE/usr/sbin/davylamp" status --socket "$work/sock" >/dev/null 2>&1; }

stop_agent() {
	[[ ! $agent ]] || end "$agent"
	agent=''
}

fresh_state() { rm -rf "$work/state"; }

# start_engine [EXEC OPTION...]: the real llama-server under davylamp exec, with engine_args. With
# its default prompt cache a llama-server that lost its device aborts at the second prompt
# (the cache is saved in a destructor that throws), with "-cram 0" it answers 500 for ever.
engine_args=()
start_engine() {
	MESA_SHADER_CACHE_DIR=/srv/lab/shaders VK_LAYER_PATH=$inside GGML_VK_VISIBLE_DEVICES=0 \
	VK_INSTANCE_LAYERS=VK_LAYER_DAVYLAMP_fault DAVYLAMP_VKFAULT=$inside/fault \
	DAVYLAMP_VKFAULT_LOG=$inside/fault.log \
		"$STAGE/usr/sbin/davylamp" exec --socket "$work/sock" --state "$work/state" \
		--slots "$inside/slots" "$@" -- \
		"$e2e/llama-server" -m "$inside/tiny.gguf" --host 127.0.0.1 --port "$port" -t 1 -np 1 \
		-c 512 -fit off "${engine_args[@]}" >"$work/engine.out" 2>&1 &
	engine=$!
}

stop_engine() {
	[[ ! $engine ]] || end "$engine"
	engine=''
}

fault() { "$e2e/set-fault.sh" "$fault_file" "$@"; }
serves() { "$e2e/ask-token.sh" "$url" "${1:-20}" 4 >"$work/answer" 2>&1; }
healthy() { [[ $(curl -s -o /dev/null -m 2 -w '%{http_code}' "$url/health") == 200 ]]; }
comes_up() { "$e2e/wait-health.sh" "$url" "${1:-120}" "$engine" >/dev/null && serves 360; }

# The last token is not computed any more: depth and tokens end one before the engine's count.
tokens_are_told() {
	local before computed
	sleep 0.5 # the last answer's tokens are reported on the next tick
	before=$(last_progress '.prompt_tokens + .generated_tokens')
	curl -s -m 60 "$url/completion" -d "$(jq -n '{prompt: ("the lamp " * 40), n_predict: 9,
		cache_prompt: false, ignore_eos: true}')" >"$work/answer" || return 1
	computed=$(jq '.tokens_evaluated + .tokens_predicted - 1' "$work/answer")
	until_true 5 last_progress_is "$computed" "$((before + computed))" && [[ $computed -gt 40 ]]
}
last_progress() { grep '"event":"progress"' "$work/agent.out" | tail -n 1 | jq "$1"; }
last_progress_is() {
	[[ $(last_progress .depth) == "$1" && $(last_progress '.prompt_tokens + .generated_tokens') == "$2" ]]
}

# The engine process, below the supervisor.
engine_pid() { pgrep -P "$engine" | head -n 1; }

# The agent's decisions, one JSON object per line.
decisions() { grep '"type":"decision"' "$work/agent.out"; }
decided() { decisions | jq -es "any(.[]; $1)" >/dev/null; }
on_failure() { tail -n 30 "$work/agent.out" "$work/agent.err" "$work/engine.out" | cut -c1-600; }
saw() { grep '"type":"event"' "$work/agent.out" | jq -es "any(.[]; $1)" >/dev/null; }
moved() { decisions | jq -es 'any(.[]; .rung == "outcome" and .result == 0 and .ended == "migrate_cpu")' \
	>/dev/null 2>&1; }

# From the process and not from its log: no device worker, no device memory, no device file.
strictly_cpu() {
	local pid
	pid=$(engine_pid)
	[[ $pid ]] || return 1
	! cat "/proc/$pid"/task/*/comm | grep -q '^llvmpipe-' &&
		! grep -q 'memfd:allocation' "/proc/$pid/maps" &&
		! ls -l "/proc/$pid/fd" | grep -qE '/dev/(dri|kfd|nvidia)' &&
		tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qx none
}

# replays_alike NAME: compares the live decisions with those of the trace, without root. Both are
# left in out/e2e/NAME.{trace,decisions}.
replays_alike() {
	stop_agent
	decisions >"$work/live"
	mkdir -p "$O/e2e"
	cp "$work/trace" "$O/e2e/$1.trace"
	cp "$work/live" "$O/e2e/$1.decisions"
	chmod 755 "$work" && chmod 644 "$work/trace"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$STAGE/usr/sbin/davylamp" replay --json \
		"$work/trace" >"$work/replayed" && [[ -s $work/live ]] && cmp "$work/live" "$work/replayed"
}

# Samples /health during a fault: one line per sample, with the seconds since boot of the answer
# and its status.
watch_health() {
	local status
	while :; do
		status=$(curl -s -o /dev/null -m 1 -w '%{http_code}' "$url/health")
		echo "$(cut -d' ' -f1 /proc/uptime) $status"
		sleep 0.05
	done >"$work/health" 2>/dev/null
}

# The last answer before the decision to move.
health_was_200_at_the_decision() {
	local at
	at=$(decisions | jq -s 'map(select(.rung == "migrate_cpu"))[0].at_ns / 1e9')
	awk -v at="$at" '$1 <= at { last = $2 } END { exit last == 200 ? 0 : 1 }' "$work/health"
}
