/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the core: a small stack, and no signal is ever delivered to one. */
#ifndef HDD_THREAD_H
#define HDD_THREAD_H

#include <pthread.h>

/* Starts a thread with all signals blocked from its first instruction on.  Returns 0 or an errno
   value. */
int thread_create(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
