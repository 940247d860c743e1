/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the core; see thread.h. */
#define _GNU_SOURCE
#include "thread.h"

#include <signal.h>

enum { STACK_BYTES = 256 << 10 };

int thread_create(pthread_t *thread, void *(*run)(void *), void *argument) {
  pthread_attr_t attr;
  sigset_t all, before;
  int code = pthread_attr_init(&attr);
  if (code != 0)
    return code;
  code = pthread_attr_setstacksize(&attr, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits the mask */
  if (code == 0)
    code = pthread_create(thread, &attr, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attr);
  return code;
}
