# SPDX-License-Identifier: GPL-2.0
#
# A flood, in the guest: two CPUs fire /job/count page faults each, with different PASIDs, while processes
# with unique names die. Lines "fact" and "victim PID NAME" state what the agent must report;
# tests/vm/flood compares on the host.
. /lab/lab.sh

fact() { echo "fact $*"; }
cpu_ms() { awk '{ print ($14 + $15) * 10 }' /proc/$agent/stat; }
wait_for() { lab_soon "$1" grep -q -e "$2" /tmp/agent.out; }
count=$(cat /job/count)
victims=200

# counted PASID: whether the agent's latest sum for it is complete.
counted() {
	grep "\"event\":\"gpu_fault\".*\"pasid\":$1," /tmp/agent.out | tail -n 1 |
		grep -q "\"count\":${count}[,}]"
}

# flood CPU PASID COUNT
flood() {
	taskset -c "$1" fire iv --pasid "$2" --vmid 3 --client 0x1b --src 0 --addr 0x7f1234567000 \
		--count "$3"
}

# A script's process has the name of the script.
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
check "the agent attaches to amdgpu" wait_for 60 '"name":"amdgpu","state":"live"'
check "the agent answers status" lab_soon 30 sh -c "davylamp status --socket /tmp/agent.sock >/dev/null 2>&1"
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
check "the first CPU's faults are all counted" lab_soon 30 counted 41001
check "the second CPU's faults are all counted" lab_soon 30 counted 41002
fact settled "$(ms)"
# Each process that fires has a device object of the same name, as after a removal and return.
flood 0 41003 1000 >>/tmp/fire 2>&1
flood 0 41003 1000 >>/tmp/fire 2>&1
sleep 1 # for lost events to be reported
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
