# SPDX-License-Identifier: GPL-2.0-or-later
#
# For scripts that fetch packages without installing them: ". tests/apt.sh". An apt with its own state,
# cache and sources; the host's apt.conf.d is kept for its proxies, and its package state is
# only read. The mirror is that of the host's apt; only the suite differs.

apt_options=(-q -o APT::Sandbox::User=root -o Acquire::Retries=3)

# Bases of all repositories of the host's apt, in any format of its sources; flat
# repositories have no "dists" and drop out.
apt_mirrors() {
	apt-get update --print-uris 2>/dev/null |
		sed -n "s|^'\(.*[^/]\)/*/dists/[^']*/InRelease'.*|\1|p" | awk '!seen[$0]++'
}

apt_keyring() {
	local keyring

	for keyring in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
		[[ ! -r $keyring ]] || { echo "$keyring"; return; }
	done
	return 1
}

# apt_use_suite DIR SUITE COMMAND...: points apt_options at a private apt below DIR whose source is
# SUITE on the first of the host's mirrors for which COMMAND succeeds. False when none does: apt's
# output is then in DIR/log.
apt_use_suite() {
	local dir=$1 suite=$2 keyring mirror
	shift 2

	mkdir -p "$dir"/{none,state/lists/partial,cache/archives/partial}
	: >"$dir/status"
	keyring=$(apt_keyring) ||
		{ echo "no Debian archive keyring; install debian-archive-keyring" >"$dir/log"; return 1; }
	apt_options+=(-o "Dir::State=$dir/state" -o "Dir::State::status=$dir/status"
		-o "Dir::Cache=$dir/cache" -o "Dir::Etc::sourcelist=$dir/sources.list"
		-o "Dir::Etc::sourceparts=$dir/none" -o "Dir::Etc::preferences=$dir/none/p"
		-o "Dir::Etc::preferencesparts=$dir/none" -o APT::Default-Release=
		-o Acquire::Check-Valid-Until=false -o Acquire::Languages=none
		-o APT::Install-Recommends=false)
	for mirror in $(apt_mirrors); do
		[[ $mirror != *security* ]] || continue
		echo "deb [signed-by=$keyring] $mirror $suite main" >"$dir/sources.list"
		if apt-get "${apt_options[@]}" update >"$dir/log" 2>&1 && "$@" 2>>"$dir/log"; then
			return
		fi
	done
	return 1
}
