/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library for LD_PRELOAD that stands between a program and the system: it counts operations,
 * makes the n-th of them fail, be cut short or be the last thing that the process did, and moves
 * the clocks.  It knows nothing of the program but its name, so that what is tested is what is
 * installed.  A program that is spawned from here gets it, too, whatever environment it is given.
 */
#include "tests/fault/fault.h"
#include "tests/fault/workers.h"
#include "tests/fault/wrap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static Fault *fault;
static uint32_t role;

/* --- what of this process --- */

static const char *inherited[] = { "LD_PRELOAD=", FAULT_VARIABLE "=", FAULT_FORKS "=",
                                   "ASAN_OPTIONS=", "UBSAN_OPTIONS=" };
#define N_INHERITED (sizeof inherited / sizeof *inherited)
static char kept[N_INHERITED][512];

static uint32_t
role_of (int argc, char **argv)
{
  const char *slash = argc > 0 ? strrchr (argv[0], '/') : NULL;
  const char *name = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "";
  bool worker = argc > 1 && strcmp (argv[1], "--worker") == 0;

  if (strcmp (name, "undersignd") == 0)
    return FAULT_BROKER;
  if (strcmp (name, "undersign-admin") == 0)
    return FAULT_ADMIN;
  if (strcmp (name, "undersignctl") == 0)
    return FAULT_CTL;
  if (strcmp (name, "undersign-runner") == 0)
    return worker ? FAULT_RUNNER_WORKER : FAULT_RUNNER;
  if (strcmp (name, "undersign-executor") == 0)
    return worker ? FAULT_EXECUTOR_WORKER : argc > 1 ? FAULT_SNAPSHOT : FAULT_EXECUTOR;
  return FAULT_OTHER;
}

static void
environment_keep (char **environment)
{
  for (size_t i = 0; i < N_INHERITED; i++)
    for (char **e = environment; *e != NULL; e++)
      if (strncmp (*e, inherited[i], strlen (inherited[i])) == 0)
        snprintf (kept[i], sizeof kept[i], "%s", *e);
}

void
role_take (int argc, char **argv)
{
  role = role_of (argc, argv);
}

/* --- paths --- */

static bool
path_of_fd (int fd, char *path, size_t size)
{
  char link[32];
  ssize_t n = 0;

  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  n = syscall (SYS_readlink, link, path, size - 1);
  if (n <= 0)
    return false;
  path[n] = '\0';
  return true;
}

static bool
path_at (int dirfd, const char *name, char *path, size_t size)
{
  size_t len = 0;

  if (name == NULL || *name == '/' || dirfd == AT_FDCWD)
    return snprintf (path, size, "%s", name != NULL ? name : "") < (int) size;
  if (!path_of_fd (dirfd, path, size))
    return false;
  len = strlen (path);
  return snprintf (path + len, size - len, "/%s", name) < (int) (size - len);
}

/* --- the plan --- */

static void
die (void)
{
  syscall (SYS_kill, syscall (SYS_getpid), SIGKILL);
  for (;;)
    pause ();
}

static void
note (uint32_t n, uint32_t operation, const char *path)
{
  FaultMet *met = NULL;
  size_t len = strlen (path);
  size_t skipped = len < sizeof met->path ? 0 : len - (sizeof met->path - 1);

  if (n > FAULT_MET_MAX)
    return;
  met = &fault->met[n - 1];
  snprintf (met->path, sizeof met->path, "%s", path + skipped);
  met->operation = operation;
}

/* strikes: whether the fault, whose turn has come, is still wanted.  It aims, looks whether the test has
 * taken the plan back meanwhile, and strikes: so the test knows, once it has, whether it will. */
static bool
strikes (uint32_t operation, const char *path)
{
  if (!__sync_bool_compare_and_swap (&fault->fired, 0, FAULT_AIMS))
    return true;
  fault->fired_operation = operation;
  fault->fired_role = role;
  fault->fired_pid = (uint32_t) syscall (SYS_getpid);
  snprintf (fault->fired_path, sizeof fault->fired_path, "%.*s", FAULT_PATH_SIZE - 1, path);
  if (__atomic_load_n (&fault->action, __ATOMIC_SEQ_CST) == FAULT_NOTHING)
    {
      __atomic_store_n (&fault->fired, 0, __ATOMIC_SEQ_CST);
      return false;
    }
  __atomic_store_n (&fault->fired, FAULT_STRUCK, __ATOMIC_SEQ_CST);
  return true;
}

/* meet: counts an operation on @path, and says what becomes of it. */
static uint32_t
meet (uint32_t operation, const char *path)
{
  uint32_t action = fault->action;
  uint32_t n = 0;

  if (fault->prefix[0] != '\0' && strncmp (path, fault->prefix, strlen (fault->prefix)) != 0)
    return FAULT_NOTHING;
  n = __atomic_add_fetch (&fault->seen, 1, __ATOMIC_SEQ_CST);
  if (action == FAULT_NOTE)
    {
      note (n, operation, path);
      return FAULT_NOTHING;
    }
  if (n < fault->at || (n > fault->at && fault->sticky == 0) || !strikes (operation, path))
    return FAULT_NOTHING;
  if (action == FAULT_KILL)
    die ();
  return action;
}

static bool
is_meant (uint32_t operation)
{
  return fault != NULL && fault->action != FAULT_NOTHING && (fault->roles & role) != 0 &&
         (fault->operations & operation) != 0;
}

/* The descriptor is looked up only where somebody asks for it. */
static uint32_t
meet_fd (uint32_t operation, int fd)
{
  int before = errno;
  char path[FAULT_PATH_SIZE] = "";
  uint32_t action = FAULT_NOTHING;

  if (is_meant (operation) && (path_of_fd (fd, path, sizeof path) || fault->prefix[0] == '\0'))
    action = meet (operation, path);
  errno = before;
  return action;
}

static uint32_t
meet_path (uint32_t operation, int dirfd, const char *name)
{
  int before = errno;
  char path[FAULT_PATH_SIZE] = "";
  uint32_t action = FAULT_NOTHING;

  if (is_meant (operation) && path_at (dirfd, name, path, sizeof path))
    action = meet (operation, path);
  errno = before;
  return action;
}

/* fails: what is no write fails as a whole or not at all. */
static bool
fails (uint32_t action)
{
  if (action == FAULT_TORN_KILL)
    die ();
  if (action != FAULT_FAIL && action != FAULT_TORN)
    return false;
  errno = fault->error;
  return true;
}

/* --- opening --- */

/* On a full disk a file that is there can be opened. */
static uint32_t
meet_open (int dirfd, const char *name, int flags)
{
  bool creates = (flags & O_TMPFILE) == O_TMPFILE;

  if (fault == NULL || fault->action == FAULT_NOTHING)
    return FAULT_NOTHING;
  if (!creates && (flags & O_CREAT) != 0)
    {
      int before = errno;

      creates = syscall (SYS_faccessat, dirfd, name, F_OK) != 0;
      errno = before;
    }
  return meet_path (creates ? FAULT_CREATE : FAULT_OPEN, dirfd, name);
}

static mode_t
mode_of (int flags, va_list *args)
{
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg (*args, mode_t) : 0;
}

#define WRAP_OPEN(name)                                                                            \
  WRAP (int, name, (const char *path, int flags, ...))                                             \
  {                                                                                                \
    va_list args;                                                                                  \
    mode_t mode = 0;                                                                               \
    REAL (int, name, (const char *, int, ...));                                                    \
                                                                                                   \
    va_start (args, flags);                                                                        \
    mode = mode_of (flags, &args);                                                                 \
    va_end (args);                                                                                 \
    return fails (meet_open (AT_FDCWD, path, flags)) ? -1 : real (path, flags, mode);              \
  }

#define WRAP_OPENAT(name)                                                                          \
  WRAP (int, name, (int dirfd, const char *path, int flags, ...))                                  \
  {                                                                                                \
    va_list args;                                                                                  \
    mode_t mode = 0;                                                                               \
    REAL (int, name, (int, const char *, int, ...));                                               \
                                                                                                   \
    va_start (args, flags);                                                                        \
    mode = mode_of (flags, &args);                                                                 \
    va_end (args);                                                                                 \
    return fails (meet_open (dirfd, path, flags)) ? -1 : real (dirfd, path, flags, mode);          \
  }

WRAP_OPEN (open)
WRAP_OPEN (open64)
WRAP_OPENAT (openat)
WRAP_OPENAT (openat64)

/* What _FORTIFY_SOURCE makes of a call without a mode. */
#define WRAP_OPEN_2(name)                                                                          \
  WRAP (int, name, (const char *path, int flags))                                                  \
  {                                                                                                \
    REAL (int, name, (const char *, int));                                                         \
    return fails (meet_open (AT_FDCWD, path, flags)) ? -1 : real (path, flags);                    \
  }
#define WRAP_OPENAT_2(name)                                                                        \
  WRAP (int, name, (int dirfd, const char *path, int flags))                                       \
  {                                                                                                \
    REAL (int, name, (int, const char *, int));                                                    \
    return fails (meet_open (dirfd, path, flags)) ? -1 : real (dirfd, path, flags);                \
  }

WRAP_OPEN_2 (__open_2)
WRAP_OPEN_2 (__open64_2)
WRAP_OPENAT_2 (__openat_2)
WRAP_OPENAT_2 (__openat64_2)

WRAP (int, memfd_create, (const char *name, unsigned int flags))
{
  REAL (int, memfd_create, (const char *, unsigned int));
  return fails (meet_path (FAULT_MEMFD, AT_FDCWD, name)) ? -1 : real (name, flags);
}

/* --- reading --- */

#define WRAP_READ(name, parameters, ...)                                                           \
  WRAP (ssize_t, name, parameters)                                                                 \
  {                                                                                                \
    REAL (ssize_t, name, parameters);                                                              \
    return fails (meet_fd (FAULT_READ, fd)) ? -1 : real (__VA_ARGS__);                             \
  }

WRAP_READ (read, (int fd, void *data, size_t len), fd, data, len)
WRAP_READ (pread, (int fd, void *data, size_t len, off_t at), fd, data, len, at)
WRAP_READ (pread64, (int fd, void *data, size_t len, off_t at), fd, data, len, at)
WRAP_READ (__read_chk, (int fd, void *data, size_t len, size_t size), fd, data, len, size)
WRAP_READ (__pread_chk, (int fd, void *data, size_t len, off_t at, size_t size), fd, data, len, at,
           size)
WRAP_READ (__pread64_chk, (int fd, void *data, size_t len, off_t at, size_t size), fd, data, len,
           at, size)

/* --- writing --- */

/* half: what a write of @len that is cut short leaves: a short one is never empty, a torn one never
 * whole. */
static size_t
half (uint32_t action, size_t len)
{
  if (action == FAULT_SHORT)
    return len - len / 2;
  return action == FAULT_TORN || action == FAULT_TORN_KILL ? len / 2 : len;
}

static ssize_t
written (uint32_t action, ssize_t n)
{
  if (action == FAULT_TORN_KILL)
    die ();
  if (action == FAULT_TORN)
    {
      errno = fault->error;
      return -1;
    }
  return n;
}

#define WRAP_WRITE(name, parameters, ...)                                                          \
  WRAP (ssize_t, name, parameters)                                                                 \
  {                                                                                                \
    uint32_t action = meet_fd (FAULT_WRITE, fd);                                                   \
    REAL (ssize_t, name, parameters);                                                              \
                                                                                                   \
    if (action == FAULT_FAIL)                                                                      \
      {                                                                                            \
        errno = fault->error;                                                                      \
        return -1;                                                                                 \
      }                                                                                            \
    return written (action, real (__VA_ARGS__));                                                   \
  }

WRAP_WRITE (write, (int fd, const void *data, size_t len), fd, data, half (action, len))
WRAP_WRITE (pwrite, (int fd, const void *data, size_t len, off_t at), fd, data, half (action, len),
            at)
WRAP_WRITE (pwrite64, (int fd, const void *data, size_t len, off_t at), fd, data,
            half (action, len), at)
WRAP_WRITE (sendfile, (int fd, int from, off_t *at, size_t len), fd, from, at, half (action, len))
WRAP_WRITE (sendfile64, (int fd, int from, off_t *at, size_t len), fd, from, at,
            half (action, len))

/* copy_synced: what would be there had the power failed just now.  One process at a time, and the
 * copy gets its name when it is whole: who is killed meanwhile leaves the one before. */
static void
copy_synced (int fd)
{
  char path[FAULT_PATH_SIZE] = "";
  char copy[FAULT_PATH_SIZE + 16] = "";
  char whole[FAULT_PATH_SIZE + 16] = "";
  struct stat st = { 0 };
  off_t at = 0;
  int to = -1;

  if (!path_of_fd (fd, path, sizeof path) || strstr (path, ".db") == NULL)
    return;
  snprintf (whole, sizeof whole, "%s.synced", path);
  snprintf (copy, sizeof copy, "%s.copy", path);
  while (syscall (SYS_flock, fd, LOCK_EX) != 0)
    continue;
  if (syscall (SYS_fstat, fd, &st) == 0)
    to = (int) syscall (SYS_openat, AT_FDCWD, copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  while (to >= 0 && at < st.st_size)
    if (syscall (SYS_sendfile, to, fd, &at, (size_t) (st.st_size - at)) <= 0)
      break;
  if (to >= 0 && at == st.st_size)
    syscall (SYS_rename, copy, whole);
  if (to >= 0)
    syscall (SYS_close, to);
  syscall (SYS_flock, fd, LOCK_UN);
}

#define WRAP_SYNC(name)                                                                            \
  WRAP (int, name, (int fd))                                                                       \
  {                                                                                                \
    int result = -1;                                                                               \
    REAL (int, name, (int));                                                                       \
                                                                                                   \
    if (fails (meet_fd (FAULT_SYNC, fd)))                                                          \
      return -1;                                                                                   \
    result = real (fd);                                                                            \
    if (result == 0 && fault != NULL && fault->synced != 0)                                        \
      copy_synced (fd);                                                                            \
    return result;                                                                                 \
  }

WRAP_SYNC (fsync)
WRAP_SYNC (fdatasync)

#define WRAP_TRUNCATE(name)                                                                        \
  WRAP (int, name, (int fd, off_t len))                                                            \
  {                                                                                                \
    REAL (int, name, (int, off_t));                                                                \
    return fails (meet_fd (FAULT_TRUNCATE, fd)) ? -1 : real (fd, len);                             \
  }

WRAP_TRUNCATE (ftruncate)
WRAP_TRUNCATE (ftruncate64)

/* --- names --- */

WRAP (int, rename, (const char *from, const char *to))
{
  REAL (int, rename, (const char *, const char *));
  return fails (meet_path (FAULT_RENAME, AT_FDCWD, to)) ? -1 : real (from, to);
}

WRAP (int, renameat2, (int fromfd, const char *from, int tofd, const char *to, unsigned int flags))
{
  REAL (int, renameat2, (int, const char *, int, const char *, unsigned int));
  return fails (meet_path (FAULT_RENAME, tofd, to)) ? -1 : real (fromfd, from, tofd, to, flags);
}

WRAP (int, linkat, (int fromfd, const char *from, int tofd, const char *to, int flags))
{
  REAL (int, linkat, (int, const char *, int, const char *, int));
  return fails (meet_path (FAULT_LINK, tofd, to)) ? -1 : real (fromfd, from, tofd, to, flags);
}

WRAP (int, renameat, (int fromfd, const char *from, int tofd, const char *to))
{
  REAL (int, renameat, (int, const char *, int, const char *));
  return fails (meet_path (FAULT_RENAME, tofd, to)) ? -1 : real (fromfd, from, tofd, to);
}

WRAP (int, unlink, (const char *path))
{
  REAL (int, unlink, (const char *));
  return fails (meet_path (FAULT_UNLINK, AT_FDCWD, path)) ? -1 : real (path);
}

WRAP (int, unlinkat, (int dirfd, const char *path, int flags))
{
  REAL (int, unlinkat, (int, const char *, int));
  return fails (meet_path (FAULT_UNLINK, dirfd, path)) ? -1 : real (dirfd, path, flags);
}

WRAP (int, mkdirat, (int dirfd, const char *path, mode_t mode))
{
  REAL (int, mkdirat, (int, const char *, mode_t));
  return fails (meet_path (FAULT_MKDIR, dirfd, path)) ? -1 : real (dirfd, path, mode);
}

/* Of what is there, mkdir() says so on the fullest disk. */
WRAP (int, mkdir, (const char *path, mode_t mode))
{
  int before = errno;
  bool makes = syscall (SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
  REAL (int, mkdir, (const char *, mode_t));

  errno = before;
  return makes && fails (meet_path (FAULT_MKDIR, AT_FDCWD, path)) ? -1 : real (path, mode);
}

WRAP (int, fchown, (int fd, uid_t uid, gid_t gid))
{
  REAL (int, fchown, (int, uid_t, gid_t));
  return fails (meet_fd (FAULT_OWNER, fd)) ? -1 : real (fd, uid, gid);
}

#define WRAP_READDIR(type, name)                                                                   \
  WRAP (type, name, (DIR * dir))                                                                   \
  {                                                                                                \
    int before = errno;                                                                            \
    REAL (type, name, (DIR *));                                                                    \
                                                                                                   \
    errno = before;                                                                                \
    return fails (meet_fd (FAULT_LIST, dirfd (dir))) ? NULL : real (dir);                          \
  }

WRAP_READDIR (struct dirent *, readdir)
WRAP_READDIR (struct dirent64 *, readdir64)

WRAP (int, flock, (int fd, int how))
{
  REAL (int, flock, (int, int));

  worker_note_flock (fd);
  return fails (meet_fd (FAULT_LOCK, fd)) ? -1 : real (fd, how);
}

/* --- sockets --- */

#define WRAP_SOCKET(type, name, parameters, ...)                                                   \
  WRAP (type, name, parameters)                                                                    \
  {                                                                                                \
    REAL (type, name, parameters);                                                                 \
    return fails (meet_fd (FAULT_SOCKET, fd)) ? -1 : real (__VA_ARGS__);                           \
  }

WRAP_SOCKET (int, connect, (int fd, const struct sockaddr *to, socklen_t len), fd, to, len)
WRAP_SOCKET (ssize_t, recv, (int fd, void *data, size_t len, int flags), fd, data, len, flags)
WRAP_SOCKET (ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), fd, message,
             flags)
WRAP_SOCKET (ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), fd, message, flags)

WRAP (ssize_t, send, (int fd, const void *data, size_t len, int flags))
{
  REAL (ssize_t, send, (int, const void *, size_t, int));

  worker_copies (fd);
  return fails (meet_fd (FAULT_SOCKET, fd)) ? -1 : real (fd, data, len, flags);
}

/* A worker that has its connection: another one gets ready beside it. */
WRAP (int, accept4, (int fd, struct sockaddr *from, socklen_t *len, int flags))
{
  int sock = -1;
  REAL (int, accept4, (int, struct sockaddr *, socklen_t *, int));

  if (fails (meet_fd (FAULT_SOCKET, fd)))
    return -1;
  sock = real (fd, from, len, flags);
  if (sock >= 0 && (role & (FAULT_EXECUTOR_WORKER | FAULT_RUNNER_WORKER)) != 0)
    role <<= 1;
  return sock;
}

/* --- programs --- */

#define MAX_ENVIRONMENT 256

WRAP (int, posix_spawn,
      (pid_t *pid,
       const char *path,
       const posix_spawn_file_actions_t *actions,
       const posix_spawnattr_t *attributes,
       char *const *argv,
       char *const *environment))
{
  char *all[MAX_ENVIRONMENT + N_INHERITED + 1] = { NULL };
  size_t n = 0;
  REAL (int, posix_spawn,
        (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
         char *const *, char *const *));

  if (fails (meet_path (FAULT_SPAWN, AT_FDCWD, path)))
    return errno;
  if (worker_is_forked (argv))
    return worker_fork (pid, argv);
  for (; environment[n] != NULL && n < MAX_ENVIRONMENT; n++)
    all[n] = environment[n];
  for (size_t i = 0; i < N_INHERITED; i++)
    if (kept[i][0] != '\0')
      all[n++] = kept[i];
  return real (pid, path, actions, attributes, argv, all);
}

/* --- clocks --- */

static void
add_nanoseconds (struct timespec *time, int64_t ahead)
{
  int64_t nanoseconds = (int64_t) time->tv_sec * 1000000000 + time->tv_nsec + ahead;

  if (nanoseconds < 1)
    nanoseconds = 1;
  time->tv_sec = nanoseconds / 1000000000;
  time->tv_nsec = nanoseconds % 1000000000;
}

WRAP (int, clock_gettime, (clockid_t clock, struct timespec *out))
{
  int result = -1;
  REAL (int, clock_gettime, (clockid_t, struct timespec *));

  result = real (clock, out);
  if (result == 0 && fault != NULL && clock == CLOCK_REALTIME)
    add_nanoseconds (out, fault->realtime);
  if (result == 0 && fault != NULL && clock == CLOCK_BOOTTIME)
    add_nanoseconds (out, fault->boottime);
  return result;
}

WRAP (int, gettimeofday, (struct timeval *out, void *zone))
{
  struct timespec now = { 0 };

  wrap_clock_gettime (CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

WRAP (time_t, time, (time_t *out))
{
  struct timespec now = { 0 };

  wrap_clock_gettime (CLOCK_REALTIME, &now);
  if (out != NULL)
    *out = now.tv_sec;
  return now.tv_sec;
}

/* The broker's one timer; what it asked for, on its own clock. */
static int timer_fd = -1;
static struct itimerspec timer;

WRAP (int, timerfd_create, (int clock, int flags))
{
  int fd = -1;
  REAL (int, timerfd_create, (int, int));

  fd = real (clock, flags);
  if (clock == CLOCK_BOOTTIME)
    timer_fd = fd;
  return fd;
}

static int
timer_arm (void)
{
  struct itimerspec real = timer;

  if (real.it_value.tv_sec != 0 || real.it_value.tv_nsec != 0)
    add_nanoseconds (&real.it_value, -fault->boottime);
  return (int) syscall (SYS_timerfd_settime, timer_fd, TFD_TIMER_ABSTIME, &real, NULL);
}

WRAP (int, timerfd_settime,
      (int fd, int flags, const struct itimerspec *value, struct itimerspec *old))
{
  REAL (int, timerfd_settime, (int, int, const struct itimerspec *, struct itimerspec *));

  if (fault == NULL || fd != timer_fd || flags != TFD_TIMER_ABSTIME)
    return real (fd, flags, value, old);
  timer = *value;
  return timer_arm ();
}

/* What a machine that wakes up does with its timers: the test sends it after it moved a clock. */
static void
clock_moved (int number)
{
  int before = errno;

  if (timer_fd >= 0)
    timer_arm ();
  errno = before;
}

/* --- the beginning --- */

__attribute__ ((constructor)) static void
begin (int argc, char **argv, char **environment)
{
  const char *path = getenv (FAULT_VARIABLE);
  struct sigaction moved = { .sa_handler = clock_moved };
  void *memory = MAP_FAILED;
  int fd = -1;

  role_take (argc, argv);
  environment_keep (environment);
  if (path == NULL)
    return;
  fd = (int) syscall (SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (fd >= 0)
    memory = mmap (NULL, sizeof (Fault), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    abort ();
  syscall (SYS_close, fd);
  fault = memory;
  if (role == FAULT_BROKER)
    sigaction (SIGUSR2, &moved, NULL);
}
