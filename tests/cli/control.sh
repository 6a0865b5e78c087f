# SPDX-License-Identifier: GPL-2.0-or-later
#
# One agent under attack by an unprivileged user on its socket, and the files that it leaves. tests/cli/run
# calls this as root; the attacker is 'nobody'.

# flood NAME COUNT [hold]: runs as nobody; its output is in $work/flood.NAME, end_flood ends it.
flood() {
	local name=$1
	shift
	mkfifo "$work/flood.$name.in"
	$nobody "$work/flood" "$work/sock" "$@" <"$work/flood.$name.in" >"$work/flood.$name" &
	floods+=($!)
	exec {flood_in}>"$work/flood.$name.in"
	flood_ins+=($flood_in)
}
end_floods() {
	local fd
	for fd in "${flood_ins[@]}"; do exec {fd}>&-; done
	wait "${floods[@]}"
	floods=() flood_ins=()
}

# six PREFIX: six engines under davylamp exec.
six() {
	local i
	execs=()
	for i in 1 2 3 4 5 6; do
		"$installed" exec --socket "$work/sock" --state "$work/stateless" --config "$work/none" -- sleep 120 2>"$work/$1.$i" &
		execs+=($!)
	done
}
end_six() {
	kill "${execs[@]}"
	wait "${execs[@]}" 2>/dev/null
}
all_watched() { [[ $(grep -l 'watched by the agent as workload' "$work/$1".[1-6] | wc -l) == 6 ]]; }
one_unwatched() { grep -h 'no agent on\|cannot be reached\|refused the workload' "$work/$1".[1-6]; }
refused() { "$program" status --json --socket "$work/sock" | jq -es "length == 1 and .[0].connections.refused.$1 > 0" >/dev/null; }
answers() { timeout 10 "$program" status --json --socket "$work/sock" >/dev/null; }

one_agent_checks() {
	local inode pid
	floods=() flood_ins=()
	gcc -O1 -o "$work/flood" tests/cli/flood.c || return
	check "an agent under attack starts" agent "$PWD/$program" run --config "$work"
	pid=$(pgrep -P "$agent")
	inode=$(stat -c %i "$work/sock")
	check "the socket for root is closed to other users" test "$(stat -c %a "$work/sock.root")" = 600
	kill -STOP "$pid" # the queue fills and stays full
	flood full 200
	check "an unprivileged user can fill the queue of the socket for all users" until_true 20 grep -qx full "$work/flood.full"
	check "a second agent does not replace the socket" exits 1 timeout 20 "$installed" run --socket "$work/sock" --state "$work/other" --config "$work"
	check "a second agent names the pid that holds the socket" says "another agent (pid $pid) has the socket '$work/sock'"
	check "a second agent with another socket does not share the state directory" exits 1 timeout 20 "$installed" run --socket "$work/sock2" --state "$work/state" --config "$work"
	check "a second agent names the pid that holds the state directory" says "another agent (pid $pid) has the state directory '$work/state'"
	check "a refused second agent creates no socket" test ! -e "$work/sock2"
	check "the first agent's socket is not replaced" test "$(stat -c %i "$work/sock")" = "$inode"
	check "status exits with 1 while the queue is full" exits 1 $nobody "$work/davylamp" status --socket "$work/sock"
	check "status reports a full queue and not a missing agent" says "is busy: its queue was full"
	six during
	kill -CONT "$pid"
	check "six engines that start during the flood are all watched" until_true 60 all_watched during
	check "no engine that starts during the flood is told that no agent runs" not one_unwatched during
	end_six
	check "the agent answers root during the flood" answers
	six after
	check "six engines that start after the flood are watched at once" until_true 60 all_watched after
	check "no engine that starts after the flood is refused" not one_unwatched after
	end_six
	check "the agent counts refused connections" until_true 20 refused user_full
	check "status shows the refused connections" bash -c "'$program' status --socket '$work/sock' | grep -qE '^connections: .*refused: [1-9][0-9]* \(limit of one user\)'"
	check "a refused connection receives the reason" grep -q '"op":"busy","why":"too many connections of this user' "$work/flood.full"
	end_floods
	flood hold 40 hold
	check "connections of one user are limited to 36" until_true 20 bash -c "[[ \$(grep -c of.this.user '$work/flood.hold') == 36 ]]"
	check "a user at the limit is refused" exits 1 $nobody "$work/davylamp" status --socket "$work/sock"
	check "a user at the limit receives the reason" says "the agent is busy: too many connections of this user"
	check "another user is served while one user is at the limit" exits 0 setpriv --reuid=65533 --regid=65533 --clear-groups "$work/davylamp" status --socket "$work/sock"
	check "a connection that sends nothing is closed" until_true 30 grep -q 'no request for 10 s' "$work/flood.hold"
	end_floods
	killed_supervisor_checks
	check "SIGTERM ends the attacked agent" end_agent
	check "the sanitizers found nothing in the attacked agent" not grep -qE 'ERROR: |runtime error' "$work/agent.err"
	check "the attacked agent removes its sockets" test ! -e "$work/sock" -a ! -e "$work/sock.root"
	check "an agent that will be killed starts" agent "$installed" run --config "$work"
	kill -9 "$(pgrep -P "$agent")"
	wait "$agent"
	check "a killed agent leaves its sockets" test -S "$work/sock" -a -S "$work/sock.root"
	"$installed" run --json --socket "$work/sock" --state "$work/state" --config "$work" >"$work/agent.out" 2>"$work/agent.err" &
	agent=$!
	check "the next agent replaces the sockets of a killed one" until_true 20 answers
	kill "$agent"
	wait "$agent"
	echo precious >"$work/file"
	check "the agent does not start when its socket's path is a regular file" exits 1 timeout 20 "$installed" run --socket "$work/file" --state "$work/state" --config "$work"
	check "the regular file at the socket's path is kept" grep -q precious "$work/file"
}

group_of() { # PID: the cgroup directory in which the engine of this supervisor runs
	echo "$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)$(sed -n 's|^0::\(.*/davylamp-exec-[0-9]*\).*|\1|p' "/proc/$(pgrep -P "$1")/cgroup")"
}

# supervised: davylamp exec with an engine in a cgroup; sets $supervisor and $group.
supervised() {
	"$installed" exec --socket "$work/sock" --state "$work/stateless" --config "$work/none" -- sleep 120 2>"$work/supervised" &
	supervisor=$!
	until_true 20 grep -q "$1" "$work/supervised" || return 1
	group=$(group_of $supervisor)
	[[ $group == */davylamp-exec-$supervisor && -d $group ]]
}

killed_supervisor_checks() {
	if ! supervised 'watched by the agent'; then
		skip "the cgroup of a killed supervisor" "no cgroup can be made here"
		kill $supervisor
		wait $supervisor
		return
	fi
	kill -9 $supervisor
	wait $supervisor 2>/dev/null
	check "the agent removes the cgroup of a killed supervisor" until_true 20 test ! -e "$group"
}

# Without an agent the next exec removes it.
killed_unwatched_checks() {
	local kept
	if ! supervised 'runs unwatched'; then
		skip "the cgroup of a killed and unwatched supervisor" "no cgroup can be made here"
		kill $supervisor
		wait $supervisor
		return
	fi
	kept=$group
	kill -9 $supervisor
	wait $supervisor 2>/dev/null
	check "an engine ends when its supervisor is killed" until_true 20 grep -qx 'populated 0' "$kept/cgroup.events"
	supervised 'runs unwatched'
	check "the next exec removes the cgroup of a killed supervisor" test ! -e "$kept"
	check "exec keeps the cgroup of a live supervisor" test -d "$group"
	"$installed" exec --socket "$work/none" --state "$work/stateless" --config "$work/none" -- true 2>/dev/null
	check "a second exec keeps the cgroup of a live supervisor" test -d "$group"
	kill $supervisor
	wait $supervisor 2>/dev/null
}

# Standard descriptors that are closed at the start are not reused for files.
closed_output_checks() {
	local fd
	"$installed" run --json --record "$work/closed.trace" --socket "$work/closed.sock" --state "$work/closed" --config "$work" \
		</dev/null >&- 2>/dev/null &
	agent=$!
	check "an agent without stdout starts" until_true 20 test -S "$work/closed.sock"
	engines 3
	kill "$agent"
	check "an agent without stdout ends with exit status 0" wait "$agent"
	check "the trace of an agent without stdout contains no output lines" exits 0 "$program" replay "$work/closed.trace"
	"$installed" run --json --record "$work/closed.trace" --socket "$work/closed.sock" --state "$work/closed" --config "$work" \
		<&- >&- 2>&- &
	agent=$!
	check "an agent without stdin, stdout and stderr starts" until_true 20 test -S "$work/closed.sock"
	for fd in 0 1 2; do
		check "descriptor $fd of that agent is /dev/null" test "$(readlink "/proc/$agent/fd/$fd")" = /dev/null
	done
	kill "$agent"
	wait "$agent"
	check "closed stdin becomes /dev/null in davylamp-probe" test "$("$O/davylamp-probe" runner -- readlink /proc/self/fd/0 <&- 2>&1)" = /dev/null
	umask 022
	"$installed" run --json --socket "$work/closed.sock" --state "$work/modes" --config "$work" >"$work/modes.out" 2>&1 &
	agent=$!
	check "the agent creates its state directory on its first run" until_true 20 test -e "$work/modes/davylamp.db-wal"
	check "only files meant for other users are readable by them" test -z \
		"$(find "$work/modes" -type f -perm /077 ! -name '*.conf')"
	check "other users may enter the state directory" test "$(stat -c %a "$work/modes")" = 755
	kill "$agent"
	wait "$agent"
}
