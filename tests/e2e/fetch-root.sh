#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Creates CACHE_DIR/engine-root: a root directory with the engine of Debian sid (llama-server,
# ggml's Vulkan backend, Mesa with lavapipe and RADV, the no-op DRM shim) and its dependencies.
# Filled by "dpkg-deb -x" under a private apt configuration: no maintainer script runs, and
# the host's own package state is only read. The mirror is that of the host's apt.

set -eu

PACKAGES=(llama.cpp-tools libggml0-backend-vulkan mesa-vulkan-drivers mesa-drm-shim)
SUITE=sid
# Increase it when this script would build another root from the same packages.
RECIPE=1

say() { echo "fetch-root: $*"; }
die() { echo "fetch-root: $*" >&2; exit 1; }

. "$(dirname "$0")/../apt.sh"

list_packages() {
	apt-get "${apt_options[@]}" install --print-uris -y "${PACKAGES[@]}" >"$work/apt/uris"
}

# Points the private apt at a mirror that has the suite and its packages.
choose_mirror() {
	apt_use_suite "$work/apt" "$SUITE" list_packages && return
	[[ ! -s $work/apt/log ]] || sed 's/^/    /' "$work/apt/log" >&2
	die "none of the mirrors in the host's apt sources serves $SUITE with ${PACKAGES[*]};" \
	    "check that 'apt-get update' works here and that the sources name a Debian mirror"
}

download() {
	apt-get "${apt_options[@]}" install -y --download-only "${PACKAGES[@]}" >"$work/apt/log" 2>&1 && return
	sed 's/^/    /' "$work/apt/log" >&2
	die "the download failed (above: apt's own words); run this script again"
}

# The links of a merged /usr come first, so that no package creates a directory in their place.
make_skeleton() {
	local root=$1 d

	mkdir -p "$root"/{dev,proc,sys,tmp,run,root,etc,srv/lab,usr/{bin,sbin,lib,lib64}}
	for d in bin sbin lib lib64; do
		ln -s "usr/$d" "$root/$d"
	done
	chmod 1777 "$root/tmp"
	mknod -m 666 "$root/dev/null" c 1 3
	mknod -m 666 "$root/dev/zero" c 1 5
	mknod -m 666 "$root/dev/full" c 1 7
	mknod -m 666 "$root/dev/random" c 1 8
	mknod -m 666 "$root/dev/urandom" c 1 9
	# A file system mounted "nodev" accepts the device files and refuses their use.
	: >"$root/dev/null" || die "device files do not work under '$cache'; choose another file system"
}

unpack() {
	local root=$1 deb

	for deb in "$work"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$root" || die "cannot unpack '$deb'; is the disk full?"
		dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb" >>"$work/packages"
		rm "$deb"
	done
	rm -rf "$root"/usr/share/{doc,man,locale,info}
	[[ -x $root/usr/bin/llama-server ]] || die "the root holds no /usr/bin/llama-server"
}

check_runs() {
	local out

	out=$(chroot "$1" /usr/bin/llama-server --version 2>&1) ||
		die "llama-server does not start in the new root: $out"
	say "$(grep -m1 -i version <<<"$out" || echo 'llama-server runs')"
}

stamp_text() { echo "recipe $RECIPE suite $SUITE: ${PACKAGES[*]}"; }

is_done() { [[ -r $1/.stamp && $(head -n1 "$1/.stamp") == "$(stamp_text)" ]]; }

build() {
	local target=$1 count

	work=$(mktemp -d "$cache/engine-root.tmp.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	chmod 755 "$work"
	say "reading the package lists of $SUITE"
	choose_mirror
	count=$(grep -c "^'" "$work/apt/uris") || die "apt found nothing to download"
	say "downloading $count packages, $(awk "/^'/ { s += \$3 } END { print int(s / 1e6) }" \
		"$work/apt/uris") MB"
	download
	say "unpacking"
	make_skeleton "$work/root"
	unpack "$work/root"
	check_runs "$work/root"
	{ stamp_text; sort "$work/packages"; } >"$work/root/.stamp"
	[[ ! -e $target ]] || mv "$target" "$work/old"
	mv "$work/root" "$target"
}

main() {
	local tool

	[[ $# == 1 && $1 != -* ]] || { echo "usage: fetch-root.sh CACHE_DIR" >&2; exit 2; }
	mkdir -p "$1"
	cache=$(realpath "$1")
	if is_done "$cache/engine-root"; then
		say "$cache/engine-root is ready"
		return
	fi
	[[ $(id -u) == 0 ]] || die "needs root, for device files and chroot; run it with sudo"
	for tool in apt-get dpkg-deb flock chroot; do
		command -v "$tool" >/dev/null || die "'$tool' is missing; this needs a Debian or Ubuntu host"
	done
	exec 9>"$cache/engine-root.lock"
	flock -w 900 9 || die "another run has held '$cache/engine-root.lock' for 15 minutes; giving up"
	is_done "$cache/engine-root" || build "$cache/engine-root"
	say "$cache/engine-root is ready ($(du -sm "$cache/engine-root" | cut -f1) MB)"
}

main "$@"
