# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The runtimes, the engine's container and questions about them. Sourced by tests/container/inside.sh after
# tests/lib.sh, in its namespaces.

export LAB_ROOT=$CACHE/engine-root
parent=davylamp-container-$$ # cgroup of all containers
dir=/run/davylamp-state/units
container=$STAGE/usr/sbin/davylamp-container
daemon='' containerd=''

# This host's files, with the runtime's over them, and an empty /run.
runtime_files() { # NAME
	local over=$CACHE/$1/usr
	[[ $1 != docker || ! -d $CACHE/compose/usr ]] || over+=:$CACHE/compose/usr
	[[ $1 != podman || ! -d $CACHE/podman-net/usr ]] || over+=:$CACHE/podman-net/usr
	mount -t overlay -o "lowerdir=$over:/usr" overlay /usr || return 1
	mkdir -p /run/etc/{upper,work}
	[[ ! -d $CACHE/$1/etc ]] || mount -t overlay -o \
		"lowerdir=$CACHE/$1/etc:/etc,upperdir=/run/etc/upper,workdir=/run/etc/work" overlay /etc
}

# containerd is a service of its own, as on a host, and outlives dockerd.
start_docker() {
	if [[ ! $containerd ]]; then
		containerd --address /run/containerd.sock --root "$work/containerd" --state /run/containerd -l warn \
			>>"$work/docker.log" 2>&1 &
		containerd=$!
		until_true 30 test -S /run/containerd.sock
	fi
	dockerd -H unix:///run/docker.sock --containerd /run/containerd.sock --data-root "$work/docker" --exec-root /run/docker-exec \
		--pidfile /run/docker.pid --iptables=false --ip-masq=false --bip 10.213.0.1/24 \
		--cgroup-parent "$parent" -l warn >>"$work/docker.log" 2>&1 &
	daemon=$!
	until_true 30 docker info >/dev/null 2>&1
}

# runc: crun raises RLIMIT_MEMLOCK, which this machine may not permit.
pod() { podman --root "$work/podman" --runtime runc --cgroup-manager cgroupfs "$@"; }
# Published ports need netavark and address translation in this kernel; without them engines have the host's network.
podman_publishes() {
	pod run --rm ${plain_limits[podman]} -p 127.0.0.1:18499:80 lab/engine:1 /bin/busybox true >"$work/publishes" 2>&1
}
start_podman() {
	mkdir -p /run/podman
	pod system service -t 0 unix:///run/podman/podman.sock >>"$work/podman.log" 2>&1 &
	daemon=$!
	until_true 30 test -S /run/podman/podman.sock
}

stop_daemon() {
	kill "$daemon" 2>/dev/null
	wait "$daemon" 2>/dev/null
	daemon=''
}

# The image has busybox and mount points; the engine's files are mounted, as an image of 600 MB would have them.
image_tree() {
	mkdir -p "$work/image"/{bin,etc,srv,usr,tmp,proc,sys,dev,lib64}
	cp "$(command -v busybox)" "$work/image/bin/busybox"
	ln -s busybox "$work/image/bin/sh"
	rmdir "$work/image/lib64"
	ln -s usr/lib64 "$work/image/lib64"
	ln -s usr/lib "$work/image/lib"
	tar -C "$work/image" -c .
}

# Ends containers that are left over, and their cgroups.
lab_close() {
	stop_agent
	[[ ! ${pod_init-} ]] || kill -9 "$pod_init" 2>/dev/null
	no_tree
	[[ ! $daemon ]] || { "$runtime" ps -aq | xargs -r "$runtime" rm -f; } >/dev/null 2>&1
	stop_daemon
	[[ ! $containerd ]] || kill "$containerd" 2>/dev/null
	find /sys/fs/cgroup/"$parent" -depth -type d -exec rmdir {} \; 2>/dev/null
	tests/e2e/lab-place.sh --remove "$place"
	umount -l "$work"
	rmdir "$work"
}

# worker OPERATION NAME: the answer is in $work/answer.
worker() { "$container" "$1" "$kind:$2" --dir "$dir" >"$work/answer" 2>"$work/answer.err"; }
worked() { worker "$@" && jq -e .ok "$work/answer" >/dev/null; }
refused() { # WHY OPERATION NAME
	worker "$2" "$3" && jq -e --arg why "$1" '(.ok | not) and (.why | test($why))' "$work/answer" >/dev/null
}
with_env() { # NAME LINE...
	printf '%s\n' "${@:2}" >"$dir/$kind:$1.env"
}
without_env() { rm -f "$dir/$kind:$1.env"; }

inspect() { "$runtime" container inspect "$1"; }
exists() { inspect "$1" >/dev/null 2>&1; }
field() { inspect "$1" | jq -r ".[0]$2"; }
running() { [[ $(field "$1" .State.Running) == true ]]; }
has_env() { field "$1" '.Config.Env[]' | grep -qx "$2"; }
# How many containers of this name and those that a change makes run now.
serving() {
	local name n=0
	for name in "$1" "$1.davylamp-before" "$1.davylamp-next"; do
		! exists "$name" || ! running "$name" || n=$((n + 1))
	done
	echo $n
}

# What the owner has defined; not what the runtime assigns at each start. Podman's own command describes more than its
# API, in another form; it has no order of variables, and adds HOME when it starts a container again.
declare -A sockets=([docker]=/run/docker.sock [podman]=/run/podman/podman.sock)
definition() {
	curl -s --unix-socket "${sockets[$kind]}" "http://localhost/v1.41/containers/$1/json" | jq -eS '(.Config.Env |= (sort - ["HOME=/"])) |
		{Config, HostConfig, Mounts: (.Mounts | sort_by(.Destination)), Image, Networks: (.NetworkSettings.Networks // {} | map_values({IPAMConfig, Links, DriverOpts})),
		Ports: .NetworkSettings.Ports}'
}
# Without what a change may change.
same_but_for_the_change() { # BEFORE AFTER
	owners "$1" >"$work/owners.before" && owners "$2" | diff "$work/owners.before" -
}
owners() {
	[[ -s $1 ]] && jq 'del(.Config.Env, .Config.Labels["io.davylamp.of", "io.davylamp.restart"], .Config.Hostname,
		.HostConfig.Binds, .HostConfig.Devices, .Mounts[].Mode)' "$1"
}
