# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The agent with a real llama-server in an adopted container. Sourced by tests/container/inside.sh.

program=$STAGE/usr/sbin/davylamp
agent=''
engine_port=18400
url=http://127.0.0.1:$engine_port
inside=/srv/lab/$place
fault() { tests/e2e/set-fault.sh "$LAB_ROOT$inside/fault" "$@"; }

start_agent() {
	mkdir -p "$work/config"
	printf '[engine_wedged]\ngraph_age = 1500 ms\ngraph_ratio = 4\n' >"$work/config/hazards.conf"
	"$program" run --json --mode enforce --socket "$work/sock" --state "${dir%/*}" --config "$work/config" \
		>>"$work/agent.out" 2>>"$work/agent.err" &
	agent=$!
	until_true 20 dl status >/dev/null 2>&1
}
stop_agent() {
	[[ ! $agent ]] || kill "$agent" 2>/dev/null
	[[ ! $agent ]] || wait "$agent" 2>/dev/null
	agent=''
}
dl() { "$program" "$@" --socket "$work/sock"; }
adopted() { dl policy adopted --json | jq -es "any(.[]; .unit == \"$kind:llama\" and ($1))" >/dev/null; }
workload() { dl policy adopted --json | jq "select(.unit == \"$kind:llama\") | .workload"; }
act() { dl act "$@" >"$work/act.out" 2>&1; }
decided() { grep '"type":"decision"' "$work/agent.out" | jq -es "any(.[]; $1)" >/dev/null; }
moved() { decided '.rung == "outcome" and .result == 0 and .ended == "migrate_cpu"'; }
serves() { tests/e2e/ask-token.sh "$url" "${1:-20}" 4 >"$work/token" 2>&1; }
engine_group() { echo "/sys/fs/cgroup$(dl policy adopted --json | jq -r "select(.unit == \"$kind:llama\") | .cgroup")"; }
frozen() { grep -q 'frozen 1' "$(engine_group)/cgroup.events"; }
# From the process: no device worker of lavapipe.
strictly_cpu() {
	local pid
	pid=$(field llama .State.Pid)
	[[ $pid -gt 0 ]] && ! cat "/proc/$pid"/task/*/comm | grep -q '^llvmpipe-'
}

start_llama() {
	local network=(-p "127.0.0.1:$engine_port:8080" --restart always --device /dev/null:/dev/dri/renderD128) inner=8080
	[[ $kind == docker ]] || network=(--network host --restart on-failure) inner=$engine_port
	fault ok
	"$runtime" run -d --name llama ${plain_limits[$kind]} "${network[@]}" -v "$LAB_ROOT/usr:/usr:ro" -v "$LAB_ROOT/srv/lab:/srv/lab" \
		-v "$work/models:/models" --label team=lamp --stop-timeout 5 \
		-e MESA_SHADER_CACHE_DIR=/srv/lab/shaders -e "VK_LAYER_PATH=$inside" -e GGML_VK_VISIBLE_DEVICES=0 \
		-e VK_INSTANCE_LAYERS=VK_LAYER_DAVYLAMP_fault -e "DAVYLAMP_VKFAULT=$inside/fault" \
		-e "DAVYLAMP_VKFAULT_LOG=$inside/fault.log" lab/engine:1 /usr/bin/llama-server -m "$inside/tiny.gguf" \
		--host 0.0.0.0 --port "$inner" -t 1 -np 1 -c 512 -fit off -cram 0 >"$work/llama.id" && until_true 60 serves 10
}

case_adopt() {
	check "$kind: the engine in a container answers on its port" start_llama
	definition llama >"$work/llama.first"
	check "$kind: the container can be adopted" eval 'dl policy adopt "$kind:llama" >"$work/answer" 2>&1'
	check "$kind: the agent recognises engine and model in it" until_true 30 adopted '.engine == "llama-server" and .pid > 0'
	check "$kind: the agent recognises its backend" until_true 30 eval \
		'dl status --json | jq -e "any(.processes[]; .workload == $(workload) and .backend == \"vulkan\")" >/dev/null'
}

case_hold() {
	check "$kind: it can be paused" act pause "$(workload)" --lease 60s
	check "$kind: the kernel freezes the container's cgroup" until_true 10 frozen
	check "$kind: the pause can be undone" act undo "$(workload)"
	check "$kind: it answers after the pause" eval 'until_true 10 not frozen && serves'
}

case_move() {
	local id
	id=$(field llama .Id)
	fault lost
	tests/e2e/ask-token.sh "$url" 10 4 >"$work/token" 2>&1
	check "$kind: an engine that has lost its device is moved to the CPU" until_true 60 moved
	check "$kind: it answers on the same port" until_true 30 serves
	check "$kind: it computes on the CPU" strictly_cpu
	check "$kind: it was told so by its environment" has_env llama LLAMA_ARG_DEVICE=none
	definition llama >"$work/llama.moved"
	check "$kind: volumes, ports, networks, labels, restart policy and user are the owner's" same_but_for_the_change \
		"$work/llama.first" "$work/llama.moved"
	if [[ $kind == docker ]]; then
		check "$kind: it has no GPU" test '[]' = "$(field llama .HostConfig.Devices)"
	fi
	check "$kind: the owner's container is kept, and one serves" eval \
		'[[ $(field llama.davylamp-before .Id) == "$id" && $(serving llama) == 1 ]]'
	fault ok
	check "$kind: the move can be undone" act undo "$(workload)"
	check "$kind: the owner's container serves again" eval '[[ $(field llama .Id) == "$id" ]] && until_true 30 serves && ! strictly_cpu'
	definition llama >"$work/llama.undone"
	check "$kind: it is bit by bit what it was after the undo" eval '[[ -s $work/llama.first ]] && cmp "$work/llama.first" "$work/llama.undone"'
}

# Everything that takes part dies while a container is replaced.
case_death() {
	local id
	id=$(field llama .Id)
	act migrate_cpu "$(workload)" &
	until_true 30 exists llama.davylamp-next
	kill -9 "$agent"
	pkill -9 -x davylamp-contai
	if [[ $kind == docker ]]; then
		kill -9 "$daemon"
		wait "$daemon" 2>/dev/null
	fi
	wait "$agent" 2>/dev/null
	agent=''
	[[ $kind != docker ]] || start_docker
	check "$kind: never two serve after the death of all" test "$(serving llama)" -le 1
	start_agent
	check "$kind: the next agent knows the container" until_true 30 adopted '.pid > 0'
	check "$kind: one serves then" eval 'until_true 30 serves && [[ $(serving llama) == 1 ]] && ! exists llama.davylamp-next'
}

case_release() {
	act migrate_cpu "$(workload)"
	until_true 60 has_env llama LLAMA_ARG_DEVICE=none
	check "$kind: the engine can be moved by an order" until_true 30 serves
	check "$kind: the container can be released" eval 'dl policy release "$kind:llama" >"$work/answer" 2>&1'
	definition llama >"$work/llama.released"
	check "$kind: it is bit by bit what it was after the release" eval '[[ -s $work/llama.first ]] && cmp "$work/llama.first" "$work/llama.released"'
	check "$kind: no file of davylamp is left of it" test "" = "$(ls -A "$dir")"
	check "$kind: it serves after the release" until_true 30 serves
}

case_owner_acts() {
	dl policy adopt "$kind:llama" >"$work/answer" 2>&1
	until_true 30 adopted '.engine == "llama-server" and .pid > 0'
	act migrate_cpu "$(workload)"
	until_true 60 has_env llama LLAMA_ARG_DEVICE=none
	remove llama llama.davylamp-before
	check "$kind: a container that its owner removes is not made again" eval 'until_true 30 adopted ".state != \"active\"" && ! exists llama'
	check "$kind: it can be released all the same" eval 'dl policy release "$kind:llama" >"$work/answer" 2>&1'
	check "$kind: a container of nobody is refused" eval '! dl policy adopt "$kind:llama" >"$work/answer" 2>&1'
	check "$kind: the refusal says that those of other users cannot be adopted" grep -q "of root has no container" "$work/answer"
}

agent_cases() {
	mkdir -p "$work/models"
	start_agent
	case_adopt
	case_hold
	case_move
	case_death
	case_release
	case_owner_acts
	stop_agent
}
