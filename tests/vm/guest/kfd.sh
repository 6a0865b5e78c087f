# SPDX-License-Identifier: GPL-2.0
#
# For the guest's agent.sh, after lab.sh: KFD as far as it works without a supported GPU. The real amdgpu is
# bound to $gpu. /dev/kfd and its processes are real (7.2 wants a GPU node: that lookup is skipped). The
# topology gets a node for $gpu, and the lookup of that node by its number is skipped and returns one that
# "fire" keeps; all else of an SMI descriptor is the driver's own, from the ioctl to the text. Lines
# "fact NAME VALUE" state what was done, and tests/vm/kfd compares on the host.
#
# Paths have brackets, and arguments are split into words:
# shellcheck disable=SC2086,SC2154
kfd_topology=/sys/class/kfd/kfd/topology/nodes
kfd_proc=/sys/class/kfd/kfd/proc
kfd_gpu_id=4321

# kfd_said SECONDS PATTERN: until the agent prints it.
kfd_said() { lab_soon "$1" grep -q -e "$2" "$kfd_out"; }
kfd_descriptors() { [ "$(ls -l "/proc/$kfd_agent/fd" | grep -c kfd_smi_ev)" = "$1" ]; }
kfd_last_is() { grep '"name":"kfd_smi"' "$kfd_out" | tail -n 1 | grep -q "\"state\":\"$1\""; }
kfd_processes() { [ "$(ls $kfd_proc | tr '\n' ' ')" = "$1" ]; }
kfd_change() { echo "$1" >/sys/class/drm/card0/uevent; }

kfd_put_node() {
	mount -t tmpfs tmpfs $kfd_topology && mkdir -p $kfd_topology/1/mem_banks/0 || return 1
	kfd_bus=$(echo "$gpu" | cut -d: -f2) kfd_slot=${gpu##*:}
	echo $kfd_gpu_id >$kfd_topology/1/gpu_id
	cat >$kfd_topology/1/properties <<END
simd_count 8
mem_banks_count 1
gfx_target_version 60000
location_id $(((0x$kfd_bus << 8) | (0x${kfd_slot%.*} << 3) | 0x${kfd_slot#*.}))
domain 0
END
	printf 'heap_type 1\nsize_in_bytes 268435456\n' >$kfd_topology/1/mem_banks/0/properties
}

# A process that has KFD open and is idle.
kfd_open() {
	sh -c 'exec 3<>/dev/kfd || exit 1; while :; do sleep 1; done' &
	kfd_user=$!
	lab_soon 5 kfd_processes "$kfd_user "
}

# kfd_fire USER PASID: provides the node, fires all events when there is a file /tmp/kfd.fires, and keeps the node.
kfd_fire() {
	kfd_who="?pid=$1 ?task.thread_pid.numbers[0].ns=sym:init_pid_ns
		?task.signal.pids[1].numbers[0].ns=sym:init_pid_ns ?task.signal.pids[1].numbers[0].nr=$1"
	set -f
	fire skip kfd_process_device_data_by_id '&@pdd' "@node:kfd_node.id|@node:kfd_dev.id=$kfd_gpu_id" \
		'@node.smi_clients.next=&@node.smi_clients' '@node.smi_clients.prev=&@node.smi_clients' \
		"@node.adev=drv:$gpu-amdgpu_device.ddev" '@pdd:kfd_process_device.dev=&@node' \
		--module amdgpu + wait /tmp/kfd.fires + \
		call kfd_smi_event_queue_eviction '0=&@node' $kfd_who trigger=2 + \
		call kfd_smi_event_queue_restore '0=&@node' $kfd_who + \
		call kfd_smi_event_update_gpu_reset '0=&@node' 1=0 '?reset_context.src=4' + \
		call kfd_smi_event_update_gpu_reset '0=&@node' 1=1 + \
		call kfd_smi_event_update_thermal_throttling '0=&@node' 1=0x40 + \
		call kfd_smi_event_update_vmfault '0=&@node' "1=$2" + \
		call kfd_smi_event_page_fault_start '0=&@node' $kfd_who address=0x7f1234567 \
		write_fault=1 4=1000 + \
		call kfd_smi_event_page_fault_end '0=&@node' $kfd_who address=0x7f1234567 migration=1 + \
		call kfd_smi_event_migration_start '0=&@node' $kfd_who start=0x1000 end=0x1800 from=0 \
		to=$kfd_gpu_id trigger=1 + \
		call kfd_smi_event_migration_end '0=&@node' $kfd_who start=0x1000 end=0x1800 from=0 \
		to=$kfd_gpu_id trigger=1 '?error_code=-12' + \
		call kfd_smi_event_unmap_from_gpu '0=&@node' $kfd_who address=0x1000 last=0x17ff \
		trigger=2 + wait /tmp/kfd.ends >/tmp/kfd.fire 2>&1 &
	kfd_fire=$!
	set +f
}

# kfd_rows AGENT SOCKET OUT PASID
kfd_rows() {
	kfd_agent=$1 kfd_sock=$2 kfd_out=$3
	check "the sensor of KFD is absent without a GPU" kfd_said 15 '"name":"kfd_smi","state":"absent"'
	fire has func kfd_gpu_node_num >/dev/null && quiet fire skip kfd_gpu_node_num 1
	check "the kernel lists a process that opens KFD" kfd_open
	fact kfd_user "$kfd_user"
	kfd_fire "$kfd_user" "$4"
	check "a node for the GPU is in the topology" kfd_put_node
	check "the lookup of that node is skipped" lab_soon 20 test -e /tmp/kfd.fires.waits
	kfd_change add
	check "the agent opens the GPU's SMI descriptor" kfd_said 6 '"name":"kfd_smi","state":"live"'
	check "the agent has one SMI descriptor and no other of KFD's" kfd_descriptors 1
	check "the SMI descriptor does not make the agent a KFD process" lab_soon 5 kfd_processes "$kfd_user "
	touch /tmp/kfd.fires
	check "all fired SMI events arrive" kfd_said 20 '"event":"kfd",.*"kind":"unmapped"'
	sleep 1
	davylamp status --json --socket "$kfd_sock" >/tmp/status.kfd
	davylamp status --sensors --json --socket "$kfd_sock" >/tmp/sensors.kfd
	kill "$kfd_user"
	wait "$kfd_user"
	check "the end of a KFD process is reported" kfd_said 10 \
		"\"event\":\"kfd_use\",\"pid\":$kfd_user,.*\"gone\":true"
	kfd_change remove
	check "the SMI descriptor is closed when a device leaves, and opened again" kfd_said 10 \
		'"name":"kfd_smi","state":"live".*"gap_ns":[1-9]'
	check "the agent has one SMI descriptor after the device returned" kfd_descriptors 1
	check "davylamp release of amdgpu releases KFD" quiet davylamp release --module amdgpu --socket "$kfd_sock"
	check "the agent has no SMI descriptor after the release" kfd_descriptors 0
	check "the sensor of KFD is reported as released" kfd_said 5 '"name":"kfd_smi","state":"released"'
	kfd_change add
	sleep 1
	check "the SMI descriptor stays closed after the release" kfd_descriptors 0
}

# A descriptor that is closed after amdgpu_device_fini_sw writes into freed memory.
kfd_closed_in_time() {
	awk '/ close: / { closed = NR } / done: / { done = NR } END { exit !(closed && closed < done) }' \
		$lab_tracing/trace
}

# After kfd_rows, while no client uses the device.
kfd_leave() {
	echo $((kfd_gpu_id + 1)) >$kfd_topology/1/gpu_id
	kfd_change add
	check "the agent opens SMI descriptors of GPUs that are not released" lab_soon 10 kfd_descriptors 1
	cat >$lab_tracing/dynamic_events <<END
p:lab/close kfd_smi_ev_release
p:lab/leave drm_dev_unregister
p:lab/done amdgpu_device_fini_sw
END
	lab_trace on lab
	check "the driver leaves the device while the agent has an SMI descriptor" lab_unbind
	lab_trace off
	check "the SMI descriptor is closed before amdgpu_device_fini_sw" kfd_closed_in_time
	grep -v '^#' $lab_tracing/trace
	check "the agent has no SMI descriptor after the driver left" kfd_descriptors 0
	check "KFD has no GPU after the driver left" lab_soon 5 kfd_last_is absent
	touch /tmp/kfd.ends
	wait "$kfd_fire"
	fire unskip kfd_process_device_data_by_id
	fire unskip kfd_gpu_node_num 2>/dev/null
	umount $kfd_topology
	cat /tmp/kfd.fire
}
