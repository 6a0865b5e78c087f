# SPDX-License-Identifier: GPL-2.0
#
# For guest scripts: ". /lab/lab.sh". Loads the drivers, binds the real amdgpu to the qxl
# device, unbinds it, and checks the result. busybox sh.
export PATH="/lab:$PATH"
lab_failed=0
lab_passed=0
lab_tracing=/sys/kernel/tracing
lab_driver=/sys/bus/pci/drivers/amdgpu

# The qxl device's PCI address, with any driver.
lab_gpu() {
	for lab_dev in /sys/bus/pci/devices/*; do
		case $(cat "$lab_dev/vendor" "$lab_dev/device" | tr '\n' :) in
		0x1b36:0x0100:) basename "$lab_dev" ;;
		esac
	done
}

# check "sentence" COMMAND...: prints one line; lab_end prints the totals.
check() {
	lab_name=$1
	shift
	if "$@"; then
		lab_passed=$((lab_passed + 1))
		echo "ok: $lab_name"
	else
		lab_failed=$((lab_failed + 1))
		echo "FAILED: $lab_name"
	fi
}

# The last line of a script: exits with 1 when a check failed.
lab_end() {
	echo "passed $lab_passed, failed $lab_failed"
	[ $lab_failed -eq 0 ] && [ $lab_passed -gt 0 ]
	exit $?
}

# The guest's uptime in milliseconds, in steps of ten.
ms() { sed 's/\([0-9]*\)\.\([0-9]*\) .*/\1\20/' /proc/uptime; }

# The current speed of this machine: the milliseconds in which "status" finds no agent.
lab_pace_ms() {
	lab_began=$(ms)
	davylamp status --socket /nowhere >/dev/null 2>&1
	echo $(($(ms) - lab_began))
}

# lab_soon SECONDS COMMAND...: repeats COMMAND until it succeeds; false after twenty times SECONDS, since other
# guests and other work may use most of the host.
lab_soon() {
	lab_until=$(($(cut -d. -f1 /proc/uptime) + 20 * $1))
	shift
	while ! "$@"; do
		[ "$(cut -d. -f1 /proc/uptime)" -lt $lab_until ] || return 1
		sleep 0.1
	done
}

# Whether no ring has advanced for a while: with the engine on, nothing is pending then. On 6.12 and later
# jobs that outlive their process wipe freed memory (required before the engine is turned off).
lab_rings_idle() {
	lab_fences=$(cat /sys/kernel/debug/dri/*/amdgpu_fence_info)
	sleep 0.5
	[ "$lab_fences" = "$(cat /sys/kernel/debug/dri/*/amdgpu_fence_info)" ]
}

# What the tasks wait for that cannot be interrupted.
lab_blocked() {
	for lab_task in /proc/[0-9]*; do
		grep -q '^State:.D' "$lab_task/status" || continue
		echo "note: $(cat "$lab_task/comm") is blocked"
		sed 's/^/note: /' "$lab_task/stack"
	done
}

lab_log_has() { dmesg | grep -q -e "$1"; }
lab_log_clean() { ! dmesg | grep -E -A3 'BUG:|WARNING:|Oops|Call Trace|general protection' | sed 's/^/note: /' | grep .; }

# amdgpu as the bound device needs it: Southern Islands on, page tables written by the CPU, the
# first five hardware blocks only, lockup timeout 2 s; "configured": the lockup timeout of
# modprobe's configuration, or the driver's default.
lab_load() {
	case ${1-} in
	configured) shift ;;
	*) set -- lockup_timeout=2000 ;;
	esac
	modprobe amdgpu si_support=1 ip_block_mask=0x1f vm_update_mode=3 gpu_recovery=1 "$@"
}

# The scheduler's tracepoints have other names since 6.17: $lab_queue, $lab_run, $lab_done.
# After the drivers are loaded.
lab_sched_names() {
	lab_queue=drm_sched_job lab_run=drm_run_job lab_done=drm_sched_process_job
	[ -e $lab_tracing/events/gpu_scheduler/drm_sched_job_queue ] || return 0
	lab_queue=drm_sched_job_queue lab_run=drm_sched_job_run lab_done=drm_sched_job_done
}

# The device has no registers: they all read 0x100 (256 MiB of memory, nothing busy), and the
# engines' tests are skipped. Before binding.
lab_skip_hardware() {
	fire skip amdgpu_device_rreg 0x100 &&
	fire skip gfx_v6_0_ring_test_ring 0 &&
	fire skip si_dma_ring_test_ring 0 &&
	fire skip amdgpu_ib_ring_tests 0
}

# The last number is the driver's data for the id: 0 means TAHITI.
lab_bind() {
	lab_skip_hardware || return 1
	echo "1b36 0100 ffffffff ffffffff 0 0 0" >$lab_driver/new_id
	[ -e "$lab_driver/$(lab_gpu)" ] && [ -e /dev/dri/renderD128 ] && fire impatient "$(lab_gpu)"
}

# A pending job would block the driver for ever: the engine ends it first.
lab_unbind() {
	fire engine "$(lab_gpu)" && sleep 2
	for lab_dump in /sys/class/devcoredump/devcd*/data; do
		[ ! -e "$lab_dump" ] || echo 1 >"$lab_dump"
	done
	lab_gpu >$lab_driver/unbind
	echo "1b36 0100" >$lab_driver/remove_id
}

# lab_trace on GROUP/EVENT... | off: the trace's text is in $lab_tracing/trace.
lab_trace() {
	echo 0 >$lab_tracing/tracing_on
	echo >$lab_tracing/set_event
	[ "$1" = on ] || return 0
	shift
	echo >$lab_tracing/trace
	for lab_event in "$@"; do
		echo 1 >"$lab_tracing/events/$lab_event/enable" || return 1
	done
	echo 1 >$lab_tracing/tracing_on
}

lab_trace_has() { grep -q -e "$1" $lab_tracing/trace; }
lab_trace_count() { [ "$(grep -c -e "$1" $lab_tracing/trace)" = "$2" ]; }
