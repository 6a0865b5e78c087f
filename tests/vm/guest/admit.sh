# SPDX-License-Identifier: GPL-2.0
#
# VRAM as a guarded resource, on the real amdgpu, in the guest: two clients with and without a quota, a reserve, the
# account against the driver's own figures, a killed agent, attacks. tests/vm/admit compares the numbers.
. /lab/lab.sh
. /lab/vram.sh

mkdir -p /tmp/config
printf '[agent]\nvram_account = 1\n' >/tmp/config/hazards.conf

agent_start() {
	agent_run "${1:-advise}"
	lab_soon 60 status_has '"name":"admit","state":"live"'
}

# A client that takes what it gets, beside a bystander that has 64 MiB and later wants 16 more.
# pair NAME [EXEC_OPTION...]: with options the first client runs under davylamp exec.
pair() {
	name=$1
	shift
	fact "${name}_evictions_before" "$(evictions)"
	inside "$name" vram-client create 16M 4 until "/tmp/$name.last" create 16M 1 hold >"/tmp/$name.bystander" &
	bystander=$!
	lab_soon 5 grep -q created "/tmp/$name.bystander"
	if [ $# -gt 0 ]; then
		davylamp exec --socket $sock "$@" -- vram-client open until "/tmp/$name.go" create 16M 22 bare 1M 64 bare 4K 4096 hold \
			>"/tmp/$name.greedy" 2>"/tmp/$name.exec" &
		greedy=$!
		lab_soon 10 sh -c "davylamp status --json --socket $sock | grep -q '\"max\"'"
	else
		inside greedy vram-client until "/tmp/$name.go" create 16M 22 bare 1M 64 bare 4K 4096 hold >"/tmp/$name.greedy" &
		greedy=$!
	fi
	touch "/tmp/$name.go"
	lab_soon 40 grep -q 'size=4096' "/tmp/$name.greedy"
	touch "/tmp/$name.last"
	lab_soon 10 sh -c "[ \$(grep -c created /tmp/$name.bystander) = 2 ]"
	fact "${name}_evictions" "$(evictions)"
	fact "${name}_bystander_kib" "$(fdinfo_kib "$name")"
	fact "${name}_vram_used" "$(cat "/sys/bus/pci/devices/$gpu/mem_info_vram_used")"
}
pair_ends() {
	kill $bystander $greedy
	wait $bystander $greedy
}

# lsm_cost NAME COMMAND...: what the programs of the security hooks cost meanwhile, per call.
# The program that does nothing is at the same hook.
lsm_sum() {
	awk '/^prog_type:/ { lsm = $2 == 29 } /^run_time_ns:/ && lsm { ns += $2 } /^run_cnt:/ && lsm { n += $2 }
		END { print ns + 0, n + 0 }' /proc/$1/fdinfo/*
}
lsm_cost() {
	cost_name=$1
	shift
	for cost_round in 1 2 3; do
		cost_before=$(lsm_sum $agent)
		empty_before=$(lsm_sum $empty)
		"$@" >/dev/null
		echo "cost $cost_name $cost_before $(lsm_sum $agent)"
		echo "cost empty $empty_before $(lsm_sum $empty)"
	done
}

check "the injector loads" insmod /lab/davylamp-inject.ko
check "amdgpu loads" lab_load configured lockup_timeout=60000 # no job of this test hangs
check "the real driver takes the device" lab_bind
gpu=$(lab_gpu)
fact gpu "$gpu"
fact vram_total "$(cat "/sys/bus/pci/devices/$gpu/mem_info_vram_total")"
check "the engine starts" quiet fire engine "$gpu"
chmod 666 /dev/dri/*

pair without
pair_ends
show without.bystander without.greedy

check "the agent keeps the account of VRAM" agent_start
davylamp status --programs --socket $sock | grep admit
pair quota --vram-max 64M
said quota
davylamp status --socket $sock >/tmp/status.text
pair_ends
show quota.bystander quota.greedy quota.exec status.quota status.text

# The quota is in force before the first instruction of the command.
davylamp exec --socket $sock --vram-max 32M -- vram-client create 16M 4 hold >/tmp/first.client 2>/tmp/first.exec &
first=$!
lab_soon 40 grep -q created /tmp/first.client
kill $first
wait $first
show first.client first.exec

# The account against fdinfo; then a new agent has to find what exists.
# Others create at the same time: a kernel with preemption then skips programs that interrupt themselves.
for cycler in 1 2; do
	inside cycle vram-client cycle 4K 3000 >/tmp/cycle &
done
inside random vram-client random 10000 7 hold >/tmp/random &
random=$!
lab_soon 300 grep -q '^random' /tmp/random
cat /tmp/random
for pid in $(cat $root/cycle/cgroup.procs); do kill "$pid"; done
account_kib() { davylamp status --socket $sock | awk -v name="$1" '$2 == name { n += $3 } END { print n + 0 }'; }
same_account() { [ "$(account_kib random)" = "$(fdinfo_kib random)" ]; }
lab_soon 10 same_account
said random
fact random_kib "$(fdinfo_kib random)"
fact skipped "$(grep -c 'was skipped while it ran' /tmp/agent.out)"
kill -9 $agent
wait $agent
check "a new agent keeps the account of VRAM" agent_start
said again
fact again_kib "$(fdinfo_kib random)"
show random status.random status.again
kill $random
for pid in $(cat $root/random/cgroup.procs); do kill -9 "$pid"; done 2>/dev/null # its children
wait $random

# Outside all managed cgroups, and inside one.
echo 1 >/proc/sys/kernel/bpf_stats_enabled
/lab/empty-lsm >/tmp/empty &
empty=$!
check "a program that does nothing is attached beside" lab_soon 10 grep -q attached /tmp/empty
plain() { (inside plain vram-client cycle 4K 100); }
managed() {
	davylamp exec --socket $sock --vram-max 32M -- vram-client open until /tmp/cost cycle 4K 100 2>/dev/null &
	lab_soon 10 status_has '"max":33554432'
	touch /tmp/cost
	wait $!
	rm /tmp/cost
}
lsm_cost unmanaged plain
lsm_cost managed managed
echo 0 >/proc/sys/kernel/bpf_stats_enabled
kill $empty
wait $empty

# davylamp top in a terminal, while one client evicts the buffers of another one.
tm() { tmux -u -f /dev/null -S /tmp/tmux "$@"; }
fits() { [ "$(tm display-message -p '#{pane_width}x#{pane_height}')" = "$1" ] && tm capture-pane -p | tail -n 1 | grep -q '^q quit'; }
frame_of() { sed -n 's/.* #\([0-9]*\).*/\1/p' "$1" | head -n 1; }
# A guest without time may draw two sizes of one answer.
last_frame=
new_frame() { tm capture-pane -p >/tmp/frame && [ "$(frame_of /tmp/frame)" != "$last_frame" ]; }
# shot SIZE: a screen that is drawn whole, and the answer that it shows.
shot() {
	tm resize-window -x "${1%x*}" -y "${1#*x}"
	lab_soon 10 fits "$1"
	lab_soon 10 new_frame
	tm capture-pane -p >"/tmp/screen.$1"
	last_frame=$(frame_of "/tmp/screen.$1")
	sed -n "$(frame_of "/tmp/screen.$1")p" /tmp/record >"/tmp/answer.$1"
	show "screen.$1" "answer.$1"
}
export LC_ALL=C.UTF-8 TERM=xterm-256color
tm new-session -d -x 80 -y 24 -s top "sleep 1000" \; set-option -g status off \; set-option -g window-size manual \; \
	respawn-pane -k "TERM=xterm-256color davylamp top --interval '500 ms' --record /tmp/record --socket $sock"
inside held vram-client create 16M 8 hold >/tmp/held &
held=$!
lab_soon 20 grep -q created /tmp/held
inside mover vram-client create 16M 14 hold >/tmp/mover &
mover=$!
lab_soon 40 grep -q created /tmp/mover
check "top shows the evictions" lab_soon 20 sh -c "tmux -u -S /tmp/tmux capture-pane -p | grep -q 'evictions [1-9]'"
lab_soon 20 sh -c "tmux -u -S /tmp/tmux capture-pane -p | grep -qE 'GTT [[][#.]*[]] [0-9]{2,}/'" # some are in GTT
for size in 80x24 120x40 200x60; do
	shot $size
done
tm kill-server
unset LC_ALL
kill $held $mover
wait $held $mover

# Attacks of a process that may not leave its cgroup, as another user.
# A user needs this switch to hold up the kernel's reading of his memory; with FUSE none is needed. The kernel "dmem" may
# have no userfaultfd.
races= last=imported
if [ -e /proc/sys/vm/unprivileged_userfaultfd ]; then
	echo 1 >/proc/sys/vm/unprivileged_userfaultfd
	races="race 4K 24M race-domain 8M race-op 8M" last=race-op
fi
compat=
[ ! -e /proc/sys/abi/vsyscall32 ] || compat="compat 24M" # else the kernel has no system call of 32-bit processes
fact attacks "$compat $races"
inside outside vram-client give /tmp/take 20M hold >/tmp/given &
giver=$!
davylamp exec --socket $sock --vram-max 32M -- setpriv --reuid 65534 --clear-groups vram-client open until /tmp/attack \
	enter $root clone $root create 16M 4 command 24M $compat placement 16M dumb 2048 4096 fork 16M 1 cycle 4K 300 \
	master 16M take /tmp/take $races hold >/tmp/attacks 2>/tmp/attacks.exec &
attacker=$!
lab_soon 10 status_has '"max":33554432'
touch /tmp/attack
lab_soon 60 grep -q "^$last" /tmp/attacks
sleep 1
said attacks
fact outside_kib "$(fdinfo_kib outside)"
kill $attacker $giver
wait $attacker $giver
lab_soon 10 status_has '"bytes":0,"managed":0,"reserve":0'
said after
show attacks attacks.exec given status.attacks status.after

# A user with cgroups of his own makes more accounts than the kernel's table has.
inside scatter vram-client scatter $root/scatter 4200 hold >/tmp/scatter &
scatter=$!
check "a user fills the table of accounts" lab_soon 200 grep -q '^scattered count=4200 ' /tmp/scatter
davylamp exec --socket $sock --vram-max 32M -- vram-client open until /tmp/crowded create 16M 4 hold >/tmp/crowded.client \
	2>/tmp/crowded.exec &
crowded=$!
lab_soon 10 status_has '"max":33554432'
touch /tmp/crowded
lab_soon 10 grep -q created /tmp/crowded.client
said crowded
kill $crowded $scatter
wait $crowded $scatter
# The driver frees them all at once: the kernel then skips programs that another task is in.
check "of freed buffers nothing is counted as still wiped when it is not" lab_soon 30 status_has '"wiping":0'
find $root/scatter -depth -type d -exec rmdir {} +
inside later vram-client create 1M 1 hold >/tmp/later &
later=$!
check "the accounts of removed cgroups are deleted: there is one for a new cgroup" lab_soon 10 status_has '"cgroup":"later"'
kill $later
wait $later
show scatter crowded.client crowded.exec status.crowded

# A reserve for everybody outside the workloads; the agent's end ends the refusals.
printf '[rule reserve]\nif driver = amdgpu\nvram_reserve = 64 MiB\nbecause = a test\nsource = admit.sh\ndate = 2026-11-26\n' \
	>/tmp/config/backend.conf
check "the policy is read again" quiet davylamp policy reload --socket $sock
davylamp exec --socket $sock -- vram-client open until /tmp/reserve create 16M 22 bare 1M 64 bare 4K 4096 until /tmp/dead bare 1M 1 hold \
	>/tmp/reserve.greedy 2>/tmp/reserve.exec &
greedy=$!
lab_soon 10 status_has '"reserve":67108864'
sleep 3
fact reserve_evictions_before "$(evictions)"
touch /tmp/reserve
lab_soon 40 grep -q 'size=4096' /tmp/reserve.greedy
fact reserve_used "$(cat "/sys/bus/pci/devices/$gpu/mem_info_vram_used")"
said reserve
inside reserve vram-client create 13M 4 hold >/tmp/reserve.bystander &
bystander=$!
lab_soon 10 grep -q created /tmp/reserve.bystander
fact reserve_evictions "$(evictions)"
fact reserve_bystander_kib "$(fdinfo_kib reserve)"
# A quota by a rule about the model.
printf '[rule quota]\nif model = lamp\nvram_max = 8 MiB\nbecause = a test\nsource = admit.sh\ndate = 2026-11-26\n' >/tmp/config/backend.conf
check "the policy is read once more" quiet davylamp policy reload --socket $sock
davylamp exec --socket $sock --model lamp -- vram-client open until /tmp/rule create 1M 64 hold >/tmp/rule.client 2>/dev/null &
ruled=$!
lab_soon 10 status_has '"max":8388608'
touch /tmp/rule
lab_soon 10 grep -q created /tmp/rule.client
said rule
kill $ruled
wait $ruled
# A soft limit by a rule: the allocations succeed.
printf '[rule soft]\nif model = soft\nvram_high = 4 MiB\nbecause = a test\nsource = admit.sh\ndate = 2026-11-27\n' >/tmp/config/backend.conf
check "the policy is read a third time" quiet davylamp policy reload --socket $sock
davylamp exec --socket $sock --model soft -- vram-client create 1M 6 hold >/tmp/soft.client 2>/dev/null &
soft=$!
check "the workload above its soft limit is reported" lab_soon 20 grep -q '"hazard":"vram_high"' /tmp/agent.out
kill $soft
wait $soft
kill -9 $agent
wait $agent
touch /tmp/dead
check "nothing is refused after the agent was killed" lab_soon 10 grep -q 'created count=1 size=1048576' /tmp/reserve.greedy
kill $greedy $bystander
wait $greedy $bystander
# Pinned, a quota outlives the agent, until the next one knows its workloads.
printf '[agent]\nvram_account = 1\nvram_pin = 1\n' >/tmp/config/hazards.conf
check "an agent that pins starts" agent_start
davylamp exec --socket $sock --vram-max 8M -- vram-client open create 1M 4 until /tmp/pinned create 1M 64 until /tmp/restarted create 1M 2 \
	until /tmp/unpinned create 1M 3 hold \
	>/tmp/pinned.client 2>/tmp/pinned.exec &
pinned=$!
lab_soon 10 grep -q created /tmp/pinned.client
check "the agent pins its programs" lab_soon 30 test -e /sys/fs/bpf/davylamp/ioctl_seen
kill -9 $agent
wait $agent
touch /tmp/pinned
check "the quota outlives a killed agent" lab_soon 10 grep -q 'created count=[23] size=1048576 .* errno=12' /tmp/pinned.client
printf '[agent]\nvram_account = 1\n' >/tmp/config/hazards.conf
agent_run advise
check "an agent that does not pin starts" lab_soon 60 status_has '"mode"'
touch /tmp/restarted
check "the quota has no gap while the next agent starts" lab_soon 10 grep -q 'created count=0 size=1048576 .* errno=12' /tmp/pinned.client
check "then it removes them" lab_soon 30 sh -c '! [ -e /sys/fs/bpf/davylamp ]'
lab_soon 10 status_has '"max":8388608'
touch /tmp/unpinned
check "its own quota is in force after them" lab_soon 10 sh -c "[ \$(grep -c 'created count=0 size=1048576 .* errno=12' /tmp/pinned.client) = 2 ]"
kill $agent
wait $agent
kill $pinned
wait $pinned
# A limit that an operator sets and takes back.
check "an agent in mode enforce starts" agent_start enforce
davylamp exec --socket $sock --model capped -- vram-client create 16M 1 until /tmp/capped create 16M 4 until /tmp/uncapped create 16M 1 hold \
	>/tmp/capped.client 2>/tmp/capped.exec &
capped=$!
lab_soon 10 grep -q created /tmp/capped.client
workload=$(sed -n 's/.*as workload \([0-9]*\),.*/\1/p' /tmp/capped.exec)
check "act cap --vram succeeds" quiet davylamp act cap "$workload" --vram "56 MiB" --socket $sock
said capped
touch /tmp/capped
lab_soon 10 sh -c "[ \$(grep -c created /tmp/capped.client) = 2 ]"
check "act undo takes the limit back" quiet davylamp act undo "$workload" --socket $sock
said uncapped
touch /tmp/uncapped
lab_soon 10 sh -c "[ \$(grep -c created /tmp/capped.client) = 3 ]"
kill $capped
wait $capped
kill $agent
wait $agent
show pinned.client pinned.exec reserve.bystander reserve.greedy reserve.exec status.reserve soft.client rule.client status.rule capped.client status.capped status.uncapped
check "no BUG and no WARNING is in the log" lab_log_clean
show agent.err
echo "== agent.out"
grep -v '"event":"config"' /tmp/agent.out
echo "== end"
lab_end
