# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The RPM spec and the PKGBUILD, with the programs that the Debian package was built from: they are up to date, and
# nothing is compiled again. Sourced by tests/package/run.

in_all_packages() { # COMMAND that lists paths
	"$@" >"$work/said" && for file in davylamp davylamp-probe davylamp-guard davylamp.service davylamp.fish _davylamp \
		backend.conf davylamp.8 leave; do
		grep -qE "/$file(\.gz)?$" "$work/said" || { echo "'$file' is not in the package"; return 1; }
	done
}

# In a copy, which rpmbuild removes.
build_rpm() {
	mkdir -p "$work/rpm/BUILD"
	cp -a "$O/deb/davylamp-$version" "$work/rpm/BUILD"
	said plain rpmbuild -bb --nodeps --noprep --define "_topdir $work/rpm" --define "debug_package %{nil}" packaging/davylamp.spec
}

case_rpm() {
	local rpm

	if ! command -v rpmbuild >/dev/null; then
		skip "the RPM package" "rpmbuild is not installed"
		return
	fi
	check "the spec has the version of the Makefile" test "$version" = "$(rpmspec -q --qf '%{version}' packaging/davylamp.spec)"
	check "rpmbuild builds the package" build_rpm
	rpm=$(find "$work/rpm" -name '*.rpm')
	check "the RPM package has all files" in_all_packages rpm -qpl "$rpm"
	check "its removal releases what is in force" eval 'rpm -qp --scripts "$rpm" | grep -q "|| /usr/share/davylamp/leave"'
	check "its programs are root's" test root:root = "$(rpm -qp --qf '[%{FILEUSERNAME}:%{FILEGROUPNAME}\n]' "$rpm" | sort -u)"
}

# Its variables stay in the subshell; O is that of the tree of the package.
run_pkgbuild() {
	(
		srcdir=$(realpath "$O")/deb pkgdir=$work/arch
		unset MAKEFLAGS MFLAGS MAKELEVEL O CACHE STAGE KERNEL CI
		. packaging/PKGBUILD
		build && package
	) >"$work/said" 2>&1
}

case_arch() {
	check "PKGBUILD and its install script are valid bash" bash -n packaging/PKGBUILD packaging/davylamp.install
	check "PKGBUILD has the version of the Makefile" test "$version" = "$(. packaging/PKGBUILD; echo "$pkgver")"
	check "its functions build and install" run_pkgbuild
	check "the Arch package has all files" in_all_packages find "$work/arch" -type f
	check "no program is in /usr/sbin, which is a link on Arch" not test -e "$work/arch/usr/sbin"
	check "the unit starts the program in /usr/bin" grep -q '^ExecStart=/usr/bin/davylamp run' "$work/arch/usr/lib/systemd/system/davylamp.service"
}
