#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each example, as it is installed, compiles without a warning by the command in
# its first comment, typed in its directory.  Those in C++ also run, which
# test/examples.sh does with the others.
set -eu
# shellcheck source=test/install/scratch.sh
. "$(dirname "$0")/scratch.sh"

# A copy, as a user makes one.
installed=$(find "$root" -path '*/examples/first.c')
cp -R "${installed%/first.c}" "$work/examples"

# What a user has: cc, c++, and the library where pkg-config looks.  The value
# of CC may be cc, so it is looked for where it was.
mkdir "$work/bin" "$work/pkgconfig"
# tool NAME COMMAND
tool() {
	printf "#!/bin/sh\nPATH='%s'\nexec %s \"\$@\"\n" "$PATH" "$2" \
		>"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
tool cc "$CC -Wall -Wextra -Werror"
tool pkg-config "$PKG_CONFIG"
if command -v "${CXX%% *}" >/dev/null; then
	tool c++ "$CXX -Wall -Wextra -Werror"
else
	tool c++ false
	CXX=
fi
sed "s|^\([a-z_]*\)=/|\1=$root/|" "$root$TT_LIBDIR/pkgconfig/timerthread.pc" \
	>"$work/pkgconfig/timerthread.pc"
PATH=$work/bin:$PATH
PKG_CONFIG_PATH=$work/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$root$TT_LIBDIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH

# first.c is to the letter what the manual and the README of the library have.
# So its command is in the README of the examples.
command_of() {
	if [ "$1" = first.c ]; then
		sed -n 's/^    \(cc first\.c .*\)/\1/p' "$work/examples/README"
	else
		sh "$srcdir/test/command.sh" "$work/examples/$1"
	fi
}

# finds HEADER COMPILER OPTION...: does the compiler find it?
finds() {
	header=$1
	shift
	echo "#include <$header>" | "$@" -E - >"$work/found" 2>&1
}

# These a machine may lack.  Another name is a mistake, and fails.
known="check glib-2.0 libmicrohttpd libsystemd libuv"

# missing COMMAND: in the directory of the example; prints what the command
# needs and this machine has not.
missing() {
	case $1 in
	*c++*) [ -n "$CXX" ] || echo "a C++ compiler" ;;
	esac
	packages=$(echo "$1" | sed -n 's/.*--libs \([^)]*\)).*/\1/p')
	for package in $packages; do
		case " $known " in
		*" $package "*)
			"$PKG_CONFIG" --exists "$package" || echo "$package"
			;;
		esac
	done
	# shellcheck disable=SC2086 # words of the command, some of them files
	set -- $1
	for source; do
		[ -f "$source" ] || continue
		! grep -q '#include <sys/epoll\.h>' "$source" ||
			finds sys/epoll.h cc || echo "epoll"
		! grep -q '#include <asio\.hpp>' "$source" ||
			finds asio.hpp c++ -x c++ || echo "Asio"
	done
}

# compile SOURCE: its name in the examples.
compile() {
	[ -f "$work/examples/$1" ] || {
		fail "$1 is not installed"
		return
	}
	command=$(command_of "$1")
	[ -n "$command" ] || {
		fail "$1 does not say how it is compiled"
		return
	}
	cd "$work/examples/$(dirname "$1")"
	lacks=$(missing "$command")
	if [ -n "$lacks" ]; then
		echo "not tried: $1, for want of $(echo "$lacks" | tr '\n' ' ')"
		return
	fi
	program=$work/examples/${1%.*}
	echo "$command"
	if ! sh -c "$command" || ! [ -x "$program" ]; then
		fail "$1: this is not how it is compiled"
		return
	fi
	case $1 in
	*.cc) timeout 120 "$program" </dev/null ||
		fail "$1: its exit status was $?" ;;
	esac
}

# Where there is a main, there is a program.
programs=$(cd "$srcdir/examples" && find . \( -name '*.c' -o -name '*.cc' \) \
	-exec grep -l '^int main(' {} + | sed 's|^\./||' | sort)
for source in $programs; do
	compile "$source"
done
exit "$failed"
