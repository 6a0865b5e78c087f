# SPDX-License-Identifier: GPL-2.0
#
# The installed agent on a real kernel, in the guest: amdgpu loads after it, fires its tracepoints,
# is bound to a device, hangs, is unloaded and loaded again. This script prints what it did as lines
# "fact NAME VALUE"; the agent's NDJSON, its trace and the driver's log follow, and tests/vm/run
# compares them on the host.
. /lab/lab.sh
. /lab/kfd.sh

fact() { echo "fact $*"; }
quiet() { "$@" >/tmp/out 2>&1 || { cat /tmp/out; return 1; }; }
not() { ! "$@"; }
sock=/tmp/agent.sock

# wait_for SECONDS PATTERN: until the agent's output contains it.
wait_for() { lab_soon "$1" grep -q -e "$2" /tmp/agent.out; }

cat >/tmp/hazards.conf <<END
[eviction_storm]
bytes = 32 MiB
window = 20 s
[agent]
clear = 3 s
END

check "the injector loads" insmod /lab/davylamp-inject.ko
davylamp run --json --mode advise --socket $sock --state /tmp/state --config /tmp \
	--record /tmp/trace >/tmp/agent.out 2>/tmp/agent.err &
agent=$!
check "the sensor for processes is live" wait_for 20 '"name":"process","state":"live"'
check "the sensor of amdgpu is absent before the module loads" wait_for 5 '"name":"amdgpu","state":"absent"'

mkdir -p /etc/modprobe.d
echo 'options amdgpu lockup_timeout=2000,5000,2000,6000' >/etc/modprobe.d/lab.conf
check "amdgpu loads while the agent runs" lab_load configured
check "the agent attaches to amdgpu's tracepoints" wait_for 20 '"name":"amdgpu","state":"live"'
check "the agent attaches to amdgpu's functions when it is live" wait_for 20 '"name":"amdgpu_tdr","state":"live"'
check "the agent attaches to the scheduler's tracepoints" wait_for 20 '"name":"drm_sched","state":"live"'
check "i915 loads beside it" modprobe i915

check "the real driver takes the device" lab_bind
gpu=$(lab_gpu)
fact gpu "$gpu"
check "the engine starts" quiet fire engine "$gpu"

# seen_by_scheduler FILE: three of the lockup timeouts come from it.
seen_by_scheduler() {
	davylamp status --json --socket $sock >"$1"
	[ "$(grep -o '"origin":"scheduler"' "$1" | wc -l)" = 3 ]
}

# The lockup timeout of each kind of queue, before and after a job.
say_lockups() {
	check "lockup timeouts are reported ($1)" wait_for 30 "lockup_timeout.*video.*\"$1\""
	davylamp status --json --socket $sock >/tmp/status.$1
	for ring in gfx compute dma; do
		check "a job on $ring ends" quiet gpu-client --ring $ring submit 1
	done
	check "three schedulers confirm them" lab_soon 5 seen_by_scheduler /tmp/status.$1_seen
}
say_lockups parameter
fact lockup_parameter "$(cat /sys/module/amdgpu/parameters/lockup_timeout)"
fact lockup_text "$(davylamp status --socket $sock | sed -n 's/^ *lockup //p')"

# Wake-ups of all processes and threads of the agent. Builtins only: each new program wakes it up.
idle_count() {
	switches=0
	for idle_status in /proc/[0-9]*/task/*/status; do
		while read -r idle_key idle_value; do
			case $idle_key in
			Name:) idle_name=$idle_value ;;
			voluntary_ctxt_switches:)
				case $idle_name in
				davylamp*) switches=$((switches + idle_value)) ;;
				esac
				;;
			esac
		done 2>/dev/null <"$idle_status"
	done
	read -r uptime idle_rest </proc/uptime
	uptime=${uptime%.*}
}

# Six tries: recent events keep the agent awake for some seconds.
idle_rests() {
	[ -e /tmp/never ] || mkfifo /tmp/never
	exec 9<>/tmp/never
	for idle_try in 1 2 3 4 5 6; do
		read -r -t 15 idle_rest <&9
		idle_count
		idle_before=$switches idle_began=$uptime
		read -r -t 15 idle_rest <&9
		idle_count
		fact idle_switches $((switches - idle_before)) in $((uptime - idle_began)) s
		[ $idle_before -gt 0 ] && [ $((switches - idle_before)) -le $((uptime - idle_began)) ] && return
	done
	return 1
}

# Until the client $holder has its buffer; $pasid is its address space then.
wait_hold() {
	lab_soon 10 grep -q vram_used= /tmp/hold || return 1
	pasid=$(sed -n 's/^pasid:[^0-9]*//p' /proc/$holder/fdinfo/3 | head -n 1)
	[ "$pasid" ]
}

# A client with a real PASID, which the agent recognises as an engine by its name.
cp /lab/gpu-client /tmp/llama-server
/tmp/llama-server -m /models/tiny.gguf --comm llama-server --jobs 1 --seconds 300 \
	hold 33554432 >/tmp/hold &
holder=$!
check "the client holds its buffer" wait_hold
fact holder $holder
fact pasid "$pasid"

check "40 faults of its PASID fire" quiet fire iv --dev-name "$gpu" --pasid "$pasid" --vmid 3 \
	--client 0x1b --src 0 --addr 0x7f1234567000 --count 40
check "40 page faults of a process raise fault_storm" wait_for 10 '"hazard":"fault_storm".*"level":3'
check "one fault is fired through the driver's own interrupt code" quiet fire fault --dev-name "$gpu" --vmid 5

check "50 moves of 1 MiB out of VRAM fire" quiet fire bo-move --dev-name "$gpu" --bytes 1048576 \
	--from 2 --to 1 --pid $holder --pasid "$pasid" --count 50
sleep 1

/tmp/llama-server -m /models/urgent.gguf --comm llama-server --seconds 60 hold 4096 >/dev/null &
urgent=$!
fact urgent $urgent
check "the agent knows the client that will end" wait_for 10 "\"event\":\"process\",.*\"pid\":$urgent,.*\"model\":\"urgent.gguf\""
# A stopped agent reads nothing: the kernel programs count frequent events meanwhile.
kill -STOP $agent
check "40000 faults fire while the agent is stopped" quiet fire iv --dev-name "$gpu" --pasid 999 \
	--vmid 9 --client 0x1b --src 0 --addr 0x1000 --count 40000
kill -SEGV $urgent
kill -CONT $agent
sleep 1

# Events that are not counted can overflow the ring of a stopped agent: each is read or counted as lost.
mkdir -p /etc
printf 'root::0:0::/:/bin/sh\nnobody::65534:65534::/:/bin/sh\n' >/etc/passwd
chmod 0600 /dev/dri/renderD128
kill -STOP $agent
check "20000 opens are refused while the agent is stopped" quiet su -s /bin/sh nobody -c \
	"yes /dev/dri/renderD128 | head -n 20000 | xargs cat 2>/dev/null; true"
kill -CONT $agent
check "the agent reports lost events" wait_for 20 '"state":"lost"'
opens_add_up() {
	opens_read=$(grep -c '"event":"open_refused"' /tmp/agent.out)
	opens_lost=$(sed -n 's/.*"state":"lost","count":\([0-9]*\),.*/\1/p' /tmp/agent.out |
		awk '{ n += $1 } END { print n + 0 }')
	[ $((opens_read + opens_lost)) -ge 20000 ]
}
lab_soon 10 opens_add_up # the host checks both numbers
fact opens_read "$opens_read"
fact opens_lost "$opens_lost"

# The client's memory by the agent, sysfs and the client's own fdinfo, while nothing changes.
sleep 6
davylamp status --json --socket $sock >/tmp/status.memory
for name in vram_total vram_used vis_vram_total gtt_total; do
	fact mem_$name "$(cat "/sys/bus/pci/devices/$gpu/mem_info_$name")"
done
fact holder_fdinfo_kib "$(sed -n 's/^drm-memory-vram:[^0-9]*\([0-9]*\) KiB/\1/p' /proc/$holder/fdinfo/3)"

# Real evictions: a second client needs the room of the first.
/tmp/llama-server -m /models/big.gguf --comm llama-server --jobs 1 --seconds 20 fill 14 16 >/tmp/fill &
filler=$!
fact filler $filler
check "real evictions raise eviction_storm" wait_for 20 "\"rung\":\"note\",\"hazard\":\"eviction_storm\",\"pid\":$filler"
kill $filler
wait $filler
check "the agent reads the driver's own counter of evictions" wait_for 20 '"evictions":[1-9]'

# A buffer larger than VRAM and GTT: every stage of the failure, down to the client's errno.
/tmp/llama-server -m /models/huge.gguf --comm llama-server --after /tmp/huge.go hold 4294967296 >/tmp/huge 2>&1 &
huge=$!
fact huge $huge
check "the agent knows the overcommitted client" wait_for 20 "\"event\":\"process\",.*\"pid\":$huge,.*\"model\":\"huge.gguf\""
touch /tmp/huge.go
wait $huge
fact huge_said "$(tail -n 1 /tmp/huge)"
check "the agent reports the failed ioctl of an overcommitted client" wait_for 10 \
	"\"event\":\"alloc_failed\",\"pid\":$huge,.*\"stage\":3"

/tmp/llama-server -m /models/tiny.gguf --comm llama-server submit 3 >/tmp/submit 2>&1 &
submitter=$!
fact submitter $submitter
check "three jobs end" wait $submitter
check "the rings become idle" lab_soon 10 lab_rings_idle
quiet fire engine off
fact pace_ms "$(lab_pace_ms)"
/tmp/llama-server -m /models/tiny.gguf --comm llama-server hang >/tmp/hang 2>&1 &
hanger=$!
fact hanger $hanger
wait $hanger
fact hang "$(grep -o '(E[A-Z]*) ms=[0-9]*' /tmp/hang)"
check "the agent reports the end of the reset" wait_for 20 '"event":"reset".*"begun":false'
grep -q '"event":"reset".*"begun":false' /tmp/agent.out || lab_blocked
davylamp status --json --socket $sock >/tmp/status.hang
fact reliability_text "$(davylamp status --socket $sock | grep -m 1 '^  80 to 90 %' | tr -s ' ')"
check "the engine starts again" quiet fire engine "$gpu"
check "the coredump is kept" wait_for 20 '"change":"coredump"'
fact coredump_says "$(grep -a -m 1 process_name /tmp/state/incidents/*.devcoredump)"
fact coredumps_left "$(ls /sys/class/devcoredump | grep -c devcd)"
kill $holder
wait $holder

# The agent pins the module until it is asked to release it.
check "the driver leaves the device" lab_unbind
check "rmmod is refused while the agent is attached" not rmmod amdgpu 2>/dev/null
check "davylamp release detaches from the module" davylamp release --module amdgpu --socket $sock
check "rmmod works" quiet rmmod amdgpu
check "the agent reports that the module was unloaded" wait_for 5 'its kernel module was unloaded'
sleep 1
rm /etc/modprobe.d/lab.conf
check "amdgpu loads again" lab_load configured
check "the sensor is live again" wait_for 20 '"name":"amdgpu_tdr","state":"live".*"gap_ns":[1-9]'
check "the driver takes the device again" lab_bind
check "the engine starts" quiet fire engine "$gpu"
say_lockups default
/tmp/llama-server -m /models/tiny.gguf --comm llama-server --jobs 1 submit 2 >/tmp/again &
again=$!
fact again $again
wait $again
check "a client after the reload is reported" wait_for 10 "\"event\":\"pasid\",\"pid\":$again,"

davylamp status --json --socket $sock >/tmp/status
kill $agent
wait $agent
fact agent_status $?

# An agent that starts after the drivers, after one that was killed.
for how in killed started; do
	davylamp run --json --socket $sock --state /tmp/state --config /tmp >/tmp/again.out 2>&1 &
	agent=$!
	check "an agent ($how) finds two drivers at work" lab_soon 30 grep -q \
		'"name":"i915_tdr","state":"live"' /tmp/again.out
	[ $how = started ] || { kill -9 $agent; wait $agent; }
done
check "an idle agent and its children wake up at most once a second beside amdgpu" idle_rests
fact idle_kib "$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) .*/\1/p' /proc/$agent/status)"
cat /proc/$agent/status /proc/$agent/smaps >/tmp/smaps
/tmp/llama-server -m /models/tiny.gguf --comm llama-server --jobs 1 submit 2 >/tmp/again 2>&1 &
client=$!
wait $client
check "the agent reports jobs of a new client" lab_soon 10 grep -q \
	"\"event\":\"job_times\",\"pid\":$client," /tmp/again.out
/tmp/llama-server -m /models/tiny.gguf --comm llama-server --jobs 1 --seconds 60 hold 4096 >/tmp/hold &
holder=$!
check "a client of KFD's PASID holds its buffer" wait_hold
fact kfd_holder $holder
kfd_rows $agent $sock /tmp/again.out "$pasid"
kill $holder
wait $holder
kfd_leave
kill $agent
wait $agent
check "no BUG and no WARNING is in the log" lab_log_clean
echo "== agent.out"
grep -v '"event":"open_refused"' /tmp/agent.out
for part in memory hang parameter parameter_seen default default_seen; do
	echo "== status.$part"
	cat /tmp/status.$part
done
echo "== kfd.out"
grep -e '"event":"kfd' -e kfd_smi /tmp/again.out
echo "== status.kfd"
cat /tmp/status.kfd
echo "== sensors.kfd"
cat /tmp/sensors.kfd
echo "== smaps"
cat /tmp/smaps
echo "== agent.err"
cat /tmp/agent.err
echo "== status"
cat /tmp/status
echo "== dmesg"
dmesg | grep -E 'amdgpu|drm' | tail -n 60
echo "== trace"
base64 /tmp/trace
echo "== end"
lab_end
