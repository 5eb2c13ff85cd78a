# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# For the scripts that source this: a Debian of its own in the directory $root.
# At the end of the script it is removed, with all that still runs there.

if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
	echo "this takes root, and debootstrap"
	exit 77
fi
root=$(realpath "$(mktemp -d)")

# If the root is still in use, nothing below another file system is removed.
finish() {
	for _ in $(seq 50); do
		running=$(find /proc -mindepth 2 -maxdepth 2 \
			-path '/proc/[0-9]*/root' -lname "$root" \
			2>/dev/null | cut -d / -f 3)
		[ -n "$running" ] || break
		# shellcheck disable=SC2086 # a list of numbers
		kill -KILL $running 2>/dev/null || :
		sleep 0.1
	done
	wait
	umount "$root/proc" 2>/dev/null || :
	rm -rf --one-file-system "$root"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

say() {
	echo "== $*"
}

# make_root SUITE OPTION...: by debootstrap, from where apt has its packages.
make_root() {
	suite=$1
	shift
	# shellcheck disable=SC2016 # apt's variable, not ours
	mirror=$(apt-get indextargets --format '$(REPO_URI)' \
		'Created-By: Packages' 'Component: main' | head -n 1)
	said=$(debootstrap --variant=minbase "$@" "$suite" "$root" \
		"$mirror" 2>&1) || {
		echo "$said" | tail -n 20
		echo "debootstrap failed; is $mirror in reach?"
		exit 77
	}
	mount -t proc proc "$root/proc"
}

inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
		DEBIAN_FRONTEND=noninteractive "$@"
}
