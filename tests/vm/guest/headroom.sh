# SPDX-License-Identifier: GPL-2.0
#
# A long prefill on the real amdgpu, in the guest: an engine's jobs become longer, as they do
# with the depth of its context, up to nine tenths of the driver's lockup timeout of 2 s.
# tests/vm/headroom compares what the agent predicted.
. /lab/lab.sh

fact() { echo "fact $*"; }
quiet() { "$@" >/tmp/out 2>&1 || { cat /tmp/out; return 1; }; }
wait_for() { lab_soon "$1" grep -q -e "$2" /tmp/agent.out; }

check "the injector loads" insmod /lab/davylamp-inject.ko
check "amdgpu loads" lab_load
check "the real driver takes the device" lab_bind
gpu=$(lab_gpu)
fact gpu "$gpu"
check "the engine starts" quiet fire engine "$gpu"
davylamp run --json --mode advise --socket /tmp/agent.sock --state /tmp/state --config /tmp \
	--record /tmp/trace >/tmp/agent.out 2>/tmp/agent.err &
agent=$!
check "the agent attaches to the scheduler" wait_for 60 '"name":"drm_sched","state":"live"'
check "the agent answers status" lab_soon 30 sh -c "davylamp status --socket /tmp/agent.sock >/dev/null 2>&1"
cp /lab/gpu-client /tmp/llama-server
/tmp/llama-server -m /models/tiny.gguf --ubatch-size 512 --comm llama-server \
	--ring compute --slow /sys/module/davylamp_inject/parameters/slow_ms prefill 150 60 27 >/tmp/prefill &
client=$!
fact client $client
wait $client
fact client_status $?
fact longest_ms "$(sed -n 's/.* ms=//p' /tmp/prefill | sort -n | tail -n 1)"
# The benign look-alike: jobs as long as the longest of a short prompt, repeatedly.
/tmp/llama-server -m /models/other.gguf --ubatch-size 256 --comm llama-server \
	--ring compute --slow /sys/module/davylamp_inject/parameters/slow_ms prefill 600 0 12 >/tmp/steady &
steady=$!
fact steady $steady
wait $steady
fact steady_status $?
sleep 1
kill $agent
wait $agent
fact agent_status $?
# 'trace discovery' loads programs of its own process: they must load here, too.
davylamp trace discovery --json -- /bin/sh -c 'cat /sys/class/drm/version >/dev/null; exit 3' >/tmp/discovery 2>/tmp/discovery.err
fact discovery_status $?
check "no BUG and no WARNING is in the log" lab_log_clean
check "no job timed out" sh -c '! dmesg | grep -q "timeout, signaled"'
echo "== prefill"
cat /tmp/prefill
echo "== agent.err"
cat /tmp/agent.err
echo "== discovery"
cat /tmp/discovery
echo "== discovery.err"
cat /tmp/discovery.err
echo "== agent.out"
cat /tmp/agent.out
echo "== trace"
base64 /tmp/trace
echo "== end"
lab_end
