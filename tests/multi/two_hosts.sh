# Runs a command as rank 0 here and as rank 1 in another network namespace, joined by one cable.
# Needs a user and a network namespace of its own: unshare -Urn sh two_hosts.sh COMMAND…
set -e
ip link set lo up
unshare -n sleep 600 &
other=$!
# The namespace is there when it is no longer this one.
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
trap 'kill $other' EXIT
ip link add cable0 type veth peer name cable1 netns $other
ip addr add 10.77.0.1/24 dev cable0
ip link set cable0 up
nsenter -t $other -n sh -c 'ip link set lo up; ip addr add 10.77.0.2/24 dev cable1; ip link set cable1 up'
export MASTER_ADDR=10.77.0.1 MASTER_PORT=29507 WORLD_SIZE=2 LOCAL_RANK=0
RANK=1 GLOO_SOCKET_IFNAME=cable1 nsenter -t $other -n "$@" &
RANK=0 GLOO_SOCKET_IFNAME=cable0 "$@"
wait $!
