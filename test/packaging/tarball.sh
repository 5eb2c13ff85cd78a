#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tarball.sh TARBALL DIRECTORY: a release's tarball, in DIRECTORY for what it
# makes.  It has what a packager needs, and nothing else; another copy of the
# sources makes the same, byte for byte.  Without git and without
# autoconf-archive it can be given to autoreconf and passes make distcheck, and
# its library is the same, byte for byte, wherever it is built.
set -eu
srcdir=$(cd "${srcdir:?the sources}" && pwd)
tarball=$(cd "$(dirname "$1")" && pwd)/${1##*/}
name=${tarball##*/}
name=${name%.tar.xz}

rm -rf "$2"
mkdir -p "$2"
cd "$2"
here=$PWD
# The make that runs this has options that are not for what follows.
unset MAKEFLAGS MFLAGS MAKELEVEL

say() {
	echo "== $*"
}
fail() {
	echo "FAIL: $*"
	exit 1
}
# quiet LOG COMMAND...: shows what it says only if it fails.
quiet() {
	log=$here/$1
	shift
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 40 "$log"
		fail "$*"
	}
}

say "what it has"
tar tf "$tarball" | sed "s|^$name/||" | sort >contents
for file in COPYING HACKING NEWS README SECURITY Makefile.am Makefile.in configure \
	configure.ac config.h.in aclocal.m4 bootstrap include/timerthread.h \
	lib/libtimerthread.map m4/ax_append_flag.m4 timerthread.pc.in \
	man/man7/timerthread.7 man/man7/timerthread-porting.7 \
	man/man7/timerthread-system.7 man/man7/timerthread-watching.7 \
	man/man3/timerthread_cancel.3 examples/first.c \
	test/README test/abi/previous/libtimerthread.abi \
	test/unit/test_api.c; do
	grep -qx "$file" contents || fail "it lacks $file"
done
if grep -E '^(packaging|debian|\.git|\.ci|build|autom4te\.cache)/' contents ||
	grep -E '(\.l?[oa]|\.so[.0-9]*|\.log|\.trs|~|\.orig|\.rej)$' contents; then
	fail "these are not for a release"
fi
[ "$(tar tf "$tarball" | cut -d / -f 1 | sort -u)" = "$name" ] ||
	fail "it has more than the folder $name"

if [ -e "$srcdir/.git" ]; then
	say "another copy of the sources makes the same"
	mkdir -p "another place"
	cd "another place"
	(cd "$srcdir" && git ls-files -co --exclude-standard -z |
		tar -c --null --files-from=-) | tar -x
	epoch=${SOURCE_DATE_EPOCH:-$(git -C "$srcdir" log -1 --format=%ct)}
	(
		umask 077
		export TZ=XXX-13 SOURCE_DATE_EPOCH="$epoch"
		quiet autoreconf.log autoreconf -fi
		mkdir built
		cd built
		quiet configure.log ../configure
		quiet dist.log make dist
	)
	cmp "$tarball" "built/$name.tar.xz" || fail "they are not the same"
	cd ..
fi

say "without git and autoconf-archive"
mkdir bin aclocal
cat >bin/git <<-END
	#!/bin/sh
	echo "\$*" >>"$here/git.was.run"
	exit 127
END
chmod +x bin/git
cp "$(aclocal --print-ac-dir)"/*.m4 aclocal/
rm -f aclocal/ax_*.m4
mkdir first
cd first
tar xf "$tarball"
cd "$name"
PATH=$here/bin:$PATH
export PATH
quiet autoreconf.log env ACLOCAL="aclocal --system-acdir=$here/aclocal" \
	autoreconf -fi
mkdir built
cd built
# What distributions use: with debugging information, but not of this folder.
configured() {
	quiet configure.log ../configure \
		CFLAGS="-g -O2 -ffile-prefix-map=$(cd .. && pwd)=."
	quiet make.log make -j "$(nproc)"
}
configured
# All is compiled; of the tests those run that a missing file could fail.
# shellcheck disable=SC2016 # make's variable, not ours
quiet distcheck.log env TT_MODELS=none TT_FUZZ_RUNS=100 \
	make -j "$(nproc)" distcheck TESTS='$(file_tests)' \
	DISTCHECK_CONFIGURE_FLAGS='CFLAGS="-g -O1"'
[ ! -e "$here/git.was.run" ] || fail "git was run: $(cat "$here/git.was.run")"

say "its library, built elsewhere"
mkdir -p "$here/second/of-another-name"
cd "$here/second/of-another-name"
tar xf "$tarball"
mkdir "$name/built"
cd "$name/built"
TZ=XXX-13 configured
for file in libtimerthread.so libtimerthread.a; do
	cmp ".libs/$file" "$here/first/$name/built/.libs/$file" ||
		fail "$file differs"
done
say "is the same"
