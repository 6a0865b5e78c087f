# SPDX-License-Identifier: GPL-2.0-or-later
#
# A simulated host for 'davylamp doctor': the lab's root (its Mesa, its llama-server) with files for
# /sys, device files that can be opened and refused, users, and a running service. Runs in its own
# mount namespace; sourced after tests/lib.sh, tests/e2e/lib.sh and lab_open. $here is the folder
# of this run inside the root.

here=$inside
uid=1998 render=1109 video=1044 service=''
bdf=0000:04:00.0

# What a run needs in addition: the installed programs with their libraries, stand-ins, an engine.
build_host() {
	local to=$LAB_ROOT$inside c=tests/doctor/runtimes.c flags=(-shared -fPIC -O1 -w)
	local program=${DOCTOR_PROGRAM:-$STAGE/usr/sbin/davylamp}

	mkdir -p "$to"/{lib,rt,bare,half,opt/bin,opt/lib/ollama/{rocm,vulkan},policies,config,state}
	chmod 755 "$to"
	cp "$program" "$program-doctor" "$program-policy" "$STAGE/usr/sbin/davylamp-probe" "$to/"
	cp policies/backend.conf "$to/policies/"
	# Only libraries that the root lacks: its engine needs its own ones.
	ldd "$to"/davylamp{,-doctor,-probe} | awk '$3 ~ /^\// { print $3 }' | sort -u |
		while read -r lib; do
			[[ -e $LAB_ROOT/usr/lib/x86_64-linux-gnu/${lib##*/} ]] || cp -L "$lib" "$to/lib/"
		done
	gcc "${flags[@]}" -DHSA -Wl,-soname,libhsa-runtime64.so.1 -o "$to/rt/libhsa-runtime64.so.1" $c &&
		gcc "${flags[@]}" -DHSA -DWITHOUT_INFO -o "$to/half/libhsa-runtime64.so.1" $c &&
		gcc "${flags[@]}" -DNVML -DWITHOUT_MEMORY -o "$to/half/libnvidia-ml.so.1" $c &&
		gcc "${flags[@]}" -DNVML -o "$to/rt/libnvidia-ml.so.1" $c &&
		gcc "${flags[@]}" -DZE -o "$to/rt/libze_loader.so.1" $c &&
		gcc "${flags[@]}" -DHIP -Wl,-soname,libamdhip64.so.6 -o "$to/opt/lib/ollama/rocm/libamdhip64.so.6" $c &&
		gcc "${flags[@]}" -DGGML -o "$to/opt/lib/ollama/rocm/libggml-hip.so" $c &&
		gcc -O1 -o "$to/manager" tests/doctor/manager.c -lpthread &&
		gcc -O1 -static -o "$to/service" tests/doctor/service.c || return 1
	# The real engine, in Ollama's folders.
	cp "$LAB_ROOT/usr/bin/llama-server" "$to/opt/lib/ollama/"
	cp "$LAB_ROOT/usr/bin/llama-server" "$to/opt/bin/ollama"
	cp "$LAB_ROOT"/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-vulkan.so "$to/opt/lib/ollama/vulkan/"
	mkdir -p "$to/opt/lib/ollama/rocm/rocblas/library"
	kernels gfx906 gfx908 gfx90a
	"$O/lab/mkmodel" -o "$to/tiny.gguf" >/dev/null
}

# kernels GFX...: the GPUs for which the engine's rocBLAS has kernels.
kernels() {
	local dir=$LAB_ROOT$inside/opt/lib/ollama/rocm/rocblas/library gfx
	rm -f "$dir"/*
	for gfx in "$@"; do : >"$dir/TensileLibrary_lazy_$gfx.dat"; done
}

put() { mkdir -p "$(dirname "$LAB_ROOT$1")" && printf '%s\n' "$2" >"$LAB_ROOT$1"; }
at_pci() { put "/sys/bus/pci/devices/$bdf/$1" "$2"; }

# An empty host: its own file systems under the root.
empty_host() {
	local d
	for d in sys dev etc; do
		while mountpoint -q "$LAB_ROOT/$d"; do umount -R "$LAB_ROOT/$d" || return 1; done
		mount -t tmpfs -o mode=755 t "$LAB_ROOT/$d" || return 1
	done
	mountpoint -q "$LAB_ROOT/proc" || mount --rbind /proc "$LAB_ROOT/proc" || return 1
	local n
	for n in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "$LAB_ROOT/dev/${n%:*}" c 1 "${n#*:}"; done
	put /etc/passwd "root:x:0:0::/:/bin/sh
ollama:x:$uid:$uid::/nonexistent:/bin/sh"
	put /etc/group "root:x:0:
video:x:$video:ollama
render:x:$render:ollama
ollama:x:$uid:"
	put /sys/kernel/btf/vmlinux x
	put /sys/kernel/security/lockdown '[none] integrity confidentiality'
}

# gpu VENDOR DEVICE DRIVER: a GPU on the PCI bus with its DRM files.
gpu() {
	local d=$LAB_ROOT/sys/bus/pci/devices/$bdf
	at_pci class 0x030000
	at_pci vendor "$1"
	at_pci device "$2"
	[[ ${3-} ]] || return 0
	mkdir -p "$LAB_ROOT/sys/bus/pci/drivers/$3" "$LAB_ROOT/sys/module/$3/parameters" "$LAB_ROOT/sys/class/drm/card0"
	ln -s "../../drivers/$3" "$d/driver"
	[[ $3 != nvidia ]] || return 0
	mkdir -p "$d/drm/renderD128" "$d/drm/card0"
	ln -s "../../../bus/pci/devices/$bdf" "$LAB_ROOT/sys/class/drm/card0/device"
	at_pci power/control on
	at_pci power/runtime_status active
	mkdir -p "$LAB_ROOT/dev/dri"
	mknod -m 660 "$LAB_ROOT/dev/dri/renderD128" c 1 3
	chgrp $render "$LAB_ROOT/dev/dri/renderD128"
}

kfd() {
	local n=/sys/class/kfd/kfd/topology/nodes
	put $n/0/gpu_id 0
	put $n/0/properties 'simd_count 0'
	put $n/1/gpu_id 12345
	put $n/1/properties "simd_count 240
mem_banks_count 1
gfx_target_version ${1:-90006}
location_id 1024
domain 0"
	mknod -m 660 "$LAB_ROOT/dev/kfd" c 1 5 # can be mapped, like KFD's
	chgrp $render "$LAB_ROOT/dev/kfd"
}

# seed 002's host: a healthy MI50.
mi50() {
	empty_host
	gpu 0x1002 0x66a1 amdgpu
	at_pci mem_info_vram_total 17163091968
	at_pci mem_info_gtt_total 16777216000
	kfd
	kernels gfx906 gfx908 gfx90a
}

# service_runs [NAME=VALUE...]: its process has this environment; the groups are $groups.
groups=$video,$render
radv=(LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libamdgpu_noop_drm_shim.so AMDGPU_GPU_ID=vega20
	VK_DRIVER_FILES=/usr/share/vulkan/icd.d/radeon_icd.json)
service_runs() {
	local pidfile=$here/state/pid
	end_service
	rm -f "$LAB_ROOT$pidfile"
	chroot "$LAB_ROOT" "$here/service" $uid $uid "$groups" "$pidfile" PATH=/usr/bin "$@" \
		LD_LIBRARY_PATH="${libraries:-$here/rt:$here/lib}" &
	launched=$!
	until_true 5 test -s "$LAB_ROOT$pidfile"
	service=$(cat "$LAB_ROOT$pidfile")
}
end_service() {
	[[ ! ${launched-} ]] || end "$launched"
	launched='' service=''
}

# doctor [OPTION...]: for this service; sets $report and $status.
report='' as=()
doctor() {
	report=$work/report
	status=0
	LD_LIBRARY_PATH="$here/rt:$here/lib" timeout -k 1 "${limit_s:-300}" chroot "${as[@]}" "$LAB_ROOT" "$here/davylamp" doctor --json --timeout 60 \
		--policies "$here/policies" --config "$here/config" --state "$here/state" "$@" \
		>"$report" 2>"$work/err" </dev/null || status=$?
}
of_service() { doctor --pid "$service" "$@"; }
with_engine() { of_service --engine "$here/opt/bin/ollama" "$@"; }

# concludes STATUS JQ: checks the conclusion of the last report.
concludes() {
	[[ $status -eq $1 ]] && tail -n 1 "$report" | jq -e "select(.type == \"conclusion\") | $2" >/dev/null ||
		{ echo "exit $status"; return 1; }
}
# found CHECK VERDICT [JQ]: the report has such a finding.
found() {
	jq -se "any(.[]; .type == \"finding\" and .check == \"$1\" and .verdict == \"$2\" and (${3:-true}))" "$report" >/dev/null
}
