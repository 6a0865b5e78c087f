# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# davylamp-container alone, with a container that is no engine: definitions, every step of a change with the worker or
# the runtime killed at it, and what the owner does meanwhile. Sourced by tests/container/inside.sh.

# This machine may not permit higher limits, and has no pids controller.
declare -A plain_limits=([docker]="" [podman]="--ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --pids-limit 0")
box_command='trap "exit 0" TERM; while :; do sleep 0.1; done'

# A container with much of what an owner can define.
start_box() {
	local more=()
	[[ $kind != docker ]] || more=(-p 127.0.0.1:18480:8080 --network lab --network-alias lamp -v /unnamed
		--device /dev/null:/dev/dri/renderD128 --log-opt max-size=1m --shm-size 100m --health-cmd true --hostname boxed
		--restart always)
	[[ $kind != podman ]] || more=(--network host --restart on-failure:3)
	"$runtime" run -d --name box ${plain_limits[$kind]} "${more[@]}" -e A=1 -e KEPT=yes -v boxes:/data --label owner=me \
		--cap-add SYS_NICE --user 65534 --stop-timeout 3 lab/engine:1 /bin/sh -c "$box_command" >/dev/null &&
		{ [[ $kind != docker ]] || "$runtime" network connect bridge box; }
}
remove_box() {
	without_env box
	remove box box.davylamp-before box.davylamp-next
}
remove() { # each: podman removes none if one does not exist
	local name
	for name; do
		"$runtime" rm -f "$name" >/dev/null 2>&1
	done
	true
}

case_definition() {
	start_box
	definition box >"$work/first"
	local id
	id=$(field box .Id)
	check "$kind: the container can be adopted" worked adopt box
	check "$kind: its state names its process" jq -e --argjson pid "$(field box .State.Pid)" \
		'.state.active == "active" and .state.main_pid == $pid and (.state.environment | any(. == "A=1"))' "$work/answer"
	check "$kind: its state names its cgroup" grep -q . "/sys/fs/cgroup$(jq -r .state.cgroup "$work/answer")/cgroup.procs"
	with_env box '# a comment' LLAMA_ARG_UBATCH=64 A=2
	check "$kind: a container with another environment is started" worked restart box
	check "$kind: it has the variables" eval 'has_env box LLAMA_ARG_UBATCH=64 && has_env box A=2 && has_env box KEPT=yes && ! has_env box A=1'
	definition box >"$work/second"
	check "$kind: all else is as its owner defined it" same_but_for_the_change "$work/first" "$work/second"
	check "$kind: its restart policy is the owner's" test "$(jq -c .HostConfig.RestartPolicy "$work/first")" = \
		"$(jq -c .HostConfig.RestartPolicy "$work/second")"
	check "$kind: the owner's container is kept, and only one runs" eval '[[ $(field box.davylamp-before .Id) == "$id" && $(serving box) == 1 ]]'
	local second
	second=$(field box .Id)
	check "$kind: a restart without another change keeps the container" eval 'worked restart box && [[ $(field box .Id) == "$second" ]]'
	with_env box LLAMA_ARG_UBATCH=32 DAVYLAMP_CPU_ONLY=1
	check "$kind: a second change starts from the owner's container" eval 'worked restart box && has_env box A=1 && has_env box LLAMA_ARG_UBATCH=32'
	if [[ $kind == docker ]]; then
		check "$kind: on the CPU it has no GPU" test '[]' = "$(field box .HostConfig.Devices)"
	fi
	check "$kind: its restart policy is the owner's after the second change, too" test \
		"$(jq -c .HostConfig.RestartPolicy "$work/first")" = "$(definition box | jq -c .HostConfig.RestartPolicy)"
	without_env box
	check "$kind: without the change the owner's container runs again" eval 'worked restart box && [[ $(field box .Id) == "$id" ]]'
	definition box >"$work/third"
	check "$kind: it is bit by bit what it was" eval '[[ -s $work/first ]] && cmp "$work/first" "$work/third"'
	check "$kind: nothing is left of the change" eval '! exists box.davylamp-before && ! exists box.davylamp-next && [[ ! -e $dir/$kind:box.json ]]'
	with_env box A=3
	worked restart box
	without_env box
	check "$kind: a release restores it, too" eval 'worked release box && [[ $(field box .Id) == "$id" && ! -e $dir/$kind:box.image ]]'
	remove_box
}

case_refusals() {
	check "$kind: a container that does not exist is refused, with a hint at other users" refused "of root has no container" adopt none
	"$runtime" run -d --rm --name brief --network host ${plain_limits[$kind]} lab/engine:1 /bin/sh -c "$box_command" >/dev/null
	check "$kind: a container that is deleted when it stops is refused" refused "--rm" adopt brief
	"$runtime" rm -f brief >/dev/null
	start_box
	worked adopt box
	remove_box
	image_tree | "$runtime" import - lab/other:1 >/dev/null
	"$runtime" run -d --name box --network host ${plain_limits[$kind]} lab/other:1 /bin/sh -c "$box_command" >/dev/null
	check "$kind: a name that another image has taken is refused" refused "the name is another container" state box
	with_env box A=9
	check "$kind: nothing is changed in it" eval 'refused "the name is another container" restart box && ! has_env box A=9'
	remove_box
	rm -f "$dir/$kind:box.image"
	if [[ $kind == docker ]]; then
		start_box
		"$runtime" exec box /bin/busybox true
		"$runtime" run -d --name rider --network container:box lab/engine:1 /bin/sh -c "$box_command" >/dev/null
		with_env box A=2
		check "$kind: a container whose network another one uses is not replaced" refused "another container uses a namespace of it" restart box
		check "$kind: it runs on" eval 'running box && has_env box A=1'
		"$runtime" rm -f rider >/dev/null
		remove_box
	fi
}

start_cut() { # N WHEN
	"$O/container/cutter" /run/cut.sock "${sockets[$kind]}" "$work/count" "$1" "$2" "$(pgrep -o -x dockerd)" &
	cutter=$!
	until_true 10 test -S /run/cut.sock
}
end_cut() {
	kill "$cutter"
	wait "$cutter" 2>/dev/null
	rm -f /run/cut.sock
}
through_cut() { "$container" restart "$kind:box" --dir "$dir" --socket /run/cut.sock >"$work/cut.out" 2>&1; }

# Where the owner's container is, and whether exactly one runs: after the next state of the worker.
whole() {
	worked state box && [[ $(serving box) == 1 ]] && running box && ! exists box.davylamp-next &&
		if has_env box A=2; then exists box.davylamp-before; else [[ $(field box .Id) == "$owner" ]] && ! exists box.davylamp-before; fi &&
		[[ $(definition box | jq -c .HostConfig.RestartPolicy) == "$policy" ]]
}

# cut_each WORD WHEN: the change or its undo, interrupted at each request in turn.
cut_each() {
	local n=1 steps=0 bad='' many=''
	while :; do
		if [[ $1 == change ]]; then with_env box A=2; else without_env box; fi
		start_cut "$n" "$2"
		through_cut
		steps=$(<"$work/count")
		end_cut
		# Two never run, whatever was interrupted.
		[[ $(serving box) -le 1 ]] || many+=" $n"
		if [[ $2 == daemon ]] && ! pgrep -x dockerd >/dev/null; then
			wait "$daemon" 2>/dev/null
			start_docker
			[[ $(serving box) -le 1 ]] || many+=" $n"
		fi
		whole || bad+=" $n"
		# The next interruption starts from the same state.
		if [[ $1 == change ]]; then without_env box; else with_env box A=2; fi
		worked restart box || bad+=" $n"
		[[ $steps -ge $n ]] || break # it was not interrupted
		n=$((n + 1))
	done
	echo "    $1: $steps requests"
	check "$kind: $1, interrupted at each of its requests ($2), is completed or taken back" test "" = "$bad"
	check "$kind: $1, interrupted at each of its requests ($2), never leaves two running" eval '[[ ! "$many" && $steps -ge 4 ]]'
}

case_cut() {
	start_box
	owner=$(field box .Id)
	policy=$(definition box | jq -c .HostConfig.RestartPolicy)
	cut_each change after # one request is the same as before the next
	[[ $kind != docker ]] || cut_each change daemon
	with_env box A=2
	worked restart box
	cut_each undo after
	remove_box
}

# Its owner acts while the worker does.
case_owner() {
	start_box
	with_env box A=2
	start_cut 3 after
	through_cut
	end_cut
	remove box box.davylamp-before
	check "$kind: a container that its owner removes during a change is not made again" eval \
		'worked state box && ! exists box && ! exists box.davylamp-before && ! exists box.davylamp-next'
	start_box
	worked restart box
	"$runtime" stop box >/dev/null
	check "$kind: a replacement that its owner stops stays stopped" eval 'worked state box && ! running box && [[ $(serving box) == 0 ]]'
	check "$kind: its state says so" jq -e '.state.active == "inactive"' "$work/answer"
	"$runtime" rm -f box >/dev/null
	"$runtime" run -d --name box --network host ${plain_limits[$kind]} lab/engine:1 /bin/sh -c "$box_command" >/dev/null
	check "$kind: a container that its owner makes anew wins" eval 'worked state box && running box && ! has_env box A=2 && [[ $(serving box) == 1 ]]'
	check "$kind: the worker says what it has kept" jq -e '.note | test("box.davylamp-before")' "$work/answer"
	remove_box
	start_box
	with_env box A=2
	worked restart box
	"$runtime" rm -f box >/dev/null
	check "$kind: a replacement that its owner removes is not made again" eval 'worked state box && ! exists box && [[ $(serving box) == 0 ]]'
	check "$kind: the worker says what is kept of it" jq -e '.note | test("box.davylamp-before")' "$work/answer"
	remove_box
	check "$kind: nothing is left when its owner has removed all" eval 'worked state box && [[ ! $(ls -A "$dir") ]]'
}

# What else uses the names, the namespaces and the labels of a change.
case_others() {
	start_box
	with_env box A=2
	worked restart box
	if [[ $kind == docker ]]; then
		check "$kind: the owner's container has no restart policy meanwhile" test no = "$(field box.davylamp-before .HostConfig.RestartPolicy.Name)"
		"$runtime" start box.davylamp-before >/dev/null 2>&1 # its port is in use: it fails, or both run
		worked state box
		check "$kind: one serves if somebody has started both" test 1 = "$(serving box)"
		worked restart box
	fi
	"$runtime" exec -u 0 box /bin/busybox dd if=/dev/zero of=/big bs=1M count=70 2>/dev/null
	without_env box
	check "$kind: a replacement with files of its own is not deleted" eval 'refused "files of more than 64 MiB" restart box && running box'
	"$runtime" exec -u 0 box /bin/busybox rm /big
	check "$kind: it is replaced when they are gone" worked restart box
	remove_box
	start_box
	"$runtime" run -d --name box.davylamp-next --network host ${plain_limits[$kind]} lab/engine:1 /bin/sh -c "$box_command" >/dev/null
	with_env box A=2
	check "$kind: another container with the name of a replacement is not touched" eval 'refused "is left" restart box && running box.davylamp-next'
	remove_box
	"$runtime" run -d --name box --network host ${plain_limits[$kind]} --label io.davylamp.of=0123 lab/engine:1 /bin/sh -c "$box_command" >/dev/null
	without_env box
	check "$kind: an image with davylamp's label does not make a container a replacement" eval 'worked release box && running box'
	remove_box
	"$runtime" run -d --name box --network host ${plain_limits[$kind]} --label com.docker.compose.project=p --label "com.docker.compose.service=a: b" \
		lab/engine:1 /bin/sh -c "$box_command" >/dev/null
	with_env box A=2
	check "$kind: no override file is written with a name that needs quotes" refused "needs quotes" restart box
	remove_box
	"$runtime" run -d --name box --network host ${plain_limits[$kind]} lab/engine:1 /bin/sh -c "$box_command" >/dev/null
	"$runtime" run -d --name rider --pid container:box --network host ${plain_limits[$kind]} lab/engine:1 /bin/sh -c "$box_command" >/dev/null
	with_env box A=2
	check "$kind: a container whose pid namespace another one uses is not replaced" refused "uses a namespace of it" restart box
	remove rider
	check "$kind: it is replaced without the other one" worked restart box
	remove_box
	if [[ $kind == podman ]]; then
		echo hidden | pod secret create key - >/dev/null
		pod run -d --name box --network host ${plain_limits[$kind]} --secret key lab/engine:1 /bin/sh -c "$box_command" >/dev/null
		with_env box A=3
		check "$kind: a container with a secret is not replaced" eval 'refused "secrets" restart box && running box'
		remove_box
	fi
	worked state box
}

# Docker Compose 1.29 of Debian (the command that is printed is for its successor, with the same options).
compose() { DOCKER_HOST=unix://${sockets[docker]} PATH=/usr/bin:/bin docker-compose "$@" >>"$work/compose.log" 2>&1; }
case_compose() {
	local id project=$work/project
	if ! DOCKER_HOST='' PATH=/usr/bin:/bin docker-compose --version >/dev/null 2>&1; then
		skip "projects of Docker Compose" "docker-compose does not start here (it needs python3)"
		return
	fi
	mkdir -p "$project"
	jq -n --arg command "$box_command" '{version: "3", services: {llm: {image: "lab/engine:1", container_name: "box",
		network_mode: "host", environment: {A: "1", B: "1"}, command: ["/bin/sh", "-c", $command]}}}' >"$project/compose.yaml"
	check "compose: a project starts" compose -f "$project/compose.yaml" up -d
	id=$(field box .Id)
	check "compose: its container can be adopted" worked adopt box
	without_env box
	check "compose: it can be restarted" eval 'worked restart box && running box && [[ $(field box .Id) == "$id" ]]'
	with_env box A=2 DAVYLAMP_CPU_ONLY=1
	check "compose: it is not replaced; the refusal has the command" refused \
		"only Compose may change.*type: docker compose -p project -f $project/compose.yaml -f $dir/docker:box.compose.yaml up -d llm" restart box
	typed_after=$(jq -r '.why | sub("^.*type: "; "")' "$work/answer")
	with_env box B=7 # the rules' settings, without those of the action
	check "compose: the end of the refused action leaves the file" eval 'worked apply box && grep -q "A: \"2\"" "$dir/docker:box.compose.yaml"'
	with_env box A=2 DAVYLAMP_CPU_ONLY=1
	check "compose: it runs as before" eval '[[ $(field box .Id) == "$id" ]] && running box && ! exists box.davylamp-next'
	check "compose: the command changes the variables and no others" eval 'compose ${typed_after#docker compose } && has_env box A=2 && has_env box B=1'
	check "compose: one container serves" test 1 = "$(serving box)"
	id=$(field box .Id)
	check "compose: what has the change is not changed again" eval 'worked apply box && [[ $(field box .Id) == "$id" ]]'
	without_env box
	check "compose: the override file is gone after the release" eval 'worked release box && [[ ! -e $dir/docker:box.compose.yaml ]] && running box'
	compose -f "$project/compose.yaml" down
}

step_cases() {
	[[ $kind != docker ]] || "$runtime" network create lab >/dev/null
	case_definition
	case_refusals
	case_cut
	case_owner
	case_others
	[[ $kind != docker ]] || case_compose
}
