# SPDX-License-Identifier: GPL-2.0
#
# For guest scripts, after lab.sh: every fact that the agent reports, one row each. A row names the
# hooks that must exist (otherwise it is skipped, with the reason), what the agent must print (a jq
# filter), and the command that causes it. The values of a row are unique, so that nothing
# else can be mistaken for it. The rows only act, and print "expect<TAB>NAME<TAB>FILTER";
# tests/vm/facts-compare reads that on the host.
#
# In a filter @BY@ is the process that fired, @PID@ the affected process if a row prints it ("pid=N
# by=N" in its output). A filter that begins with "all " sees the array
# of all events, any other must be true of one event. Hooks: "tp:[MODULE/]NAME", "func:[MODULE/]NAME"; with "!"
# in front, one that must not exist.
#
# Arguments of rows are kept in variables, as words:
# shellcheck disable=SC2046,SC2086

facts_amd=0000:0a:00.0
facts_xe=0000:0b:00.0
facts_intel=0000:0c:00.0
facts_other=0000:0d:00.0
facts_mode=collect
facts_hooks=/tmp/facts.hooks
facts_missing=/tmp/facts.missing

row_absent() { grep -qxF "no ${1%%:*} ${1#*:}" $facts_missing; }

row() {
	row_name=$1 row_hooks=$2 row_filter=$3
	shift 3
	if [ $facts_mode = collect ]; then
		for row_hook in $row_hooks; do
			row_hook=${row_hook#!}
			echo "${row_hook%%:*} ${row_hook#*:}"
		done >>$facts_hooks
		return
	fi
	for row_hook in $row_hooks; do
		case $row_hook in
		!*)
			row_hook=${row_hook#!}
			row_absent "$row_hook" && continue
			echo "skipped: $row_name: ${row_hook#*:} is here"
			return
			;;
		*)
			row_absent "$row_hook" || continue
			echo "skipped: $row_name: no ${row_hook#*:} here"
			return
			;;
		esac
	done
	if ! "$@" >/tmp/row.out 2>&1; then
		lab_failed=$((lab_failed + 1))
		echo "FAILED: it can be fired: $row_name"
		cat /tmp/row.out
		return
	fi
	row_by=$(sed -n 's/.* by=\([0-9]*\)$/\1/p' /tmp/row.out | tail -n 1)
	row_pid=$(sed -n 's/.* pid=\([0-9]*\) .*/\1/p' /tmp/row.out | tail -n 1)
	row_filter=$(echo "$row_filter" | tr -s '\n\t' '  ' |
		sed "s/@BY@/${row_by:-0}/g; s/@PID@/${row_pid:-0}/g")
	printf 'expect\t%s\t%s\n' "$row_name" "$row_filter"
}

# facts_run: one command looks up the missing hooks of all rows.
facts_run() {
	set -f # paths have brackets
	facts_mode=collect
	: >$facts_hooks
	facts_rows
	fire has $(sort -u $facts_hooks) | grep '^no ' >$facts_missing
	facts_mode=fire
	facts_rows
	set +f
}

# All groups, or those in $FACTS.
facts_rows() {
	for facts_group in ${FACTS-faults amdgpu jobs memory kfd i915 xe nvidia ioctls host}; do
		facts_$facts_group
	done
}

# fault NAME CLASS CLIENT SRC PASID [OPTION...]: an interrupt vector that must arrive as a fault.
fault() {
	fault_name=$1 fault_class=$2 fault_client=$3 fault_src=$4 fault_pasid=$5
	shift 5
	fault_filter=".event == \"gpu_fault\" and .device == \"$facts_amd\" and
		.class == \"$fault_class\" and .client_id == $((fault_client)) and
		.src_id == $fault_src and .pasid == $fault_pasid and .count == 1"
	case $fault_class in
	vm*) fault_filter="$fault_filter and .vmid == 7 and
		(.client_id == 0 or (.addr == $((0x7abcde123000)) and .addr_known)) and
		(.client_id != 0 or .addr_known == false)" ;;
	esac
	row "$fault_name" "tp:amdgpu_iv" "$fault_filter" \
		fire iv --dev-name $facts_amd --client "$fault_client" --src "$fault_src" \
		--pasid "$fault_pasid" --vmid 7 --addr 0x7abcde123000 "$@"
}

# traffic NAME CLIENT SRC PASID: an interrupt vector that must not.
traffic() {
	row "$1" "tp:amdgpu_iv" \
		"all map(select(.event == \"gpu_fault\" and .pasid == $4)) | length == 0" \
		fire iv --dev-name $facts_amd --client "$2" --src "$3" --pasid "$4" --count 5
}

facts_faults() {
	fault "gfx6-8: an invalid page is a VM fault with unknown address" vm 0 146 5001 --irq
	fault "gfx6-8: a protection fault is a VM fault" vm 0 147 5002
	fault "gfx9: a fault of the GFX hub" vm 0x1b 0 5003 --irq
	fault "gfx9, gfx10: a retry fault of the GFX hub, by its flag" vm_retry 0x1b 0 5004 --flags 0x80
	fault "gfx9 to gfx12: a fault of the MM hub" vm 0x12 0 5005
	fault "gfx9: a fault of the second MM hub" vm 0x06 0 5006
	fault "gfx9: a retry fault of the MM hub" vm_retry 0x12 0 5007 --flags 0x80
	fault "gfx11, gfx12: a fault of the GFX hub" vm 0x0a 0 5008
	fault "gfx11: a retry fault of the GFX hub" vm_retry 0x0a 0 5009 --flags 0x80
	fault "gfx12.1: a retry fault of the GFX hub has a separate source" vm_retry 0x1b 1 5010
	fault "gfx12.1: a retry fault of the MM hub has a separate source" vm_retry 0x12 1 5011
	fault "a bad opcode" illegal 0x14 183 5012
	fault "a privileged register" illegal 0x14 184 5013
	fault "a privileged instruction" illegal 0x14 185 5014
	fault "CP ECC" ecc 0x14 197 5015
	fault "CP FUE" ecc 0x14 201 5016
	fault "SQ: a wave's error" wave 0x14 239 5017
	fault "gfx9: SQ of shader engine 0" wave 0x0a 239 5018
	fault "gfx9: SQ of shader engine 3" wave 0x0d 239 5019
	fault "SDMA 4 and 5: a page fault" sdma 0x08 221 5020
	fault "SDMA 4 and 5: ECC" ecc 0x09 220 5021
	fault "SDMA 4 and 5: SRAM ECC" ecc 0x08 228 5022
	fault "SDMA 4 and 5: a VM hole" sdma 0x09 242 5023
	fault "SDMA 4 and 5: a bad doorbell" sdma 0x08 244 5024
	fault "SDMA 4 and 5: a poll that timed out" sdma 0x08 246 5025
	fault "SDMA 6 and 7: a page that timed out" sdma 0x0a 58 5026
	fault "SDMA 6 and 7: a null page" sdma 0x0a 59 5027
	fault "SDMA 6 and 7: a page fault" sdma 0x0a 60 5028
	fault "SDMA 6 and 7: ECC" ecc 0x0a 62 5029
	fault "SDMA 6 and 7: SRAM ECC" ecc 0x0a 64 5030
	fault "gfx11, gfx12: RLC FED" ecc 0x0a 128 5031
	fault "gfx11, gfx12: UTCL2 poison" ecc 0x0a 1 5032
	fault "memory ECC by the data fabric" ecc 0x17 0 5033
	fault "an entry of the second ring has the same device" vm 0x1b 0 5034 --ih 1
	fault "an entry of the third ring has the same device" vm 0x1b 0 5035 --ih 2
	traffic "the end of a pipe is not a fault" 0x14 181 5101
	traffic "a trap of SDMA is not a fault" 0x08 224 5102
	traffic "a trap of SDMA 6 is not a fault" 0x0a 49 5103
	traffic "a fence of gfx11 is not a fault" 0x0a 67 5104
	traffic "a fence of gfx12 is not a fault" 0x0a 70 5105
	traffic "an interrupt of the display is not a fault" 0x04 146 5106
	row "a write fault is distinguished from a read fault" "tp:amdgpu_iv" \
		'.event == "gpu_fault" and .pasid == 5201 and .write' \
		fire iv --dev-name $facts_amd --src 0 --pasid 5201 --flags 0x20
	row "faults are counted" "tp:amdgpu_iv" \
		'.event == "gpu_fault" and .pasid == 5202 and .count == 40' \
		fire iv --dev-name $facts_amd --src 0 --pasid 5202 --count 40
	row "faults of two CPUs at once are counted exactly" "tp:amdgpu_iv" \
		'.event == "gpu_fault" and .pasid == 5203 and .count == 40000' \
		fire iv --dev-name $facts_amd --src 0 --pasid 5203 --cpus 0,1 --count 20000
	row "an entry that is passed to the software ring is counted once" "tp:amdgpu_iv" \
		'all map(select(.event == "gpu_fault" and .pasid == 5204)) | length == 0' \
		fire tp amdgpu_iv @adev:amdgpu_device.dev.kobj.name=$facts_amd 0=3 \
		'1.ih=&@adev.irq.ih_soft' 1.client_id=0x1b 1.pasid=5204
	row "a vector with only a VMID has the PASID that grabbed the VMID" \
		"tp:amdgpu_iv tp:amdgpu_vm_grab_id" \
		".event == \"gpu_fault\" and .pasid == 5205 and .vmid == 9 and .device == \"$facts_amd\"" \
		fire tp amdgpu_vm_grab_id --module amdgpu @adev:amdgpu_device.dev.kobj.name=$facts_amd \
		vm.pasid=5205 'ring.adev=&@adev' job.vmid=9 + tp amdgpu_iv 0=0 \
		'1.ih=&@adev.irq.ih' 1.src_id=146 1.vmid=9
}

amd="@adev:amdgpu_device.dev.kobj.name=$facts_amd @adev.ddev.dev=&@adev.dev
	@adev.dev.driver.name=amdgpu @adev.ddev.driver.name=amdgpu"

facts_amdgpu() {
	row "a PASID belongs to the process that opened the device" "tp:amdgpu_pasid_allocated" \
		'.event == "pasid" and .pasid == 5301 and .pid == @BY@ and .freed == false' \
		fire tp amdgpu_pasid_allocated 0=5301
	row "a freed PASID is reported" "tp:amdgpu_pasid_freed" \
		'.event == "pasid" and .pasid == 5301 and .freed' fire tp amdgpu_pasid_freed 0=5301
	row "a PASID belongs to the process that submits on its VM" "func:amdgpu_vm_set_task_info" \
		'.event == "pasid" and .pasid == 5302 and .pid == @BY@ and .freed == false' \
		fire func amdgpu_vm_set_task_info vm.pasid=5302
	row "a soft recovery that killed the wave is reported" "func:amdgpu_ring_soft_recovery" \
		".event == \"soft_recovery\" and .device == \"$facts_amd\" and .name == \"gfx_0.0.0\" and
		 .fence_context == 531 and .fence_seqno == 53101 and (.error // 0) == 0" \
		fire func amdgpu_ring_soft_recovery --ret 1 $amd '0.adev=&@adev' 0.name=gfx_0.0.0 \
		fence.context=531 fence.seqno=53101
	row "a soft recovery that failed is reported" "func:amdgpu_ring_soft_recovery" \
		'.event == "soft_recovery" and .fence_seqno == 53102 and .error < 0' \
		fire func amdgpu_ring_soft_recovery --ret 0 $amd '0.adev=&@adev' 0.name=gfx_0.0.0 \
		fence.context=531 fence.seqno=53102
	row "a ring reset that fails after 30 ms is reported" "func:amdgpu_ring_reset_helper_end" \
		".event == \"ring_reset\" and .device == \"$facts_amd\" and .name == \"comp_1.0.1\" and
		 .error == -110 and .duration_ns >= 30000000 and .duration_ns < 5000000000" \
		fire func amdgpu_ring_reset_helper_begin --module amdgpu $amd \
		'@ring:amdgpu_ring.adev=&@adev' @ring.name=comp_1.0.1 '0=&@ring' + sleep 30 + \
		func amdgpu_ring_reset_helper_end %ret=-110 '0=&@ring'
	row "a ring reset that succeeds is reported" "func:amdgpu_ring_reset_helper_end" \
		'.event == "ring_reset" and .name == "comp_1.0.2" and (.error // 0) == 0' \
		fire func amdgpu_ring_reset_helper_begin --module amdgpu $amd \
		'@ring:amdgpu_ring.adev=&@adev' @ring.name=comp_1.0.2 '0=&@ring' + \
		func amdgpu_ring_reset_helper_end %ret=0 '0=&@ring'
	for function in gfx_v9_0_reset_kcq gfx_v9_4_3_reset_kcq gfx_v10_0_reset_kgq \
		gfx_v10_0_reset_kcq gfx_v11_0_reset_kgq gfx_v11_0_reset_kcq gfx_v12_0_reset_kgq \
		gfx_v12_0_reset_kcq; do
		row "before the reset helper existed: $function" \
			"func:$function !func:amdgpu_ring_reset_helper_end" \
			".event == \"ring_reset\" and .device == \"$facts_amd\" and
			 .name == \"${function%_reset*}\" and .error == -62" \
			fire func $function --ret -62 $amd '0.adev=&@adev' 0.name=${function%_reset*}
	done
	row "RAS requests a reset" "func:amdgpu_ras_reset_gpu" \
		".event == \"ras_reset\" and .device == \"$facts_amd\"" \
		fire func amdgpu_ras_reset_gpu $amd '0=&@adev'
	row "the begin of a device reset is reported" "func:amdgpu_device_gpu_recover" \
		".event == \"reset\" and .device == \"$facts_amd\" and .begun" \
		fire func amdgpu_device_gpu_recover --ret 0 $amd '0=&@adev'
	row "the end of a device reset is reported with its result" "func:amdgpu_device_gpu_recover" \
		".event == \"reset\" and .device == \"$facts_amd\" and .begun == false and .result == -62" \
		fire func amdgpu_device_gpu_recover --ret -62 $amd '0=&@adev'
	row "a wedged device is reported from DRM's event" "func:drm_dev_wedged_event" \
		".event == \"wedged_event\" and .device == \"$facts_amd\" and .name == \"amdgpu\" and
		 .detail == 5" \
		fire func drm_dev_wedged_event --module amdgpu $amd '0=&@adev.ddev' method=5
	row "a device coredump is reported" "func:dev_coredumpm|dev_coredumpm_timeout" \
		".event == \"coredump\" and .device == \"$facts_amd\" and .bytes == 123456" \
		fire func 'dev_coredumpm_timeout|dev_coredumpm' dev.kobj.name=$facts_amd \
		dev.driver.name=amdgpu datalen=123456
	row "a coredump of another kind of device is ignored" \
		"func:dev_coredumpm|dev_coredumpm_timeout" \
		'all map(select(.event == "coredump" and .bytes == 123457)) | length == 0' \
		fire func 'dev_coredumpm_timeout|dev_coredumpm' dev.kobj.name=$facts_other \
		dev.driver.name=iwlwifi datalen=123457
}

# A job of an amdgpu ring, queued by the process that fires: $1 ring, $2 context, $3 sequence number.
job_args() {
	echo "$amd @ring:amdgpu_ring.adev=&@adev @ring.name=$1 @ring.sched.name=$1
		@ring.sched.timeout=2500 @ring.sched.dev=&@adev.dev
		@fence:drm_sched_fence.sched=&@ring.sched @fence.finished.context=$2
		@fence.finished.seqno=$3 @fence.scheduled.context=$(($2 + 1))
		@fence.scheduled.seqno=$3 @fence.parent.context=$(($2 + 2)) @fence.parent.seqno=$3
		@job:amdgpu_job.base.sched=&@ring.sched @job.base.s_fence=&@fence"
}

facts_jobs() {
	queue="drm_sched_job_queue|drm_sched_job" run="drm_sched_job_run|drm_run_job"
	finish="drm_sched_job_done|drm_sched_process_job" hook="tp:drm_sched_job|drm_sched_job_queue"
	row "a job's time on the hardware is in its process's histogram" "$hook" \
		".event == \"job_times\" and .device == \"$facts_amd\" and .ring == \"comp_2.0.0\" and
		 .pid == @BY@ and .count == 2 and .max_ns >= 30000000 and .max_ns < 5000000000 and
		 .sum_ns >= 60000000 and .sum_ns <= 2 * .max_ns and (.slots | add) == 2 and
		 (.slots[0:8] | add) == 0" \
		fire tp "$queue" --module amdgpu $(job_args comp_2.0.0 5400 54001) '0=&@job.base' + \
		tp "$run" '0=&@job.base' + sleep 31 + tp "$finish" '0=&@fence' + \
		tp dma_fence_signaled '0=&@fence.finished' + \
		tp "$queue" @fence.finished.seqno=54002 '0=&@job.base' + tp "$run" '0=&@job.base' + \
		sleep 31 + tp "$finish" '0=&@fence' + tp dma_fence_signaled '0=&@fence.finished' + \
		func drm_sched_fini '0=&@ring.sched'
	row "a running job is reported with its ring" "$hook" \
		".event == \"ring\" and .device == \"$facts_amd\" and .ring == \"comp_2.0.1\" and
		 .running == 1 and .fence_context == 5410 and .fence_seqno == 54101 and .pid == @BY@" \
		fire tp "$queue" --module amdgpu $(job_args comp_2.0.1 5410 54101) '0=&@job.base' + \
		tp "$run" '0=&@job.base' + sleep 3000 + tp "$finish" '0=&@fence' + \
		tp dma_fence_signaled '0=&@fence.finished' + func drm_sched_fini '0=&@ring.sched'
	row "a job's fence that ends with an error is reported" "$hook" \
		".event == \"fence_failed\" and .device == \"$facts_amd\" and .name == \"sdma0\" and
		 .pid == @BY@ and .fence_context == 5420 and .fence_seqno == 54201 and .error == -62" \
		fire tp "$queue" --module amdgpu $(job_args sdma0 5420 54201) '0=&@job.base' + \
		tp "$run" '0=&@job.base' + tp dma_fence_signaled @fence.parent.error=-62 \
		'0=&@fence.parent' + tp "$finish" '0=&@fence' + \
		tp dma_fence_signaled @fence.finished.error=-62 '0=&@fence.finished' + \
		func drm_sched_fini '0=&@ring.sched'
	row "a job's hardware fence is not reported as a second one" "$hook" \
		'all map(select(.event == "fence_failed" and .name == "sdma1")) | length == 1' \
		fire tp "$queue" --module amdgpu $(job_args sdma1 5430 54301) '0=&@job.base' + \
		tp "$run" '0=&@job.base' + tp dma_fence_signaled @fence.parent.error=-125 \
		'0=&@fence.parent' + tp "$finish" '0=&@fence' + \
		tp dma_fence_signaled @fence.finished.error=-125 '0=&@fence.finished' + \
		func drm_sched_fini '0=&@ring.sched'
	row "a fence that ends without error is not reported" "$hook" \
		'all map(select(.event == "fence_failed" and .name == "sdma2")) | length == 0' \
		fire tp "$queue" --module amdgpu $(job_args sdma2 5440 54401) '0=&@job.base' + \
		tp "$run" '0=&@job.base' + tp "$finish" '0=&@fence' + \
		tp dma_fence_signaled '0=&@fence.finished' + func drm_sched_fini '0=&@ring.sched'
	row "a ring that replaces a removed one has its own name" "$hook" \
		'.event == "fence_failed" and .name == "new_0" and .pid == @BY@ and .error == -62' \
		fire tp "$queue" --module amdgpu $(job_args old_0 5445 54451) '0=&@job.base' + \
		tp "$run" '0=&@job.base' + tp "$finish" '0=&@fence' + \
		tp dma_fence_signaled '0=&@fence.finished' + func drm_sched_fini '0=&@ring.sched' + \
		tp "$queue" @ring.name=new_0 @ring.sched.name=new_0 @fence.finished.seqno=54452 \
		'0=&@job.base' + tp "$run" '0=&@job.base' + tp "$finish" '0=&@fence' + \
		tp dma_fence_signaled @fence.finished.error=-62 '0=&@fence.finished' + \
		func drm_sched_fini '0=&@ring.sched'
	row "amdgpu's job timeout has ring, fence, owner and age" "$hook func:amdgpu_job_timedout" \
		".event == \"job_timeout\" and .device == \"$facts_amd\" and .ring == \"comp_2.1.0\" and
		 .fence_context == 5450 and .fence_seqno == 54501 and .pid == @BY@ and
		 .pasid == 5450 and .age_ns >= 30000000 and .age_ns < 5000000000" \
		fire tp "$queue" --module amdgpu $(job_args comp_2.1.0 5450 54501) @job.pasid=5450 \
		'0=&@job.base' + tp "$run" '0=&@job.base' + sleep 31 + \
		func amdgpu_job_timedout %ret=1 '0=&@job.base' + tp "$finish" '0=&@fence' + \
		tp dma_fence_signaled '0=&@fence.finished' + func drm_sched_fini '0=&@ring.sched'
	row "the owner of a job whose queueing was not seen comes from its VM" "func:amdgpu_job_timedout" \
		'.event == "job_timeout" and .fence_seqno == 54601 and .pid == 41546' \
		fire func amdgpu_job_timedout --module amdgpu $(job_args comp_2.1.1 5460 54601) \
		@job.vm.task_info.tgid=41546 '0=&@job.base'
	row "the job timeout of another driver comes from the scheduler" "func:drm_sched_job_timedout" \
		".event == \"job_timeout\" and .device == \"$facts_other\" and .ring == \"v3d_bin\" and
		 .fence_context == 5470 and .fence_seqno == 54701" \
		fire func drm_sched_job_timedout --module gpu_sched \
		@sched:drm_gpu_scheduler.dev.kobj.name=$facts_other @sched.dev.driver.name=v3d \
		@sched.name=v3d_bin '@job:drm_sched_job.sched=&@sched' @job.s_fence.finished.context=5470 \
		@job.s_fence.finished.seqno=54701 '@sched.pending_list.next=&@job.list' \
		'0=&@sched.work_tdr.work'
	row "amdgpu's job timeout is reported once" "func:amdgpu_job_timedout func:drm_sched_job_timedout" \
		'all map(select(.event == "job_timeout" and .fence_seqno == 54801)) | length == 1' \
		fire func drm_sched_job_timedout --module amdgpu $(job_args comp_2.1.2 5480 54801) \
		'@ring.sched.pending_list.next=&@job.base.list' '0=&@ring.sched.work_tdr.work' + \
		func amdgpu_job_timedout '0=&@job.base'
	row "a scheduler without a job has no timeout" "func:drm_sched_job_timedout" \
		'all map(select(.event == "job_timeout" and .ring == "v3d_none")) | length == 0' \
		fire func drm_sched_job_timedout --module gpu_sched \
		@sched:drm_gpu_scheduler.dev.kobj.name=$facts_other @sched.dev.driver.name=v3d \
		@sched.name=v3d_none '@sched.pending_list.next=&@sched.pending_list' \
		'0=&@sched.work_tdr.work'
}

# A buffer of a TTM driver without a tracepoint for moves: $1 bytes.
ttm_args() {
	echo "@dev:drm_device.dev.kobj.name=$facts_other @dev.driver.name=radeon
		@dev.dev.driver.name=radeon @bo:ttm_buffer_object.base.dev=&@dev @bo.base.size=$1
		@bdev:ttm_device @bo.bdev=&@bdev"
}

facts_memory() {
	row "amdgpu: a buffer that leaves VRAM is reported with evictor and owner" "tp:amdgpu_bo_move" \
		".event == \"bo_moved\" and .device == \"$facts_amd\" and .pid == @BY@ and
		 .owner_pid == 41551 and .owner_pasid == 5551 and .out_bytes == 3145728 and
		 .out_count == 3 and .in_bytes == 0" \
		fire bo-move --dev-name $facts_amd --bytes 1048576 --pid 41551 --pasid 5551 --count 3
	row "amdgpu: a buffer that returns to VRAM is reported" "tp:amdgpu_bo_move" \
		".event == \"bo_moved\" and .pid == @BY@ and .owner_pid == 41552 and
		 .out_bytes == 69632 and .in_bytes == 69632 and .in_count == 1" \
		fire tp amdgpu_bo_move --module amdgpu $amd @bo:amdgpu_bo.tbo.base.size=69632 \
		'@bo.tbo.base.dev=&@adev.ddev' @bo.vm_bo.vm.task_info.tgid=41552 '0=&@bo' 1=1 2=2 + \
		tp amdgpu_bo_move '0=&@bo' 1=2 2=1
	row "amdgpu: a buffer that prefers VRAM but is placed in GTT is a spill" "tp:amdgpu_bo_create" \
		".event == \"vram_spill\" and .device == \"$facts_amd\" and .pid == @BY@ and
		 .bytes == 655360 and .count == 5" \
		fire tp amdgpu_bo_create --module amdgpu --count 5 $amd '0.tbo.base.dev=&@adev.ddev' \
		0.tbo.base.size=131072 0.tbo.resource.mem_type=1 0.preferred_domains=6
	row "amdgpu: a buffer in VRAM, or one that wants GTT, is not a spill" "tp:amdgpu_bo_create" \
		'all map(select(.event == "vram_spill" and .pid == @BY@)) | length == 0' \
		fire tp amdgpu_bo_create --module amdgpu $amd '0.tbo.base.dev=&@adev.ddev' \
		0.tbo.base.size=131072 0.tbo.resource.mem_type=2 0.preferred_domains=4 + \
		tp amdgpu_bo_create '0.tbo.base.dev=&@adev.ddev' 0.tbo.base.size=131072 \
		0.tbo.resource.mem_type=1 0.preferred_domains=2
	row "TTM: a full heap is reported" "func:ttm_resource_alloc" \
		".event == \"alloc_failed\" and .device == \"$facts_other\" and .pid == @BY@ and
		 .stage == 1 and .what == 3 and .error == -28 and .count == 4 and .bytes == 5000000" \
		fire func ttm_resource_alloc --module ttm --ret -28 --count 4 $(ttm_args 5000000) \
		'0=&@bo' place.mem_type=3
	row "TTM: failures of two CPUs at once are counted exactly" "func:ttm_resource_alloc" \
		".event == \"alloc_failed\" and .pid == @BY@ and .stage == 1 and .count == 10000" \
		fire storm ttm_resource_alloc --module ttm --ret -28 --count 5000 --cpus 0,1 \
		$(ttm_args 4096) '0=&@bo' place.mem_type=2
	row "TTM: a failed validation is reported" "func:ttm_bo_validate" \
		".event == \"alloc_failed\" and .device == \"$facts_other\" and .pid == @BY@ and
		 .stage == 2 and .error == -12 and .bytes == 6000000" \
		fire func ttm_bo_validate --module ttm --ret -12 $(ttm_args 6000000) '0=&@bo'
	row "TTM: a failed allocation of pages has the device of an earlier move" "func:ttm_tt_populate" \
		".event == \"alloc_failed\" and .device == \"$facts_other\" and .pid == @BY@ and
		 .stage == 4 and .error == -12 and .bytes == 8192" \
		fire func ttm_bo_handle_move_mem --module ttm $(ttm_args 4096) '0=&@bo' \
		0.resource.mem_type=2 mem.mem_type=1 + func ttm_tt_populate %ret=-12 '0=&@bdev' \
		1.num_pages=2
	row "TTM: swapped-out pages are reported" "func:ttm_tt_swapout" \
		".event == \"ttm_swapout\" and .device == \"$facts_other\" and .pid == @BY@ and
		 .bytes == 2097152" \
		fire func ttm_bo_handle_move_mem --module ttm $(ttm_args 4096) '0=&@bo' \
		0.resource.mem_type=2 mem.mem_type=1 + func ttm_tt_swapout %ret=512 '0=&@bdev' \
		1.num_pages=512
	row "TTM: a failed swap is not reported" "func:ttm_tt_swapout" \
		'all map(select(.event == "ttm_swapout" and .pid == @BY@)) | length == 0' \
		fire func ttm_tt_swapout --ret -12 1.num_pages=77
	row "TTM: a buffer that leaves VRAM belongs to the process that made its handle" \
		"func:ttm_bo_handle_move_mem func:drm_gem_handle_create" \
		".event == \"bo_moved\" and .device == \"$facts_other\" and .pid == @BY@ and
		 .owner_pid == @BY@ and .out_bytes == 7000000 and .in_bytes == 7000000" \
		fire func drm_gem_handle_create --module ttm $(ttm_args 7000000) 'obj=&@bo.base' + \
		func ttm_bo_handle_move_mem '0=&@bo' @bo.resource.mem_type=2 mem.mem_type=1 evict=1 + \
		func ttm_bo_handle_move_mem '0=&@bo' @bo.resource.mem_type=1 mem.mem_type=2 + \
		func drm_gem_object_free '0=&@bo.base.refcount'
	row "TTM: a failed move and a first placement are not reported" "func:ttm_bo_handle_move_mem" \
		'all map(select(.event == "bo_moved" and .pid == @BY@)) | length == 0' \
		fire func ttm_bo_handle_move_mem --module ttm --ret -12 $(ttm_args 7100000) '0=&@bo' \
		mem.mem_type=2 + func ttm_bo_handle_move_mem %ret=0 '0=&@bo' mem.mem_type=2 + \
		func ttm_bo_handle_move_mem %ret=-12 '0=&@bo' @bo.resource.mem_type=2 mem.mem_type=1
	row "TTM: amdgpu's moves are reported by amdgpu's hook only" "func:ttm_bo_handle_move_mem tp:amdgpu_bo_move" \
		'all map(select(.event == "bo_moved" and .pid == @BY@)) | length == 0' \
		fire func ttm_bo_handle_move_mem --module amdgpu $amd \
		'0.base.dev=&@adev.ddev' 0.base.size=7200000 0.resource.mem_type=2 mem.mem_type=1
}

# KFD's device, under the three names of the argument.
kfd_device() {
	echo "dev.adev.dev.kobj.name|node.adev.dev.kobj.name|pdd.dev.adev.dev.kobj.name=$facts_amd"
}

facts_kfd() {
	row "KFD: an allocation beyond the memory limit is reported" "func:amdgpu_amdkfd_reserve_mem_limit" \
		".event == \"kfd_limit\" and .device == \"$facts_amd\" and .pid == @BY@ and
		 .bytes == 9000000 and .detail == 1 and .error == -12" \
		fire func amdgpu_amdkfd_reserve_mem_limit --ret -12 $amd '0=&@adev' size=9000000 2=1
	row "KFD: an allocation within the memory limit is not reported" "func:amdgpu_amdkfd_reserve_mem_limit" \
		'all map(select(.event == "kfd_limit" and .pid == @BY@)) | length == 0' \
		fire func amdgpu_amdkfd_reserve_mem_limit --ret 0 $amd '0=&@adev' size=9000000 2=1
	row "KFD: TTM's request for a process's memory is reported" "func:amdkfd_fence_enable_signaling" \
		'.event == "kfd_eviction_fence" and .pid == 41561 and .by == @BY@' \
		fire func amdkfd_fence_enable_signaling @f:amdgpu_amdkfd_fence.mm.owner.tgid=41561 \
		'0=&@f.base'
	row "KFD: a planned eviction is reported" "func:kgd2kfd_schedule_evict_and_restore_process" \
		'.event == "kfd_evict_wanted" and .pid == 41562' \
		fire func kgd2kfd_schedule_evict_and_restore_process mm.owner.tgid=41562
	row "KFD: queues that are stopped for TTM are reported" "func:kfd_process_evict_queues" \
		'.event == "kfd_queues_evicted" and .pid == 41563 and .detail == 2 and
		 (.error // 0) == 0' \
		fire func kfd_process_evict_queues --module amdgpu @p:kfd_process.lead_thread.tgid=41563 \
		'0=&@p' trigger=2 + func kfd_process_restore_queues '0=&@p'
	row "KFD: queues that are restored after 30 ms are reported" "func:kfd_process_restore_queues" \
		'.event == "kfd_queues_restored" and .pid == 41564 and .duration_ns >= 30000000 and
		 .duration_ns < 5000000000 and (.error // 0) == 0' \
		fire func kfd_process_evict_queues --module amdgpu @p:kfd_process.lead_thread.tgid=41564 \
		'0=&@p' trigger=1 + sleep 30 + func kfd_process_restore_queues '0=&@p'
	row "KFD: a process that is evicted twice is stopped since the first time" \
		"func:kfd_process_restore_queues" \
		'.event == "kfd_queues_restored" and .pid == 41565 and .duration_ns >= 60000000' \
		fire func kfd_process_evict_queues --module amdgpu @p:kfd_process.lead_thread.tgid=41565 \
		'0=&@p' trigger=1 + sleep 30 + func kfd_process_evict_queues '0=&@p' trigger=2 + \
		sleep 30 + func kfd_process_restore_queues '0=&@p' + \
		func kfd_process_restore_queues '0=&@p'
	row "KFD: the restored queues of that process are reported once" "func:kfd_process_restore_queues" \
		'all map(select(.event == "kfd_queues_restored" and .pid == 41565)) | length == 1' true
	row "KFD: a failure to stop queues is reported" "func:kfd_process_evict_queues" \
		'.event == "kfd_queues_evicted" and .pid == 41566 and .detail == 2 and .error == -62' \
		fire func kfd_process_evict_queues --module amdgpu %ret=-62 \
		@p:kfd_process.lead_thread.tgid=41566 '0=&@p' trigger=2 + func kfd_process_restore_queues '0=&@p'
	row "KFD: three failed restorations of a process are counted" \
		"func:amdgpu_amdkfd_gpuvm_restore_process_bos" \
		'all map(select(.event == "kfd_restore_failed" and .pid == 41567 and .error == -12)) |
		 map(.count) == [1, 2, 3]' \
		fire func amdgpu_amdkfd_gpuvm_restore_process_bos --ret -12 --count 3 \
		'0:amdkfd_process_info.pid.numbers[0].nr=41567'
	row "KFD: a successful restoration resets the count" \
		"func:amdgpu_amdkfd_gpuvm_restore_process_bos func:kfd_process_restore_queues" \
		'all map(select(.event == "kfd_restore_failed" and .pid == 41568)) |
		 map(.count) == [1, 2, 1]' \
		fire func amdgpu_amdkfd_gpuvm_restore_process_bos --module amdgpu %ret=-12 %count=2 \
		@task:task_struct.tgid=41568 '@p:kfd_process.lead_thread=&@task' \
		'@info:amdkfd_process_info.pid.tasks[0].first=&@task.pid_links[0]' '0=&@info' + \
		func kfd_process_restore_queues '0=&@p' + \
		func amdgpu_amdkfd_gpuvm_restore_process_bos %ret=-12 '0=&@info'
	row "KFD: a VM fault that reaches the application is reported" "func:kfd_signal_vm_fault_event" \
		".event == \"kfd_vm_fault\" and .device == \"$facts_amd\" and .pasid == 5569 and
		 .addr == $((0x7f1234567000)) and (.pid == 41569 or .pid == @BY@)" \
		fire tp amdgpu_pasid_allocated --module amdgpu 0=5569 + func kfd_signal_vm_fault_event \
		"$(kfd_device)" '?pdd.process.lead_thread.tgid=41569' 'pdd.pasid|pasid=5569' \
		info.page_addr=0x7f1234567
	row "KFD: a hardware exception has the PASID" "func:kfd_signal_hw_exception_event" \
		'.event == "kfd_hw_exception" and .pasid == 5570 and .pid == @BY@' \
		fire tp amdgpu_pasid_allocated --module amdgpu 0=5570 + \
		func kfd_signal_hw_exception_event pasid=5570
	row "KFD: a reset event is reported for every process" "func:kfd_signal_reset_event" \
		".event == \"kfd_reset_signal\" and .device == \"$facts_amd\"" \
		fire func kfd_signal_reset_event "$(kfd_device)"
	row "KFD: consumed poison is reported" "func:kfd_signal_poison_consumed_event" \
		".event == \"kfd_poison\" and .device == \"$facts_amd\" and .pasid == 5572" \
		fire func kfd_signal_poison_consumed_event "$(kfd_device)" pasid=5572
	row "KFD: a requested reset is reported" "func:amdgpu_amdkfd_gpu_reset" \
		".event == \"kfd_gpu_reset\" and .device == \"$facts_amd\"" \
		fire func amdgpu_amdkfd_gpu_reset $amd '0=&@adev'
	row "KFD: a fault that SVM cannot serve is reported" "func:svm_range_restore_pages" \
		".event == \"svm_fault\" and .device == \"$facts_amd\" and .pasid == 5574 and
		 .addr == $((0x7f7654321000)) and .error == -14 and .count == 6" \
		fire func svm_range_restore_pages --ret -14 --count 6 $amd '0=&@adev' pasid=5574 \
		addr=0x7f7654321 write_fault=1
	row "KFD: a page fault that is served is reported" \
		"func:kfd_smi_event_page_fault_start func:svm_range_restore_pages" \
		".event == \"kfd_page_fault\" and .device == \"$facts_amd\" and .pid == 41575 and
		 .addr == $((0x7f1111111000)) and .count == 7" \
		fire func kfd_smi_event_page_fault_start --count 7 "$(kfd_device)" \
		'task.tgid|pid=41575' address=0x7f1111111 write_fault=1
}

facts_i915() {
	intel="@i915:drm_i915_private.drm.dev.kobj.name=$facts_intel @i915.drm.dev.driver.name=i915
		@i915.drm.driver.name=i915"
	engine="$intel @engine:intel_engine_cs.i915=&@i915 @engine.name=rcs0 @engine.gt.i915=&@i915"
	row "i915: an eviction for an address range is reported" "tp:i915_gem_evict" \
		".event == \"i915_evict\" and .device == \"$facts_intel\" and .pid == @BY@ and
		 (.what // 0) == 0 and .bytes == 24576 and .count == 3" \
		fire tp i915_gem_evict --count 3 $intel 'vm.i915=&@i915' size=8192 align=4096
	row "i915: an eviction for a node is reported" "tp:i915_gem_evict_node" \
		".event == \"i915_evict\" and .device == \"$facts_intel\" and .pid == @BY@ and
		 .what == 1 and .bytes == 12288" \
		fire tp i915_gem_evict_node $intel 'vm.i915=&@i915' node.size=12288
	row "i915: the eviction of a whole address space is reported" "tp:i915_gem_evict_vm" \
		".event == \"i915_evict\" and .pid == @BY@ and .what == 2" \
		fire tp i915_gem_evict_vm $intel 'vm.i915=&@i915'
	row "i915: a run of the shrinker is reported" "tp:i915_gem_shrink" \
		".event == \"i915_shrink\" and .device == \"$facts_intel\" and .pid == @BY@ and
		 .bytes == 315392 and .detail == 49" \
		fire tp i915_gem_shrink $intel '0=&@i915' target=77 flags=0x31
	row "i915: a CPU's write fault on an object is reported" "tp:i915_gem_object_fault" \
		".event == \"i915_fault\" and .device == \"$facts_intel\" and .pid == @BY@ and
		 .addr == 20480 and .what == 1 and .count == 4" \
		fire tp i915_gem_object_fault --count 4 $intel 'obj.base.dev=&@i915.drm' index=5 gtt=1 write=1
	row "i915: a request's time on its engine is reported" "tp:i915_request_add tp:i915_request_retire" \
		".event == \"job_times\" and .device == \"$facts_intel\" and .ring == \"rcs0\" and
		 .pid == @BY@ and .count == 1 and .max_ns >= 30000000 and .max_ns < 5000000000" \
		fire tp i915_request_add --module i915 $engine '@rq:i915_request.engine=&@engine' \
		'?@rq.i915=&@i915' @rq.fence.context=5580 @rq.fence.seqno=55801 '0=&@rq' + sleep 31 + \
		tp dma_fence_signaled '0=&@rq.fence' + tp i915_request_retire '0=&@rq'
	row "i915: a request's fence that ends with an error is reported" "tp:i915_request_add" \
		".event == \"fence_failed\" and .device == \"$facts_intel\" and .name == \"rcs0\" and
		 .pid == @BY@ and .fence_seqno == 55811 and .error == -5" \
		fire tp i915_request_add --module i915 $engine '@rq:i915_request.engine=&@engine' \
		'?@rq.i915=&@i915' @rq.fence.context=5581 @rq.fence.seqno=55811 '0=&@rq' + \
		tp dma_fence_signaled @rq.fence.error=-5 '0=&@rq.fence' + tp i915_request_retire '0=&@rq'
	row "i915: a hang is reported" "func:intel_gt_handle_error" \
		".event == \"gt_error\" and .device == \"$facts_intel\" and .detail == 5" \
		fire func intel_gt_handle_error $intel 'gt.i915=&@i915' engine_mask=5
	row "i915: a banned context of a live process is reported" "func:intel_context_ban" \
		".event == \"context_banned\" and .device == \"$facts_intel\" and .name == \"rcs0\" and
		 .pid == 41583" \
		fire func intel_context_ban --ret 1 $engine 'ce.engine=&@engine' \
		@task:task_struct.tgid=41583 @task.pid=41584 \
		'ce.gem_context.pid.tasks[0].first=&@task.pid_links[0]'
	row "i915: a banned context of an ended process is reported" "func:intel_context_ban" \
		'.event == "context_banned" and .pid == 41585' \
		fire func intel_context_ban --ret 1 $engine 'ce.engine=&@engine' \
		'ce.gem_context.pid.numbers[0].nr=41585'
	row "i915: a failed engine reset of the error handler is reported" "func:__intel_engine_reset_bh" \
		".event == \"engine_reset\" and .device == \"$facts_intel\" and .name == \"rcs0\" and
		 .error == -19" \
		fire func __intel_engine_reset_bh --ret -19 $engine '0=&@engine'
	row "i915: an engine reset for a context is reported once" \
		"func:intel_engine_reset func:__intel_engine_reset_bh" \
		'all map(select(.event == "engine_reset" and .by == @BY@)) |
		 map(.name) == ["vcs0"]' \
		fire func __intel_engine_reset_bh --module i915 $engine @engine.name=vcs0 '0=&@engine' + \
		func intel_engine_reset '0=&@engine'
	row "i915: the begin of a GT reset is reported" "func:intel_gt_reset_global" \
		".event == \"reset\" and .device == \"$facts_intel\" and .begun" \
		fire func intel_gt_reset_global $intel 'gt.i915=&@i915' engine_mask=1
	row "i915: the end of a GT reset is reported" "func:intel_gt_reset_global" \
		".event == \"reset\" and .device == \"$facts_intel\" and .begun == false" \
		fire func intel_gt_reset_global $intel 'gt.i915=&@i915' engine_mask=1
	row "i915: a wedged GT is reported" "func:__intel_gt_set_wedged" \
		".event == \"wedged\" and .device == \"$facts_intel\" and .name == \"i915\"" \
		fire func __intel_gt_set_wedged $intel 'gt.i915=&@i915' @i915.drm.registered=1
	row "i915: the unload of a healthy driver is not a wedged GT" "func:__intel_gt_set_wedged" \
		'all map(select(.event == "wedged" and .name == "i915")) | length == 1' \
		fire func __intel_gt_set_wedged $intel 'gt.i915=&@i915'
}

facts_xe() {
	xe="@xe:xe_device.drm.dev.kobj.name=$facts_xe @xe.drm.dev.driver.name=xe @xe.drm.driver.name=xe"
	row "xe: page faults of a process's VM are reported" "tp:xe_vma_pagefault" \
		".event == \"xe_page_fault\" and .device == \"$facts_xe\" and .pid == 41591 and
		 .detail == 5591 and .addr == $((0x7f2222221000)) and .count == 5" \
		fire tp xe_vma_pagefault --module xe --count 5 $xe '@vm:xe_vm.xe=&@xe' @vm.usm.asid=5591 \
		@vm.xef.pid=41591 '0.gpuva.vm=&@vm.gpuvm' 0.gpuva.va.addr=0x7f2222221000 \
		0.gpuva.va.range=4096
	row "xe: an evicted mapping is reported" "tp:xe_vma_evict" \
		".event == \"xe_vma_evict\" and .device == \"$facts_xe\" and .pid == 41592 and
		 .detail == 5592 and .bytes == 131072 and .count == 2" \
		fire tp xe_vma_evict --module xe --count 2 $xe '@vm:xe_vm.xe=&@xe' @vm.usm.asid=5592 \
		@vm.xef.pid=41592 '0.gpuva.vm=&@vm.gpuvm' 0.gpuva.va.range=65536
	row "xe: a repeated rebinding of a VM is reported" "tp:xe_vm_rebind_worker_retry" \
		".event == \"xe_rebind_retry\" and .device == \"$facts_xe\" and .pid == 41593 and
		 .detail == 5593" \
		fire tp xe_vm_rebind_worker_retry $xe '0.xe=&@xe' 0.usm.asid=5593 0.xef.pid=41593
	row "xe: a killed VM is reported" "tp:xe_vm_kill" \
		".event == \"xe_vm_killed\" and .device == \"$facts_xe\" and .pid == 41594 and
		 .detail == 5594" \
		fire tp xe_vm_kill $xe '0.xe=&@xe' 0.usm.asid=5594 0.xef.pid=41594
	row "xe: a killed VM without a process is reported" "tp:xe_vm_kill" \
		'.event == "xe_vm_killed" and .detail == 5595 and (.pid // 0) == 0' \
		fire tp xe_vm_kill $xe '0.xe=&@xe' 0.usm.asid=5595
	row "xe: a failed operation of a VM is reported" "tp:xe_vm_ops_fail" \
		".event == \"xe_vm_ops_failed\" and .device == \"$facts_xe\" and .pid == 41596 and
		 .detail == 5596" \
		fire tp xe_vm_ops_fail $xe '0.xe=&@xe' 0.usm.asid=5596 0.xef.pid=41596
	queue="$xe @q:xe_exec_queue.gt.tile.xe=&@xe 0=&@q"
	row "xe: a memory error of an exec queue is reported" "tp:xe_exec_queue_memory_cat_error" \
		".event == \"xe_cat_error\" and .device == \"$facts_xe\" and .pid == 41597 and
		 .name == \"ccs597\" and .detail == 597" \
		fire tp xe_exec_queue_memory_cat_error $queue @q.xef.pid=41597 @q.name=ccs597 @q.guc.id=597
	row "xe: the reset of an exec queue is reported" "tp:xe_exec_queue_reset" \
		".event == \"xe_queue_reset\" and .device == \"$facts_xe\" and .pid == 41598 and
		 .name == \"bcs598\" and .detail == 598" \
		fire tp xe_exec_queue_reset $queue @q.xef.pid=41598 @q.name=bcs598 @q.guc.id=598
	row "xe: a TLB invalidation that times out is reported" \
		"tp:xe_tlb_inval_fence_timeout|xe_gt_tlb_invalidation_fence_timeout" \
		".event == \"xe_tlb_timeout\" and .device == \"$facts_xe\"" \
		fire tp 'xe_tlb_inval_fence_timeout|xe_gt_tlb_invalidation_fence_timeout' --module xe $xe \
		'0=&@xe'
	row "xe: a job that times out is reported" "tp:xe_sched_job_timedout" \
		".event == \"job_timeout\" and .device == \"$facts_xe\" and .ring == \"ccs599\" and
		 .pid == 41599 and .fence_context == 5599 and .fence_seqno == 55991" \
		fire tp xe_sched_job_timedout --module xe $xe @sched:drm_gpu_scheduler.name=ccs599 \
		'@sched.dev=&@xe.drm.dev' '0.drm.sched=&@sched' 0.drm.s_fence.finished.context=5599 \
		0.drm.s_fence.finished.seqno=55991 0.q.xef.pid=41599
	row "xe: the begin of a GT reset is reported" "func:xe/gt_reset_worker" \
		".event == \"reset\" and .device == \"$facts_xe\" and .begun" \
		fire func gt_reset_worker --module xe $xe '@gt:xe_gt.tile.xe=&@xe' '0=&@gt.reset.worker'
	row "xe: the end of a GT reset is reported" "func:xe/gt_reset_worker" \
		".event == \"reset\" and .device == \"$facts_xe\" and .begun == false" \
		fire func gt_reset_worker --module xe $xe '@gt:xe_gt.tile.xe=&@xe' '0=&@gt.reset.worker'
	row "xe: a wedged device is reported" "func:xe_device_declare_wedged" \
		".event == \"wedged\" and .device == \"$facts_xe\" and .name == \"xe\"" \
		fire func xe_device_declare_wedged $xe '0=&@xe'
	row "xe: a wedged device refuses every ioctl" "func:xe_drm_ioctl" \
		".event == \"ioctl_failed\" and .device == \"$facts_xe\" and .pid == @BY@ and
		 .name == \"xe\" and .detail == 73 and .error == -125 and .count == 2" \
		fire func xe_drm_ioctl --ret -125 --count 2 $xe \
		'file.private_data:drm_file.minor.dev=&@xe.drm' cmd=0x40386449
}

# A process's open file of amdgpu.
amd_file() {
	echo "$amd @minor:drm_minor.dev=&@adev.ddev @client:drm_file.minor=&@minor
		@file:file.private_data=&@client"
}

facts_nvidia() {
	row "NVIDIA: an Xid is reported with the beginning of its text" "tp:nvidia_dev_xid" \
		".event == \"nvidia_xid\" and .device == \"$facts_other\" and .detail == 79 and
		 .name == \"GPU has fallen off the \"" \
		fire tp nvidia_dev_xid 0.dev.kobj.name=$facts_other 1=79 \
		'2=GPU has fallen off the bus.'
}

facts_ioctls() {
	row "a failed ioctl is reported with driver, command and error" "func:drm_ioctl" \
		".event == \"ioctl_failed\" and .device == \"$facts_amd\" and .pid == @BY@ and
		 .name == \"amdgpu\" and .detail == 68 and .error == -125 and .count == 3" \
		fire func drm_ioctl --module amdgpu --ret -125 --count 3 $(amd_file) 0='&@file' \
		cmd=0xc0186444
	row "an ioctl that fails for lack of memory is a failed allocation" "func:drm_ioctl" \
		".event == \"alloc_failed\" and .device == \"$facts_amd\" and .pid == @BY@ and
		 .stage == 3 and .what == 64 and .error == -12" \
		fire func drm_ioctl --module amdgpu --ret -12 $(amd_file) 0='&@file' cmd=0xc0206440
	row "an ioctl that succeeds is not reported" "func:drm_ioctl" \
		'all map(select(.pid == @BY@ and (.event | test("ioctl|alloc")))) | length == 0' \
		fire func drm_ioctl --module amdgpu --ret 0 $(amd_file) 0='&@file' cmd=0xc0206440
	row "an ioctl that fails in amdgpu's wrapper before DRM is reported" "func:amdgpu_drm_ioctl" \
		".event == \"ioctl_failed\" and .device == \"$facts_amd\" and .pid == @BY@ and
		 .detail == 68 and .error == -19" \
		fire func amdgpu_drm_ioctl --ret -19 $(amd_file) 0='&@file' cmd=0xc0186444
	row "an error that both the wrapper and DRM return is counted once" "func:amdgpu_drm_ioctl func:drm_ioctl" \
		'all map(select(.event == "ioctl_failed" and .pid == @BY@)) | map(.count) | max == 1' \
		fire func drm_ioctl --module amdgpu --ret -125 $(amd_file) 0='&@file' cmd=0xc0186444 + \
		func amdgpu_drm_ioctl 0='&@file' cmd=0xc0186444
	for driver in radeon nouveau; do
		row "an ioctl that fails in the wrapper of $driver before DRM is reported" "func:${driver}_drm_ioctl" \
			".event == \"ioctl_failed\" and .device == \"$facts_other\" and
			 .pid == @BY@ and .name == \"$driver\" and .detail == 65 and .error == -19" \
			fire func ${driver}_drm_ioctl --module $driver --ret -19 \
			@dev:drm_device.dev.kobj.name=$facts_other @dev.driver.name=$driver \
			'@minor:drm_minor.dev=&@dev' '@client:drm_file.minor=&@minor' \
			'0.private_data=&@client' 1=0xc0186441
	done
	row "an allocation that KFD refuses is reported" "func:kfd_ioctl" \
		'.event == "alloc_failed" and .pid == @BY@ and .stage == 3 and .what == 22 and
		 .error == -12' \
		fire func kfd_ioctl --ret -12 cmd=0xc0284b16
	row "a queue that KFD cannot create is reported" "func:kfd_ioctl" \
		'.event == "ioctl_failed" and .pid == @BY@ and .name == "kfd" and .detail == 2 and
		 .error == -5' \
		fire func kfd_ioctl --ret -5 cmd=0xc0604b02
	row "the error of a kernel without SVM is not a failure" "func:kfd_ioctl" \
		'all map(select(.event == "ioctl_failed" and .pid == @BY@)) | length == 0' \
		fire func kfd_ioctl --ret -1 cmd=0xc0184b20
	row "a real ioctl that fails on a real device is reported" "func:drm_ioctl" \
		'.event == "ioctl_failed" and .pid == @BY@ and .name == "vgem" and .detail == 9 and
		 .error == -22' \
		fire ioctl /dev/dri/card0 0x40086409 # GEM_CLOSE of handle 0
}

# A sleeping child with that name; the signal follows when the child has its name.
host_signal() {
	cp /bin/busybox /tmp/sleep
	/tmp/sleep 30 &
	host_child=$!
	until [ "$(cat /proc/$host_child/comm)" = sleep ]; do :; done
	kill -"$1" $host_child
	wait $host_child
	echo "signal $1 pid=$host_child by=$$"
}

# A program with an engine's name, which the agent watches from its exec on.
host_signal_engine() {
	cp /lab/vram-client /tmp/llama-server
	/tmp/llama-server hold &
	host_child=$!
	sleep 1
	kill -SEGV $host_child
	wait $host_child
	echo "signal SEGV pid=$host_child by=$$"
}

host_handled() {
	sh -c 'trap "exit 0" ABRT; kill -ABRT $$; sleep 1' &
	host_child=$!
	wait $host_child
	echo "handled pid=$host_child by=$$"
}

# 20 MiB for a process that wants 64 MiB.
host_oom() {
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir -p /sys/fs/cgroup/hog
	echo 20971520 >/sys/fs/cgroup/hog/memory.max
	sh -c 'echo $$ >/sys/fs/cgroup/hog/cgroup.procs; exec dd if=/dev/zero of=/dev/null bs=64M count=1' &
	host_child=$!
	wait $host_child
	rmdir /sys/fs/cgroup/hog
	echo "oom pid=$host_child by=$$"
}

# host_open COMMAND...: opens a node and fails.
host_open() {
	"$@" &
	host_child=$!
	wait $host_child
	echo "open pid=$host_child by=$$"
}

host_open_as_nobody() {
	chmod 0600 "$1"
	mkdir -p /etc
	printf 'root::0:0::/:/bin/sh\nnobody::65534:65534::/:/bin/sh\n' >/etc/passwd
	host_open su -s /bin/sh nobody -c "exec cat $1"
}

facts_host() {
	row "a fatal signal that is sent to an engine is reported" "tp:signal_generate" \
		'.event == "signal_sent" and .pid == @PID@ and .by == @BY@ and .detail == 11 and
		 .name == "llama-server"' host_signal_engine
	row "a fatal signal that a process without a handler takes is reported" "tp:signal_deliver" \
		'.event == "signal_taken" and .pid == @PID@ and .by == @PID@ and .detail == 6 and
		 .name == "sleep"' host_signal ABRT
	row "the exit of a process has its signal" "tp:sched_process_exit" \
		'.event == "process_exit" and .pid == @PID@ and .status % 128 == 7' host_signal BUS
	row "a signal that a handler takes is not an exit" "tp:signal_deliver" \
		'all map(select(.event == "signal_taken" and .pid == @PID@)) | length == 0' host_handled
	row "a signal that was not queued is not reported" "tp:signal_generate" \
		'all map(select(.event == "signal_sent" and .pid == 41611)) | length == 0' \
		fire tp signal_generate 0=11 task.tgid=41611 task.comm=ignored 4=1
	row "the OOM victim of a memory cgroup is reported" "tp:mark_victim" \
		'.event == "oom_victim" and .pid == @PID@ and .name == "dd" and .detail == 1 and
		 .bytes > 10000000 and .bytes < 25000000' host_oom
	row "the OOM victim of the host is reported with its resident memory" "tp:mark_victim" \
		'.event == "oom_victim" and .pid == 41613 and .name == "greedy" and
		 (.detail // 0) == 0 and .bytes == 2523136' \
		fire tp mark_victim 0.tgid=41613 0.comm=greedy \
		'0.mm.rss_stat[0].count|0.mm.rss_stat.count[0].counter=100' \
		'0.mm.rss_stat[1].count|0.mm.rss_stat.count[1].counter=500' \
		'0.mm.rss_stat[2].count|0.mm.rss_stat.count[2].counter=9000' \
		'0.mm.rss_stat[3].count|0.mm.rss_stat.count[3].counter=16'
	row "a node that may not be opened is reported" "func:drm_ioctl" \
		'.event == "open_refused" and .pid == @PID@ and .name == "dri/renderD128" and
		 .error == -13' host_open_as_nobody /dev/dri/renderD128
	row "a missing node is not reported: every library tries some" "func:drm_ioctl" \
		'all map(select(.event == "open_refused" and .pid == @PID@)) | length == 0' \
		host_open cat /dev/nvidia7
	row "other files are ignored" "func:drm_ioctl" \
		'all map(select(.event == "open_refused" and .pid == @PID@)) | length == 0' \
		host_open cat /dev/no-such-node
}
