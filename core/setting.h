/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel setting (a sysfs file) that was changed for a while.  It is put back when its Setting is
   restored, closed or collected, when the process exits, and on the second Ctrl-C. */
#ifndef HDD_SETTING_H
#define HDD_SETTING_H

/* Put back all that is still changed, the latest first.  Async-signal-safe. */
void setting_restore_all(void);

#endif
