/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The single bytes on the status socket between a listener and its worker: prefork*.c only. */
#pragma once

/* From the worker. */
#define STATUS_IMPAIRED 'i' /* before it is ready */
#define STATUS_READY 'r'
#define STATUS_ACCEPTED 'a'
#define STATUS_RELOAD 'l'

/* From the listener. */
#define STATUS_RETIRE 'q'
#define STATUS_RELOADED 'd'
#define STATUS_RELOAD_FAILED 'f'
