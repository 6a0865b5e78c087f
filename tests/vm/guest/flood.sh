# SPDX-License-Identifier: GPL-2.0
#
# A flood, in the guest: two CPUs fire /job/count page faults each, with a PASID of its own, while processes
# with names of their own die. What the agent must have is told as facts and as lines "victim PID NAME";
# tests/vm/flood compares on the host.
. /lab/lab.sh

fact() { echo "fact $*"; }
cpu_ms() { awk '{ print ($14 + $15) * 10 }' /proc/$agent/stat; }
wait_for() { lab_soon "$1" grep -q -e "$2" /tmp/agent.out; }
count=$(cat /job/count)
victims=200

# counted PASID: whether the agent's last word on it is the whole.
counted() {
	grep "\"event\":\"gpu_fault\".*\"pasid\":$1," /tmp/agent.out | tail -n 1 |
		grep -q "\"count\":${count}[,}]"
}

# flood CPU PASID COUNT
flood() {
	taskset -c "$1" fire iv --pasid "$2" --vmid 3 --client 0x1b --src 0 --addr 0x7f1234567000 \
		--count "$3"
}

# A script's process has the name by which it was started.
make_victims() {
	mkdir /tmp/v
	printf '#!/bin/sh\nkill -SEGV $$\n' >/tmp/v/script
	chmod 755 /tmp/v/script
	for n in $(seq $victims); do
		ln -s script "/tmp/v/victim-$n"
	done
}

kill_them() {
	for n in $(seq $victims); do
		"/tmp/v/victim-$n" &
		echo "victim $! victim-$n" >>/tmp/victims
		wait $!
	done 2>/dev/null
}

check "the injector loads" insmod /lab/davylamp-inject.ko
check "amdgpu loads" modprobe amdgpu
make_victims
davylamp run --json --mode advise --socket /tmp/agent.sock --state /tmp/state --config /tmp \
	>/tmp/agent.out 2>/tmp/agent.err &
agent=$!
check "the agent watches amdgpu" wait_for 60 '"name":"amdgpu","state":"live"'
check "and is ready" lab_soon 30 sh -c "davylamp status --socket /tmp/agent.sock >/dev/null 2>&1"
sleep 1
fact start_cpu_ms "$(cpu_ms)"
fact began "$(ms)"
flood 0 41001 "$count" >>/tmp/fire 2>&1 &
first=$!
flood 1 41002 "$count" >>/tmp/fire 2>&1 &
second=$!
kill_them
fact victims_ended "$(ms)"
wait $first $second
fact ended "$(ms)"
check "the first CPU's faults are counted to the last" lab_soon 30 counted 41001
check "the second one's too" lab_soon 30 counted 41002
fact settled "$(ms)"
# Each process that fires has a device of its own, by the same name: as one that went and came again.
flood 0 41003 1000 >>/tmp/fire 2>&1
flood 0 41003 1000 >>/tmp/fire 2>&1
sleep 1 # for what was lost to be told
fact pace_ms "$(lab_pace_ms)"
before=$(ms)
davylamp status --json --socket /tmp/agent.sock >/tmp/status
fact status_ms $(($(ms) - before))
fact agent_cpu_ms "$(cpu_ms)"
fact agent_rss_kb "$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) .*/\1/p' /proc/$agent/status)"
kill $agent
wait $agent
fact agent_status $?
check "no BUG and no WARNING is in the log" lab_log_clean
cat /tmp/victims
echo "== fire"
cat /tmp/fire
echo "== agent.err"
cat /tmp/agent.err
echo "== agent.out"
tail -n 20000 /tmp/agent.out
echo "== end"
lab_end
