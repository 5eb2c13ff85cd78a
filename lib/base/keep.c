/* SPDX-License-Identifier: MIT */
#include "base/keep.h"

#include <pthread.h>

/* Neither is inlined: they use errno, see base.h. */
TT_NOINLINE struct kept keep_begin(bool cancel)
{
	struct kept k = {.error = errno, .cancel = cancel};

	if (cancel)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &k.cancel_state);
	return k;
}

TT_NOINLINE void keep_end(const struct kept *k)
{
	if (k->cancel)
		pthread_setcancelstate(k->cancel_state, NULL);
	errno = k->error;
}
