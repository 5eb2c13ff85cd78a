# SPDX-License-Identifier: MIT
#
# What FRR's lib/thread.c calls thread_timer.c for.  The numbers are the lines
# of the file as it was; port.sh checks that it is that one.

39a\
#include <timerthread.h>

# The list of timers is not sorted any more.
58,70d
71{
	s/HEAP/DLIST/
	s/, thread_timer_cmp//
}

# A master that ends.
731a\
	timerthread_destroy(m->timer_tt);

# fd_poll is told whether to wait, and tells whether a timer has expired.
873s/const struct timeval \*timer_wait/bool wait, bool *timers_p/
881s/timer_wait is null/wait is true/
895{
	N
	s/timer_wait != NULL\n[[:space:]]*/!wait /
}
897s/=.*/= 0;/
898d
# One descriptor more is polled: as the one before it, but for the timers.
911,913H
913{
	p
	x
	s/^\n//
	s/count/& + 1/g
	s/io_pipe\[0\]/timer_fd/
}
948s/count + 1/count + 2/
953s/count + 1/count + 2/
961{
	h
	s/if (/*timers_p = /
	s/count/& + 1/
	s/)$/;\n/
	G
}

# A timer is added, or cancelled.
1081s/_list_add(&m->timer, /_add(/
1087,1093d
1334s/_list_del(&master->timer, /_del(/
1396s/_list_del(&master->timer, /_del(/

# The time to wait, and what has expired, are the library's now.
1582,1592d
1706,1747d

# thread_fetch
1767c\
	bool timers_p = false;
1768,1770d
1814,1816d
1817{
	s/neither timers nor/no/
	s/$/ are timers or/
}
1818s/are //
1824s/)$/ \&\&/
1825c\
		    !thread_timer_list_count(&m->timer) &&
1826,1830d
1831s/if (!tw && /    /
1836a\
		if (!m->timer_tt)\
			thread_timers_start(m);\

1848s/tw,/!thread_list_count(\&m->ready),\n\t\t\t\t      \&timers_p,/
1869c\
		if (timers_p)\
			thread_timers_run(m);
1870d
