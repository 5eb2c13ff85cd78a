# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
#
# For ./bootstrap, which sources this: tests with another C library, for other
# machines, and for other systems.
#
# Debian has Check for its own machine and C library, so it is built here from
# Debian's source.  Of libatomic_ops the headers are all that is needed, and
# they are the same everywhere.
#
# QEMU runs the programs of other machines, and shows that the code is right for
# their compilers, byte orders and word sizes.  It shows little of their memory
# order: it runs on this machine, which keeps more of it than they do.

foreign=build/foreign

# The sources of Check, by apt, with lists of its own.
check_source() {
	[ -x $foreign/check/configure ] && return
	rm -rf $foreign/check $foreign/apt
	mkdir -p $foreign/apt/lists/partial $foreign/apt/archives/partial
	sed 's/^deb /deb-src /; s/^Types: deb$/Types: deb-src/' \
		/etc/apt/sources.list.d/debian.sources \
		>$foreign/apt/debian.sources 2>/dev/null ||
		sed -n 's/^deb /deb-src /p' /etc/apt/sources.list \
			>$foreign/apt/debian.list
	apt="apt-get -q -o Dir::Etc::sourcelist=/dev/null
		-o Dir::Etc::sourceparts=$PWD/$foreign/apt
		-o Dir::State::lists=$PWD/$foreign/apt/lists
		-o Dir::Cache=$PWD/$foreign/apt -o APT::Sandbox::User=root"
	# shellcheck disable=SC2086 # a list of words
	logged $foreign/apt.log $apt update &&
		(cd $foreign/apt &&
			logged ../source.log $apt source --download-only check) &&
		mkdir $foreign/check &&
		tar xf $foreign/apt/check_*.orig.tar.* --strip-components=1 \
			-C $foreign/check
}

# check_for NAME ARGUMENT...: builds Check in build/foreign/NAME.
check_for() {
	dir=$foreign/$1
	[ -f "$dir/lib/libcheck.a" ] && return
	shift
	check_source || return 1
	rm -rf "$dir"
	mkdir -p "$dir/build"
	prefix=$PWD/$dir
	(
		cd "$dir/build" &&
			logged configure.log ../../check/configure "$@" \
				--prefix="$prefix" --disable-shared \
				--disable-subunit --disable-build-docs &&
			logged lib.log make -C lib &&
			logged src.log make -C src install &&
			cp check_stdint.h ../include/
	)
}

# headers FROM NAME...: links to some of a folder's headers, and no others.
headers() {
	from=$1
	shift
	mkdir -p $foreign/include
	for header; do
		ln -sfn "$from/$header" "$foreign/include/$header"
	done
}

# foreign_tests NAME TARGET CC CONFIGURE-ARGUMENT...
foreign_tests() {
	name=$1 target=$2 cc=$3
	shift 3
	headers /usr/include atomic_ops atomic_ops.h
	if ! check_for "$name" CC="$cc" "$@"; then
		failed=$((failed + 1))
		echo "$name: there is no Check: 1 failed"
		return 0
	fi
	tests "$name" "$target" --enable-werror CC="$cc" CXX=none "$@" \
		CPPFLAGS="-idirafter $PWD/$foreign/include" \
		ATOMIC_OPS_CFLAGS=' ' ATOMIC_OPS_LIBS=' ' \
		CHECK_CFLAGS="-I$PWD/$foreign/$name/include" \
		CHECK_LIBS="$PWD/$foreign/$name/lib/libcheck.a -lm" \
		PKG_CONFIG_LIBDIR=/nonexistent
}

# musl, on this machine.
musl() {
	headers /usr/include linux asm-generic
	headers "/usr/include/$(gcc -print-multiarch)" asm
	foreign_tests musl check-os musl-gcc --disable-static
}

# The same with POSIX alone.  Check is that for musl.
musl_posix() {
	ln -sfn musl $foreign/musl-posix
	foreign_tests musl-posix check-once musl-gcc --disable-static \
		--with-os=posix
}

# MemorySanitizer knows what was written by code that was built for it alone, so
# Check is, too.
memory() {
	if ! check_for memory CC=clang 'CFLAGS=-O1 -g -fsanitize=memory'; then
		failed=$((failed + 1))
		echo "memory: there is no Check: 1 failed"
		return 0
	fi
	tests memory check-once --enable-werror --disable-static \
		--enable-sanitizer=memory CC=clang 'CFLAGS=-g -O1' \
		CHECK_CFLAGS="-I$PWD/$foreign/memory/include" \
		CHECK_LIBS="$PWD/$foreign/memory/lib/libcheck.a -lm"
}

# emulated NAME TRIPLET: on QEMU.
emulated() {
	EMULATOR="qemu-$1 -L /usr/$2"
	export EMULATOR
	foreign_tests "$1" check-machine "$2-gcc" --host="$2" \
		--disable-static
}

# i386 NAME OPTION...: as this machine runs it by itself; or on QEMU, if the
# kernel runs no 32-bit programs.
i386() {
	name=$1
	shift
	lib=/usr/i686-linux-gnu/lib
	EMULATOR=
	$lib/ld-linux.so.2 --version >/dev/null 2>&1 ||
		EMULATOR="qemu-i386 -L /usr/i686-linux-gnu"
	export EMULATOR
	foreign_tests "$name" check-machine i686-linux-gnu-gcc \
		--host=i686-linux-gnu --disable-static "CFLAGS=-g -O2 $*" \
		"LDFLAGS=-Wl,--dynamic-linker=$lib/ld-linux.so.2 -Wl,-rpath,$lib"
}

# other_unix DIR SYSTEM: builds the library, the tests and the examples for a
# system, of which DIR has the headers and libraries; see HACKING.  Check's
# header is the same everywhere; in the place of its library is one that runs
# nothing.
other_unix() {
	dir=$1 system=$2 out=$PWD/build/unix/$2
	begin=$(date +%s)
	rm -rf "$out"
	mkdir -p "$out/check"
	find "$(pkg-config --variable=includedir check)" -name 'check*.h' \
		-exec cp {} "$out/check/" \;
	if "$dir/bin/$system-cc" "-I$out/check" -fPIC -c test/unix/check.c \
		-o "$out/check.o" &&
		(cd "$out" && logged configure.log "$dir/configure" "$system" \
			../../.. --enable-werror --disable-dependency-tracking \
			CHECK_CFLAGS="-I$out/check" \
			CHECK_LIBS="$out/check.o -lm") &&
		logged "$out/make.log" make -C "$out" -j "$jobs" programs; then
		passed=$((passed + 1))
		echo "$system: $(grep -c '^  CCLD ' "$out/make.log") programs" \
			"and libraries, $(($(date +%s) - begin)) s"
	else
		failed=$((failed + 1))
		echo "$system: failed"
	fi
}

# Where Linux behaves as other systems do.
shim() {
	tests shim check-shim --enable-werror --disable-static \
		--with-os=posix CC=gcc CXX=g++ 'CFLAGS=-g -O1' \
		"CPPFLAGS=-include $PWD/test/unix/elsewhere.h"
}
