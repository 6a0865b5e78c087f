# SPDX-License-Identifier: GPL-2.0
#
# Memory pressure on a QEMU device with its own driver (TTM, nothing of amdgpu), in the guest: A fills the
# memory, B evicts A's buffers, A moves them back, C asks for more than there is. /job/driver is qxl (64 MiB) or
# radeon (16 MiB, without acceleration: nothing moves back, and C is refused before TTM is asked). The kernel's own
# probes see the same moves as the agent; their sums are lines "truth EVICTOR OWNER OUT_COUNT OUT_BYTES
# IN_COUNT IN_BYTES", and tests/vm/ttm compares them on the host.
. /lab/lab.sh

fact() { echo "fact $*"; }
quiet() { "$@" >/tmp/out 2>&1 || { cat /tmp/out; return 1; }; }
sock=/tmp/agent.sock
driver=$(cat /job/driver)
mib=8 a_count=7 b_count=6 huge=128 manager=qxl_mem_mm
if [ "$driver" = radeon ]; then
	mib=4 a_count=3 b_count=3 huge=4095
fi

# wait_for SECONDS PATTERN: until the agent's output contains it.
wait_for() { lab_soon "$1" grep -q -e "$2" /tmp/agent.out; }

# paused FILE N: whether the client that writes FILE has come to its Nth pause.
paused() { [ "$(grep -c '^step=pause' "$1")" = "$2" ]; }

# Used pages of the device's memory, as the driver's own manager counts them.
used_pages() {
	sed -n 's/^total: [0-9]*, used \([0-9]*\) .*/\1/p' /sys/kernel/debug/dri/0/$manager
}

# A GEM object is a TTM buffer's first member and its size is at 216 (6.1 to 7.2, x86-64).
probes_on() {
	cat >$lab_tracing/dynamic_events <<END
p:lab/handle drm_gem_handle_create bo=%si:x64
r:lab/heap_full ttm_resource_alloc ret=\$retval:s32
p:lab/move ttm_bo_handle_move_mem bo=%di:x64 size=+216(%di):u64 evict=%dx:u8 to=+16(%si):u32
r:lab/moved ttm_bo_handle_move_mem ret=\$retval:s32
r:lab/validated ttm_bo_validate ret=\$retval:s32
r:lab/ioctl drm_ioctl ret=\$retval:s32
END
	echo 'ret == -28' >$lab_tracing/events/lab/heap_full/filter
	echo 'ret == -12' >$lab_tracing/events/lab/validated/filter
	echo 'ret == -12' >$lab_tracing/events/lab/ioctl/filter
	echo boot >$lab_tracing/trace_clock
	echo 16384 >$lab_tracing/buffer_size_kb
	lab_trace on lab
}

# Out: an eviction that succeeded. In: a buffer that was evicted is placed in memory type 2 again.
# A driver that needs two hops for a first placement fails once with -EMULTIHOP; the buffer then
# comes from system memory: that is not a return.
truth() {
	awk '
	/^#/ { next }
	{ match($0, /-[0-9]+ +\[/); pid = substr($0, RSTART + 1, RLENGTH - 1); pid += 0 }
	function value(name) { match($0, name "=[^ ]+"); return substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) }
	/ handle: / { owner[value("bo")] = pid }
	/ move: / { bo[pid] = value("bo"); size[pid] = value("size"); evict[pid] = value("evict"); to[pid] = value("to") }
	/ moved: .* ret=0$/ {
		b = bo[pid]
		key = pid " " owner[b] + 0
		if (evict[pid] == 1) { out[b] = 1; oc[key]++; ob[key] += size[pid]; all[key] = 1 }
		else if (to[pid] == 2 && out[b]) { delete out[b]; ic[key]++; ib[key] += size[pid]; all[key] = 1 }
	}
	END { for (k in all) printf "truth %s %d %d %d %d\n", k, oc[k], ob[k], ic[k], ib[k] }' \
		$lab_tracing/trace
}

# The microcode is missing, so radeon runs without acceleration; its memory manager works.
load_driver() {
	mkdir -p /lib/firmware/radeon
	head -c 2048 /dev/zero >/lib/firmware/radeon/R100_cp.bin
	modprobe drm_kms_helper fbdev_emulation=0 && modprobe "$driver"
}

# first PID PATTERN: the time in ns of the first matching probe hit of this process.
first() {
	sed -n "/-$1 .*$2/{s/.* \([0-9]*\)\.\([0-9]\{6\}\): .*/\1\2000/p;q}" $lab_tracing/trace
}

mkdir /tmp/etc
printf '[eviction_storm]\nbytes = 32 MiB\nwindow = 20 s\n' >/tmp/etc/hazards.conf
davylamp run --json --mode advise --socket $sock --state /tmp/state --config /tmp/etc \
	>/tmp/agent.out 2>/tmp/agent.err &
agent=$!
check "the sensor of TTM is absent at first" wait_for 20 '"name":"ttm","state":"absent"'
check "$driver loads while the agent runs" load_driver
check "the sensor of TTM is live" wait_for 20 '"name":"ttm","state":"live"'
check "the sensor of DRM is live" wait_for 20 '"name":"drm","state":"live"'
check "the kernel's own probes are active" probes_on
fact gpu "$(basename "$(readlink /sys/class/drm/card0/device)")"

ttm-client --comm holder alloc $a_count $mib pause touch pause >/tmp/a &
a=$!
fact a $a
check "client A fills the memory" lab_soon 20 paused /tmp/a 1
check "client A causes no evictions" test -z "$(truth)"
ttm-client --comm filler alloc $b_count $mib pause >/tmp/b &
b=$!
fact b $b
fact taken $b_count $((b_count * mib << 20))
check "client B fills the memory as well" lab_soon 20 paused /tmp/b 1
sleep 0.5
if [ "$driver" = qxl ]; then
	kill -USR1 $a
	check "client A's memory is moved back" lab_soon 20 paused /tmp/a 2
	sleep 0.5
	before=$(used_pages)
fi
cp /lab/ttm-client /tmp/llama-server
/tmp/llama-server -m /models/huge.gguf --comm llama-server pause alloc 1 $huge >/tmp/c &
c=$!
fact c $c
check "client C is ready" lab_soon 20 paused /tmp/c 1
sleep 0.5 # the exec event comes first
kill -USR1 $c
wait $c
fact c_said "$(grep '^step=alloc' /tmp/c)"
[ "$driver" = radeon ] || fact freed_pages $((before - $(used_pages)))
check "the failed ioctl of client C is reported" wait_for 10 "\"alloc_failed\",\"pid\":$c,.*\"stage\":3"
sleep 0.5
lab_trace off
kill $a $b
wait $a
wait $b
for pid in $b $c; do
	fact "order_$pid" "$(first "$pid" ' heap_full: ')" "$(first "$pid" ' move: .*evict=1')" \
		"$(first "$pid" ' validated: ')" "$(first "$pid" ' ioctl: ')"
done
for name in a b c; do
	eval "pid=\$$name"
	fact full_$name "$(grep -c -e "-$pid .* heap_full: " $lab_tracing/trace)"
done
truth
davylamp status --json --socket $sock >/tmp/status
kill $agent
wait $agent
fact agent_status $?
check "no BUG and no WARNING is in the log" lab_log_clean
for section in agent.out agent.err status a b c; do
	echo "== $section"
	cat /tmp/$section
done
echo "== trace"
grep -v '^#' $lab_tracing/trace | grep -v ' move: .*evict=0' | cut -c1-160 | tail -n 200
echo "== end"
lab_end
