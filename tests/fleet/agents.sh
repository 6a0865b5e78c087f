# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two agents with two real llama-servers and one etcd: the first engine loses its device, and the second is started
# with the smaller batch and says why. Sourced by tests/fleet/run.

if [[ $(id -u) != 0 ]]; then
	skip "two agents with two engines" "they need root (chroot)"
	return 0
fi
installed=$program
port=${E2E_PORT:-18380}
url=http://127.0.0.1:$port
rm -rf "$work"
if ! lab_open; then
	work=$(mktemp -d)
	skip "two agents with two engines" "the engine's packages cannot be fetched here"
	return 0
fi
lab_exit() {
	on_exit
	lab_close
}
trap lab_exit EXIT
on_failure() { tail -n 12 "$work"/*.fleet.out "$work/engine.out" "$work/agent.err" 2>/dev/null | cut -c1-300; }
chmod 755 "$work"
. tests/probe/lib.sh
make_programs # exec's probe runs inside the root
fault_layer
fault ok
etcd_start
for name in one two; do
	printf '%s\n' "endpoints = $etcd_url" "host = $name" "quorum = 1" "trial = 1 s" >"$work/$name.conf"
done
serve() { # HOST, with the state directory of its agent
	"$installed" fleet run --config "$work/$1.conf" --state "$2" --socket "$work/sock" >"$work/$1.fleet.out" 2>&1 &
	service[$1]=$!
}

echo "== the first host loses its device"
start_agent "$installed" --mode enforce
serve one "$work/state"
start_engine --backend vulkan
check "the first engine answers" comes_up 240
check "its agent knows the batch" until_true 10 saw '.event == "process" and .workload == 1 and .ubatch == 512'
fault lost
serves 20
check "the first agent records the failure with the setting" until_true 60 bash -c "'$installed' policy ledger --json --state '$work/state' |
	jq -es 'any(.[]; .ubatch == 512 and .faults.device_lost >= 1)' >/dev/null"
stop_engine
stop_agent
fault ok

echo "== the second host is started with less"
mv "$work/state" "$work/first"
serve two "$work/state"
check "the second host takes the rule" until_true 30 grep -q 'ubatch = 256' "$work/state/fleet/backend.conf"
start_agent "$installed" --mode enforce
env GGML_VK_VISIBLE_DEVICES=0 "${lab_vulkan[@]}" MESA_SHADER_CACHE_DIR=/srv/lab/shaders \
	"$program" exec --socket "$work/sock" --state "$work/state" --slots "$inside/slots" --backend vulkan -- \
	"$e2e/llama-server" -m "$inside/tiny.gguf" --host 127.0.0.1 --port "$port" -t 1 -np 1 -c 512 -fit off \
	>"$work/engine.out" 2>&1 </dev/null &
engine=$!
check "the second engine answers" comes_up 240
check "the second engine has the smaller batch" bash -c "tr '\0' ' ' <'/proc/$(engine_pid)/cmdline' | grep -qF -- '--ubatch-size 256'"
check "exec names the fleet's rule and its evidence" grep -qE 'ubatch = 256 .*fleet/backend.conf.*1 hosts failed with ubatch 512' "$work/engine.out"
stop_engine
stop_agent
for name in one two; do end "${service[$name]}"; unset "service[$name]"; done
etcd_stop
