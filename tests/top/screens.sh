# SPDX-License-Identifier: GPL-2.0-or-later
#
# A GPU whose memory moves, at all sizes of a terminal.

gpu_card=/sys/class/drm/card0
gpu_files=/sys/bus/pci/devices/0000:03:00.0

plug_gpu() {
	mount -t tmpfs -o mode=755 t /sys/bus/pci/devices || return
	mkdir -p "$gpu_files/power" "$gpu_files/drm/renderD128"
	if [[ -d /sys/class/drm ]]; then # else the agent finds it on the PCI bus
		mount -t tmpfs -o mode=755 t /sys/class/drm || return
		mkdir $gpu_card
		ln -s "$gpu_files" $gpu_card/device
	fi
	mkdir -p "$top_dir/amdgpu"
	ln -s "$top_dir/amdgpu" "$gpu_files/driver"
	echo 0x030000 >"$gpu_files/class"
	echo 0x1002 >"$gpu_files/vendor"
	echo 0x744c >"$gpu_files/device"
	echo active >"$gpu_files/power/runtime_status"
	echo on >"$gpu_files/power/control"
	memory vram_total 16384
	memory vis_vram_total 256
	memory vis_vram_used 16
	memory gtt_total 15000
	memory gtt_used 96
	memory vram_used 4096
}
memory() { echo $(($2 * 1048576)) >"$gpu_files/mem_info_$1"; } # NAME MIB

start_top_agent() {
	mkdir -p "$top_dir/config"
	"$davylamp" run --json --socket "$top_dir/sock" --state "$top_dir/state" --config "$top_dir/config" \
		--record "$top_dir/trace" "$@" >"$top_dir/agent.out" 2>"$top_dir/agent.err" &
	top_agent=$!
	until_true 20 top_agent_answers
}
top_agent_answers() { "$davylamp" status --socket "$top_dir/sock" >/dev/null 2>&1; }
stop_top_agent() {
	end "$top_agent"
	top_agent=''
}

# same_at SIZE: the numbers are the same after a resize, once an answer was drawn in the new size.
same_at() {
	resize_top "$1"
	until_true 5 fits "$1" && until_true 5 same_numbers "$top_dir/record"
}
# The last row has the keys: the screen was drawn at this size.
fits() { [[ $(in_tmux display-message -p '#{pane_width}x#{pane_height}') == "$1" ]] && screen | tail -n 1 | grep -q '^q quit'; }

# grow FROM TO: VRAM fills until the forecast is on the screen.
grow() {
	local used=$1
	while [[ $used -lt $2 ]]; do
		used=$((used + 24))
		memory vram_used "$used"
		! shows 'full in' || return 0
		sleep 0.25
	done
	return 1
}
hold_numbers() { # what 'davylamp status' says at rest is on the screen
	"$davylamp" status --json --socket "$top_dir/sock" | jq -c '{status: .}' >"$top_dir/separate"
	expected "$(cat "$top_dir/separate")" | grep -E '^(VRAM|GTT|mode|0000)' | while IFS= read -r line; do
		shows "$line" || { echo "'$line' is not on the screen"; exit 1; }
	done
}
sent_only() { # what the program asks the agent for
	strace -f -e trace=sendto -s 200 -o "$top_dir/strace" "$davylamp_top" --once --socket "$top_dir/sock" >/dev/null &&
		grep -q '\\"op\\":\\"status\\"' "$top_dir/strace" &&
		! grep sendto "$top_dir/strace" | grep -vqE '\\"op\\":\\"(status|recent)\\"'
}

gpu_checks() {
	local size
	plug_gpu || { skip "a GPU in davylamp top" "its files cannot be mounted"; return; }
	check "the agent starts beside a GPU" start_top_agent --mode observe
	open_top 80x24 "TERM=xterm-256color LC_ALL=C.UTF-8 $davylamp top --interval '200 ms' --record $top_dir/record --socket $top_dir/sock"
	check "top shows the GPU" until_true 10 shows '0000:03:00.0 amdgpu'
	for size in 80x24 120x40 200x60 80x24 133x30 300x90; do
		check "each number on a screen of $size is that of the agent's answer" same_at $size
	done
	check "each number at rest is that of a separate 'davylamp status --json'" until_true 5 hold_numbers
	resize_top 30x6
	check "a screen of 30x6 does not end top" until_true 5 shows 'davylamp'
	resize_top 120x40
	check "a growing use of VRAM shows when it is full" grow 4096 16000
	check "the second line says it, too" shows_like '^no alarm yet: VRAM of 0000:03:00.0 fills, full in [0-9]'
	check "each number is the same while memory moves" until_true 5 same_numbers "$top_dir/record"
	save_screen filling-120x40
	memory vram_used 15600
	memory gtt_used 3000
	check "a full GPU raises an alarm in the first lines" until_true 20 shows_like '^level [123] exhaustion since [0-9:]{8} \(.*\): 0000:03:00.0 vram'
	check "the reason of the alarm is below it" shows_like '^ why: fills VRAM at [0-9]+ MiB/s'
	check "the alarm is in the list of incidents" until_true 5 shows_like '^>? ?[0-9:]{8} [123] exhaustion'
	check "each number is the same while an alarm stands" until_true 5 same_numbers "$top_dir/record"
	check "top asks the agent for nothing but its state" sent_only
	key_checks
	check "the comparisons were made of more than 50 texts with numbers" test "${compared-0}" -gt 50
	keys q
	check "q ends top with status 0" until_true 5 ended_with 0
	plain_terminal_checks
	pipe_checks
	stop_top_agent
}

key_checks() {
	keys '?'
	check "? explains the keys" until_true 5 shows 'Space freeze the screen'
	keys x
	check "any key leaves the explanation" until_true 5 shows 'INCIDENTS'
	keys Tab
	check "Tab selects the incidents" until_true 5 shows '>INCIDENTS'
	keys Enter
	check "Enter shows the evidence of an incident" until_true 5 shows '"event": "memory"'
	keys Enter
	check "Enter leaves the details" until_true 5 shows '>INCIDENTS'
	keys S
	check "S shows the sensors that are off" until_true 5 shows_like 'sensor [a-z0-9_]+ absent'
	keys S
	check "S again shows only failed sensors" until_true 5 not shows_like 'sensor [a-z0-9_]+ absent'
	keys l l
	check "l raises the lowest level of the feed" until_true 5 shows 'from level 2'
	keys l l
	keys s
	check "s changes the order of workloads" until_true 5 shows 's:memory'
	keys s s s
	keys /
	keys nothing-has-this Enter
	check "a filter hides lines without its text" until_true 5 shows 'filter nothing-has-this'
	check "the filter hides the alarm in the feed" not shows 'HAZARD exhaustion'
	keys / Escape
	check "Esc clears the filter" until_true 5 shows 'HAZARD exhaustion'
	keys Space
	check "Space freezes the screen" until_true 5 shows 'FROZEN'
	memory vram_used 15000
	check "the agent sees other numbers meanwhile" until_true 20 agent_has 15000
	check "the frozen screen keeps its numbers" shows '15600/16384 MiB'
	keys Space
	check "Space again shows the new numbers" until_true 10 shows '15000/16384 MiB'
	check "a screen is never cleared after the first one" test "$(grep -oaF $'\e[2J' "$top_dir/raw" | wc -l)" -le 8
}
agent_has() { "$davylamp" status --json --socket "$top_dir/sock" | jq -e ".gpus[0].vram_used == $1 * 1048576" >/dev/null; }

plain_terminal_checks() {
	open_top 80x24 "TERM=xterm-256color LC_ALL=C.UTF-8 $davylamp top --socket $top_dir/sock"
	check "top uses colours" until_true 10 grep -qaE $'\e\\[(3[1-7]|1;3[1-7])' "$top_dir/raw"
	open_top 80x24 "TERM=xterm-256color NO_COLOR=1 LC_ALL=C $davylamp top --socket $top_dir/sock"
	check "top runs in the C locale" until_true 10 shows '0000:03:00.0 amdgpu'
	check "NO_COLOR turns colours off" not grep -qaE $'\e\\[[0-9;]*(3[1-7]|38;)[0-9;]*m' "$top_dir/raw"
	check "the C locale gets ASCII only" not grep -qaP '[\x80-\xff]' "$top_dir/raw"
	open_top 80x24 "TERM=vt100 $davylamp top --socket $top_dir/sock"
	check "top runs on a vt100" until_true 10 shows '0000:03:00.0 amdgpu'
	check "an unknown terminal ends top with status 1" exits 1 script -qec "env TERM=no-such-terminal $davylamp top --socket $top_dir/sock" /dev/null
	check "the message names the unknown terminal" says "'no-such-terminal' is unknown"
}

pipe_checks() {
	timeout 20 "$davylamp" top --socket "$top_dir/sock" | sed '/HAZARD.*exhaustion/q' >"$top_dir/pipe"
	check "on a pipe, top begins with a header" grep -qE '^# davylamp top on .*: mode observe, 1 GPUs, [0-9]+ engines' "$top_dir/pipe"
	check "on a pipe, an alarm is one line with its time" grep -qE '^20[0-9-]{8}T[0-9:]{8}Z [0-9]+\.[0-9]{3} HAZARD   exhaustion level [123]: .*0000:03:00.0' "$top_dir/pipe"
	timeout 20 "$davylamp" top --json --socket "$top_dir/sock" | sed '/"rung":"note"/q' >"$top_dir/json"
	check "with --json, each line is an object" jq -es 'all(.[]; .type == "decision" or .type == "event")' "$top_dir/json"
	check "with --json, a decision is as 'davylamp run --json' has printed it" bash -c \
		"tail -n 1 '$top_dir/json' | jq -S . | cmp - <(grep -F \"\$(tail -n 1 '$top_dir/json' | grep -o '\"id\":[0-9]*,\"rung\":\"note\"')\" '$top_dir/agent.out' | head -n 1 | jq -S .)"
	check "--once prints one screen" exits 0 "$davylamp" top --once --socket "$top_dir/sock"
	check "--once prints the alarm" says 'exhaustion'
	setpriv --reuid=65534 --regid=65534 --clear-groups env PATH="$PATH" cat "$davylamp_top" >/dev/null || return
	check "any user may watch" exits 0 setpriv --reuid=65534 --regid=65534 --clear-groups "$davylamp_top" --once --socket "$top_dir/sock"
	check "a user sees the same alarm" says 'exhaustion'
}
