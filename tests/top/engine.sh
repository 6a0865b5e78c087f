# SPDX-License-Identifier: GPL-2.0-or-later
#
# A real llama-server at work, whose device is lost: top says what is wrong, who causes it, and what was done.

speed_is_that_of_the_record() {
	local frame unit shown
	plain_screen >"$top_dir/screen"
	frame=$(sed -n 's/.* #\([0-9]*\).*/\1/p' "$top_dir/screen" | head -n 1)
	shown=$(grep -oE '[0-9.]+ [tg]/s' "$top_dir/screen" | head -n 1)
	[[ $frame -gt 4 && $shown && ${shown% *} != 0.0 ]] || return 1
	unit=graphs
	[[ $shown != *t/s ]] || unit=generated_tokens
	sed -n "$((frame - 3))p;${frame}p" "$work/record" | jq -es --arg unit $unit --arg shown "${shown% *}" '
		[.[].status | {now_ns, count: (.processes[0][$unit])}] |
		((.[1].count - .[0].count) * 1e9 / (.[1].now_ns - .[0].now_ns)) as $speed |
		($shown | tonumber) - $speed | . < 0.06 and . > -0.06' >/dev/null
}
work_on() {
	while :; do serves 60; done 2>/dev/null
}

in_force() { "$davylamp" status --json --socket "$work/sock" | jq -e "[.workloads[].in_force[].act] == $1" >/dev/null; }
act_checks() {
	keys p l
	until_true 5 shows 'l:1' # a question would have taken the second key
	check "without --allow-act no key asks for an action" eval "shows 'l:1' && ! shows 'y: yes'"
	check "and nothing was done" in_force '[]'
	keys q
	until_true 5 has_ended
	check "--allow-act without a screen is refused" exits 2 "$davylamp" top --once --allow-act --socket "$work/sock"
	open_top 80x24 "TERM=xterm-256color LC_ALL=C.UTF-8 $davylamp top --interval '500 ms' --allow-act --record $work/record --socket $work/sock"
	until_true 20 shows_like '1 llama-server vulkan'
	keys t
	check "a key asks before it acts" until_true 5 shows 'throttle to 50 % for 60 s: workload 1, llama-server tiny.gguf? y: yes'
	keys n
	check "any other key than y takes the question away" until_true 5 not shows 'y: yes'
	check "nothing is in force" in_force '[]'
	keys Enter t
	check "in the details no key asks" until_true 5 eval "shows 'Enter back' && ! shows 'y: yes'"
	keys Enter
	until_true 5 shows '? help'
	keys t y
	check "y throttles the workload" until_true 20 in_force '["throttle"]'
	check "the screen has the action and what the agent answered" until_true 10 eval "shows 'throttle to 50 %' && shows 'throttle: workload 1: the agent has done it'"
	save_screen throttled-80x24
	keys u y
	check "u takes it back" until_true 20 in_force '[]'
}

engine_checks() {
	local worker
	"$e2e/set-fault.sh" "$fault_file" ok
	check "the agent starts beside an engine" start_agent "$davylamp" --mode enforce
	engine_args=(-cram 0)
	start_engine
	check "llama-server comes up under davylamp exec" comes_up
	open_top 80x24 "TERM=xterm-256color LC_ALL=C.UTF-8 $davylamp top --interval '500 ms' --record $work/record --socket $work/sock"
	check "top shows the engine with its workload" until_true 20 shows_like '1 llama-server vulkan [0-9]+(/[0-9]+)?'
	work_on &
	worker=$!
	check "the speed is that of the agent's counts" until_true 20 speed_is_that_of_the_record
	kill "$worker"
	wait "$worker" 2>/dev/null
	top_dir_record=$work/record
	for size in 80x24 120x40 200x60; do
		resize_top $size
		until_true 5 fits $size
		check "each number of the engine is the same at $size" until_true 10 same_numbers "$work/record"
	done
	resize_top 80x24
	until_true 5 fits 80x24
	save_screen working-80x24
	act_checks
	fault lost
	serves 20
	check "the lost device is in the list of incidents" until_true 60 shows_like '[0-9:]{8} 3 engine_exception'
	check "the incident has its action and outcome" until_true 90 shows_like 'engine_exception .*migrate_cpu done'
	check "the engine is on the CPU" until_true 30 shows_like '1 llama-server cpu'
	check "the breaker that opened is beside the engine" until_true 10 shows 'breaker of vulkan open until'
	check "without an alarm, the second line says that an action is in force" until_true 30 shows_like '^no alarm; an action is in force on 1 workload; 1 GPU'
	check "each number is the same after the fault" until_true 10 same_numbers "$work/record"
	save_screen migrated-80x24
	resize_top 120x40
	until_true 5 fits 120x40
	save_screen migrated-120x40
	check "report of the running agent has the action and its success" bash -c "'$davylamp' report --json --socket '$work/sock' |
		jq -e '.hazard == \"engine_exception\" and .action == \"migrate_cpu\" and .succeeded and .model == \"tiny.gguf\"' >/dev/null"
	check "the redacted report has no name of the model" not bash -c "'$davylamp' report --redact --html --socket '$work/sock' | grep -q tiny"
	stop_agent
	check "top says that the agent has ended" until_true 10 shows 'no agent answers since'
	check "it says for how long" until_true 10 shows_like 'no agent answers since [0-9:]{8} \([0-9.]+ (m?s|min)\)'
	check "top keeps the last answer" shows 'all below is its last answer'
	save_screen gone-120x40
	start_agent "$davylamp" --mode enforce
	check "top goes on with the next agent" until_true 10 not shows 'no agent answers'
	keys q
	until_true 5 has_ended
	check "a recording shows the same incident" exits 0 "$davylamp" top --once --replay "$work/record"
	stop_engine
	stop_agent
}
