# SPDX-License-Identifier: GPL-2.0-or-later
#
# The doctor as root for a process whose cgroup another user controls; sourced by causes.sh.

tree=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)

# cgroup_made NAME: creates a v2 group with the service's process in it, visible in the lab's root.
cgroup_made() {
	cgroup=$tree/$1
	mkdir -p "$cgroup" && echo "$service" >"$cgroup/cgroup.procs" || return 1
	mkdir -p "$LAB_ROOT$tree"
	mountpoint -q "$LAB_ROOT$tree" || mount --bind "$tree" "$LAB_ROOT$tree"
}
cgroup_ended() {
	echo 0 >"$cgroup/cgroup.freeze"
	end_service
	until_true 5 rmdir "$cgroup"
}
frozen() { grep -qx 'frozen 1' "$cgroup/cgroup.events"; }
mi50
service_runs "${radv[@]}"
if [[ $tree ]] && cgroup_made "davylamp-stranger-$$.service" 2>/dev/null; then
	# As systemd delegates: user@1998.service, or a unit with User= and Delegate=.
	chown "$uid" "$cgroup" "$cgroup"/cgroup.{procs,threads,subtree_control,freeze}
	stranger() { setpriv --reuid=$uid --regid=$uid --clear-groups sh -c "echo $1 >$cgroup/cgroup.freeze"; }
	check "the cgroup's owner can freeze it" stranger 1
	check "all processes in the cgroup are frozen" until_true 10 frozen
	members() { tr '\n' ' ' <"$cgroup/cgroup.procs"; }
	{ while sleep 0.05; do [[ $(members) == "$service " ]] || { echo entered; break; }; done >"$work/entered"; } &
	watcher=$!
	limit_s=100 of_service
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null
	check "the doctor ends" test "$status" -lt 3
	check "no process of the doctor entered the frozen cgroup" test ! -s "$work/entered"
	check "no child of the doctor waits in the frozen cgroup" test "$(members)" = "$service "
	check "the frozen cgroup is a finding" found access.frozen failure '.evidence | test("davylamp-stranger.*is frozen: no process in it runs")'
	check "the finding about the frozen cgroup has a fix" found access.frozen failure '.fix | test("cgroup.freeze file that contains 1")'
	check "the files were tested outside of the cgroup" found access.open ok '.evidence | test("has opened it; it is")'
	stranger 0
	of_service
	check "a thawed cgroup is not entered either" found nodes.container ok '.evidence | test("its cgroup is not controlled by root alone")'
	check "a thawed cgroup is not a failure" found access.frozen ok
	cgroup_ended
	service_runs "${radv[@]}"
	cgroup_made "davylamp-doctor-$$.service"
	of_service
	check "a unit's cgroup controlled by root alone is entered" found access.open ok '.evidence | test("has opened it in its cgroup")'
	echo 1 >"$cgroup/cgroup.freeze"
	until_true 10 frozen
	of_service
	check "a frozen cgroup of a unit is not entered" found access.open ok '.evidence | test("has opened it; it is")'
	check "a frozen cgroup of a unit is reported" found access.frozen failure
	cgroup_ended
	umount "$LAB_ROOT$tree"
else
	skip "a cgroup of another user" "no group of cgroup v2 can be made here"
fi
