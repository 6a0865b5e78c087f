# SPDX-License-Identifier: GPL-2.0
#
# The dmem controller on the real amdgpu, in the guest: VRAM of a workload that the driver evicts last (vram_protect),
# and a limit (act cap --vram). tests/vm/dmem compares the numbers.
. /lab/lab.sh
. /lab/vram.sh

mkdir -p /tmp/config
printf '[rule protect]\nif model = lamp\nvram_protect = 160 MiB\nbecause = a test\nsource = dmem.sh\ndate = 2026-11-27\n' \
	>/tmp/config/backend.conf

agent_start() {
	agent_run enforce
	lab_soon 60 status_has '"vram":'
}

# dmem FILE GROUP: the first region's value.
dmem() { cat "$root/$2/dmem.$1" | sed -n 's/^drm[^ ]* //p'; }

# engine NAME WORD...: a client under davylamp exec, as a workload of the model NAME; sets group.
engine() {
	name=$1
	shift
	davylamp exec --socket $sock --model "$name" -- vram-client "$@" >"/tmp/$name.client" 2>"/tmp/$name.exec" &
	engine=$!
	group=davylamp-exec-$engine
	lab_soon 20 grep -q created "/tmp/$name.client"
	workload=$(sed -n 's/.*as workload \([0-9]*\),.*/\1/p' "/tmp/$name.exec")
}
engine_ends() {
	kill $engine
	wait $engine
}

# pressed NAME GROUP: what of the group's VRAM is left beside a bystander that wants nearly all of it.
pressed() {
	inside bystander vram-client create 16M 14 hold >"/tmp/$1.bystander" &
	bystander=$!
	lab_soon 40 grep -q created "/tmp/$1.bystander"
	fact "$1_kib" "$(fdinfo_kib "$2")"
	fact "$1_bystander_kib" "$(fdinfo_kib bystander)"
	kill $bystander
	wait $bystander
}

check "the injector loads" insmod /lab/davylamp-inject.ko
check "amdgpu loads" lab_load configured lockup_timeout=60000 # no job of this test hangs
check "the real driver takes the device" lab_bind
gpu=$(lab_gpu)
fact gpu "$gpu"
check "the engine starts" quiet fire engine "$gpu"
fact controller "$(cat $root/cgroup.controllers)"
fact enabled_before "$(cat $root/cgroup.subtree_control)"

inside alone vram-client create 16M 8 hold >/tmp/alone.client &
alone=$!
lab_soon 20 grep -q created /tmp/alone.client
pressed alone alone
kill $alone
wait $alone

check "the agent starts" agent_start
engine lamp create 16M 8 hold
check "the workload's VRAM is protected" lab_soon 10 status_has '"protected":\[{'
fact enabled "$(cat $root/cgroup.subtree_control)"
fact low "$(dmem low $group)"
said protected
davylamp status --socket $sock >/tmp/status.text
pressed protected $group
# A new agent undoes what the dead one left, and protects the workload that registers with it.
kill -9 $agent
wait $agent
fact low_without "$(dmem low $group)"
check "a new agent starts" agent_start
check "it protects the workload again" lab_soon 20 status_has '"protected":\[{'
fact low_again "$(dmem low $group)"
printf '\n' >/tmp/config/backend.conf
check "the policy is read again" quiet davylamp policy reload --socket $sock
check "without its rule the protection ends" lab_soon 20 status_has '"protected":\[\]'
fact low_after "$(dmem low $group)"
engine_ends

engine capped create 16M 1 until /tmp/capped create 16M 8 hold
check "act cap --vram succeeds" quiet davylamp act cap "$workload" --vram "64 MiB" --socket $sock
fact max "$(dmem max $group)"
touch /tmp/capped
lab_soon 40 sh -c "[ \$(grep -c created /tmp/capped.client) = 2 ]"
fact capped_kib "$(fdinfo_kib $group)"
check "act undo takes the limit back" quiet davylamp act undo "$workload" --socket $sock
fact max_after "$(dmem max $group)"
engine_ends

# The quota beside it: refused in the kernel, where dmem.max lets the buffer go to GTT.
davylamp exec --socket $sock --vram-max 64M -- vram-client open until /tmp/quota create 16M 8 hold >/tmp/quota.client 2>/tmp/quota.exec &
engine=$!
lab_soon 60 status_has '"max":67108864'
touch /tmp/quota
lab_soon 60 grep -q created /tmp/quota.client
engine_ends
kill $agent
wait $agent
show quota.client lamp.exec alone.bystander protected.bystander capped.client status.protected status.text agent.err
check "no BUG and no WARNING is in the log" lab_log_clean
echo "== agent.out"
grep -v '"event":"config"' /tmp/agent.out
echo "== end"
lab_end
