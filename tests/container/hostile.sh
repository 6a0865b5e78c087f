# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# What davylamp-container does with answers of a runtime that are not what they should be. Sourced by
# tests/container/inside.sh. tests/fuzz/fuzz_container.c has the rest.

http() { printf 'HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n%s' "$1" "$2" >"$work/lie"; }
lies() { # FILE
	"$O/container/liar" /run/liar.sock "$1" &
	liar=$!
	until_true 10 test -S /run/liar.sock
}
ends_lies() {
	kill "$liar"
	wait "$liar" 2>/dev/null
	rm -f /run/liar.sock
}
# asks OPERATION: the answer says why it fails.
asks() {
	"$container" "$1" docker:box --dir "$dir" --socket /run/liar.sock >"$work/answer" 2>"$work/answer.err" &&
		jq -e --arg why "$2" '(.ok | not) and (.why | test($why)) and .error < 0' "$work/answer" >/dev/null
}
lie_is_refused() { # SENTENCE WHY
	lies "$work/lie"
	check "$1" asks state "$2"
	check "$1, also for a restart" asks restart "$2"
	ends_lies
}

hostile_cases() {
	local began
	local container=$O/san/davylamp-container
	export ASAN_OPTIONS=detect_leaks=0 # the leak checker needs calls that the program has given up
	kind=docker
	check "without a runtime the answer says so" asks state "does not run"
	lies -
	began=$SECONDS
	check "a runtime that does not answer costs its deadline" asks state "does not answer in time"
	check "the deadline is five seconds" test $((SECONDS - began)) -le $((6 * PATIENCE))
	ends_lies
	http "200 OK" '{"Id": "abc", "Na'
	lie_is_refused "a truncated answer is refused" "not valid JSON"
	http "200 OK" '[1, 2, 3]'
	lies "$work/lie"
	check "an answer of another type is no container" eval \
		'"$container" state docker:box --dir "$dir" --socket /run/liar.sock | jq -e ".state.load == \"not-found\""'
	ends_lies
	http "200 OK" '{"Id": 5, "Name": "/box", "State": [], "Config": 7, "HostConfig": "x"}'
	lie_is_refused "members of wrong types are refused" "incomplete"
	http "500 Internal Server Error" '<html>'
	lie_is_refused "an error without a message is reported with its status" "status 500"
	http "200 OK" "$(head -c 300000 /dev/zero | tr '\0' '[')"
	lie_is_refused "deep nesting is refused" "not valid JSON"
	{
		printf 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"'
		head -c 5000000 /dev/zero | tr '\0' x
	} >"$work/lie"
	lie_is_refused "an answer of 5 MB is refused" "longer than 4 MiB"
	head -c 100000 /dev/urandom >"$work/lie"
	lie_is_refused "garbage is refused" "Docker: "
	check "a name with a path is no container" eval '! "$container" state docker:../x --dir "$dir" 2>/dev/null'
	check "a name of a change is no container" eval '! "$container" state docker:x.davylamp-before --dir "$dir" 2>/dev/null'
	unset ASAN_OPTIONS
}
