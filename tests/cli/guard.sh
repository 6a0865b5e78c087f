# SPDX-License-Identifier: GPL-2.0-or-later
#
# davylamp-guard as the agent starts it, under low limits and failing system calls (tests/cli/guard.c).
# tests/cli/run calls this.

# guard_holds CHECK: it tells why not.
guard_holds() { timeout -k 5 300 "$work/guard" "$STAGE/usr/sbin/davylamp-guard" "$1"; }

guard_checks() {
	check "the guard is not for use by hand" exits 2 "$STAGE/usr/sbin/davylamp-guard"
	check "and says so" says "started by 'davylamp run' only"
	check "the guard's verb is gone" exits 2 "$program" guard
	check "the guard is static and linked with nothing" not grep -q 'NEEDED' <(objdump -p "$STAGE/usr/sbin/davylamp-guard")
	check "the guard's lab is built" gcc -std=gnu17 -D_GNU_SOURCE -iquote userspace -O1 -o "$work/guard" tests/cli/guard.c \
		userspace/act/guard_client.c userspace/lib/child.c userspace/lib/file.c
	check "guard and standby are under 1 MiB together, all of it locked, and use no CPU time when idle" guard_holds idle
	check "with 8 to 70 descriptors it freezes or refuses, and is gone within a second of its agent" guard_holds limits
	check "limits that fall while something is frozen leave it able to hear, to thaw and to end" guard_holds lowered
	check "an agent that is gone before its guard runs is not waited for" guard_holds late
	check "a guard that stands still is ended by its standby within a second of the agent" guard_holds stopped
	check "a standby that dies at once is started ever more slowly; nothing is frozen without one" guard_holds standby
	check "system calls that fail make it neither spin nor outlive its agent" guard_holds denied
	check "a guard that computes without an end gives up its priority" guard_holds spin
}
