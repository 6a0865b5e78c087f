# SPDX-License-Identifier: GPL-2.0-or-later
#
# Finds close() of a descriptor that the loop owns: in an event source's handler of its "fd"; behind
# davy_watch() in the same function; and anywhere in the file if davy_watch() was given a struct's member.

function report(what) { print file ": " what }

function judge_function(	rest, args) {
	if (head ~ /sd_event_source \*[a-z_]*, int fd/ && body ~ /[^a-z_]close\(fd\)/)
		report("a handler closes 'fd'")
	rest = body
	while (index(rest, "davy_watch(") && match(rest, /[^a-z_]davy_watch\([^;]*/)) {
		split(substr(rest, RSTART, RLENGTH), args, ",")
		rest = substr(rest, RSTART + RLENGTH)
		gsub(/[ \t\n]/, "", args[3])
		if (index(rest, "close(" args[3] ")"))
			report("'" args[3] "' is closed after davy_watch()")
		else if (args[3] ~ /->|\./ && args[3] !~ /\(/)
			members[args[3]] = 1
	}
}

function judge_file(	member) {
	for (member in members)
		if (index(text, "close(" member ")"))
			report("'" member "' is watched and closed")
	split("", members)
	text = ""
}

FNR == 1 { judge_file(); file = FILENAME; inside = 0; head = "" }
{ text = text $0 "\n" }
/^[a-z]/ { head = "" }
!inside { head = head $0 " " }
/^{/ { inside = 1; body = "" }
inside { body = body $0 "\n" }
/^}/ { if (inside) judge_function(); inside = 0; head = "" }
END { judge_file() }
