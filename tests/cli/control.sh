# SPDX-License-Identifier: GPL-2.0-or-later
#
# One agent, whatever strangers do to its socket, and what it leaves lying about. tests/cli/run calls
# this as root; the attacker is 'nobody'.

# flood NAME COUNT [hold]: by nobody; its words are in $work/flood.NAME, end_flood ends it.
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
one_unwatched() { grep -h 'no agent on\|cannot be reached\|did not take' "$work/$1".[1-6]; }
refused() { "$program" status --json --socket "$work/sock" | jq -es "length == 1 and .[0].connections.refused.$1 > 0" >/dev/null; }
answers() { timeout 10 "$program" status --json --socket "$work/sock" >/dev/null; }

one_agent_checks() {
	local inode pid
	floods=() flood_ins=()
	gcc -O1 -o "$work/flood" tests/cli/flood.c || return
	check "an agent for strangers to attack" agent "$PWD/$program" run --config "$work"
	pid=$(pgrep -P "$agent")
	inode=$(stat -c %i "$work/sock")
	check "root's clients have a socket that others cannot open" test "$(stat -c %a "$work/sock.root")" = 600
	kill -STOP "$pid" # so that the queue is full for certain, and stays so
	flood full 200
	check "a stranger fills the queue of the socket for all" until_true 20 grep -qx full "$work/flood.full"
	check "a second agent does not take the socket over" exits 1 timeout 20 "$installed" run --socket "$work/sock" --state "$work/other" --config "$work"
	check "and says who has it" says "another agent (pid $pid) has the socket '$work/sock'"
	check "nor the state directory, by another socket" exits 1 timeout 20 "$installed" run --socket "$work/sock2" --state "$work/state" --config "$work"
	check "and says who has that" says "another agent (pid $pid) has the state directory '$work/state'"
	check "what it would have listened on is not made" test ! -e "$work/sock2"
	check "the first agent's socket is as it was" test "$(stat -c %i "$work/sock")" = "$inode"
	check "others are told that the agent is busy" exits 1 $nobody "$work/davylamp" status --socket "$work/sock"
	check "and not that there is none" says "is busy: its queue was full"
	six during
	kill -CONT "$pid"
	check "six engines that were started meanwhile are all watched" until_true 60 all_watched during
	check "none of them was told that there is no agent" not one_unwatched during
	end_six
	check "while the flood goes on root is answered" answers
	six after
	check "six more are watched at once" until_true 60 all_watched after
	check "and none was refused" not one_unwatched after
	end_six
	check "the refused connections are counted" until_true 20 refused user_full
	check "and shown" bash -c "'$program' status --socket '$work/sock' | grep -qE '^connections: .*refused: [1-9][0-9]* over the limit of a user'"
	check "a stranger is told why" grep -q '"op":"busy","why":"too many connections of this user' "$work/flood.full"
	end_floods
	flood hold 40 hold
	check "who holds as many places as there are" until_true 20 bash -c "[[ \$(grep -c as.many '$work/flood.hold') == 36 ]]"
	check "has none left for itself" exits 1 $nobody "$work/davylamp" status --socket "$work/sock"
	check "and is told so" says "the agent is busy: too many connections of this user"
	check "while another user is served" exits 0 setpriv --reuid=65533 --regid=65533 --clear-groups "$work/davylamp" status --socket "$work/sock"
	check "and loses them when it says nothing" until_true 30 grep -q 'nothing was said' "$work/flood.hold"
	end_floods
	killed_supervisor_checks
	check "SIGTERM ends the agent that was attacked" end_agent
	check "the sanitizers found nothing in it" not grep -qE 'ERROR: |runtime error' "$work/agent.err"
	check "its sockets are gone with it" test ! -e "$work/sock" -a ! -e "$work/sock.root"
	check "an agent that is killed" agent "$installed" run --config "$work"
	kill -9 "$(pgrep -P "$agent")"
	wait "$agent"
	check "leaves its sockets" test -S "$work/sock" -a -S "$work/sock.root"
	"$installed" run --json --socket "$work/sock" --state "$work/state" --config "$work" >"$work/agent.out" 2>"$work/agent.err" &
	agent=$!
	check "and the next one starts over them" until_true 20 answers
	kill "$agent"
	wait "$agent"
	echo precious >"$work/file"
	check "a file in the socket's place is not removed" exits 1 timeout 20 "$installed" run --socket "$work/file" --state "$work/state" --config "$work"
	check "but stays as it is" grep -q precious "$work/file"
}

group_of() { # PID: the directory of the group in which its engine runs
	echo "$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)$(sed -n 's|^0::\(.*/davylamp-exec-[0-9]*\).*|\1|p' "/proc/$(pgrep -P "$1")/cgroup")"
}

# supervised: davylamp exec with an engine in a group; $supervisor and $group.
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
	check "the agent removes the cgroup of a supervisor that was killed" until_true 20 test ! -e "$group"
}

# Without an agent the next exec does it.
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
	check "an engine whose supervisor was killed ends" until_true 20 grep -qx 'populated 0' "$kept/cgroup.events"
	supervised 'runs unwatched'
	check "the next exec removes the cgroup that it left" test ! -e "$kept"
	check "and none whose supervisor lives" test -d "$group"
	"$installed" exec --socket "$work/none" --state "$work/stateless" --config "$work/none" -- true 2>/dev/null
	check "though another looks" test -d "$group"
	kill $supervisor
	wait $supervisor 2>/dev/null
}

# What is closed is not a file of ours.
closed_output_checks() {
	local fd
	"$installed" run --json --record "$work/closed.trace" --socket "$work/closed.sock" --state "$work/closed" --config "$work" \
		</dev/null >&- 2>/dev/null &
	agent=$!
	check "an agent runs without stdout" until_true 20 test -S "$work/closed.sock"
	engines 3
	kill "$agent"
	check "and ends in order" wait "$agent"
	check "nothing of what it prints is in its trace" exits 0 "$program" replay "$work/closed.trace"
	"$installed" run --json --record "$work/closed.trace" --socket "$work/closed.sock" --state "$work/closed" --config "$work" \
		<&- >&- 2>&- &
	agent=$!
	check "an agent runs without any of the three" until_true 20 test -S "$work/closed.sock"
	for fd in 0 1 2; do
		check "descriptor $fd is none of its files" test "$(readlink "/proc/$agent/fd/$fd")" = /dev/null
	done
	kill "$agent"
	wait "$agent"
	check "nor of the probe's" test "$("$O/davylamp-probe" runner -- readlink /proc/self/fd/0 <&- 2>&1)" = /dev/null
	umask 022
	"$installed" run --json --socket "$work/closed.sock" --state "$work/modes" --config "$work" >"$work/modes.out" 2>&1 &
	agent=$!
	check "an agent in its first run" until_true 20 test -e "$work/modes/davylamp.db-wal"
	check "has nothing that others may read but what is made for them" test -z \
		"$(find "$work/modes" -type f -perm /077 ! -name '*.conf')"
	check "in a directory that they may enter" test "$(stat -c %a "$work/modes")" = 755
	kill "$agent"
	wait "$agent"
}
