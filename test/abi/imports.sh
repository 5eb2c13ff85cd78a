#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the shared library takes from the C library is this and no more: so it
# reads no environment variable, opens no file, runs no program, and has one
# function with a format.  What only Linux has, it takes with that set of lib/os
# alone.
set -eu
builddir=${builddir:?run this by make check}

so=$builddir/.libs/libtimerthread.so
if ! [ -e "$so" ]; then
	echo "no shared library was built"
	exit 77
fi
if [ -n "$TT_SANITIZER" ]; then
	echo "a sanitizer takes more"
	exit 77
fi

memory='aligned_alloc free madvise malloc memcpy memmove memset mmap
	munmap'
time='clock_getres clock_gettime'
threads='pthread_atfork pthread_attr_getdetachstate pthread_create
	pthread_detach pthread_equal pthread_join pthread_key_create
	pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock
	pthread_mutex_trylock pthread_mutex_unlock pthread_self
	pthread_setcancelstate
	pthread_setname_np pthread_setschedparam pthread_setspecific pthread_sigmask
	register_atfork sigdelset sigfillset sysconf'
# pthread_cleanup_push, which is a macro.
cleanup='pthread_cleanup_pop pthread_cleanup_push pthread_register_cancel
	pthread_unregister_cancel pthread_unwind_next sigsetjmp'
process='getpid'
text='dladdr strcmp strlen strnlen vsnprintf'
files='close fcntl write writev'
# The sets of lib/os.
linux='getpriority prctl pthread_setaffinity_np sched_getaffinity sched_getcpu
	setpriority syscall'
timerfd='poll timerfd_create timerfd_gettime timerfd_settime'
posix='fstat nanosleep prctl pthread_attr_destroy pthread_attr_getschedparam
	pthread_attr_init pthread_cond_destroy pthread_cond_init
	pthread_cond_signal pthread_cond_timedwait pthread_cond_wait
	pthread_condattr_destroy pthread_condattr_init
	pthread_condattr_setclock pthread_once sched_get_priority_max
	sched_get_priority_min'
bell='recv send socketpair'
case $TT_OS-$TT_TIMERFD in
linux-yes) os="$linux $timerfd" ;;
posix-yes) os="$posix $timerfd" ;;
*) os="$posix $bell" ;;
esac
rest='abort errno_location'
# A stack's canary; a thread's variables, under the names of POWER and s390x.
code='stack_chk_fail stack_chk_fail_local stack_chk_guard
	tls_get_addr tls_get_addr_opt tls_get_offset'
# 64-bit Arm: atomic operations ask once for the best instructions of the CPU.
# 32-bit Arm: tables for unwinding name their routines; a division of 64 bits
# has a way to raise SIGFPE.
arm='getauxval aeabi_unwind_cpp_pr0 aeabi_unwind_cpp_pr1 raise'
# What a program may have: a sanitizer's runtime.
weak='AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd
	AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd
	lsan_register_root_region lsan_unregister_root_region
	tsan_acquire tsan_release'
# What compilers and linkers put into any library.
loader='ITM_deregisterTMCloneTable ITM_registerTMCloneTable cxa_finalize
	gmon_start deregister_frame_info register_frame_info'
case " ${TT_CFLAGS-} " in
*' -fexceptions '*) loader="$loader Unwind_Resume gcc_personality_v0" ;;
esac

# shellcheck disable=SC2086 # lists of words
allowed="$(printf ' %s' $memory $time $threads $cleanup $process $text $files \
	$os $rest $code $arm $weak $loader) "
failed=0 n=0
# Without versions; with "__" before or behind, "_chk", "64", "_time64" or
# "ieee128" (of POWER's long double) it is the same.
for name in $($NM -D --undefined-only "$so" | awk '{ print $NF }' |
	sed 's/@.*//; s/^_*//; s/ieee128$//; s/_chk$//; s/_time64$//; s/64$//
		s/_*$//' | sort -u); do
	n=$((n + 1))
	case $allowed in
	*" $name "*) ;;
	*)
		echo "FAIL: it takes $name"
		failed=1
		;;
	esac
done
echo "$n names"
[ "$n" -gt 20 ] || failed=1
exit "$failed"
