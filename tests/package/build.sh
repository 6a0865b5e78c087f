# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Builds and checks of tests/package/run.

version=$(sed -n 's/^VERSION := //p' Makefile)

tools_missing() {
	local tool

	for tool in dpkg-buildpackage dh lintian git xz; do
		command -v $tool >/dev/null || echo "$tool is not installed"
	done | head -n 1
}

# As an operator runs it: without this make's variables.
plain() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O -u CACHE -u STAGE -u KERNEL -u CI "$@"; }
same() { cmp "$1" "$2"; }

case_dist() {
	local name=davylamp-$version

	check "make dist packs the commit" said plain packaging/dist "$version" "$work/first"
	mkdir "$work/tree"
	tar -x -C "$work/tree" -f "$work/first/$name.tar.xz"
	(cd "$work/tree/$name" && plain packaging/dist "$version" out) >"$work/said" 2>&1
	check "make dist in the unpacked tarball, without git, gives the same bytes" same "$work/first/$name.tar.xz" "$work/tree/$name/out/$name.tar.xz"
	if [[ -e .git ]]; then
		check "the tarball holds the files of the commit" same <(git ls-tree -r --name-only HEAD | sort) \
			<(cd "$work/tree/$name" && find . -path ./out -prune -o ! -type d -printf '%P\n' | sort)
	fi
	rm -rf "$work/tree"
}

build_again() {
	mkdir "$work/again"
	cp "$O"/deb/davylamp_* "$work/again"
	rm "$work"/again/*.deb
	(cd "$work/again" && dpkg-source -x --no-check ./*.dsc tree && cd tree && plain dpkg-buildpackage -b -us -uc) >"$work/said" 2>&1
}

# The same binaries, one version later.
build_next() {
	local tree=$O/deb/davylamp-$version

	mkdir "$work/next"
	cp -a "$tree" "$work/next/tree"
	sed "1s/)/+next)/; q" "$tree/debian/changelog" >"$work/next/tree/debian/changelog"
	sed 1d "$tree/debian/changelog" >>"$work/next/tree/debian/changelog"
	(cd "$work/next/tree" && plain dpkg-buildpackage -b -nc -us -uc) >"$work/said" 2>&1
}

# lintian prints nothing and exits with 0 if it has nothing to say.
lintian_is_content() {
	lintian --fail-on error,warning --allow-root "$@" >"$work/said" 2>&1 && [[ ! -s $work/said ]]
}

case_deb() {
	check "make deb builds source and binary packages" said plain packaging/deb "$version" "$O"
	deb=$(find "$O/deb" -name 'davylamp_*.deb')
	[[ $deb ]] || return
	check "lintian finds no error and no warning" lintian_is_content "$O"/deb/davylamp_*.changes
	check "a second build of the source package in another folder succeeds" build_again
	check "it gives the same bytes" same "$deb" "$work/again/${deb##*/}"
	check "a package of a later version is built" build_next
	next=$(find "$work/next" -name 'davylamp_*.deb')
	check "the later version is a later one for dpkg" dpkg --compare-versions "$(dpkg-deb -f "$next" Version)" gt "$(dpkg-deb -f "$deb" Version)"
}
