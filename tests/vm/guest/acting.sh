# SPDX-License-Identifier: GPL-2.0
#
# The agent acts on clients of the real amdgpu, in the guest; for each a control run in which it
# may only advise. One client fills VRAM until another's buffers are evicted; the jobs of the other grow
# towards the driver's lockup timeout of 2 s. tests/vm/acting compares the runs.
. /lab/lab.sh

fact() { echo "fact $*"; }
quiet() { "$@" >/tmp/out 2>&1 || { cat /tmp/out; return 1; }; }
slow=/sys/module/davylamp_inject/parameters/slow_ms
sock=/tmp/agent.sock

cat >/tmp/hazards.conf <<END
[agent]
clean = 15 s
[eviction_storm]
bytes = 8 MiB
window = 1 s
END

# agent_start RUN MODE: its output is in /tmp/RUN.out; it watches the scheduler.
agent_start() {
	davylamp run --json --mode "$2" --socket $sock --state "/tmp/$1.state" --config /tmp \
		--record "/tmp/$1.trace" >"/tmp/$1.out" 2>"/tmp/$1.err" &
	agent=$!
	lab_soon 60 grep -q '"name":"drm_sched","state":"live"' "/tmp/$1.out" &&
		lab_soon 30 sh -c "davylamp status --socket $sock >/dev/null 2>&1"
}

agent_stop() {
	kill $agent
	wait $agent
	fact "$1_agent_status" $?
}

# supervise COMMAND...: under davylamp exec, as an unknown program.
supervise() {
	davylamp exec --socket $sock -- "$@" >/tmp/engine.out 2>/tmp/engine.err &
	supervisor=$!
}

# A client that uses 128 MiB, and another that allocates more VRAM than there is, step by step.
evict() {
	gpu-client --jobs 1000000 --pace-ms 50 hold $(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo 8388608; done) \
		>/tmp/victim &
	victim=$!
	fact "$1_victim" $victim
	sleep 1
	supervise gpu-client --jobs 1 --seconds 4 --pace-ms 700 fill 14 16
	fact "$1_supervisor" $supervisor
	sleep 17
	kill -9 $victim # its jobs continue at SIGTERM
	kill $supervisor 2>/dev/null
	wait $victim
	wait $supervisor
}

# Jobs that grow beyond the timeout; a restarted engine begins with a short context.
cat >/tmp/engine <<'END'
#!/bin/sh
if [ -e /tmp/begun ]; then
	exec gpu-client --ring compute --slow /sys/module/davylamp_inject/parameters/slow_ms prefill 100 5 60
fi
touch /tmp/begun
exec gpu-client --ring compute --slow /sys/module/davylamp_inject/parameters/slow_ms prefill 150 60 40
END
chmod +x /tmp/engine

grow() {
	rm -f /tmp/begun
	dmesg -c >/dev/null
	supervise /tmp/engine
	wait $supervisor
	fact "$1_engine_status" $?
	echo 0 >$slow
	fact "$1_timeouts" "$(dmesg | grep -c 'timeout, signaled')"
	fact "$1_resets" "$(dmesg | grep -c 'GPU reset begin')"
	fact "$1_begun" "$(ls /tmp/begun 2>/dev/null)"
	sleep 3
}

# llama-server computes on the CPU here. Beside it runs the load of its GPU: jobs whose length is
# proportional to its batch, and grows with the original batch, until the hard prompt is over (/tmp/soft).
mkdir -p /tmp/gpu
cp /lab/gpu-client /tmp/gpu/llama-server
cat >/tmp/llama-server <<'END'
#!/bin/sh
ubatch=512 last=
for word; do
	case $last in -ub | --ubatch-size) ubatch=$word ;; esac
	last=$word
done
ms=$ubatch grows=0
[ "$ubatch" != 512 ] || grows=24
[ ! -e /tmp/soft ] || ms=50 grows=0
/tmp/gpu/llama-server -m /models/tiny.gguf --ubatch-size $ubatch --comm llama-server --ring compute \
	--slow /sys/module/davylamp_inject/parameters/slow_ms prefill $ms $grows 10000 >/dev/null &
export LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/llama
exec chroot /engine /usr/bin/llama-server "$@"
END
chmod +x /tmp/llama-server

healthy() { wget -q -O /dev/null http://127.0.0.1:18302/health; }
batch_is() {
	for lab_line in /proc/[0-9]*/cmdline; do
		tr '\0' ' ' <"$lab_line" 2>/dev/null |
			grep -qE "^/usr/bin/llama-server .*(-ub|--ubatch-size) $1 " && return
	done
	return 1
}

shrink() {
	davylamp exec --socket $sock --slots /tmp -- /tmp/llama-server -m /models/tiny.gguf --ubatch-size 512 \
		--host 127.0.0.1 --port 18302 -t 1 -c 512 -fit off >/tmp/engine.out 2>/tmp/engine.err &
	supervisor=$!
	check "a real llama-server comes up" lab_soon 60 healthy
	check "the engine gets a smaller batch" lab_soon 60 batch_is '(256|128|64|32)'
	touch /tmp/soft
	check "the engine with the smaller batch answers" lab_soon 60 healthy
	check "the engine gets its original batch back" lab_soon 60 batch_is 512
	check "the engine with the original batch answers" lab_soon 60 healthy
	kill $supervisor
	wait $supervisor
	echo 0 >$slow
}

check "the injector loads" insmod /lab/davylamp-inject.ko
check "amdgpu loads" lab_load
check "the real driver takes the device" lab_bind
gpu=$(lab_gpu)
fact gpu "$gpu"
check "the engine starts" quiet fire engine "$gpu"

for run in control enforce; do
	mode=enforce
	[ $run = enforce ] || mode=advise
	check "the agent starts ($run)" agent_start $run $mode
	evict $run
	grow $run
	[ $run = control ] || shrink
	agent_stop $run
done
check "no BUG and no WARNING is in the log" lab_log_clean
for run in control enforce; do
	echo "== $run.err"
	cat /tmp/$run.err
	echo "== $run.out"
	cat /tmp/$run.out
	echo "== $run.trace"
	base64 /tmp/$run.trace
done
echo "== end"
lab_end
