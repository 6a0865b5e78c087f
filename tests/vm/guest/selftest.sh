# SPDX-License-Identifier: GPL-2.0
#
# The lab's own test, run in the guest: every tool works as documented, on the real driver.
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
check "an interrupt entry calls the probe 40 times" said "probe_calls=40"
check "the trace has 40 interrupt entries with every value" lab_trace_count "llama-server-.* amdgpu_iv: ih:0 \
client_id:27 src_id:0 ring:24 vmid:3 timestamp: 0 pasid:32771 src_data: f1234567 00000007" 40
check "an entry fires in interrupt context" quiet fire iv --irq --ih 1 --pasid 40000 --src 1
check "the trace marks an entry from interrupt context" lab_trace_has ' [dD]\.[hH]..* amdgpu_iv: ih:1 .* pasid:40000 '
check "a buffer move fires" quiet fire bo-move --dev-name 0000:00:05.0 --bytes 1048576 --from 2 --to 1 \
	--pid 4711 --count 3
check "the trace of a buffer move has from, to and size" lab_trace_count "from=2, to=1, size=1048576" 3
check "a pasid is allocated" quiet fire pasid alloc --pasid 32771
check "the trace of an allocated PASID has its number" lab_trace_has "amdgpu_pasid_allocated: pasid=32771"
check "a pasid is freed" quiet fire pasid free --pasid 32771
check "the trace of a freed PASID has its number" lab_trace_has "amdgpu_pasid_freed: pasid=32771"
check "a job is queued" quiet fire job queue --ring gfx_0.0.0 --id 77 --seqno 77
check "the trace of a queued job has its values" lab_trace_has \
	"$lab_queue: .*\(id=\|fence=[0-9]*:\)77, .*ring=gfx_0.0.0, job count:0"
check "a job runs" quiet fire job run --ring comp_1.0.0 --id 78 --seqno 78
check "the trace of a running job has its values" lab_trace_has \
	"$lab_run: .*\(id=\|fence=[0-9]*:\)78, .*ring=comp_1.0.0, job count:0"
check "a job is done" quiet fire job 'done' --ring gfx_0.0.0
check "the trace of a finished job has its values" lab_trace_has "$lab_done: fence=.* signaled"
lab_trace off
check "an interrupt entry fires without a probe" quiet fire iv --count 5
check "fire reports 0 probe calls without a probe" said "probe_calls=0"
check "an unknown tracepoint is refused" not fire send "fire 1 task no_such_event 1" 2>/dev/null

section "any tracepoint"
dev=0000:00:06.0
modprobe i915
lab_trace on amdgpu/amdgpu_bo_create i915/i915_gem_evict i915/i915_gem_shrink \
	i915/i915_gem_object_fault dma_fence/dma_fence_signaled signal/signal_generate
check "fire has succeeds for hooks of this kernel" quiet fire has tp signal_generate func drm_ioctl
fire has tp signal_generate func no_such_function >/tmp/out
check "fire has exits with 4 for a missing hook" test $? = 4
check "fire has names the missing hook" said "^no func no_such_function"
fire tp no_such_event >/tmp/out 2>&1
check "fire tp of an unknown tracepoint exits with 4" test $? = 4
check "fire tp sets members behind pointers" quiet fire tp amdgpu_bo_create bo.tbo.base.size=12345 \
	'bo.tbo.resource.size|bo.tbo.resource.num_pages=4096' bo.tbo.resource.mem_type=1 \
	bo.preferred_domains=4 bo.allowed_domains=6 bo.flags=9 '?bo.no_such_member=1'
check "the trace has the members behind pointers" lab_trace_has \
	"amdgpu_bo_create: .* pages=\(1\|4096\), type=1, preferred=4, allowed=6, visible=9"
check "fire tp refuses an unknown member" not fire tp amdgpu_bo_create bo.no_such=1 2>/dev/null
check "fire tp passes scalars" quiet fire tp i915_gem_evict vm.i915.drm.primary.index=7 \
	1=0x123456789000 align=4096 flags=8
check "the trace has the scalars" lab_trace_has \
	"i915_gem_evict: dev=7, .* size=0x123456789000, align=0x1000 , mappable"
check "fire tp sets arguments by their number" quiet fire tp i915_gem_shrink 0.drm.primary.index=5 1=77 2=0x31
check "the trace has arguments that were set by number" lab_trace_has "i915_gem_shrink: dev=5, target=77, flags=31"
check "a negative number fits its member" quiet fire tp signal_generate 0=6 info.si_errno=-12 \
	info.si_code=-6 task.comm=a-task task.pid=4711 3=1 4=0
check "the trace has the negative number and the text" lab_trace_has \
	"signal_generate: sig=6 errno=-12 code=-6 comm=a-task pid=4711 grp=1 res=0"
check "objects of one event can refer to each other by name" quiet fire tp dma_fence_signaled --module amdgpu \
	@ring:amdgpu_ring.sched.name=comp_1.2.3 @fence:drm_sched_fence.finished.context=8 \
	'@fence.sched=&@ring.sched' @fence.finished.ops=sym:drm_sched_fence_ops_finished \
	@fence.finished.seqno=9 '0=&@fence.finished'
check "the trace has the objects that refer to each other" lab_trace_has \
	"dma_fence_signaled: driver=drm_sched timeline=comp_1.2.3 context=8 seqno=9"
check "fire storm fires on two CPUs at the same time" quiet fire storm i915_gem_object_fault --cpus 0,1 --count 500 \
	0.base.size=4096 1=3 2=1 3=1
check "fire storm prints its duration" said "cpus=2 count=500 wall_ns=[1-9]"
check "every event of two CPUs arrives" lab_trace_count "\[00[01]\] .*i915_gem_object_fault: .* GTT index=3" 1000
check "half of the events come from the second CPU" lab_trace_count "\[001\] .*i915_gem_object_fault: " 500
if modprobe xe 2>/dev/null; then
	lab_trace on xe/xe_vm_kill xe/xe_vma_pagefault xe/xe_exec_queue_reset
	check "arguments without a name in the type have the kernel's names" quiet fire tp \
		xe_vm_kill vm.xe.drm.dev.kobj.name=$dev vm.usm.asid=0x123 vm.flags=4
	check "the trace of xe has the values" lab_trace_has \
		"xe_vm_kill: dev=$dev, .* asid=0x00123\(, vm flags=0x00004\)\?"
	check "embedded objects are distinct" quiet fire tp xe_vma_pagefault --module xe \
		@vm:xe_vm.xe.drm.dev.kobj.name=$dev @vm.usm.asid=0x77 '0.gpuva.vm=&@vm.gpuvm' \
		0.gpuva.va.addr=0x7f0000001000 0.gpuva.va.range=0x2000
	check "the trace of xe has the embedded objects" lab_trace_has "xe_vma_pagefault: dev=$dev, .* asid=0x00077,\
 start=0x7f0000001000, end=0x7f0000002fff, userptr=0x000000000000"
	check "members of a nested exec queue can be set" quiet fire tp xe_exec_queue_reset \
		q.gt.tile.xe.drm.dev.kobj.name=$dev q.class=3 q.logical_mask=5 q.gt.info.id=1 \
		q.width=2 q.guc.id=99 q.guc.state.counter=0x21 q.flags=16
	check "the trace of xe has the nested exec queue" lab_trace_has "xe_exec_queue_reset: dev=$dev, 3:0x5, gt=1, width=2, \
guc_id=99, guc_state=0x21, flags=0x10"
fi
lab_trace off

section "functions"
cat >$lab_tracing/dynamic_events <<END
p:lab/limit amdgpu:amdgpu_amdkfd_reserve_mem_limit size=%si:u64 flags=%dx:u32
r:lab/limit_end amdgpu:amdgpu_amdkfd_reserve_mem_limit \$retval:s32
END
lab_trace on lab
check "a function is called while its body is skipped" quiet fire func \
	amdgpu_amdkfd_reserve_mem_limit --ret -12 --count 3 adev.dev.kobj.name=$dev size=0x40000000 2=1
check "fire prints the number of calls and the result" said "count=3 result=0xfffffffffffffff4"
check "a probe sees the arguments of a skipped function" lab_trace_count "limit: (.*) size=1073741824 flags=1" 3
check "a probe sees the return value of a skipped function" lab_trace_count "limit_end: (.*) arg1=-12" 3
check "a skipped function is called from two CPUs" quiet fire storm amdgpu_amdkfd_reserve_mem_limit --cpus 0,1 \
	--count 20 --ret 5 size=7
check "a probe sees every call from two CPUs" lab_trace_count "limit_end: (.*) arg1=5" 40
lab_trace off
check "the probes can be removed" sh -c "echo >$lab_tracing/dynamic_events"
check "a function is skipped" quiet fire skip amdgpu_pasid_alloc -12
check "a skipped function can be called" quiet fire send "call 1 task amdgpu_pasid_alloc 16"
check "a skipped function returns the chosen value" said "result=0xfffffffffffffff4"
check "a skip can be removed" quiet fire unskip amdgpu_pasid_alloc
check "a function can be called after its skip was removed" quiet fire send "call 1 task amdgpu_pasid_alloc 16"
check "a function returns its own value after its skip was removed" said "result=0x[0-9a-f]\{1,5\}$"
check "a skip can stay active" quiet fire skip amdgpu_pasid_alloc 7
check "amdgpu unloads with skips in place" rmmod amdgpu
check "amdgpu loads after it" lab_load

section "binding"
check "the real driver binds to the qxl device" lab_bind
gpu=$(lab_gpu)
check "the bound device has 256 MiB of memory" \
	grep -qx 268435456 "/sys/bus/pci/devices/$gpu/mem_info_vram_total"
check "the engine starts" quiet fire engine "$gpu"

section "memory"
lab_trace on amdgpu/amdgpu_bo_move
gpu-client --comm llama-server --seconds 60 hold 1048576 33554432 >/tmp/hold &
holder=$!
sleep 1
check "a client allocates 33 MiB" grep -q "bo handle=2 bytes=33554432" /tmp/hold
check "fdinfo names the driver" grep -q "^drm-driver:.amdgpu" /proc/$holder/fdinfo/3
check "fdinfo counts the client's memory" grep -q "^drm-memory-vram:.3[34][0-9]\{3\} KiB" \
	/proc/$holder/fdinfo/3
grep -e drm- -e amd- /proc/$holder/fdinfo/3
kill $holder
wait $holder
check "the client frees its memory on SIGTERM" grep -q "^released" /tmp/hold
check "20 objects of 16 MiB overcommit the memory" quiet gpu-client fill 20 16
cat /tmp/out
check "the overcommit causes evictions" said "evictions=[1-9]"
check "the trace has moves from VRAM to GTT" lab_trace_has \
	"gpu-client-.* amdgpu_bo_move: .* from=2, to=1, size=16777216"
gpu-client --comm llama-server --jobs 1 --seconds 60 fill 8 16 >/tmp/hold &
holder=$!
sleep 1
check "a second client takes a holder's memory" quiet gpu-client fill 12 16
check "the second client causes evictions" said "evictions=[1-9]"
kill $holder
wait $holder

section "jobs"
check "three DMA jobs end" quiet gpu-client --comm llama-server submit 3
check "no DMA job failed" said "n=3 .*result=0"
check "three graphics jobs end" quiet gpu-client --comm llama-server --ring gfx submit 3
check "no graphics job failed" said "n=3 .*result=0"

section "page fault"
lab_trace on amdgpu/amdgpu_iv
check "a fault is fired through the driver" quiet fire fault --dev-name "$gpu"
check "the driver's own event fires in interrupt context, from its first ring" \
	lab_trace_has ' [dD]\.[hH]..* amdgpu_iv: ih:0 .* src_id:146 ring:0 vmid:1 '
check "two more faults are fired through the driver" quiet fire fault --dev-name "$gpu" --vmid 5 --count 2
check "the driver's own event fires for both faults" lab_trace_count 'amdgpu_iv: ih:0 .* src_id:146 ring:0 vmid:5 ' 2
check "the driver's log has the fault" lab_log_has "GPU fault detected: 146 0x00abcdef"

section "hang"
# The fence's error lies at offset 60 of struct dma_fence (6.1 to 7.2, x86-64).
cat >$lab_tracing/dynamic_events <<END
p:lab/timedout amdgpu_job_timedout
p:lab/recover amdgpu_device_gpu_recover
p:lab/signal dma_fence_signal error=+60(%di):s32
END
check "the rings become idle" lab_soon 10 lab_rings_idle
fire engine off
lab_trace on gpu_scheduler amdgpu/amdgpu_sched_run_job lab
check "a job on a stopped ring fails" \
	not quiet gpu-client --comm llama-server hang
check "the job fails with ECANCELED (or ETIME, 7.2) after 2 s or more" \
	said "(E\(CANCELED\|TIME\)) ms=[2-9][0-9]\{3\}$"
check "the job's context is guilty of a reset" said "context id=1 flags=0x2\?5"
lab_trace off
sed -n '/^ .*: /p' $lab_tracing/trace
check "the trace has the client's job in the queue" lab_trace_has "llama-server-.* $lab_queue: .* ring=sdma"
check "the trace has the job run by the ring's thread (6.1) or a worker" \
	lab_trace_has " \(sdma[01]\|kworker[^ ]*\)-.* $lab_run: "
check "the trace has the timeout in a worker" lab_trace_has "kworker/.* timedout:"
check "the trace has the recovery of the device" lab_trace_has "kworker/.* recover:"
check "the trace has the end of the job" lab_trace_has "kworker/.* $lab_done: "
check "the trace has the error of the job" lab_trace_has "kworker/.* signal: .* error=-\(125\|62\)"
check "the driver's log has the timeout" lab_log_has "ring sdma[01] timeout, signaled seq="
check "the driver's log has the process" lab_log_has "rocess llama-server pid"
# The client sees the error before the reset has ended (7.2).
check "the driver's log has the end of the reset" lab_soon 10 lab_log_has "GPU reset([0-9]*) succeeded!"
check "there is a device coredump" test -e /sys/class/devcoredump/devcd1/data
check "the engine starts again" quiet fire engine "$gpu"
check "jobs end after the reset" quiet gpu-client submit 2
check "the probes can be removed after the reset" sh -c "echo >$lab_tracing/dynamic_events"

section "unbinding"
check "the driver can be unbound" lab_unbind
check "no render node is left" not test -e /dev/dri/renderD128
check "amdgpu unloads while the engine is on" quiet rmmod amdgpu
check "amdgpu loads again" lab_load
check "the driver binds to the device again" lab_bind
check "the engine starts" quiet fire engine "$gpu"
check "jobs end after the rebinding" quiet gpu-client submit 2
check "no BUG and no WARNING is in the log" lab_log_clean
section "end"
lab_end
