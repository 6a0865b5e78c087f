# SPDX-License-Identifier: GPL-2.0-or-later
#
# A user without privileges writes chosen text into the kernel log through a mount option; tests/cli/run calls this.

# forge_checks PROGRAM
forge_checks() {
	local p=$1 at address found=0
	at=$(printf '%02x:%02x' $((RANDOM % 256)) $((RANDOM % 32)))
	address=PCI:0000:$at
	$nobody unshare -Urm sh -c "mount -t tmpfs -o 'NVRM: Xid ($address): 79' none /mnt
		mount -t tmpfs -o 'x
NVRM: Xid ($address): 79' none /mnt" >/dev/null 2>&1
	[[ $(dmesg 2>/dev/null | grep -c "NVRM: Xid ($address)") == 2 ]] && found=1
	if [[ $found == 0 ]]; then
		skip "a user's mount option is not taken for a driver's line" "no user may mount here, or the kernel's log is not readable"
		return
	fi
	for how in "dmesg" "dmesg -S" "dmesg -T" "dmesg -x" "dmesg -r"; do
		$how | sed -n "/Xid ($address)/,/Xid ($address)/p" >"$work/forged"
		check "a user's mount option is not taken for a driver's line ($how)" exits 0 "$p" log "$work/forged"
		check "text behind a newline in a mount option is not taken for a driver's line ($how)" says "no GPU failure found"
	done
}
