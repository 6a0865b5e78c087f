# SPDX-License-Identifier: GPL-2.0-or-later
# 'make' and then 'make install' with another PREFIX. Sourced by tests/cli/run.

# In a copy of the build, because the files that contain PREFIX are compiled again.
install_checks() {
	local copy=$work/build to=$work/usr

	mkdir "$copy"
	cp -a "$O"/{gen,obj,guard} "$O"/davylamp{,-doctor,-exec,-guard,-probe,-reader,-trace} "$copy"
	check "make install with another PREFIX than that of make succeeds" make -s O="$copy" PREFIX="$to" DESTDIR= install
	check "policy explain finds the shipped rules of that PREFIX" bash -c "'$to/sbin/davylamp' policy explain \
		--engine ollama --driver amdgpu --kind dgpu --gfx gfx906 --state '$work/none' --config '$work/none' |
		grep -q '$to/share/davylamp/policies/backend.conf'"
	check "exec and doctor use the shipped rules of that PREFIX" bash -c "'$to/sbin/davylamp' exec --help | grep -q '($to/share' &&
		'$to/sbin/davylamp' doctor --help | grep -q '($to/share'"
	rm -rf "$copy" "$to"
}
