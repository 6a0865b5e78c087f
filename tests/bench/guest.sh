# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests/bench/vm, in the guest: the real amdgpu's tracepoints are fired while the agent and a bpftrace
# script that counts the same events are attached. Both programs see each event. Lines "cost ROUND EVENT
# PROGRAM RUNS NS" are what the kernel accounts (bpf_stats).
. /lab/lab.sh

rounds=5 count=2000
gpu=0000:0a:00.0
stats() { chroot /host /usr/sbin/bpftool prog show -j | tr '{' '\n' |
	sed -n 's/.*"id":\([0-9]*\),.*"name":"\([^"]*\)".*"run_time_ns":\([0-9]*\),"run_cnt":\([0-9]*\).*/\1 \2 \3 \4/p'; }

check "the injector loads" insmod /lab/davylamp-inject.ko
check "amdgpu loads" modprobe amdgpu
lab_sched_names
for module in virtio_pci 9pnet_virtio 9p; do
	modprobe $module
done
mkdir -p /host
check "the host's files are there" mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose host /host
mount --bind /proc /host/proc
mount --bind /dev /host/dev
mount --rbind /sys /host/sys
mount -t tmpfs tmpfs /host/tmp
davylamp run --mode observe --socket /tmp/agent.sock --state /tmp/state --config /tmp >/tmp/agent.out 2>&1 &
agent=$!
is_live() { davylamp status --programs --socket /tmp/agent.sock 2>/dev/null | grep -q "iv_seen.* live"; }
check "the agent is attached to amdgpu" lab_soon 60 is_live
chroot /host /usr/bin/bpftrace -e "
	tracepoint:amdgpu:amdgpu_iv { @iv[args->client_id, args->src_id, args->pasid] = count(); }
	tracepoint:amdgpu:amdgpu_bo_move { @move[pid, args->new_placement, args->old_placement] = sum(args->bo_size); }
	tracepoint:gpu_scheduler:$lab_queue { @queue[pid, str(args->name)] = count(); }
	tracepoint:gpu_scheduler:$lab_run { @run[pid, str(args->name)] = count(); }" >/tmp/bpftrace.out 2>&1 &
bpftrace=$!
check "bpftrace is attached to amdgpu" lab_soon 60 grep -q Attaching /tmp/bpftrace.out
sleep 3
sysctl -q -w kernel.bpf_stats_enabled=1

# event NAME COMMAND...: the programs that ran meanwhile.
event() {
	name=$1
	shift
	stats >/tmp/before
	"$@" --count $count >/tmp/fire.out 2>&1 || { cat /tmp/fire.out; check "'$name' is fired" false; return; }
	stats >/tmp/after
	awk -v round="$round" -v name="$name" -v least=$count 'NR == FNR { ns[$1] = $3; runs[$1] = $4; next }
		$4 - runs[$1] >= least { print "cost", round, name, $2, $4 - runs[$1], $3 - ns[$1] }' \
		/tmp/before /tmp/after
}
for round in $(seq $rounds); do
	event page_fault fire iv --dev-name $gpu --client 0x1b --src 0 --pasid 100 --vmid 7 --addr 0x7abcde123000
	event interrupt fire iv --dev-name $gpu --client 0x14 --src 181 --pasid 100
	event move fire bo-move --dev-name $gpu --bytes 1048576 --from 2 --to 1 --pid 7 --pasid 100
	event job_queued fire job queue --dev-name $gpu --ring gfx_0.0.0 --seqno 5 --context 7
	event job_runs fire job run --dev-name $gpu --ring gfx_0.0.0 --seqno 5 --context 7
done
kill $bpftrace $agent
wait
cat /tmp/bpftrace.out | head -n 20
lab_end
