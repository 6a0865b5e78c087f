# SPDX-License-Identifier: GPL-2.0-or-later
#
# davylamp-guard as the agent starts it, under low limits and failing system calls (tests/cli/guard.c).
# tests/cli/run calls this.

# guard_holds CHECK: prints the reason when the check fails.
guard_holds() { timeout -k 5 300 "$work/guard" "$STAGE/usr/sbin/davylamp-guard" "$1"; }

guard_checks() {
	check "davylamp-guard started by hand exits with 2" exits 2 "$STAGE/usr/sbin/davylamp-guard"
	check "davylamp-guard reports that only the agent starts it" says "started by 'davylamp run' only"
	check "davylamp has no verb guard" exits 2 "$program" guard
	check "davylamp-guard is linked statically" not grep -q 'NEEDED' <(objdump -p "$STAGE/usr/sbin/davylamp-guard")
	check "the test driver of davylamp-guard compiles" gcc -std=gnu17 -D_GNU_SOURCE -iquote userspace -O1 -o "$work/guard" tests/cli/guard.c \
		userspace/act/guard_client.c userspace/lib/child.c userspace/lib/file.c
	check "guard and standby use under 1 MiB together, all of it locked, and no CPU time when idle" guard_holds idle
	check "with 8 to 70 descriptors the guard freezes or refuses, and ends within a second after its agent" guard_holds limits
	check "the guard can receive, thaw and end when limits fall while a process is frozen" guard_holds lowered
	check "a guard does not wait for an agent that ended before it" guard_holds late
	check "a standby ends its stopped guard within a second after the agent's end" guard_holds stopped
	check "a standby that dies is restarted with growing pauses, and nothing is frozen without a standby" guard_holds standby
	check "failing system calls make the guard neither spin nor outlive its agent" guard_holds denied
	check "a guard that computes without end loses its priority" guard_holds spin
}
