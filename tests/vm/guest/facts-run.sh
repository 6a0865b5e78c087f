# SPDX-License-Identifier: GPL-2.0
#
# Every row of facts.sh under the agent, in the guest: all drivers are loaded, none has a device (so
# that their functions can be skipped). tests/vm/facts-compare judges the output.
. /lab/lab.sh
. /lab/facts.sh

wait_for() { lab_soon "$1" grep -q -e "$2" /tmp/agent.out; }

check "the injector loads" insmod /lab/davylamp-inject.ko
sensors="process host fence drm_sched sched_tdr ttm drm amdgpu amdgpu_tdr kfd i915 i915_tdr admit"
printf '[agent]\nvram_account = 1\n' >/tmp/hazards.conf
for module in vgem amdgpu i915; do
	check "$module loads" modprobe $module
done
! modprobe xe 2>/dev/null || sensors="$sensors xe xe_tdr"
fire btf /lab/nvidia.ko && insmod /lab/nvidia.ko && sensors="$sensors nvidia"
for module in radeon nouveau vmwgfx; do
	modprobe $module 2>/dev/null || continue
	[ $module = vmwgfx ] || sensors="$sensors $module"
done
davylamp run --json --mode advise --socket /tmp/agent.sock --state /tmp/state --config /tmp \
	--record /tmp/trace >/tmp/agent.out 2>/tmp/agent.err &
agent=$!
for sensor in $sensors; do
	check "$sensor is live" wait_for 60 "\"name\":\"$sensor\",\"state\":\"live\""
done
sleep 2
echo "rows from $(cut -d' ' -f1 /proc/uptime) s"
facts_run
echo "rows until $(cut -d' ' -f1 /proc/uptime) s"
sleep 3 # counted events are reported on a tick
davylamp status --socket /tmp/agent.sock >/tmp/status 2>&1
davylamp status --programs --json --socket /tmp/agent.sock >/tmp/programs
davylamp status --sensors --socket /tmp/agent.sock >/tmp/sensors 2>&1
kill $agent
wait $agent
check "the agent exits with 0" test $? = 0
# The OOM killer's call trace for a cgroup's victim is expected.
not_in_log() { ! dmesg | grep -E "$1"; }
check "no BUG and no WARNING is in the log" not_in_log 'BUG:|WARNING:|Oops|general protection'
echo "== agent.out"
cat /tmp/agent.out
echo "== agent.err"
cat /tmp/agent.err
echo "== status"
cat /tmp/status
echo "== sensors"
cat /tmp/sensors
echo "== programs"
cat /tmp/programs
echo "== end"
lab_end
