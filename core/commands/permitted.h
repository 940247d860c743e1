/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of permitted commands: what only reads may always be sent; what starts or ends a
   self-test needs one permission, all else another, and a few things are never sent.  Looked at
   for the bytes that go to the drive, whoever made them. */
#ifndef HDD_PERMITTED_H
#define HDD_PERMITTED_H

#include "exchange.h"

enum permission {
  PERMIT_READING,    /* the drive tells something of itself, and stays as it is */
  PERMIT_SELF_TESTS, /* starts or aborts a self-test that reads; the drive stays usable */
  PERMIT_ALL,        /* whoever opened the drive gave its serial number */
  PERMIT_NEVER       /* overwrites data behind everyone's back, or silences the drive for hours */
};

/* What a command needs.  `why` becomes what it does, for a message ("it changes the drive's
   settings"): never NULL. */
enum permission permission_needed(const struct exchange *x, const char **why);

#endif
