#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build-dmem-kernel.sh [--find] CACHE_DIR
#
# Builds a kernel with CONFIG_CGROUP_DMEM, which Debian's kernels do not set: Debian's own source of 7.2 with the
# configuration of dmem.config, as packages (image and headers) in CACHE_DIR/dmem-packages. Nothing is installed but the
# tools of the build. 40 minutes on two cores, 12 GiB of disk until the end; a second run goes on where the first one
# was interrupted. Prints the folder of the packages; does nothing where they exist. --find: only prints it, or fails.
set -euo pipefail

die() { echo "build-dmem-kernel.sh: $*" >&2; exit 1; }

only_find=''
[[ ${1-} != --find ]] || { only_find=1; shift; }
[[ $# -eq 1 ]] || die "usage: build-dmem-kernel.sh [--find] CACHE_DIR"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cache=$(cd "$1" && pwd)
for packages in "$cache/dmem-packages" "$here/../../../shared/kernel-dmem"; do
	compgen -G "$packages/linux-image-*.deb" >/dev/null || continue
	echo "$packages"
	exit 0
done
[[ ! $only_find ]] || exit 1

"$here/../setup" kernel >&2
. "$here/../apt.sh"
build=$cache/dmem-build
log=$build/log
mkdir -p "$build"

newest_source() { apt-cache "${apt_options[@]}" search --names-only '^linux-source-7\.2$' | cut -d' ' -f1; }
has_source() { [[ $(newest_source) ]]; }

if [[ ! -e $build/linux/Makefile ]]; then
	echo "fetching Debian's source of Linux 7.2" >&2
	apt_use_suite "$build/apt" sid has_source ||
		die "no mirror of the system's apt sources has 'linux-source-7.2' in suite 'sid' ($build/apt/log)"
	rm -rf "$build/debs" "$build/tree" "$build/linux.new"
	mkdir -p "$build/debs" "$build/linux.new"
	(cd "$build/debs" && apt-get "${apt_options[@]}" download "$(newest_source)" >&2) ||
		die "the download failed; try again"
	dpkg-deb -x "$build"/debs/*.deb "$build/tree"
	echo "unpacking it" >&2
	tar -xf "$build"/tree/usr/src/linux-source-*.tar.* -C "$build/linux.new" --strip-components=1
	rm -rf "$build/debs" "$build/tree" "$build/apt"
	mv "$build/linux.new" "$build/linux"
fi

cd "$build/linux"
make -s tinyconfig >"$log" 2>&1 && scripts/kconfig/merge_config.sh -m .config "$here/dmem.config" >>"$log" 2>&1 &&
	make -s olddefconfig >>"$log" 2>&1 || die "the configuration failed ($log)"
refused=$(grep -E '^CONFIG_.*=[^n]' "$here/dmem.config" | grep -vxFf .config || true)
[[ ! $refused ]] || die "the kernel's configuration does not accept: ${refused//$'\n'/ }"

# One line per hundred compiled files: of about 2,900.
progress() {
	awk -v log_file="$log" '{ print >>log_file; fflush(log_file) } $1 == "CC" || $2 == "CC" { n++
		if (n % 100 == 0) { print "    " n " files are compiled"; fflush() } }' >&2
}
echo "building (output in $log)" >&2
make -j"$(nproc)" DPKG_FLAGS=-d DEB_BUILD_PROFILES=pkg.linux-upstream.nokerneldbg bindeb-pkg 2>&1 | progress ||
	die "the build failed: $(tail -n 3 "$log" | tr '\n' ' ')($log)"
rm -rf "$cache/dmem-packages" "$cache/dmem-packages.new"
mkdir "$cache/dmem-packages.new"
mv "$build"/linux-image-*.deb "$build"/linux-headers-*.deb "$cache/dmem-packages.new/"
mv "$cache/dmem-packages.new" "$cache/dmem-packages"
rm -rf "$build"
echo "$cache/dmem-packages"
