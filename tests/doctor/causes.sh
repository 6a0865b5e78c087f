# SPDX-License-Identifier: GPL-2.0-or-later
# Each fault has its own root cause; sourced by tests/doctor/run.

# only CHECK JQ: the one cause.
only() { concludes 1 "(.causes | map(.check)) == [\"$1\"] and (${2:-true})"; }

echo "== permissions"
mi50
groups=$video service_runs "${radv[@]}" STANDIN_HIP=init
with_engine
check "a user outside of the group: that is the cause, whatever else fails" only access.open \
	'.causes[0].backends == ["vulkan", "rocm"] and .causes[0].findings == 2 and .policy == null'
check "with errno, mode and group" found access.open failure '.evidence | test("Permission denied.*rw-rw----, group render")'
check "and the fix" found access.open failure '.fix | test("usermod -aG render ollama")'
chmod 600 "$LAB_ROOT/dev/kfd"
service_runs "${radv[@]}"
of_service
check "only KFD is refused: ROCm alone" only access.open '.causes[0].backends == ["rocm"] and .usable == ["vulkan"] and (.text | test("meanwhile use Vulkan"))'
check "a file that no group may open wants a udev rule" found access.open failure '.fix | test("udev")'
devices=/sys/fs/cgroup/devices/davylamp-doctor-$$.service
mi50
if mkdir "$devices" 2>/dev/null; then
	mkdir -p "$LAB_ROOT/sys/fs/cgroup/devices"
	mount --bind /sys/fs/cgroup/devices "$LAB_ROOT/sys/fs/cgroup/devices"
	service_runs "${radv[@]}"
	echo "$service" >"$devices/cgroup.procs"
	echo 'c 1:5 rwm' >"$devices/devices.deny"
	of_service
	check "a cgroup's device rule is found by being in it" only access.open '.causes[0].about == "/dev/kfd"'
	check "and told from permissions" found access.open failure '(.evidence | test("Operation not permitted, tried in its cgroup")) and (.fix | test("DeviceAllow=/dev/kfd"))'
	end_service
	until_true 5 rmdir "$devices"
	umount "$LAB_ROOT/sys/fs/cgroup/devices"
else
	skip "a cgroup's device rules" "cgroup v1's devices controller is not mounted here"
fi

echo "== a cgroup that is somebody else's"
. tests/doctor/cgroup.sh

echo "== a container"
# The doctor of the host, whose service has a root of its own with the device files, the libraries and the engine.
mi50
service_runs "${radv[@]}" STANDIN_HIP=init
mount --bind "$LAB_ROOT/sys" /sys
report=$work/report status=0
"$STAGE/usr/sbin/davylamp" doctor --json --timeout 10 --pid "$service" --engine "$here/opt/bin/ollama" \
	--policies policies --config "$work/none" --state "$work/none" >"$report" 2>"$work/err" || status=$?
umount /sys
check "its device files are the container's" found access.open ok '.about == "/dev/kfd"'
check "which is told" found nodes.container ok '.evidence | test("it has its own root .a container.")'
check "its runtimes, its manifests" found runtime.vulkan ok '.evidence | test("RADV")'
check "and its engine: the same root cause" only engine.discovery '.policy.backends == ["vulkan", "cpu"]'

uid=0 service_runs "${radv[@]}"
mount --bind "$LAB_ROOT/sys" /sys
"$STAGE/usr/sbin/davylamp" doctor --json --pid "$service" --engine "$here/opt/bin/ollama" --policies policies \
	--config "$work/none" --state "$work/none" >"$report" 2>"$work/err"
umount /sys
check "nothing of a container is run as root outside of its walls" found runtime.vulkan could-not-check '.evidence | test("root in a container")'
check "nor its engine" found engine.discovery could-not-check '.about == "ROCm"'

echo "== KFD"
mi50
rm -r "$LAB_ROOT/sys/class/kfd" "$LAB_ROOT/dev/kfd"
service_runs "${radv[@]}" STANDIN_HIP=init
with_engine
check "no KFD" only driver.topology '.causes[0].backends == ["rocm"] and (.causes[0].evidence | test("no KFD: amdgpu was built"))'
mi50
rm "$LAB_ROOT/dev/kfd"
service_runs "${radv[@]}"
of_service
check "KFD without its device file" only nodes.present '.causes[0].about == "/dev/kfd"'
mi50
rm "$LAB_ROOT/dev/kfd"
: >"$LAB_ROOT/dev/kfd"
of_service
check "a file in its place" only nodes.present '.causes[0].evidence | test("not a device file")'

echo "== driver"
empty_host
gpu 0x1002 0x66a1
service_runs
of_service
check "no driver" only driver.bound '.causes[0].backends == ["vulkan", "rocm"]'
check "names the one to load" found driver.bound failure '.fix | test("modprobe amdgpu")'
ln -s ../../drivers/vfio-pci "$LAB_ROOT/sys/bus/pci/devices/$bdf/driver"
of_service
check "given to a virtual machine" only driver.bound '.causes[0].evidence | test("vfio-pci")'

echo "== Vulkan's drivers"
mi50
service_runs "${radv[@]:0:2}" VK_DRIVER_FILES=/nonexistent/icd.json STANDIN_HIP=ok
of_service
check "a manifest that is not there" only config.icds '.causes[0].evidence == "none by VK_DRIVER_FILES" and .usable == ["rocm"]'
service_runs "${radv[@]:0:2}" XDG_DATA_DIRS=/nonexistent XDG_CONFIG_DIRS=/nonexistent
of_service
check "no ICD in the loader's folders" only config.icds '.causes[0].evidence | test("none by the loader.s folders")'
check "what to install" found config.icds failure '.fix | test("mesa-vulkan-drivers")'
mkdir -p "$LAB_ROOT/etc/vulkan/icd.d"
put /etc/vulkan/icd.d/gone.json '{"file_format_version": "1.0.0", "ICD": {"library_path": "/usr/lib/gone.so", "api_version": "1.3.0"}}'
of_service
check "a manifest whose library is gone is named" found config.icds warning '.about == "/etc/vulkan/icd.d/gone.json" and (.evidence | test("does not exist"))'
rm "$LAB_ROOT/etc/vulkan/icd.d/gone.json"
mkfifo "$LAB_ROOT/etc/vulkan/icd.d/pipe.json"
of_service
check "one that nobody writes to holds nobody up" found config.icds warning '.about == "/etc/vulkan/icd.d/pipe.json" and (.evidence | test("cannot be read"))'
put /etc/vulkan/icd.d/mine.json '{"ICD": {"library_path": "libvulkan_radeon.so"}}'
chmod 600 "$LAB_ROOT/etc/vulkan/icd.d/mine.json"
of_service
check "one that the user may not read is none for it" found config.icds warning '.about == "/etc/vulkan/icd.d/mine.json" and (.evidence | test("Permission denied"))'
rm -r "$LAB_ROOT/etc/vulkan"
service_runs "${radv[@]:0:2}" VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json
of_service
check "the CPU's driver alone is a warning" found config.icds warning '.evidence | test("only a CPU driver")'
check "and proves no GPU" concludes 5 '.usable == ["rocm"]'

echo "== environment"
mi50
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=10.3.0 STANDIN_HIP=device
with_engine
check "an override of another major: that is why the runner dies" only config.override \
	'(.causes[0].evidence | test("10.3.0, but the GPU is gfx906")) and .policy == null'
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=9.0.6
of_service
check "the same major is in order" found config.override ok
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=9.0.6 HSA_OVERRIDE_GFX_VERSION_1=10.3.0 STANDIN_HIP=device
with_engine
check "the one of the GPU's own node wins" only config.override \
	'(.causes[0].evidence | test("HSA_OVERRIDE_GFX_VERSION_1=10.3.0, but the GPU is gfx906"))'
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=
of_service
check "an empty one ends ROCm's init" found config.override failure '.evidence | test("is not a version such as")'
service_runs "${radv[@]}" HIP_VISIBLE_DEVICES=-1 STANDIN_HSA=zero
with_engine
check "a variable that hides the GPU" only config.visible '.causes[0].about == "HIP_VISIBLE_DEVICES"'
service_runs "${radv[@]}" ROCR_VISIBLE_DEVICES=3
of_service
check "a number beyond the last" only config.visible '.causes[0].about == "ROCR_VISIBLE_DEVICES"'
service_runs "${radv[@]}" ROCR_VISIBLE_DEVICES=0
of_service
check "its own number does not" found config.visible ok

echo "== runtimes"
# rocm WISH JQ: what the stand-in's behaviour is found to be; TEXT of the statement.
rocm() {
	service_runs "${radv[@]}" STANDIN_HSA="$1"
	of_service --timeout 4
	only runtime.rocm ".causes[0].evidence | test(\"$2\")"
}
check "init fails" rocm error 'hsa_init failed with 0x1000 .HSA_STATUS_ERROR. in stage init'
check "init aborts" rocm abort 'killed by SIGABRT in stage init; its output: stand-in: assertion failed'
check "init faults" rocm fault 'killed by SIGSEGV in stage init'
check "init hangs" rocm hang 'hung, killed after .* in stage init'
check "it counts nothing" rocm zero 'finds no GPU in stage count'
check "Vulkan is the policy while ROCm's own runtime fails" concludes 1 '.policy.backends == ["vulkan", "cpu"]'
libraries=$here/half:$here/lib service_runs "${radv[@]}"
of_service
check "a symbol is missing: the stage symbols, its name, and no policy" only runtime.rocm \
	'(.causes[0].evidence | test("no symbol .hsa_agent_get_info. in stage symbols")) and .policy == null'
libraries=$here/bare:$here/lib service_runs "${radv[@]}"
of_service
check "no library is a warning: an engine may bring its own" found runtime.rocm warning '.evidence | test("libhsa-runtime64.*in stage load")'

libraries=$here/rt service_runs "${radv[@]}"
of_service
check "a probe that cannot run there is no fault of the runtime" found runtime.rocm could-not-check \
	'.evidence | test("not tried: exited with status 127; its output: .*cannot open shared object")'
check "and proves nothing" concludes 5 '.kind == "unknown" and .usable == []'

echo "== two at once"
mi50
service_runs "${radv[@]:0:2}" VK_DRIVER_FILES=/nonexistent/icd.json STANDIN_HIP=init
with_engine
check "no ICD, and the engine's ROCm dies: two causes, no policy while one can be mended" concludes 1 \
	'(.causes | map(.check) | sort) == ["config.icds", "engine.discovery"] and .policy == null and (.text | startswith("2 causes: "))'
chmod 600 "$LAB_ROOT/dev/kfd"
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=11.0.0 STANDIN_HIP=init
with_engine
check "permissions and a wrong override" concludes 1 '(.causes | map(.check)) == ["access.open", "config.override"]'
