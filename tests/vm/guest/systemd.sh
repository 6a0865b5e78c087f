# SPDX-License-Identifier: GPL-2.0-or-later
#
# Adopted services under systemd with cgroup v2 and all controllers: what needs these, and the path of
# an order from the real agent (with its kernel programs) to the unit. tests/systemd has the other cases.
. /lab/lab.sh

fact() { echo "fact $*"; }
order() { echo "$1" | send /run/agent.sock 120000 >/tmp/answer; grep -q '"failed": *false' /tmp/answer; }
dl() { davylamp policy "$@" --socket /run/agent.sock; }
field() { dl adopted --json | grep "\"unit\":\"$1\"" | sed "s/.*\"$2\":\"*\([^\",}]*\).*/\1/"; }
known() { [ "$(field ollama.service engine)" = ollama ]; }
main_pid() { systemctl show -P MainPID ollama; }
told() { tr '\0' '\n' <"/proc/$(main_pid)/environ" | grep -qx "$1"; }
up() { wget -q -O /dev/null http://127.0.0.1:18303/api/version; }
post() { wget -q -O - --post-data "$2" "http://127.0.0.1:18303$1"; }
fails() { ! "$@"; }

check "systemd is the first process" [ "$(cat /proc/1/comm)" = systemd ]
fact controllers "$(cat /sys/fs/cgroup/cgroup.controllers)"
mkdir -p /run/models
echo '{"parameters":{"num_batch":512}}' >/run/models/tiny:latest.json
systemctl start ollama
check "the service answers" lab_soon 30 up
davylamp run --json --mode enforce --socket /run/agent.sock --state /var/lib/davylamp --config /tmp \
	>/tmp/agent.out 2>/tmp/agent.err &
agent=$!
check "the agent answers status" lab_soon 60 sh -c "davylamp status --socket /run/agent.sock >/dev/null 2>&1"
check "the service can be adopted" dl adopt ollama.service
check "the agent recognises the service's engine" lab_soon 20 known
group=/sys/fs/cgroup$(field ollama.service cgroup)
id=$(field ollama.service workload)
check "the service's cgroup is the one that the agent reports" [ "$(head -n 1 "$group/cgroup.procs")" = "$(main_pid)" ]
post /api/generate '{"model":"tiny","prompt":"x","stream":false}' >/dev/null
runner=$(cut -d" " -f1 "/proc/$(main_pid)/task/$(main_pid)/children")

limit() { cut -d" " -f1 "$group/$1" 2>/dev/null || echo max; }
fact runner "$runner"
before=$(limit memory.high)
check "cap sets memory.high and a quarter of all CPUs through systemd" \
	order "{\"op\":\"order\",\"rung\":\"cap\",\"workload\":$id,\"cap_bytes\":268435456,\"on_permille\":250}"
has_limits() {
	[ "$(cat "$group/memory.high") $(cat "$group/cpu.max")" = "268435456 $(($(nproc) * 25000)) 100000" ]
}
check "the kernel has the limits" has_limits
systemctl daemon-reload
check "the limits survive a reload of systemd" has_limits
agent_dies() {
	kill -9 "$agent"
	wait "$agent" 2>/dev/null
	rm -f /run/agent.sock
}
agent_starts() {
	davylamp run --json --mode enforce --socket /run/agent.sock --state /var/lib/davylamp --config /tmp \
		>>/tmp/agent.out 2>>/tmp/agent.err &
	agent=$!
	lab_soon 60 known
	id=$(field ollama.service workload)
}
agent_dies
check "the limits survive a killed agent" has_limits
check "release --all succeeds without an agent" davylamp release --all --socket /run/agent.sock
check "release --all restores the previous limits" [ "$(limit memory.high) $(limit cpu.max)" = "$before max" ]
agent_starts
order "{\"op\":\"order\",\"rung\":\"cap\",\"workload\":$id,\"cap_bytes\":268435456,\"on_permille\":250}"
check "the next agent sets the limits again" has_limits
agent_dies
agent_starts
check "the agent after that removes the limits that it finds" lab_soon 10 sh -c "grep -qx max $group/memory.high"
order "{\"op\":\"order\",\"rung\":\"cap\",\"workload\":$id,\"cap_bytes\":268435456,\"on_permille\":250}"
check "release --all succeeds with an agent" davylamp release --all --socket /run/agent.sock
check "release --all through the agent removes the limits" lab_soon 10 sh -c "grep -qx max $group/memory.high"
order "{\"op\":\"order\",\"rung\":\"cap\",\"workload\":$id,\"cap_bytes\":268435456,\"on_permille\":250}"
check "undo of cap succeeds" order "{\"op\":\"order\",\"rung\":\"undo\",\"undo\":\"cap\",\"workload\":$id}"
check "undo of cap restores the previous limits" [ "$(limit memory.high) $(limit cpu.max)" = "$before max" ]
fact limits "$(limit memory.high) $(limit cpu.max), before $before"

check "pause freezes the unit's cgroup" \
	order "{\"op\":\"order\",\"rung\":\"pause\",\"workload\":$id,\"lease_ns\":60000000000}"
check "the kernel reports the unit's cgroup as frozen" grep -q "frozen 1" "$group/cgroup.events"
fact runner_group "$(cat "/proc/$runner/cgroup")"
check "the unit's runner is in the frozen cgroup" [ "$(cat "/proc/$runner/cgroup")" = "0::${group#/sys/fs/cgroup}" ]
check "undo of pause succeeds" order "{\"op\":\"order\",\"rung\":\"undo\",\"undo\":\"pause\",\"workload\":$id}"
check "the kernel reports the unit's cgroup as not frozen" grep -q "frozen 0" "$group/cgroup.events"
check "the service answers after the pause" lab_soon 10 up

check "a shrink through the environment succeeds after a token was received" \
	order "{\"op\":\"order\",\"rung\":\"shrink\",\"workload\":$id,\"context\":1024}"
check "the service has the reduced context" told OLLAMA_CONTEXT_LENGTH=1024
check "migrate_cpu succeeds" order "{\"op\":\"order\",\"rung\":\"migrate_cpu\",\"workload\":$id}"
check "the service has the CPU library" told OLLAMA_LLM_LIBRARY=cpu
old=$(main_pid)
kill -SEGV "$old"
check "a crashed service is restarted" lab_soon 30 sh -c "p=\$(systemctl show -P MainPID ollama); [ \$p != 0 ] && [ \$p != $old ]"
check "a crash is reported once" [ "$(grep '^{"type":"event".*"event":"process_exit"' /tmp/agent.out | grep -c "\"pid\":$old,")" = 1 ]
systemctl start llama
check "a real llama-server comes up" lab_soon 60 wget -q -O /dev/null http://127.0.0.1:18301/health
check "the llama-server unit can be adopted" dl adopt llama.service
lab_soon 20 sh -c "davylamp policy adopted --json --socket /run/agent.sock | grep -q llama-server"
llama=$(field llama.service workload)
check "a shrink of llama-server succeeds after a token was received" \
	order "{\"op\":\"order\",\"rung\":\"shrink\",\"workload\":$llama,\"ubatch\":64}"
check "the llama-server process has the reduced batch" sh -c \
	'tr "\0" "\n" <"/proc/$(systemctl show -P MainPID llama)/environ" | grep -qx LLAMA_ARG_UBATCH=64'
check "the llama-server unit can be released" dl release llama.service
check "the Ollama unit can be released" dl release ollama.service
check "the release removes the drop-in" [ ! -e /etc/systemd/system/ollama.service.d ]
check "the released unit has no settings of davylamp" fails told OLLAMA_LLM_LIBRARY=cpu
kill $agent
wait $agent
fact agent_status $?
check "no BUG and no WARNING is in the log" lab_log_clean

# A limit for an engine's memory: exec makes a child cgroup if it is alone in its cgroup.
groups=0
limited() { # STATUS COMMAND...
	local want=$1 status=0
	shift
	groups=$((groups + 1))
	mkdir "/sys/fs/cgroup/launch$groups"
	sh -c 'echo $$ >"$0" && exec "$@"' "/sys/fs/cgroup/launch$groups/cgroup.procs" davylamp exec --socket /none \
		--state /tmp/launch --memory-max 64M -- "$@" >/tmp/limited.out 2>/tmp/limited.err || status=$?
	[ $status -eq "$want" ] || { echo "status $status"; cat /tmp/limited.out /tmp/limited.err; return 1; }
}
check "davylamp exec --memory-max sets a limit" limited 0 \
	sh -c 'cat "/sys/fs/cgroup$(sed s/^0::// /proc/self/cgroup)/../memory.max"'
check "the engine's cgroup has the limit of --memory-max" [ "$(cat /tmp/limited.out)" = 67108864 ]
check "an engine that exceeds --memory-max is killed, and exec reports it" limited 137 sh -c 'a=x; while :; do a=$a$a; done'
check "the kernel's log has the kill by the cgroup's limit" sh -c 'dmesg | grep -q "Memory cgroup out of memory: Killed process"'
crowded() {
	mkdir /sys/fs/cgroup/crowd
	sleep 300 &
	echo $! >/sys/fs/cgroup/crowd/cgroup.procs
	sh -c 'echo $$ >/sys/fs/cgroup/crowd/cgroup.procs && exec "$@"' - davylamp exec --socket /none --memory-max 64M -- true \
		2>/tmp/limited.err
	[ $? -eq 4 ] && kill $!
}
check "exec --memory-max starts nothing in a cgroup with other processes" crowded
check "exec reports that the cgroup cannot be limited" grep -q "the cgroup cannot be limited" /tmp/limited.err
echo "== agent.err"
cat /tmp/agent.err
echo "== answer"
cat /tmp/answer
echo "== agent.out"
cat /tmp/agent.out
echo "== end"
lab_end
