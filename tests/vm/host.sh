# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# For tests/vm/run and its parts: boots a guest with the installed agent and reads what it printed.
# $out is the folder of the last boot's output, $build where build.sh put the lab.

# with_libraries TREE PROGRAM...: the programs and what they are linked with, as the host has them.
with_libraries() {
	local tree=$1 program library
	shift
	for program in "$@"; do
		mkdir -p "$tree/bin"
		cp "$program" "$tree/bin/"
		ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "$tree${library%/*}"
			cp -L "$library" "$tree$library"
		done
	done
}

# section NAME: what the guest printed between "== NAME" and the next.
section() { tr -d '\r' <"$out/output.log" | sed -n "/^== $1\$/,/^== /p" | grep -v '^== '; }
fact() { tr -d '\r' <"$out/output.log" | sed -n "s/^fact $1 //p" | head -n 1; }
agent_saw() { section agent.out | grep '^{' | jq -es "any(.[]; $1)" >/dev/null; }
agent_sum() { section agent.out | grep '^{' | jq -s "$1"; }
on_failure() { agent_sum 'map(select(.type == "decision" or .event == "reset" or .event == "job_timeout"))[]' | jq -c . | tail -n 12 | cut -c1-500; }

# The guest's own checks count like ours.
count_guest() {
	local line
	while read -r line; do
		case $line in
		"ok: "*) passed=$((passed + 1)) ;;
		"FAILED: "*) failed=$((failed + 1)) ;;
		*) continue ;;
		esac
		echo "$line"
	done < <(tr -d '\r' <"$out/output.log")
}

# agent_image KERNEL NAME MODULE... [MKINITRAMFS_OPTION...]: a root with the lab, the agent and these
# modules.
agent_image() {
	local series=$1 image=$build/$1/$2.initramfs tree modules=()
	shift 2
	while [[ $# -gt 0 && $1 != -* ]]; do
		modules+=(--module "$1")
		shift
	done
	tree=$(mktemp -d)
	cp -L --parents /usr/lib/x86_64-linux-gnu/libcapstone.so.4 "$tree" # loaded on demand
	with_libraries "$tree" "$STAGE/usr/sbin/davylamp" "$STAGE/usr/sbin/davylamp-probe" \
		/usr/bin/setpriv
	tests/vm/mkinitramfs.sh --kernel "$CACHE/kernel/$series" --out "$image" \
		--add "$build/$series/root" --add "$tree" "${modules[@]}" "$@"
	rm -rf "$tree"
}

# guest KERNEL IMAGE SCRIPT [RUN_VM_OPTION]...: its checks are counted, its output is in $out.
guest() {
	local series=$1 image=$2 script=$3 status=0
	shift 3
	out=$build/$series/$script.out
	tests/vm/run-vm.sh --kernel "$CACHE/kernel/$series" --out "$out" \
		--initramfs "$build/$series/$image.initramfs" --script "tests/vm/guest/$script.sh" \
		"$@" || status=$?
	[[ $status -le 1 ]] || check "the guest ran to its end (status $status)" false
	count_guest
}
