/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ctrl-C and its kin: what the rest of the core needs to know of them. */
#ifndef HDD_INTERRUPT_H
#define HDD_INTERRUPT_H

/* The number of interrupts so far.  A job stops when it differs from what it was at its start: one
   relaxed load an I/O, on a cache line that nobody writes. */
extern _Atomic unsigned hdd_interrupts;

#endif
