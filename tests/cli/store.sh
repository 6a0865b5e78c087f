# SPDX-License-Identifier: GPL-2.0-or-later
#
# What davylamp stores is not truncated, not lost among several writers, and not replaced while it is
# unreadable for a moment; tests/cli/run calls these.

# pin_keep_checks PROGRAM
pin_keep_checks() {
	local p=$1 d=$work/keep at=$work/keep/backend.conf
	rm -rf "$d"
	mkdir "$d"
	{ head -c 65600 /dev/zero | tr '\0' '#' | fold -w 99; printf '\n[rule last]\nbackends = cpu\n'; } >"$at"
	cp "$at" "$work/keep.own"
	check "policy pin does not append to rules of more than 64 KiB" exits 1 "$p" policy pin --config "$d" backends=cpu
	check "policy pin reports that the rules are too long" says "longer than 65535 bytes; nothing is changed"
	check "policy pin does not truncate rules of more than 64 KiB" cmp "$at" "$work/keep.own"
	check "policy unpin does not change rules of more than 64 KiB" exits 1 "$p" policy unpin --config "$d" pinned-1
	check "rules of more than 64 KiB are unchanged after policy unpin" cmp "$at" "$work/keep.own"
	{ head -c 64700 /dev/zero | tr '\0' '#' | fold -w 99; printf '\n[rule last]\nbackends = cpu\n'; } >"$at"
	cp "$at" "$work/keep.own"
	check "policy pin does not extend rules beyond 64 KiB" exits 1 "$p" policy pin --config "$d" \
		--model "$(printf 'm%.0s' $(seq 100)).gguf" backends=cpu
	check "rules of nearly 64 KiB are unchanged after policy pin" cmp "$at" "$work/keep.own"
}

# pins_at_once PROGRAM: sixteen pins that start together wait for each other.
pins_at_once() {
	local p=$1 d=$work/keep i pids=() failed=0 all
	rm -rf "$d"
	for i in $(seq 16); do
		"$p" policy pin --config "$d" --model "m$i.gguf" ubatch=256 >/dev/null &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || failed=$((failed + 1))
	done
	check "sixteen simultaneous pins succeed" test "$failed" = 0
	all=$(for i in $(seq 16); do grep -cx "if model = m$i.gguf" "$d/backend.conf"; done | sort | uniq -c | tr -s ' ')
	check "sixteen simultaneous pins write sixteen rules" test "$all" = " 16 1"
	check "each of sixteen simultaneous pins has a different name" test "$(grep -c '^\[rule pinned-' "$d/backend.conf")" = "$(grep '^\[rule pinned-' "$d/backend.conf" | sort -u | wc -l)"
	pids=()
	for i in $(seq 2 16); do
		"$p" policy unpin --config "$d" "pinned-$i" >/dev/null &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || failed=$((failed + 1))
	done
	check "fifteen simultaneous unpins succeed" test "$failed" = 0
	check "fifteen simultaneous unpins leave the sixteenth rule" test "$(grep '^\[' "$d/backend.conf")" = "[rule pinned-1]"
	check "policy pin leaves no lock file" test "$(ls -A "$d")" = backend.conf
	flock "$d/.backend.conf.lock" sleep 60 &
	pids=$!
	until_true 5 not flock -n "$d/.backend.conf.lock" true
	check "policy pin exits with 1 when the folder stays locked" exits 1 "$p" policy pin --config "$d" backends=cpu
	check "policy pin explains a lock that is held for too long" says "locked by another davylamp command for more than 10 s; nothing is changed. Try again"
	kill "$pids" "$(pgrep -P "$pids")" 2>/dev/null
	wait "$pids" 2>/dev/null
	rm -f "$d/.backend.conf.lock"
	[[ $(id -u) == 0 ]] || return
	chmod 755 "$work" "$d"
	$nobody flock "$d" sleep 60 &
	pids=$!
	until_true 5 not flock -n "$d" true
	check "policy pin does not wait for another user's lock on the folder" exits 0 "$p" policy pin --config "$d" backends=cpu
	kill "$pids" "$(pgrep -P "$pids")" 2>/dev/null
	wait "$pids" 2>/dev/null
}

# units FILE: adopted units with one service.
units() {
	printf '[unit 1]\nunit = davylamp-test-none.service\nversion = 1\n' >"$1"
}

# units_of STATE: the adopted units in the database.
units_of() { sqlite3 "$1/davylamp.db" 'SELECT DISTINCT unit FROM unit_setting'; }

# unreadable_checks PROGRAM: an agent whose state files are unreadable for a while; an older davylamp wrote them.
unreadable_checks() {
	local p=$1 state=$work/unreadable file
	rm -rf "$state"
	mkdir "$state"
	gcc -O1 -shared -fPIC -o "$work/unreadable.so" tests/cli/unreadable.c || exit 1
	learned "$state/learned.conf"
	units "$state/units.conf"
	echo '{"format":1,"since":5,"classes":{},"hazards":{}}' >"$state/foresight.json"
	cp -r "$state" "$work/unreadable.own"
	touch "$work/emfile"
	check "an agent with unreadable state files starts" agent env LD_PRELOAD="$work/unreadable.so" UNREADABLE_WHILE="$work/emfile" \
		UNREADABLE="learned.conf units.conf foresight.json" "$p" run --config "$work"
	check "the agent reports an unreadable learned.conf and tries again" until_true 10 grep -q \
		"learned.conf': cannot be read: Too many open files; it stays unchanged.*reads it again every 5 s" "$work/agent.err"
	check "the agent reports an unreadable list of units and tries again" until_true 10 grep -q \
		"the list of adopted units cannot be read: Too many open files; it stays unchanged.*reads it again every 5 s" "$work/agent.err"
	check "the agent reports unreadable counters and tries again" until_true 10 grep -q \
		"cannot read the counters of foresight: Too many open files; they stay unchanged" "$work/agent.err"
	for file in learned.conf units.conf foresight.json; do
		check "unreadable $file is unchanged" cmp "$state/$file" "$work/unreadable.own/$file"
		check "unreadable $file is not put aside" test ! -e "$state/$file.bad"
	done
	check "policy adopt is refused while the list of units is unreadable" exits 3 "$p" policy adopt davylamp-test-none.service --socket "$work/sock"
	check "policy adopt reports the unreadable list of units" says "the list of adopted units cannot be read"
	check "policy forget is refused while learned.conf is unreadable" exits 3 "$p" policy forget --all --socket "$work/sock"
	check "policy forget reports the unreadable learned.conf" says "learned.conf cannot be read"
	rm "$work/emfile"
	check "breakers are in force when learned.conf becomes readable" until_true 20 grep -q "learned.conf': was read" "$work/agent.err"
	check "units are adopted when their list becomes readable" until_true 20 bash -c \
		"'$p' policy adopted --json --socket '$work/sock' | jq -e '.unit == \"davylamp-test-none.service\"'"
	check "the agent reports that the list of units was read" grep -q "the list of adopted units was read" "$work/agent.err"
	check "the units of the older davylamp are in the database" test "$(units_of "$state")" = davylamp-test-none.service
	check "the units file of the older davylamp is kept" cmp "$state/units.conf.imported" "$work/unreadable.own/units.conf"
	check "policy forget works when learned.conf is readable" exits 0 "$p" policy forget --model b.gguf --socket "$work/sock"
	end_agent
	check "policy forget removes two of three entries" test "$(grep -c '^model = ' "$state/learned.conf")" = 1
	check "the counters keep the start time of the older davylamp" test \
		"$(sqlite3 "$state/davylamp.db" "SELECT value FROM foresight WHERE counter = 'since'")" = 5
	check "a readable file is not put aside" bash -c "! ls '$state' | grep '\.bad$'"
}
