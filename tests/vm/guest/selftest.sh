# SPDX-License-Identifier: GPL-2.0
#
# The lab's own test, run in the guest: every tool does what it says, on the real driver.
. /lab/lab.sh

seconds() { cut -d' ' -f1 /proc/uptime; }
section() { echo "== $1 (at $(seconds) s)"; }

quiet() { "$@" >/tmp/out 2>&1 || { cat /tmp/out; return 1; }; }
said() { grep -q -e "$1" /tmp/out || { cat /tmp/out; return 1; }; }
loaded() { grep -q "^$1 " /proc/modules; }
not() { ! "$@"; }

section "drivers"
check "the injector loads" insmod /lab/davylamp-inject.ko
check "amdgpu loads" modprobe amdgpu
check "i915 loads" modprobe i915
check "amdgpu unloads" rmmod amdgpu
check "amdgpu is gone" not loaded amdgpu
check "amdgpu loads again, with the lab's options" lab_load

lab_sched_names

section "tracepoints"
lab_trace on amdgpu/amdgpu_iv amdgpu/amdgpu_bo_move amdgpu/amdgpu_pasid_allocated \
	amdgpu/amdgpu_pasid_freed "gpu_scheduler/$lab_queue" "gpu_scheduler/$lab_run" \
	"gpu_scheduler/$lab_done"
check "an interrupt entry fires 40 times" quiet fire iv --dev-name 0000:00:05.0 --pasid 32771 \
	--vmid 3 --client 0x1b --src 0 --ring-id 24 --addr 0x7f1234567000 --count 40
check "each time at the one probe" said "probe_calls=40"
check "its text has every value, 40 times" lab_trace_count "llama-server-.* amdgpu_iv: ih:0 \
client_id:27 src_id:0 ring:24 vmid:3 timestamp: 0 pasid:32771 src_data: f1234567 00000007" 40
check "an entry fires in interrupt context" quiet fire iv --irq --ih 1 --pasid 40000 --src 1
check "its text says so" lab_trace_has ' [dD]\.[hH]..* amdgpu_iv: ih:1 .* pasid:40000 '
check "a move fires" quiet fire bo-move --dev-name 0000:00:05.0 --bytes 1048576 --from 2 --to 1 \
	--pid 4711 --count 3
check "its text has from, to and size" lab_trace_count "from=2, to=1, size=1048576" 3
check "a pasid is allocated" quiet fire pasid alloc --pasid 32771
check "its text has it" lab_trace_has "amdgpu_pasid_allocated: pasid=32771"
check "a pasid is freed" quiet fire pasid free --pasid 32771
check "its text has it" lab_trace_has "amdgpu_pasid_freed: pasid=32771"
check "a job is queued" quiet fire job queue --ring gfx_0.0.0 --id 77 --seqno 77
check "its text has it" lab_trace_has \
	"$lab_queue: .*\(id=\|fence=[0-9]*:\)77, .*ring=gfx_0.0.0, job count:0"
check "a job runs" quiet fire job run --ring comp_1.0.0 --id 78 --seqno 78
check "its text has it" lab_trace_has \
	"$lab_run: .*\(id=\|fence=[0-9]*:\)78, .*ring=comp_1.0.0, job count:0"
check "a job is done" quiet fire job 'done' --ring gfx_0.0.0
check "its text has it" lab_trace_has "$lab_done: fence=.* signaled"
lab_trace off
check "without a probe nothing is called" quiet fire iv --count 5
check "and the tool says so" said "probe_calls=0"
check "an unknown tracepoint is refused" not fire send "fire 1 task no_such_event 1" 2>/dev/null

section "functions"
check "a function is skipped" quiet fire skip amdgpu_pasid_alloc -12
check "it returns what was asked" quiet fire send "call task amdgpu_pasid_alloc 16"
check "that is -12" said "result=0xfffffffffffffff4"
check "the skip is undone" quiet fire unskip amdgpu_pasid_alloc
check "the function works again" quiet fire send "call task amdgpu_pasid_alloc 16"
check "and returns a number of its own" said "result=0x[0-9a-f]\{1,5\}$"
check "a function is skipped, to stay so" quiet fire skip amdgpu_pasid_alloc 7
check "amdgpu unloads with skips in place" rmmod amdgpu
check "amdgpu loads after it" lab_load

section "binding"
check "the real driver takes the qxl device" lab_bind
gpu=$(lab_gpu)
check "it has 256 MiB of memory" \
	grep -qx 268435456 "/sys/bus/pci/devices/$gpu/mem_info_vram_total"
check "the engine starts" quiet fire engine "$gpu"

section "memory"
lab_trace on amdgpu/amdgpu_bo_move
gpu-client --comm llama-server --seconds 60 hold 1048576 33554432 >/tmp/hold &
holder=$!
sleep 1
check "a client holds 33 MiB" grep -q "bo handle=2 bytes=33554432" /tmp/hold
check "fdinfo names the driver" grep -q "^drm-driver:.amdgpu" /proc/$holder/fdinfo/3
check "fdinfo counts its memory" grep -q "^drm-memory-vram:.3[34][0-9]\{3\} KiB" \
	/proc/$holder/fdinfo/3
grep -e drm- -e amd- /proc/$holder/fdinfo/3
kill $holder
wait $holder
check "it released on SIGTERM" grep -q "^released" /tmp/hold
check "20 objects of 16 MiB overcommit the memory" quiet gpu-client fill 20 16
cat /tmp/out
check "the driver evicted" said "evictions=[1-9]"
check "and the tracepoint saw VRAM go to GTT" lab_trace_has \
	"gpu-client-.* amdgpu_bo_move: .* from=2, to=1, size=16777216"
gpu-client --comm llama-server --jobs 1 --seconds 60 fill 8 16 >/tmp/hold &
holder=$!
sleep 1
check "another client takes a holder's memory" quiet gpu-client fill 12 16
check "by evictions" said "evictions=[1-9]"
kill $holder
wait $holder

section "jobs"
check "three DMA jobs end" quiet gpu-client --comm llama-server submit 3
check "none failed" said "n=3 .*result=0"
check "three graphics jobs end" quiet gpu-client --comm llama-server --ring gfx submit 3
check "none failed" said "n=3 .*result=0"

section "page fault"
lab_trace on amdgpu/amdgpu_iv
check "a fault goes through the driver" quiet fire fault --dev-name "$gpu"
check "the driver's own event fired in interrupt context, from its first ring" \
	lab_trace_has ' [dD]\.[hH]..* amdgpu_iv: ih:0 .* src_id:146 ring:0 vmid:1 '
check "two more go the same way" quiet fire fault --dev-name "$gpu" --vmid 5 --count 2
check "and both fired" lab_trace_count 'amdgpu_iv: ih:0 .* src_id:146 ring:0 vmid:5 ' 2
check "the driver's log has it" lab_log_has "GPU fault detected: 146 0x00abcdef"

section "hang"
# The fence's error lies at offset 60 of struct dma_fence (6.1 to 7.2, x86-64).
cat >$lab_tracing/dynamic_events <<END
p:lab/timedout amdgpu_job_timedout
p:lab/recover amdgpu_device_gpu_recover
p:lab/signal dma_fence_signal error=+60(%di):s32
END
check "the rings run dry" lab_soon 10 lab_rings_idle
fire engine off
lab_trace on gpu_scheduler amdgpu/amdgpu_sched_run_job lab
check "a job on a ring that stands still fails" \
	not quiet gpu-client --comm llama-server hang
check "with ECANCELED (or ETIME, 7.2), after 2 s or more" \
	said "(E\(CANCELED\|TIME\)) ms=[2-9][0-9]\{3\}$"
check "its context is guilty of a reset" said "context id=1 flags=0x2\?5"
lab_trace off
sed -n '/^ .*: /p' $lab_tracing/trace
check "the client queued it" lab_trace_has "llama-server-.* $lab_queue: .* ring=sdma"
check "the ring's thread (6.1) or a worker ran it" \
	lab_trace_has " \(sdma[01]\|kworker[^ ]*\)-.* $lab_run: "
check "a worker saw the timeout" lab_trace_has "kworker/.* timedout:"
check "and recovered the device" lab_trace_has "kworker/.* recover:"
check "the job ended" lab_trace_has "kworker/.* $lab_done: "
check "with an error" lab_trace_has "kworker/.* signal: .* error=-\(125\|62\)"
check "the driver's log has the timeout" lab_log_has "ring sdma[01] timeout, signaled seq="
check "and the process" lab_log_has "rocess llama-server pid"
# The client knows of it before the reset is over (7.2).
check "and the reset" lab_soon 10 lab_log_has "GPU reset([0-9]*) succeeded!"
check "there is a device coredump" test -e /sys/class/devcoredump/devcd1/data
check "the engine starts again" quiet fire engine "$gpu"
check "and jobs end again" quiet gpu-client submit 2
check "the probes go" sh -c "echo >$lab_tracing/dynamic_events"

section "unbinding"
check "the driver leaves the device" lab_unbind
check "no render node is left" not test -e /dev/dri/renderD128
check "the engine stopped by itself" quiet rmmod amdgpu
check "amdgpu loads again" lab_load
check "and takes the device again" lab_bind
check "the engine starts" quiet fire engine "$gpu"
check "jobs end" quiet gpu-client submit 2
check "no BUG and no WARNING is in the log" lab_log_clean
section "end"
lab_end
