# SPDX-License-Identifier: GPL-2.0-or-later
#
# What davylamp keeps is neither cut, nor lost among several writers, nor given up because it cannot be
# read for a moment; tests/cli/run calls these.

# pin_keep_checks PROGRAM
pin_keep_checks() {
	local p=$1 d=$work/keep at=$work/keep/backend.conf
	rm -rf "$d"
	mkdir "$d"
	{ head -c 65600 /dev/zero | tr '\0' '#' | fold -w 99; printf '\n[rule last]\nbackends = cpu\n'; } >"$at"
	cp "$at" "$work/keep.own"
	check "rules of more than 64 KiB are not added to" exits 1 "$p" policy pin --config "$d" backends=cpu
	check "and it is told" says "longer than 65535 bytes; nothing is changed"
	check "nothing of them is cut off" cmp "$at" "$work/keep.own"
	check "nor is one taken out of them" exits 1 "$p" policy unpin --config "$d" pinned-1
	check "and nothing else with it" cmp "$at" "$work/keep.own"
	{ head -c 64700 /dev/zero | tr '\0' '#' | fold -w 99; printf '\n[rule last]\nbackends = cpu\n'; } >"$at"
	cp "$at" "$work/keep.own"
	check "rules that would become longer than that are not added to" exits 1 "$p" policy pin --config "$d" \
		--model "$(printf 'm%.0s' $(seq 100)).gguf" backends=cpu
	check "and stay as they are" cmp "$at" "$work/keep.own"
}

# pins_at_once PROGRAM: sixteen, begun together, each takes its turn.
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
	check "sixteen pins at once succeed" test "$failed" = 0
	all=$(for i in $(seq 16); do grep -cx "if model = m$i.gguf" "$d/backend.conf"; done | sort | uniq -c | tr -s ' ')
	check "and none of them is lost" test "$all" = " 16 1"
	check "each has a name of its own" test "$(grep -c '^\[rule pinned-' "$d/backend.conf")" = "$(grep '^\[rule pinned-' "$d/backend.conf" | sort -u | wc -l)"
	pids=()
	for i in $(seq 2 16); do
		"$p" policy unpin --config "$d" "pinned-$i" >/dev/null &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || failed=$((failed + 1))
	done
	check "fifteen unpins at once succeed" test "$failed" = 0
	check "and leave the one that is left" test "$(grep '^\[' "$d/backend.conf")" = "[rule pinned-1]"
	check "no lock stays behind" test "$(ls -A "$d")" = backend.conf
	flock "$d/.backend.conf.lock" sleep 60 &
	pids=$!
	until_true 5 not flock -n "$d/.backend.conf.lock" true
	check "one that is held for long is given up, with a word" exits 1 "$p" policy pin --config "$d" backends=cpu
	check "that says what to do" says "locked by another davylamp command for more than 10 s; nothing is changed. Try again"
	kill "$pids" "$(pgrep -P "$pids")" 2>/dev/null
	wait "$pids" 2>/dev/null
	rm -f "$d/.backend.conf.lock"
	[[ $(id -u) == 0 ]] || return
	chmod 755 "$work" "$d"
	$nobody flock "$d" sleep 60 &
	pids=$!
	until_true 5 not flock -n "$d" true
	check "a user who locks the folder holds nobody up" exits 0 "$p" policy pin --config "$d" backends=cpu
	kill "$pids" "$(pgrep -P "$pids")" 2>/dev/null
	wait "$pids" 2>/dev/null
}

# units FILE: one service.
units() {
	printf '[unit 1]\nunit = davylamp-test-none.service\nversion = 1\n' >"$1"
}

# units_of STATE: the adopted units by the database.
units_of() { sqlite3 "$1/davylamp.db" 'SELECT DISTINCT unit FROM unit_setting'; }

# unreadable_checks PROGRAM: an agent that may not read what it keeps, for a while; the files are of an older davylamp.
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
	check "an agent that cannot read what it keeps runs" agent env LD_PRELOAD="$work/unreadable.so" UNREADABLE_WHILE="$work/emfile" \
		UNREADABLE="learned.conf units.conf foresight.json" "$p" run --config "$work"
	check "it tells of learned.conf, and that it tries again" until_true 10 grep -q \
		"learned.conf': cannot be read: Too many open files; it stays unchanged.*reads it again every 5 s" "$work/agent.err"
	check "of the units, too" until_true 10 grep -q \
		"the list of adopted units cannot be read: Too many open files; it stays as it is.*reads it again every 5 s" "$work/agent.err"
	check "and of the counters" until_true 10 grep -q \
		"cannot read the counters of foresight: Too many open files; they stay unchanged" "$work/agent.err"
	for file in learned.conf units.conf foresight.json; do
		check "$file stays as it is" cmp "$state/$file" "$work/unreadable.own/$file"
		check "and is not put aside" test ! -e "$state/$file.bad"
	done
	check "no unit is adopted over it" exits 3 "$p" policy adopt davylamp-test-none.service --socket "$work/sock"
	check "and it is told why" says "the list of adopted units cannot be read"
	check "nothing is forgotten over it" exits 3 "$p" policy forget --all --socket "$work/sock"
	check "and it is told why, too" says "learned.conf cannot be read"
	rm "$work/emfile"
	check "once it can be read, its breakers are in force" until_true 20 grep -q "learned.conf': was read" "$work/agent.err"
	check "and its units in the agent's care" until_true 20 bash -c \
		"'$p' policy adopted --json --socket '$work/sock' | jq -e '.unit == \"davylamp-test-none.service\"'"
	check "which it tells" grep -q "the list of adopted units was read" "$work/agent.err"
	check "they are in the database" test "$(units_of "$state")" = davylamp-test-none.service
	check "the file of the older davylamp is kept" cmp "$state/units.conf.imported" "$work/unreadable.own/units.conf"
	check "now it may be forgotten" exits 0 "$p" policy forget --model b.gguf --socket "$work/sock"
	end_agent
	check "one entry is left, the others' two are gone" test "$(grep -c '^model = ' "$state/learned.conf")" = 1
	check "the counters began when the older davylamp's did" test \
		"$(sqlite3 "$state/davylamp.db" "SELECT value FROM foresight WHERE counter = 'since'")" = 5
	check "nothing was put aside" bash -c "! ls '$state' | grep '\.bad$'"
}
