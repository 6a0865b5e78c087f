# SPDX-License-Identifier: GPL-2.0-or-later
#
# davylamp top in a terminal of a given size, and its numbers beside those of the agent. Sourced by tests/top/run.

top_dir=$(mktemp -d)
chmod 755 "$top_dir"
davylamp=$STAGE/usr/sbin/davylamp
davylamp_top=$STAGE/usr/sbin/davylamp-top
mkdir -p "$O/top" # captures of screens, as they came
export TZ=UTC
top_agent=''

terminals=0
in_tmux() { tmux -f /dev/null -S "$top_dir/tmux.$terminals" "$@"; }

close_top() {
	in_tmux kill-server 2>/dev/null
	[[ ! $top_agent ]] || end "$top_agent"
	top_agent=''
	rm -rf "$top_dir"
}
trap close_top EXIT

# open_top COLSxROWS COMMAND...: a terminal that runs it; its raw output is in $top_dir/raw.
open_top() {
	local size=$1
	shift
	in_tmux kill-server 2>/dev/null
	terminals=$((terminals + 1)) # the old server may still be ending
	: >"$top_dir/raw"
	rm -f "$top_dir/ended"
	in_tmux new-session -d -x "${size%x*}" -y "${size#*x}" -s top "sleep 1000" \; set-option -g status off \; \
		set-option -g window-size manual \; resize-window -x "${size%x*}" -y "${size#*x}" \; \
		pipe-pane -o "cat >>'$top_dir/raw'" \; set-option -g remain-on-exit on \; \
		respawn-pane -k "env $*; echo \$? >'$top_dir/ended'"
}
resize_top() { in_tmux resize-window -x "${1%x*}" -y "${1#*x}"; }
keys() { in_tmux send-keys "$@"; }
screen() { in_tmux capture-pane -p; }
# The bars removed and blanks squeezed.
plain_screen() { screen | sed -E 's/\[[#.]+\] ?//g; s/ +/ /g'; }
shows() { plain_screen | grep -qF -- "$1"; }
shows_like() { plain_screen | grep -qE -- "$1"; }
# tmux does not always learn the exit status of a pane.
has_ended() { [[ -s $top_dir/ended ]]; }
ended_with() { has_ended && [[ $(<"$top_dir/ended") == "$1" ]]; }
# save_screen NAME
save_screen() { screen >"$O/top/$1.txt"; }

# What the screen must contain for the recorded answer, one text a line.
expected() { # ANSWER
	jq -r '
		def wall($s): .now_ns as $now | .wall_s - (($now - $s) / 1e9 | trunc) | strftime("%H:%M:%S");
		def took: (. / 1e6 | trunc) as $ms | ($ms / 1000 | trunc) as $s |
			if $ms < 1000 then "\([$ms, 0] | max) ms" elif $s < 120 then "\($s).\($ms % 1000 / 100 | trunc) s"
			elif $s < 7200 then "\($s / 60 | trunc) min" else "\($s / 3600 | trunc) h" end;
		def share($used; $total): if $used >= $total then 100 else ($used * 100 / $total | trunc) end;
		def heap($name; $used; $total; $full):
			"\($name) \($used / 1048576 | trunc)/\($total / 1048576 | trunc) MiB \(share($used; $total)) %" +
			if $full then " full in \($full * 1000000 | took)" else "" end;
		.status as $s | $s |
		"mode \(.mode)", "up \(.now_ns - .started_ns | took) events \(.events) dropped \(.dropped)",
		(.gpus[] |
			"\(.device) \(.driver) evictions \(.evictions)", "resets \(.resets)",
			heap("VRAM"; .vram_used; .vram_total; .vram_full_in_ms),
			heap("GTT"; .gtt_used; .gtt_total; .gtt_full_in_ms),
			heap("host"; .host_total - .host_available; .host_total; null),
			(if .temperature_c then "\(.temperature_c) C" else empty end)),
		(.processes[] as $p | .alarms as $alarms | $p |
			([$s.gpus[].clients[] | select(.pid == $p.pid) | .vram + .gtt] | add // 0) as $bytes |
			"\(.pid) \(if .workload > 0 then .workload else "-" end) \(.engine) \(.backend) " +
			(if has("depth") then "\(.depth)/\(.context // 0)" elif .context then "\(.context)" else "-" end),
			"\($bytes / 1048576 | trunc)\([$alarms[] | select(.pid == $p.pid or ($p.workload > 0 and .workload == $p.workload)) |
				.level] | max | if . then " \(.)" else "" end) \(.model)"),
		(.workloads[] | .in_force[] | "\(.act)"),
		(.alarms[:1][] | . as $a | "level \(.level) \(.hazard) since \($s | wall($a.since_ns)) (\($s.now_ns - .since_ns | took))")' <<<"$1"
}

# same_numbers RECORD: the screen shows each number of the recorded answer that it names, with its count.
same_numbers() {
	local frame now
	plain_screen >"$top_dir/screen"
	frame=$(sed -n 's/.* #\([0-9]*\).*/\1/p' "$top_dir/screen" | head -n 1)
	[[ $frame ]] || { echo "no number of an answer is on the screen"; return 1; }
	now=$(sed -n "${frame}p" "$1")
	[[ $now ]] || { echo "answer $frame is not in the recording"; return 1; }
	screen_has "$now" "answer $frame"
}
# screen_has ANSWER NAME: the screen in $top_dir/screen shows each number of the answer.
screen_has() {
	local line wrong=0
	expected "$1" >"$top_dir/expected"
	[[ -s $top_dir/expected ]] || return 1
	while IFS= read -r line; do
		line=$(sed -E 's/ +/ /g; s/ $//' <<<"$line")
		grep -qF -- "$line" "$top_dir/screen" || { echo "$2: '$line' is not on the screen"; wrong=1; }
	done <"$top_dir/expected"
	compared=$((${compared-0} + $(wc -l <"$top_dir/expected")))
	return $wrong
}
answers_shown() { # RECORD N: at least N more answers since the call before
	local frame
	frame=$(plain_screen | sed -n 's/.* #\([0-9]*\).*/\1/p' | head -n 1)
	[[ ${frame:-0} -ge $1 ]]
}
on_failure() { screen 2>/dev/null | head -n 60; tail -n 3 "$top_dir/agent.err" 2>/dev/null | cut -c1-300; }
