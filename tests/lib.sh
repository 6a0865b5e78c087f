# SPDX-License-Identifier: GPL-2.0-or-later
#
# For test scripts: ". tests/lib.sh". A check is a sentence about behaviour and a command; the script
# ends with "finish", which prints the totals and exits accordingly. Skips are counted with a reason.

: "${O:=out}" "${STAGE:=$(realpath -m "$O")/stage}" "${CACHE:=$HOME/.cache/davylamp}"
export O STAGE CACHE
passed=0 failed=0 skipped=0

# check "sentence" COMMAND...
check() {
	local sentence=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok: $sentence"
	else
		failed=$((failed + 1))
		echo "FAILED: $sentence"
		echo "        by: $*"
		on_failure
	fi
}

# A script may redefine it to print what helps.
on_failure() { :; }

skip() {
	skipped=$((skipped + 1))
	echo "skipped: $1, because $2"
}

# skip_late "what": true, and it is counted as skipped, after $TEST_UNTIL (seconds since 1970; not set: there is no end).
# 'make test' sets it for the suites and, to an earlier time, for the guests of tests/vm.
skip_late() {
	[[ ${TEST_UNTIL-} && $EPOCHSECONDS -ge $TEST_UNTIL ]] || return
	skip "$1" "the time for it was over; 'make test TEST_MINUTES=180' gives more"
}

not() { ! "$@"; }

# Debian 12's jq (1.6) with -e succeeds without any input, as when the command before it in a pipe has failed. As of
# 1.7 it fails with 4, and so does this one, also if the result is an empty text (-r).
jq() {
	local option='' text status
	for option; do
		[[ ! $option =~ ^-[a-zA-Z]*e[a-zA-Z]*$ ]] || break
		option=''
	done
	[[ $option ]] || { command jq "$@"; return; }
	text=$(command jq "$@")
	status=$?
	[[ ! $text ]] || printf '%s\n' "$text"
	[[ $status -ne 0 || $text ]] || status=4
	return $status
}
export -f jq

# finish SUITE: the last line of a script.
finish() {
	echo "$1: $passed passed, $failed failed, $skipped skipped"
	[[ $failed -eq 0 && $((passed + skipped)) -gt 0 ]]
	exit
}

# until_true SECONDS COMMAND...: tries every tenth of a second until it is true. SECONDS is enough on an
# idle machine; a busy one gets PATIENCE times as long. A check that something does not happen needs another
# proof than this limit: an event that would come first, or a lease that would end later.
: "${PATIENCE:=6}"
until_true() {
	local end=$((SECONDS + PATIENCE * $1))
	shift
	while ! "$@"; do
		[[ $SECONDS -lt $end ]] || return 1
		sleep 0.1
	done
}

# exits N COMMAND...: COMMAND must end with status N; its output is in $said.
exits() {
	local want=$1 got=0
	shift
	said=$("$@" 2>&1 </dev/null) || got=$?
	[[ $got -eq $want ]] || { echo "exit $got: $said"; return 1; }
}

says() { [[ $said == *"$1"* ]] || { echo "said: $said"; return 1; }; }
