# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
#
# Pods: what kubelet leaves on a node is made here, with the names of its two cgroup drivers; there is no cluster. The
# engine is the real llama-server. Sourced by tests/container/inside.sh.

tree=/sys/fs/cgroup/kubelab$$
access=/run/davylamp-access
api_port=18440
run=$(printf %08x $$) # a run that was killed may have left groups
uid_a=$run-1111-2222-3333-444455556666 uid_b=$run-9999-2222-3333-444455556666
id_of() { printf '%064x' "$1"; }
# group_of DRIVER UID ID: as kubelet names it for a burstable pod (pkg/kubelet/cm, 1.31).
group_of() {
	case $1 in
	systemd) echo "$tree.slice/kubelab$$-burstable.slice/kubelab$$-burstable-pod${2//-/_}.slice/cri-containerd-$3.scope" ;;
	cgroupfs) echo "$tree/burstable/pod$2/$3" ;;
	esac
}
# pod_has UID NAME CONTAINER ID: kubelet's directory and link.
pod_has() {
	mkdir -p "/var/log/pods/llm_$2_$1/$3" /var/log/containers
	touch "/var/log/pods/llm_$2_$1/$3/0.log"
	ln -sf "/var/log/pods/llm_$2_$1/$3/0.log" "/var/log/containers/$2_llm_$3-$4.log"
}
# in_group GROUP COMMAND...: in a pid namespace of its own, as a runtime starts it. pod_init: the namespace's first process.
in_group() {
	mkdir -p "$1"
	# shellcheck disable=SC2016
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec unshare --pid --fork --kill-child "$@"' sh "$@" >>"$work/pod.log" 2>&1 &
	pod_job=$!
	until_true 10 eval '[[ $(pgrep -P "$pod_job") ]]'
	pod_init=$(pgrep -P "$pod_job")
}
group_end() {
	kill -9 "$pod_init" 2>/dev/null
	wait "$pod_job" 2>/dev/null
}
no_tree() {
	local made
	for made in "$tree" "$tree.slice" "/sys/fs/cgroup/user$$"; do
		find "$made" -depth -type d -exec rmdir {} \; 2>/dev/null
	done
}
pod_worker() { "$container" "$1" "pod:$2" --dir "$dir" "${@:3}" >"$work/answer" 2>"$work/answer.err"; }
pod_is() { pod_worker state "$1" && jq -e "$2" "$work/answer" >/dev/null; }
pod_refused() { # WHY OPERATION NAME [OPTION...]
	pod_worker "${@:2}" && jq -e --arg why "$1" '(.ok | not) and (.why | test($why))' "$work/answer" >/dev/null
}
asked() { awk -F '\t' -v what="$1" '$1 == what' "$work/cluster/requests" | wc -l; }

pod_identity() {
	local driver group
	check "pod: one that is not here is not found" pod_is llm/vllm-0 '.ok and .state == {"load": "not-found"}'
	check "pod: and cannot be adopted" pod_refused 'no pod of that name' adopt llm/vllm-0
	for driver in systemd cgroupfs; do
		group=$(group_of $driver $uid_a "$(id_of 1)")
		pod_has $uid_a vllm-0 server "$(id_of 1)"
		mkdir -p "$(group_of $driver $uid_a "$(id_of 9)")" # of the pod's namespaces: kubelet makes no log of it
		in_group "$group" sleep 1000
		check "pod: with kubelet's driver $driver it is known by name" pod_is llm/vllm-0 ".ok and .state.active == \"active\" and
			.state.main_pid == $pod_init and .state.id == \"$(id_of 1)\" and .state.uid == \"$uid_a\""
		check "pod: its cgroup is the container's ($driver)" pod_is llm/vllm-0/server ".state.cgroup == \"${group#/sys/fs/cgroup}\""
		check "pod: it has no container of another name ($driver)" pod_is llm/vllm-0/sidecar '.state.active == "inactive" and .state.cgroup == ""'
		check "pod: another namespace's is another one ($driver)" pod_is other/vllm-0 '.state.load == "not-found"'
		pod_has $uid_a vllm-0 exporter "$(id_of 2)"
		mkdir -p "$(group_of $driver $uid_a "$(id_of 2)")"
		check "pod: with two containers one must be named ($driver)" pod_refused 'several containers.*CONTAINER, of (server, exporter|exporter, server)' state llm/vllm-0
		check "pod: one of two can be named ($driver)" pod_is llm/vllm-0/server ".state.main_pid == $pod_init"
		group_end
		check "pod: without a process it does not run ($driver)" pod_is llm/vllm-0/server '.state.active == "inactive" and .state.main_pid == 0'
		mkdir "$group/container"
		in_group "$group/container" sleep 1000
		check "pod: processes in a group below its own, as crun has them, are its own ($driver)" pod_is llm/vllm-0/server ".state.main_pid == $pod_init"
		group_end
		rmdir "$group/container"
		# its controller makes it anew: another uid, another id
		pod_has $uid_b vllm-0 server "$(id_of 3)"
		rmdir "$group"
		in_group "$(group_of $driver $uid_b "$(id_of 3)")" sleep 1000
		check "pod: one that its controller has replaced is the same one ($driver)" pod_is llm/vllm-0/server \
			".state.uid == \"$uid_b\" and .state.main_pid == $pod_init"
		group_end
		rm -rf /var/log/pods/* /var/log/containers/*
		no_tree
	done
}

# A user may own cgroups, and any process may have any name; directories of root decide.
pod_strangers() {
	local group
	group=$(group_of systemd $uid_a "$(id_of 1)")
	pod_has $uid_a vllm-0 server "$(id_of 1)"
	in_group "/sys/fs/cgroup/user$$/${group#/sys/fs/cgroup/}" sleep 1000
	check "pod: a group that looks like it elsewhere is not it" pod_is llm/vllm-0 '.state.active == "inactive" and .state.cgroup == ""'
	group_end
	in_group "$group" sleep 1000
	chown 65534 "${group%/*}"
	check "pod: a group of another user is not it" pod_is llm/vllm-0 '.state.active == "inactive" and .state.cgroup == ""'
	chown 0 "${group%/*}"
	check "pod: it is root's again" pod_is llm/vllm-0 '.state.active == "active"'
	group_end
	for name in 'llm' 'LLM/x' 'llm/../x' 'llm/x/y/z' '-a/x' 'llm/x;y' "llm/$(printf 'x%.0s' {1..300})"; do
		check "pod: '${name:0:20}' is no name" eval 'pod_worker state "$name"; [[ $? == 2 ]]'
	done
	no_tree
}

cluster_start() {
	mkdir -p "$work/cluster" "$access"
	: >"$work/cluster/requests"
	echo null >"$work/cluster/annotations"
	CLUSTER=$work/cluster busybox nc -ll -p $api_port -e tests/container/cluster.sh &
	cluster=$!
	echo "http://127.0.0.1:$api_port" >"$access/server"
	echo secret-token >"$access/token"
}

# What only the cluster may change is asked for, once.
pod_asks() {
	local before
	pod_has $uid_a vllm-0 server "$(id_of 1)"
	in_group "$(group_of systemd $uid_a "$(id_of 1)")" sleep 1000
	printf 'LLAMA_ARG_DEVICE=none\nLLAMA_ARG_UBATCH=128\n' >"$dir/pod:llm=vllm-0.env"
	check "pod: without access to the cluster the refusal says what it needs" pod_refused \
		'only the cluster may change a pod; it needs: LLAMA_ARG_DEVICE=none LLAMA_ARG_UBATCH=128.*davylamp.8' restart llm/vllm-0 --access "$access"
	cluster_start
	check "pod: a change is refused, and the cluster is asked" pod_refused 'annotation io.davylamp/wants asks for: LLAMA_ARG_DEVICE=none' \
		restart llm/vllm-0 --access "$access"
	check "pod: the annotation has the variables" eval 'jq -e ".[\"io.davylamp/wants\"] == \"LLAMA_ARG_DEVICE=none LLAMA_ARG_UBATCH=128\"" \
		"$work/cluster/annotations" >/dev/null'
	check "pod: it is a merge patch of this pod and no other" eval 'awk -F "\t" "\$1 == \"PATCH\"" "$work/cluster/requests" |
		grep -P "\t/api/v1/namespaces/llm/pods/vllm-0\tapplication/merge-patch\+json\tBearer secret-token\t" | cut -f 5 |
		jq -e ".metadata.uid == \"$uid_a\" and (keys == [\"metadata\"]) and (.metadata | keys == [\"annotations\", \"uid\"])" >/dev/null'
	check "pod: an event says so" eval 'awk -F "\t" "\$1 == \"POST\" && \$2 == \"/api/v1/namespaces/llm/events\"" "$work/cluster/requests" |
		cut -f 5 | jq -e ".involvedObject.uid == \"$uid_a\" and .reason == \"DavylampWants\" and (.message | test(\"LLAMA_ARG_DEVICE=none\"))" >/dev/null'
	pod_worker restart llm/vllm-0 --access "$access"
	check "pod: the same request again is no second event" test 1 = "$(asked POST)"
	check "pod: it is not stopped" pod_refused 'only the cluster may start or stop a pod' stop llm/vllm-0 --access "$access"
	check "pod: nor started" pod_refused 'only the cluster may start or stop a pod' start llm/vllm-0 --access "$access"
	echo 'LLAMA_ARG_UBATCH=512' >"$dir/pod:llm=vllm-0.env" # the rules' settings, without those of the action
	pod_worker apply llm/vllm-0 --access "$access"
	: >"$dir/pod:llm=vllm-0.env"
	pod_worker apply llm/vllm-0 --access "$access"
	check "pod: the agent's end of the failed action leaves the request" eval 'jq -e ".[\"io.davylamp/wants\"] == \"LLAMA_ARG_DEVICE=none LLAMA_ARG_UBATCH=128\"" \
		"$work/cluster/annotations" >/dev/null'
	pod_worker release llm/vllm-0 --access "$access"
	check "pod: what is not wanted any more is taken back" eval 'jq -e ".[\"io.davylamp/wants\"] == null" "$work/cluster/annotations" >/dev/null'
	check "pod: and is no event" test 1 = "$(asked POST)"
	check "pod: a restart is asked for, too" pod_refused 'asks for: a restart' restart llm/vllm-0 --access "$access"
	printf 'LLAMA_ARG_DEVICE=none\n' >"$dir/pod:llm=vllm-0.env"
	for answer in '' 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"metadata": 5' 'HTTP/1.1 403 Forbidden\r\nContent-Length: 23\r\n\r\n{"message": "forbidden"}'; do
		printf "${answer:- }" >"$work/cluster/answer"
		check "pod: an answer that begins with '${answer:9:12}' is an error with a reason" pod_refused 'the cluster: ' restart llm/vllm-0 --access "$access"
	done
	rm "$work/cluster/answer"
	before=$(wc -l <"$work/cluster/requests")
	echo "http://192.0.2.1:80" >"$access/server"
	check "pod: a token is sent to no server without TLS" pod_refused 'neither https' restart llm/vllm-0 --access "$access"
	check "pod: nothing was sent" test "$before" = "$(wc -l <"$work/cluster/requests")"
	kill "$cluster"
	wait "$cluster" 2>/dev/null
	group_end
	no_tree
	rm -f "$dir"/pod:*
}

# TLS: the token is only for the server whose certificate the authorities of ca.crt have signed.
pod_tls() {
	local name
	for name in good other; do
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$name" \
			-addext "subjectAltName=IP:127.0.0.1" -keyout "$work/$name.key" -out "$work/$name.crt" 2>/dev/null
	done
	pod_has $uid_a vllm-0 server "$(id_of 1)"
	in_group "$(group_of systemd $uid_a "$(id_of 1)")" sleep 1000
	printf 'LLAMA_ARG_DEVICE=none\n' >"$dir/pod:llm=vllm-0.env"
	openssl s_server -quiet -accept 127.0.0.1:$((api_port + 1)) -cert "$work/good.crt" -key "$work/good.key" \
		>"$work/tls.out" 2>"$work/tls.err" < <(sleep 1000) &
	cluster=$!
	echo "https://127.0.0.1:$((api_port + 1))" >"$access/server"
	until_true 10 eval ": 2>/dev/null </dev/tcp/127.0.0.1/$((api_port + 1))"
	cp "$work/other.crt" "$access/ca.crt"
	check "pod: a server that another authority has signed is refused" pod_refused 'the cluster: .*(certificate|SSL)' restart llm/vllm-0 --access "$access"
	check "pod: it gets no token" eval '! grep -q secret-token "$work/tls.out"'
	cp "$work/good.crt" "$access/ca.crt"
	check "pod: a server that does not answer costs its deadline" pod_refused 'not answer in time' restart llm/vllm-0 --access "$access"
	check "pod: over TLS it gets the token" grep -q 'Authorization: Bearer secret-token' "$work/tls.out"
	kill "$cluster"
	wait "$cluster" 2>/dev/null
	group_end
	no_tree
	rm -f "$dir"/pod:*
}

# The agent with a real engine in a pod.
pod_agent() {
	local pod_workload
	fault ok
	cluster_start
	mkdir -p /etc/davylamp
	cp -r "$access" /etc/davylamp/kubernetes
	pod_has $uid_a llama-0 server "$(id_of 1)"
	in_group "$(group_of systemd $uid_a "$(id_of 1)")" env MESA_SHADER_CACHE_DIR=/srv/lab/shaders \
		GGML_VK_VISIBLE_DEVICES=0 "VK_LAYER_PATH=$inside" VK_INSTANCE_LAYERS=VK_LAYER_DAVYLAMP_fault "DAVYLAMP_VKFAULT=$inside/fault" \
		"DAVYLAMP_VKFAULT_LOG=$inside/fault.log" chroot "$LAB_ROOT" /usr/bin/llama-server -m "$inside/tiny.gguf" --host 127.0.0.1 \
		--port "$engine_port" -t 1 -np 1 -c 512 -fit off
	check "pod: the engine answers" until_true 60 serves 10
	start_agent
	check "pod: it can be adopted" eval 'dl policy adopt pod:llm/llama-0/server >"$work/answer" 2>&1'
	check "pod: the agent recognises the engine in it" until_true 30 eval 'dl policy adopted --json |
		jq -es "any(.[]; .unit == \"pod:llm/llama-0/server\" and .engine == \"llama-server\" and .pid == $pod_init)" >/dev/null'
	pod_workload=$(dl policy adopted --json | jq .workload)
	check "pod: it can be paused" act pause "$pod_workload" --lease 60s
	check "pod: the kernel freezes the container's cgroup" until_true 10 grep -q 'frozen 1' "$(group_of systemd $uid_a "$(id_of 1)")/cgroup.events"
	check "pod: the pause can be undone" act undo "$pod_workload"
	check "pod: it answers after the pause" until_true 20 serves
	fault lost
	tests/e2e/ask-token.sh "$url" 10 4 >"$work/token" 2>&1
	check "pod: of one that has lost its device the agent says what only the cluster may change" until_true 60 grep -q \
		'only the cluster may change a pod; its annotation io.davylamp/wants asks for: .*LLAMA_ARG_DEVICE=none' "$work/agent.err"
	check "pod: the cluster was asked for it" eval 'awk -F "\t" "\$1 == \"PATCH\"" "$work/cluster/requests" | cut -f 5 |
		jq -es "any(.[]; .metadata.annotations[\"io.davylamp/wants\"] | test(\"LLAMA_ARG_DEVICE=none\"))" >/dev/null'
	check "pod: a request stays" eval 'jq -e ".[\"io.davylamp/wants\"] | length > 0" "$work/cluster/annotations" >/dev/null'
	check "pod: its outcome is a failed action" until_true 10 decided '.rung == "outcome" and .ended == "migrate_cpu" and .result < 0'
	check "pod: its process was not touched" kill -0 "$pod_init"
	kill -9 "$agent"
	wait "$agent" 2>/dev/null
	start_agent
	check "pod: the next agent knows it" until_true 30 eval 'dl policy adopted --json |
		jq -es "any(.[]; .unit == \"pod:llm/llama-0/server\" and .pid == $pod_init)" >/dev/null'
	pod_has $uid_a llama-0 sidecar "$(id_of 7)"
	mkdir -p "$(group_of systemd $uid_a "$(id_of 7)")"
	check "pod: it can be released" eval 'dl policy release pod:llm/llama-0/server >"$work/answer" 2>&1'
	check "pod: no file of davylamp is left of it" test "" = "$(ls -A "$dir")"
	check "pod: and no request in its cluster" eval 'jq -e ".[\"io.davylamp/wants\"] == null" "$work/cluster/annotations" >/dev/null'
	kill "$cluster"
	wait "$cluster" 2>/dev/null
	stop_agent
	group_end
	no_tree
}

pod_cases() {
	kind=pod runtime=true
	mount -t tmpfs tmpfs /var/log
	mkdir -p /run/pod-etc/{upper,work}
	mount -t overlay -o lowerdir=/etc,upperdir=/run/pod-etc/upper,workdir=/run/pod-etc/work overlay /etc
	pod_identity
	pod_strangers
	pod_asks
	pod_tls
	pod_agent
	umount /etc /var/log
}
