# SPDX-License-Identifier: GPL-2.0-or-later
# Each fault has its own root cause; sourced by tests/doctor/run.

# only CHECK JQ: this is the only cause.
only() { concludes 1 "(.causes | map(.check)) == [\"$1\"] and (${2:-true})"; }

echo "== permissions"
mi50
groups=$video service_runs "${radv[@]}" STANDIN_HIP=init
with_engine
check "a user outside the group is the cause of all other failures" only access.open \
	'.causes[0].backends == ["vulkan", "rocm"] and .causes[0].findings == 2 and .policy == null'
check "the evidence has errno, mode and group" found access.open failure '.evidence | test("Permission denied.*rw-rw----, group render")'
check "the fix names the group" found access.open failure '.fix | test("usermod -aG render ollama")'
chmod 600 "$LAB_ROOT/dev/kfd"
service_runs "${radv[@]}"
of_service
check "a refused KFD affects only ROCm" only access.open '.causes[0].backends == ["rocm"] and .usable == ["vulkan"] and (.text | test("meanwhile use Vulkan"))'
check "a file without group permissions needs a udev rule" found access.open failure '.fix | test("udev")'
devices=/sys/fs/cgroup/devices/davylamp-doctor-$$.service
mi50
if mkdir "$devices" 2>/dev/null; then
	mkdir -p "$LAB_ROOT/sys/fs/cgroup/devices"
	mount --bind /sys/fs/cgroup/devices "$LAB_ROOT/sys/fs/cgroup/devices"
	service_runs "${radv[@]}"
	echo "$service" >"$devices/cgroup.procs"
	echo 'c 1:5 rwm' >"$devices/devices.deny"
	of_service
	check "a device rule of the cgroup is detected" only access.open '.causes[0].about == "/dev/kfd"'
	check "a device rule is distinguished from file permissions" found access.open failure '(.evidence | test("Operation not permitted, tried in its cgroup")) and (.fix | test("DeviceAllow=/dev/kfd"))'
	end_service
	until_true 5 rmdir "$devices"
	umount "$LAB_ROOT/sys/fs/cgroup/devices"
else
	skip "a cgroup's device rules" "cgroup v1's devices controller is not mounted here"
fi

echo "== a cgroup of another user"
. tests/doctor/cgroup.sh

echo "== a container"
# The doctor runs on the host; the service has its own root with device files, libraries and engine.
mi50
service_runs "${radv[@]}" STANDIN_HIP=init
mount --bind "$LAB_ROOT/sys" /sys
report=$work/report status=0
"$STAGE/usr/sbin/davylamp" doctor --json --timeout 60 --pid "$service" --engine "$here/opt/bin/ollama" \
	--policies policies --config "$work/none" --state "$work/none" >"$report" 2>"$work/err" || status=$?
umount /sys
check "the container's device files are tested" found access.open ok '.about == "/dev/kfd"'
check "the finding names the container" found nodes.container ok '.evidence | test("it has its own root .a container.")'
check "the container's runtimes and manifests are used" found runtime.vulkan ok '.evidence | test("RADV")'
check "the container's engine has the same root cause" only engine.discovery '.policy.backends == ["vulkan", "cpu"]'

uid=0 service_runs "${radv[@]}"
mount --bind "$LAB_ROOT/sys" /sys
"$STAGE/usr/sbin/davylamp" doctor --json --pid "$service" --engine "$here/opt/bin/ollama" --policies policies \
	--config "$work/none" --state "$work/none" >"$report" 2>"$work/err"
umount /sys
check "no probe runs as root of a container outside of it" found runtime.vulkan could-not-check '.evidence | test("root in a container")'
check "no engine runs as root of a container outside of it" found engine.discovery could-not-check '.about == "ROCm"'

echo "== KFD"
mi50
rm -r "$LAB_ROOT/sys/class/kfd" "$LAB_ROOT/dev/kfd"
service_runs "${radv[@]}" STANDIN_HIP=init
with_engine
check "a kernel without KFD is a cause for ROCm only" only driver.topology '.causes[0].backends == ["rocm"] and (.causes[0].evidence | test("no KFD: amdgpu was built"))'
mi50
rm "$LAB_ROOT/dev/kfd"
service_runs "${radv[@]}"
of_service
check "KFD without its device file is a cause" only nodes.present '.causes[0].about == "/dev/kfd"'
mi50
rm "$LAB_ROOT/dev/kfd"
: >"$LAB_ROOT/dev/kfd"
of_service
check "a regular file in place of the device file is a cause" only nodes.present '.causes[0].evidence | test("not a device file")'

echo "== driver"
empty_host
gpu 0x1002 0x66a1
service_runs
of_service
check "a GPU without a driver is a cause" only driver.bound '.causes[0].backends == ["vulkan", "rocm"]'
check "the fix names the driver to load" found driver.bound failure '.fix | test("modprobe amdgpu")'
ln -s ../../drivers/vfio-pci "$LAB_ROOT/sys/bus/pci/devices/$bdf/driver"
of_service
check "a GPU reserved for a virtual machine is a cause" only driver.bound '.causes[0].evidence | test("vfio-pci")'

echo "== Vulkan's drivers"
mi50
service_runs "${radv[@]:0:2}" VK_DRIVER_FILES=/nonexistent/icd.json STANDIN_HIP=ok
of_service
check "a missing manifest is a cause" only config.icds '.causes[0].evidence == "none by VK_DRIVER_FILES" and .usable == ["rocm"]'
service_runs "${radv[@]:0:2}" XDG_DATA_DIRS=/nonexistent XDG_CONFIG_DIRS=/nonexistent
of_service
check "missing ICDs in the loader's folders are a cause" only config.icds '.causes[0].evidence | test("none by the loader.s folders")'
check "the fix names the packages" found config.icds failure '.fix | test("mesa-vulkan-drivers")'
mkdir -p "$LAB_ROOT/etc/vulkan/icd.d"
put /etc/vulkan/icd.d/gone.json '{"file_format_version": "1.0.0", "ICD": {"library_path": "/usr/lib/gone.so", "api_version": "1.3.0"}}'
of_service
check "a manifest with a missing library is named" found config.icds warning '.about == "/etc/vulkan/icd.d/gone.json" and (.evidence | test("does not exist"))'
rm "$LAB_ROOT/etc/vulkan/icd.d/gone.json"
mkfifo "$LAB_ROOT/etc/vulkan/icd.d/pipe.json"
of_service
check "a FIFO as manifest does not block" found config.icds warning '.about == "/etc/vulkan/icd.d/pipe.json" and (.evidence | test("cannot be read"))'
put /etc/vulkan/icd.d/mine.json '{"ICD": {"library_path": "libvulkan_radeon.so"}}'
chmod 600 "$LAB_ROOT/etc/vulkan/icd.d/mine.json"
of_service
check "a manifest that the user cannot read does not count" found config.icds warning '.about == "/etc/vulkan/icd.d/mine.json" and (.evidence | test("Permission denied"))'
rm -r "$LAB_ROOT/etc/vulkan"
service_runs "${radv[@]:0:2}" VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json
of_service
check "a CPU driver alone is a warning" found config.icds warning '.evidence | test("only a CPU driver")'
check "a CPU driver proves no GPU" concludes 5 '.usable == ["rocm"]'

echo "== environment"
mi50
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=10.3.0 STANDIN_HIP=device
with_engine
check "an override of another major version is the cause of the runner's death" only config.override \
	'(.causes[0].evidence | test("10.3.0, but the GPU is gfx906")) and .policy == null'
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=9.0.6
of_service
check "the same major version is valid" found config.override ok
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=9.0.6 HSA_OVERRIDE_GFX_VERSION_1=10.3.0 STANDIN_HIP=device
with_engine
check "the variable of the GPU's node takes precedence" only config.override \
	'(.causes[0].evidence | test("HSA_OVERRIDE_GFX_VERSION_1=10.3.0, but the GPU is gfx906"))'
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=
of_service
check "an empty override makes ROCm's init fail" found config.override failure '.evidence | test("is not a version such as")'
service_runs "${radv[@]}" HIP_VISIBLE_DEVICES=-1 STANDIN_HSA=zero
with_engine
check "a variable that hides the GPU is a cause" only config.visible '.causes[0].about == "HIP_VISIBLE_DEVICES"'
service_runs "${radv[@]}" ROCR_VISIBLE_DEVICES=3
of_service
check "an index beyond the last GPU is a cause" only config.visible '.causes[0].about == "ROCR_VISIBLE_DEVICES"'
service_runs "${radv[@]}" ROCR_VISIBLE_DEVICES=0
of_service
check "the GPU's own index is valid" found config.visible ok

echo "== runtimes"
# rocm WISH JQ: sets the stand-in's behaviour, checks the finding.
rocm() {
	service_runs "${radv[@]}" STANDIN_HSA="$1"
	of_service --timeout 4
	only runtime.rocm ".causes[0].evidence | test(\"$2\")"
}
check "a failing init of ROCm's runtime is a failure" rocm error 'hsa_init failed with 0x1000 .HSA_STATUS_ERROR. in stage init'
check "an aborting init of ROCm's runtime is a failure" rocm abort 'killed by SIGABRT in stage init; its output: stand-in: assertion failed'
check "a crashing init of ROCm's runtime is a failure" rocm fault 'killed by SIGSEGV in stage init'
check "a hanging init of ROCm's runtime is a failure" rocm hang 'hung, killed after .* in stage init'
check "a runtime without a device is a failure" rocm zero 'finds no GPU in stage count'
check "the policy is Vulkan while ROCm's runtime fails" concludes 1 '.policy.backends == ["vulkan", "cpu"]'
libraries=$here/half:$here/lib service_runs "${radv[@]}"
of_service
check "a missing symbol: stage symbols, its name, no policy" only runtime.rocm \
	'(.causes[0].evidence | test("no symbol .hsa_agent_get_info. in stage symbols")) and .policy == null'
libraries=$here/bare:$here/lib service_runs "${radv[@]}"
of_service
check "a missing library is a warning, because an engine may include it" found runtime.rocm warning '.evidence | test("libhsa-runtime64.*in stage load")'

libraries=$here/rt service_runs "${radv[@]}"
of_service
check "a probe that cannot start is no fault of the runtime" found runtime.rocm could-not-check \
	'.evidence | test("not tried: exited with status 127; its output: .*cannot open shared object")'
check "a probe that cannot start proves nothing" concludes 5 '.kind == "unknown" and .usable == []'

echo "== two causes"
mi50
service_runs "${radv[@]:0:2}" VK_DRIVER_FILES=/nonexistent/icd.json STANDIN_HIP=init
with_engine
check "no ICD and a failing ROCm backend are two causes without a policy" concludes 1 \
	'(.causes | map(.check) | sort) == ["config.icds", "engine.discovery"] and .policy == null and (.text | startswith("2 causes: "))'
chmod 600 "$LAB_ROOT/dev/kfd"
service_runs "${radv[@]}" HSA_OVERRIDE_GFX_VERSION=11.0.0 STANDIN_HIP=init
with_engine
check "permissions and a wrong override are two causes" concludes 1 '(.causes | map(.check)) == ["access.open", "config.override"]'
