/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The block of memory by which a test tells fault.c what shall go wrong, and where.  Whoever runs
 * with the library maps the file that $UNDERSIGN_FAULT names; undersign_test/fault.py has the same
 * layout.  For tests only.
 */
#pragma once

#include <stdint.h>

#define FAULT_VARIABLE "UNDERSIGN_FAULT"
/* Set, so that workers are forks of their listeners. */
#define FAULT_FORKS "UNDERSIGN_FAULT_FORKS"
#define FAULT_PATH_SIZE 160
#define FAULT_MET_MAX 4096

/* Which process: by the name and the first argument that it was started with. */
enum
{
  FAULT_BROKER = 1 << 0,
  FAULT_EXECUTOR = 1 << 1,        /* the listener */
  FAULT_EXECUTOR_WORKER = 1 << 2, /* until it has accepted a connection, */
  FAULT_EXECUTOR_SERVES = 1 << 3, /* and from then on */
  FAULT_RUNNER = 1 << 4,
  FAULT_RUNNER_WORKER = 1 << 5,
  FAULT_RUNNER_SERVES = 1 << 6,
  FAULT_SNAPSHOT = 1 << 7,
  FAULT_OTHER = 1 << 8,
  FAULT_ADMIN = 1 << 9,
  FAULT_CTL = 1 << 10,
};

/* Which operation. */
enum
{
  FAULT_OPEN = 1 << 0, /* of what is there */
  FAULT_READ = 1 << 1,
  FAULT_WRITE = 1 << 2,
  FAULT_SYNC = 1 << 3,
  FAULT_TRUNCATE = 1 << 4,
  FAULT_RENAME = 1 << 5,
  FAULT_UNLINK = 1 << 6,
  FAULT_MKDIR = 1 << 7,
  FAULT_LOCK = 1 << 8,
  FAULT_SOCKET = 1 << 9, /* connect, accept, send and receive */
  FAULT_SPAWN = 1 << 10,
  FAULT_MEMFD = 1 << 11,
  FAULT_CREATE = 1 << 12,
  FAULT_LINK = 1 << 13,
  /* Of no sweep that does not ask for it by its name. */
  FAULT_LIST = 1 << 14, /* an entry of a folder */
  FAULT_OWNER = 1 << 15,
};

/* What happens instead of it. */
enum
{
  FAULT_NOTHING,
  FAULT_FAIL,      /* it fails with the error */
  FAULT_SHORT,     /* a write writes half and says so; anything else is done */
  FAULT_TORN,      /* a write writes half and fails; anything else fails */
  FAULT_KILL,      /* the process is gone before it */
  FAULT_TORN_KILL, /* a write writes half; then the process is gone */
  FAULT_NOTE,      /* it is done, and noted */
};

/* How far it has come. */
enum
{
  FAULT_AIMS = 1, /* for an instant: it looks whether the plan still holds */
  FAULT_STRUCK = 2,
};

/* An operation that was noted. */
typedef struct
{
  uint32_t operation;
  char path[60]; /* its end, where it is longer */
} FaultMet;

typedef struct
{
  uint32_t action; /* written last by the test, first when it takes the plan back */
  uint32_t roles;
  uint32_t operations;
  int32_t error;   /* an errno */
  uint32_t sticky; /* whether the later ones fail, too: a disk stays full */
  uint32_t at;     /* which one of them, from 1 */
  uint32_t seen;   /* how many there were */
  uint32_t fired; /* 0, FAULT_AIMS or FAULT_STRUCK */
  uint32_t fired_operation;
  uint32_t fired_role;
  uint32_t synced; /* whether fsync keeps a copy, NAME.synced, of what it made durable */
  uint32_t fired_pid;
  int64_t realtime; /* nanoseconds that the clocks are ahead */
  int64_t boottime;
  char prefix[FAULT_PATH_SIZE]; /* of the path; "" for whatever has a descriptor */
  char fired_path[FAULT_PATH_SIZE];
  FaultMet met[FAULT_MET_MAX];
} Fault;
