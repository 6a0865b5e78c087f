# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# davylamp without arguments, 'davylamp doctor --overview', and the next command. Sourced by tests/cli/run.

overview() { "$program" doctor --overview --socket "$work/$1" "${@:2}"; }
overview_is() { overview "$1" --json | jq -e "$2" >/dev/null; }

overview_checks() {
	local next engine

	check "davylamp without a verb exits with 0" exits 0 "$program"
	for word in gpus engines agent missing next; do
		check "it has a line '$word'" grep -q "^$word  " <<<"$said"
	done
	check "it has twelve lines at most, shorter than 100 columns" bash -c "'$program' | awk 'length > 99 { bad = 1 } END { exit bad || NR > 12 }'"
	check "without an agent, the agent is missing" overview_is none '.agent == false and (.missing | test("^the agent"))'
	next=$(overview none --json | jq -r .next)
	check "the next command starts the agent" grep -qxE 'davylamp run|systemctl enable --now davylamp' <<<"$next"
	check "doctor ends with the same command" test "next: $next" = "$("$program" doctor --user root --socket "$work/none" | tail -n 1)"
	check "doctor --json has it in the conclusion" test "$next" = "$("$program" doctor --user root --socket "$work/none" --json | tail -n 1 | jq -r .next)"
	cp /bin/sleep "$work/llama-server"
	"$work/llama-server" 300 &
	engine=$!
	check "a running engine is listed" until_true 5 overview_is none "any(.engines[]; .pid == $engine and .engine == \"llama-server\" and .adopted == false)"
	kill "$engine"
	rm "$work/llama-server"
}

# With an agent on $work/sock.
overview_agent_checks() {
	check "the overview shows the agent and its mode" overview_is sock '.agent and .mode == "advise"'
	check "with an agent, the next command is another one" overview_is sock '.next | test("^davylamp (exec|policy adopt|top)")'
	cp "$O/davylamp-doctor" "$work/"
	check "the overview works without root" exits 0 $nobody "$work/davylamp-doctor" --overview --socket "$work/sock"
	check "it shows a user the mode, too" says "runs, mode advise"
}
