# SPDX-License-Identifier: GPL-2.0
#
# Every row of facts.sh under the agent, in the guest: all drivers are loaded, none has a device (so
# that their functions can be skipped), then the rows. tests/vm/facts-compare has the verdict.
. /lab/lab.sh
. /lab/facts.sh

wait_for() { lab_soon "$1" grep -q -e "$2" /tmp/agent.out; }

check "the injector loads" insmod /lab/davylamp-inject.ko
for module in vgem amdgpu i915 xe; do
	! modprobe $module 2>/dev/null || echo "loaded: $module"
done
davylamp run --json --mode advise --socket /tmp/agent.sock --state /tmp/state --config /tmp \
	--record /tmp/trace >/tmp/agent.out 2>/tmp/agent.err &
agent=$!
for sensor in ${FACTS_SENSORS-process drm_sched amdgpu amdgpu_tdr ttm drm}; do
	check "$sensor is live" wait_for 60 "\"name\":\"$sensor\",\"state\":\"live\""
done
sleep 2
echo "rows from $(cut -d' ' -f1 /proc/uptime) s"
facts_run
echo "rows until $(cut -d' ' -f1 /proc/uptime) s"
sleep 3 # what is counted is told on a tick
kill $agent
wait $agent
check "the agent ended well" test $? = 0
# A cgroup's victim leaves a call trace behind, as it should.
not_in_log() { ! dmesg | grep -E "$1"; }
check "no BUG and no WARNING is in the log" not_in_log 'BUG:|WARNING:|Oops|general protection'
echo "== agent.out"
cat /tmp/agent.out
echo "== agent.err"
cat /tmp/agent.err
echo "== end"
lab_end
