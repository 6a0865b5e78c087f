# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# For tests/vm/run and its parts: boots a guest with the installed agent and reads its output.
# $out is the folder of the last boot's output, $build that of build.sh.

# libraries_of TREE FILE: copies the host's libraries that FILE is linked with into TREE.
libraries_of() {
	local library
	ldd "$2" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$1${library%/*}"
		cp -L "$library" "$1$library"
	done
}

# with_libraries TREE PROGRAM...: copies the programs and their libraries into TREE.
with_libraries() {
	local tree=$1 program
	shift
	mkdir -p "$tree/bin"
	for program in "$@"; do
		cp "$program" "$tree/bin/"
		libraries_of "$tree" "$program"
	done
}

# section NAME: the guest's output between "== NAME" and the next such line.
section() { tr -d '\r' <"$out/output.log" | sed -n "/^== $1\$/,/^== /p" | grep -v '^== '; }
fact() { tr -d '\r' <"$out/output.log" | sed -n "s/^fact $1 //p" | head -n 1; }
agent_saw() { section agent.out | grep '^{' | jq -es "any(.[]; $1)" >/dev/null; }
agent_sum() { section agent.out | grep '^{' | jq -s "$1"; }
on_failure() { agent_sum 'map(select(.type == "decision" or .event == "reset" or .event == "job_timeout"))[]' | jq -c . | tail -n 12 | cut -c1-500; }

# Counts the guest's own checks.
count_guest() {
	local line
	while read -r line; do
		case $line in
		"ok: "*) passed=$((passed + 1)) ;;
		"FAILED: "*) failed=$((failed + 1)) ;;
		"note: "*) ;;
		*) continue ;;
		esac
		echo "$line"
	done < <(tr -d '\r' <"$out/output.log")
}

# agent_image KERNEL NAME MODULE... [MKINITRAMFS_OPTION...]: a root with the lab, the agent and these
# modules.
agent_image() {
	local series=$1 image=$build/$1/$2.initramfs tree library modules=()
	shift 2
	while [[ $# -gt 0 && $1 != -* ]]; do
		modules+=(--module "$1")
		shift
	done
	tree=$(mktemp -d)
	for library in /usr/lib/x86_64-linux-gnu/lib{capstone.so.4,kmod.so.2}; do # loaded on demand
		cp -L --parents "$library" "$tree"
		libraries_of "$tree" "$library"
	done
	with_libraries "$tree" "$STAGE/usr/sbin/"davylamp{,-exec,-guard,-policy,-probe,-reader,-trace} /usr/bin/setpriv
	tests/vm/mkinitramfs.sh --kernel "$CACHE/kernel/$series" --out "$image" \
		--add "$build/$series/root" --add "$tree" "${modules[@]}" "$@"
	rm -rf "$tree"
}

# The real llama-server in a separate root, /engine, with its libraries and ggml's CPU backends.
engine_tree() {
	local tree=$1 root=$CACHE/engine-root lib=usr/lib/x86_64-linux-gnu file
	"$PWD/tests/e2e/fetch-root.sh" "$CACHE" >"$O/log/systemd-root.log" 2>&1 || return 1
	[[ -e $O/lab/tiny.gguf ]] || "$O/lab/mkmodel" -o "$O/lab/tiny.gguf" >/dev/null
	mkdir -p "$tree"/engine/{dev,proc,sys,run,tmp,usr/bin,lib64,models} "$tree/engine/$lib/ggml/backends0"
	ln -s usr/lib "$tree/engine/lib"
	cp "$O/lab/tiny.gguf" "$tree/engine/models/"
	cp "$root/usr/bin/llama-server" "$tree/engine/usr/bin/"
	cp "$root/$lib"/ggml/backends0/libggml-cpu-*.so "$tree/engine/$lib/ggml/backends0/"
	for file in "$root/usr/bin/llama-server" "$root/$lib"/ggml/backends0/libggml-cpu-x64.so; do
		"$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/$lib:$root/$lib/llama" --list "$file"
	done | grep -o "$root/[^ ]*" | sort -u | while read -r file; do
		mkdir -p "$tree/engine/$(dirname "${file#"$root/"}")"
		cp -L "$file" "$tree/engine/${file#"$root/"}"
	done
	cp -L "$root/lib64/ld-linux-x86-64.so.2" "$tree/engine/lib64/"
}

# The last lines of a dead guest's kernel log are the only information about its death.
dead_guest() {
	local cause
	tr -d '\r' <"$out/kernel.log" | tail -n 40 | cut -c1-160 | sed 's/^/        kernel: /'
	cause=$(tr -d '\r' <"$out/kernel.log" | grep -m 1 -o -E '(Oops|BUG|Kernel panic|RIP).*' | cut -c1-80)
	check "the guest ran to its end (status $1; ${cause:-nothing in its log})" false
}

# guest KERNEL IMAGE SCRIPT [RUN_VM_OPTION]...: its checks are counted, its output is in $out.
guest() {
	local series=$1 image=$2 script=$3 status=0
	shift 3
	out=$build/$series/$script.out
	tests/vm/run-vm.sh --kernel "$CACHE/kernel/$series" --out "$out" \
		--initramfs "$build/$series/$image.initramfs" --script "tests/vm/guest/$script.sh" \
		"$@" || status=$?
	[[ $status -le 1 ]] || dead_guest "$status"
	count_guest
}
