# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The agent with a real llama-server in an adopted container. Sourced by tests/container/inside.sh.

program=$STAGE/usr/sbin/davylamp
agent=''
wedged=$'[engine_wedged]\ngraph_age = 1500 ms\ngraph_ratio = 4\n'
thresholds=$wedged
engine_port=18400
url=http://127.0.0.1:$engine_port
inside=/srv/lab/$place
fault() { tests/e2e/set-fault.sh "$LAB_ROOT$inside/fault" "$@"; }

start_agent() {
	mkdir -p "$work/config"
	printf '%s' "$thresholds" >"$work/config/hazards.conf"
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
dl_ledger() { "$program" policy ledger --json --state "${dir%/*}"; }
image_digits() { field llama .Image | sed 's/.*://' | cut -c -12; }
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
	local network=(${publish---publish "127.0.0.1:$engine_port:8080"} --restart always --device /dev/null:/dev/dri/renderD128) inner=8080
	[[ $kind == docker ]] || network=(${publish---publish "127.0.0.1:$engine_port:8080"} --restart on-failure)
	[[ $publishes ]] || network=(--network host --restart on-failure) inner=$engine_port
	fault ok
	"$runtime" run -d --name llama ${plain_limits[$kind]} "${network[@]}" -v "$LAB_ROOT/usr:/usr:ro" -v "$LAB_ROOT/srv/lab:/srv/lab" \
		-v "$work/models:/models" --label team=lamp --label io.davylamp.adopt=enforce --stop-timeout 5 \
		-e MESA_SHADER_CACHE_DIR=/srv/lab/shaders -e "VK_LAYER_PATH=$inside" -e GGML_VK_VISIBLE_DEVICES=0 \
		-e VK_INSTANCE_LAYERS=VK_LAYER_DAVYLAMP_fault -e "DAVYLAMP_VKFAULT=$inside/fault" \
		-e "DAVYLAMP_VKFAULT_LOG=$inside/fault.log" lab/engine:1 /usr/bin/llama-server -m "$inside/tiny.gguf" \
		--host "${listen:-0.0.0.0}" --port "$inner" -t 1 -np 1 -c 512 -fit off -cram 0 >"$work/llama.id"
}

case_adopt() {
	check "$kind: the engine in a container answers on its port" eval 'start_llama && until_true 60 serves 10'
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
	check "$kind: the ledger has the failure under the image's id" until_true 20 eval 'dl_ledger | jq -es --arg id "$(image_digits)" \
		"any(.[]; .engine | endswith(\" image \" + \$id))" >/dev/null'
	check "$kind: the owner's container is kept, and one serves" eval \
		'[[ $(field llama.davylamp-before .Id) == "$id" && $(serving llama) == 1 ]]'
	fault ok
	check "$kind: the move can be undone" act undo "$(workload)"
	check "$kind: the owner's container serves again" eval '[[ $(field llama .Id) == "$id" ]] && until_true 30 serves && ! strictly_cpu'
	definition llama >"$work/llama.undone"
	check "$kind: it is bit by bit what it was after the undo" eval '[[ -s $work/llama.first ]] && cmp "$work/llama.first" "$work/llama.undone"'
}

# The breaker closes again: the GPU is tried once, with the owner's container.
case_return() {
	local id
	id=$(field llama .Id)
	thresholds+=$'[agent]\nclean = 4 s\n[breaker]\nbackoff = 4 s\nsoak = 4 s\n'
	stop_agent
	start_agent
	until_true 30 adopted '.engine == "llama-server" and .pid > 0'
	dl policy forget --all >/dev/null # its breaker is open for ten minutes since the first move
	fault lost
	tests/e2e/ask-token.sh "$url" 10 4 >"$work/token" 2>&1
	check "$kind: it moves to the CPU for a while" until_true 60 has_env llama LLAMA_ARG_DEVICE=none
	fault ok
	check "$kind: after the probation start it is the owner's container again" until_true 90 eval '[[ $(field llama .Id) == "$id" ]] && running llama'
	check "$kind: it serves on the GPU" eval 'until_true 30 serves && ! strictly_cpu'
	check "$kind: the breaker closes after the soak" until_true 60 decided '.rung == "breaker" and .state == "closed"'
	definition llama >"$work/llama.returned"
	check "$kind: it is bit by bit what it was" eval '[[ -s $work/llama.first ]] && cmp "$work/llama.first" "$work/llama.returned"'
	thresholds=$wedged
	stop_agent
	start_agent
	until_true 30 adopted '.engine == "llama-server" and .pid > 0'
}

# Everything that takes part dies while a container is replaced.
# Docker may have kept the port of a container that has ended: then the message says what to type, and that is done.
known_or_typed() {
	adopted '.pid > 0' && return
	[[ $kind == docker ]] && grep -q 'port is already allocated.*type: systemctl restart docker' "$work/agent.err" || return
	stop_daemon
	start_docker
}
case_death() {
	local id workers
	id=$(field llama .Id)
	act migrate_cpu "$(workload)" &
	until_true 30 exists llama.davylamp-next
	workers=$(pgrep -P "$agent" -x davylamp-contai)
	# shellcheck disable=SC2086
	kill -9 "$agent" $workers
	if [[ $kind == docker ]]; then
		kill -9 "$daemon"
		wait "$daemon" 2>/dev/null
	fi
	wait "$agent" 2>/dev/null
	agent=''
	[[ $kind != docker ]] || start_docker
	check "$kind: never two serve after the death of all" test "$(serving llama)" -le 1
	start_agent
	check "$kind: the next agent knows the container, or says what to type" until_true 30 known_or_typed
	check "$kind: one serves then" eval 'until_true 30 serves && [[ $(serving llama) == 1 ]] && ! exists llama.davylamp-next'
}

case_release() {
	act migrate_cpu "$(workload)"
	until_true 60 has_env llama LLAMA_ARG_DEVICE=none
	check "$kind: the engine can be moved by an order" until_true 30 serves
	check "$kind: the container can be released" eval 'dl policy release "$kind:llama" >"$work/answer" 2>&1'
	definition llama >"$work/llama.released"
	check "$kind: it is bit by bit what it was after the release" eval '[[ -s $work/llama.first ]] && cmp "$work/llama.first" "$work/llama.released"'
	check "$kind: no file of davylamp is left of it" until_true 5 eval '[[ ! $(ls -A "$dir") ]]'
	check "$kind: it serves after the release" until_true 30 serves
}

# What the package does before its removal, without an agent: packaging/leave, with this test's state in its place.
case_purge() {
	dl policy adopt "$kind:llama" >"$work/answer" 2>&1
	until_true 30 adopted '.engine == "llama-server" and .pid > 0'
	act migrate_cpu "$(workload)"
	until_true 60 has_env llama LLAMA_ARG_DEVICE=none
	until_true 30 serves
	kill -9 "$agent"
	wait "$agent" 2>/dev/null
	agent=''
	mount -t tmpfs tmpfs /var/lib
	mkdir /var/lib/davylamp
	mount --bind "${dir%/*}" /var/lib/davylamp
	mount -t tmpfs tmpfs /etc/systemd/system
	check "$kind: a removal of the package ends without an error" eval 'PATH=$STAGE/usr/sbin:$PATH sh "$STAGE/usr/share/davylamp/leave" >"$work/answer" 2>&1'
	umount /etc/systemd/system /var/lib/davylamp /var/lib
	definition llama >"$work/llama.purged"
	check "$kind: it is bit by bit what it was after the removal" eval '[[ -s $work/llama.first ]] && cmp "$work/llama.first" "$work/llama.purged"'
	check "$kind: it serves after the removal" until_true 30 serves
	rm -rf "${dir%/*}"
	mkdir -p "$dir"
	start_agent
}

# The owner's definition may ask for it, where root allows that.
shown() { dl status --json | jq -e 'any(.processes[]; .engine == "llama-server" and (.container | length) > 0)' >/dev/null; }
case_label() {
	check "$kind: a label alone does not let the agent act" eval 'until_true 20 shown && ! adopted true'
	thresholds+=$'[agent]\nadopt_labels = 1\n'
	stop_agent
	start_agent
	check "$kind: with agent.adopt_labels it is adopted" until_true 60 adopted '.engine == "llama-server" and .pid > 0'
	check "$kind: the log says so" grep -q "$kind:llama: its label wants it to be adopted: done" "$work/agent.err"
	check "$kind: it can be paused" act pause "$(workload)" --lease 60s
	check "$kind: and undone" act undo "$(workload)"
	dl policy release "$kind:llama" >"$work/answer" 2>&1
	thresholds=$wedged
	stop_agent
	start_agent
}

# Without a published port: the agent asks the engine at its address in the container's network.
moves() { grep '"type":"decision"' "$work/agent.out" | jq -s 'map(select(.rung == "outcome" and .result == 0 and .ended == "migrate_cpu")) | length'; }
case_unpublished() {
	local url=$url before
	dl policy release "$kind:llama" >"$work/answer" 2>&1
	remove llama llama.davylamp-before
	publish='' start_llama
	url=http://$(field llama .NetworkSettings.IPAddress):8080
	check "$kind: an engine without a published port answers at its own address" until_true 60 serves 10
	dl policy adopt "$kind:llama" >"$work/answer" 2>&1
	until_true 30 adopted '.engine == "llama-server" and .pid > 0'
	before=$(moves)
	fault lost
	tests/e2e/ask-token.sh "$url" 10 4 >"$work/token" 2>&1
	check "$kind: it is moved when it has lost its device" until_true 60 has_env llama LLAMA_ARG_DEVICE=none
	url=http://$(field llama .NetworkSettings.IPAddress):8080
	check "$kind: it has given the agent a token there" until_true 60 eval '[[ $(moves) -gt $before ]]'
	check "$kind: it serves, on the CPU" eval 'until_true 30 serves && strictly_cpu'
	fault ok
	check "$kind: it can be released" until_true 30 eval 'dl policy release "$kind:llama" >"$work/answer" 2>&1'
	check "$kind: no file of davylamp is left of that" until_true 5 eval '[[ ! $(ls -A "$dir") ]]'
	remove llama
}

# Its name is another image's today: the agent does nothing to it, and lets go of it.
case_taken() {
	dl policy release "$kind:llama" >"$work/answer" 2>&1
	remove llama llama.davylamp-before
	"$runtime" run -d --name llama ${plain_limits[$kind]} --network host lab/engine:1 /bin/sh -c "$box_command" >/dev/null
	dl policy adopt "$kind:llama" >"$work/answer" 2>&1
	remove llama
	"$runtime" tag lab/engine:1 other/engine:1
	"$runtime" run -d --name llama ${plain_limits[$kind]} --network host other/engine:1 /bin/sh -c "$box_command" >/dev/null
	until_true 30 grep -q "$kind:llama: the name is another container's" "$work/agent.err"
	check "$kind: a container whose name another image has taken can be released" eval 'dl policy release "$kind:llama" >"$work/answer" 2>&1'
	check "$kind: the other one is not touched" running llama
	remove llama
}

# An engine that listens on its loopback address only cannot be asked; it is not taken for a dead one.
ask_inside() {
	"$runtime" exec llama /bin/busybox wget -q -O - --post-data '{"prompt":"a","n_predict":2}' http://127.0.0.1:8080/completion >/dev/null 2>&1
}
case_unreachable() {
	fault ok
	remove llama
	listen=127.0.0.1 publish='' start_llama
	until_true 60 ask_inside
	dl policy adopt "$kind:llama" >"$work/answer" 2>&1
	until_true 30 adopted '.engine == "llama-server" and .pid > 0'
	fault lost
	ask_inside
	check "$kind: an engine that listens on its loopback only is judged without requests" until_true 60 grep -q \
		"$kind:llama: nothing answers at .* port 8080; it is judged without requests" "$work/agent.err"
	fault ok
	until_true 60 eval 'dl policy release "$kind:llama" >"$work/answer" 2>&1'
	remove llama llama.davylamp-before
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

# A container of another user, by Podman without root: one uid is enough for it.
rootless() {
	(
		echo "$BASHPID" >"$user_group/session/cgroup.procs"
		cd /run/lamp && exec setpriv --reuid 61234 --regid 61234 --clear-groups env -i HOME=/run/lamp XDG_RUNTIME_DIR=/run/user/61234 \
			PATH=/usr/bin:/bin:/usr/sbin:/sbin podman --root /run/lamp/store --runroot /run/lamp/run --storage-driver vfs --runtime runc \
			--cgroup-manager cgroupfs "$@"
	) >>"$work/rootless.log" 2>&1
}
case_rootless() {
	local engine user_group=/sys/fs/cgroup/user-$parent.slice
	echo 'lamp:x:61234:61234::/run/lamp:/bin/sh' >>/etc/passwd
	install -d -o 61234 -g 61234 /run/lamp /run/user/61234
	mkdir -p "$user_group/session" /run/lamp/usr /run/lamp/lab
	chown -R 61234:61234 "$user_group"
	mount --bind "$LAB_ROOT/usr" /run/lamp/usr
	mount --bind "$LAB_ROOT/srv/lab" /run/lamp/lab
	image_tree >/run/lamp/image.tar
	if ! rootless import /run/lamp/image.tar lab/engine:1 || ! rootless run -d --name llama ${plain_limits[podman]} --network host \
		--cgroup-parent "${user_group#/sys/fs/cgroup}/podman" -v /run/lamp/usr:/usr:ro -v /run/lamp/lab:/srv/lab lab/engine:1 /usr/bin/llama-server \
		-m "$inside/tiny.gguf" --host 127.0.0.1 --port "$engine_port" -t 1 -np 1 -c 512 -fit off --device none; then
		skip "a container of another user" "Podman cannot start one without root here: $(tail -n 1 "$work/rootless.log")"
	else
		check "podman: the engine in another user's container answers" until_true 60 serves 10
		engine=$(cat "$user_group"/podman/*/cgroup.procs | head -n 1)
		check "podman: status shows it with its runtime and user" until_true 30 eval 'dl status --json |
			jq -e "any(.processes[]; .pid == $engine and .runtime == \"podman\" and .engine == \"llama-server\" and (.container | length) > 0)" >/dev/null'
		check "podman: another user's container is refused" eval '! dl policy adopt podman:llama >"$work/answer" 2>&1'
		check "podman: the refusal says why" grep -q 'containers of other users cannot be adopted' "$work/answer"
		check "podman: it is not touched" serves
	fi
	# shellcheck disable=SC2046
	kill -9 $(find "$user_group" -name cgroup.procs -exec cat {} +)
	until_true 10 eval '! find "$user_group" -name cgroup.procs -exec cat {} + | grep -q .'
	umount /run/lamp/usr /run/lamp/lab
	find "$user_group" -depth -type d -exec rmdir {} \; 2>/dev/null
}

agent_cases() {
	thresholds=$wedged
	mkdir -p "$work/models"
	start_agent
	case_adopt
	case_hold
	case_move
	case_return
	case_death
	case_release
	case_purge
	case_label
	case_owner_acts
	[[ ! $publishes ]] || case_unpublished
	[[ ! $publishes ]] || case_unreachable
	case_taken
	[[ $kind != podman ]] || case_rootless
	stop_agent
}
