# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of davylamp-probe with the lab's Mesa: the installed davylamp with a davylamp-probe beside
# it that enters the engine's root, and functions that read the finding. Sourced after tests/lib.sh
# and tests/e2e/lib.sh; lab_open comes first.

# A davylamp whose probe runs inside the root, with the root's loader, Mesa and C library. Other
# files that the probe needs are copied into the root.
make_programs() {
	local to=$LAB_ROOT$inside

	mkdir -p "$work/bin" "$to/lib"
	cp "$STAGE"/usr/sbin/davylamp{,-doctor,-exec,-guard,-reader} "$work/bin/"
	cp "$STAGE/usr/sbin/davylamp-probe" "$to/"
	ldd "$to/davylamp-probe" | awk '$3 ~ /^\// { print $3 }' |
		grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv)\.so' |
		xargs cp -L -t "$to/lib"
	cat >"$work/bin/davylamp-probe" <<-END
		#!/bin/sh
		export LD_LIBRARY_PATH="\$LAB_LIB$inside/lib"
		exec chroot "$LAB_ROOT" "$inside/davylamp-probe" "\$@"
	END
	chmod 755 "$work/bin/davylamp-probe"
	program=$work/bin/davylamp
}

# The same for an agent, which may not change its root at run time: the root's loader and files by
# their paths, in places that the probe's user can read. Sets $program; unmake_agent_program undoes it.
make_agent_program() {
	local dir=$work/agent r=$work/agent/root

	mkdir -p "$r"
	trap 'unmake_agent_program; lab_close' EXIT
	# Read-only: an rm under $work must not reach the root.
	mount --bind "$LAB_ROOT" "$r" && mount -o remount,bind,ro "$r" || return 1
	cp "$STAGE"/usr/sbin/davylamp{,-doctor,-guard} "$dir/"
	cat >"$dir/davylamp-probe" <<-END
		#!/bin/sh
		export VK_DRIVER_FILES=$(echo "$r"/usr/share/vulkan/icd.d/lvp_icd*.json) VK_LAYER_PATH=$r$inside
		export DAVYLAMP_VKFAULT=$r$inside/fault DAVYLAMP_VKFAULT_LOG=/dev/null
		exec $r/lib64/ld-linux-x86-64.so.2 --library-path $r$inside/lib:$r/usr/lib/x86_64-linux-gnu \
			$r$inside/davylamp-probe "\$@"
	END
	chmod 755 "$dir" "$dir/davylamp-probe"
	program=$dir/davylamp
}
unmake_agent_program() {
	! mountpoint -q "$work/agent/root" || umount -l "$work/agent/root"
	program=$work/bin/davylamp
}

# A davylamp with this script as its probe; prints the folder.
with_fake() {
	local dir=$work/fake-$1

	mkdir -p "$dir"
	cp -n "$STAGE"/usr/sbin/davylamp{,-doctor,-exec,-guard,-reader} "$dir/"
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/davylamp-probe"
	chmod 755 "$dir/davylamp-probe"
	echo "$dir/davylamp"
}

# probes [ENVIRONMENT... --] [OPTION...]: a Vulkan probe; its finding is in $work/finding, its exit
# status in $status, the milliseconds of wall time in $took and of CPU time in $cpu_ms.
probes() {
	local began set=() TIMEFORMAT='%U %S'

	while [[ ${1-} == *=* ]]; do
		set+=("$1")
		shift
	done
	began=$(date +%s%N)
	status=0
	{ time env "${lab_vulkan[@]}" "${set[@]}" "$program" probe vulkan --json "$@" \
		>"$work/finding" 2>"$work/probe.err" </dev/null; } 2>"$work/cpu" || status=$?
	took=$((($(date +%s%N) - began) / 1000000))
	# shellcheck disable=SC2034 # for the sourcing script
	cpu_ms=$(awk '{ print int(($1 + $2) * 1000) }' "$work/cpu")
}

# found STATUS JQ: compares exit status and finding of the last probe.
found() {
	[[ $status -eq $1 ]] && jq -e "$2" "$work/finding" >/dev/null ||
		{ echo "exit $status after $took ms"; return 1; }
}

lab_vulkan=(VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json)
fault_layer() {
	lab_vulkan+=(VK_LAYER_PATH="$inside" VK_INSTANCE_LAYERS=VK_LAYER_DAVYLAMP_fault
		DAVYLAMP_VKFAULT="$inside/fault")
}

# field NAME PID: of /proc/PID/status, without blanks.
field() { awk -v name="$1:" '$1 == name { $1 = ""; gsub(/[ \t]/, "", $0); print }' "/proc/$2/status"; }
