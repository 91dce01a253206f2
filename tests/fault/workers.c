/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cheap workers, for runs of many thousand hand-overs.  Where FAULT_FORKS is set, a listener's worker
 * begins with main() in a fork of the listener; just before it says that it is ready it stops, as the
 * template of the next ones.  Each of those is a fork of it, and a child of the listener with a
 * status socket of its own: what an idle worker is that has waited for a while.  A template makes
 * COPIES_MAX of them, all with the policy that it has read.
 *
 * What a fork shares with its template, or has not got of it, are the locks: they are taken anew.
 */
#include "tests/fault/workers.h"
#include "tests/fault/fault.h"
#include "tests/fault/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* As service/base/prefork.h has them. */
#define STATUS_FD 4
#define SHARED_FD 5

#define COPIES_MAX 100
#define TEMPLATE_FD 200 /* above whatever a worker opens, below what it may */
#define PRIVATE_FD 64   /* above what it is given */
#define NOTES_MAX 16

/* --- the program --- */

typedef int (*Main) (int argc, char **argv, char **environment);

static Main program_main;
static bool forks;
static int dups[8][2];
static size_t n_dups;

WRAP (int, __libc_start_main,
      (Main start, int argc, char **argv, void (*first) (void), void (*last) (void),
       void (*unload) (void), void *stack))
{
  REAL (int, __libc_start_main,
        (Main, int, char **, void (*) (void), void (*) (void), void (*) (void), void *));

  program_main = start;
  forks = getenv (FAULT_FORKS) != NULL; /* before anything is scrubbed */
  return real (start, argc, argv, first, last, unload, stack);
}

WRAP (int, posix_spawn_file_actions_init, (posix_spawn_file_actions_t *actions))
{
  REAL (int, posix_spawn_file_actions_init, (posix_spawn_file_actions_t *));

  n_dups = 0;
  return real (actions);
}

WRAP (int, posix_spawn_file_actions_adddup2,
      (posix_spawn_file_actions_t *actions, int from, int to))
{
  REAL (int, posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t *, int, int));

  if (n_dups < sizeof dups / sizeof *dups)
    {
      dups[n_dups][0] = from;
      dups[n_dups++][1] = to;
    }
  return real (actions, from, to);
}

bool
worker_is_forked (char *const *argv)
{
  return forks && argv[0] != NULL && argv[1] != NULL && strcmp (argv[1], "--worker") == 0;
}

/* given: the descriptor of ours that a worker gets as @to, or -1. */
static int
given (int to)
{
  for (size_t i = 0; i < n_dups; i++)
    if (dups[i][1] == to)
      return dups[i][0];
  return -1;
}

/* program_run: what exec would do to descriptors and signals, and then the program.
 * @kept: the one descriptor that is left besides what it is given, or -1 */
static void
program_run (char *const *argv, int kept)
{
  sigset_t none;
  int argc = 0;
  unsigned next = 3;

  for (int number = 1; number < 32; number++)
    signal (number, SIG_DFL);
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  for (size_t i = 0; i < n_dups; i++)
    {
      if (dups[i][0] != dups[i][1])
        syscall (SYS_dup2, dups[i][0], dups[i][1]);
      if ((unsigned) dups[i][1] >= next)
        next = (unsigned) dups[i][1] + 1;
    }
  if (kept >= 0)
    syscall (SYS_close_range, next, kept - 1, 0);
  syscall (SYS_close_range, kept >= 0 ? (unsigned) kept + 1 : next, ~0U, 0);
  while (argv[argc] != NULL)
    argc++;
  role_take (argc, (char **) argv);
  argc = program_main (argc, (char **) argv, environ);
  fflush (NULL);
  _exit (argc);
}

/* --- the listener's side --- */

static struct
{
  pid_t pid;
  int sock;
  unsigned left; /* how many copies more */
  ino_t shared;  /* which policy it has */
} template = { .sock = -1 };

static ino_t
shared_now (void)
{
  struct stat st = { 0 };
  int fd = given (SHARED_FD);

  return fd >= 0 && fstat (fd, &st) == 0 ? st.st_ino : 0;
}

static void
template_end (void)
{
  if (template.pid <= 0)
    return;
  syscall (SYS_close, template.sock);
  while (syscall (SYS_wait4, template.pid, NULL, 0, NULL) < 0 && errno == EINTR)
    continue;
  template.sock = -1;
  template.pid = 0;
  template.left = 0;
}

static int template_fd = -1; /* in a template: where it is told to make a copy */

static bool
template_begin (char *const *argv)
{
  int pair[2] = { -1, -1 };

  if (syscall (SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return false;
  template.sock = fcntl (pair[0], F_DUPFD_CLOEXEC, PRIVATE_FD);
  syscall (SYS_close, pair[0]);
  template.pid = fork ();
  if (template.pid == 0)
    {
      template_fd = (int) syscall (SYS_dup2, pair[1], TEMPLATE_FD);
      program_run (argv, template_fd);
    }
  syscall (SYS_close, pair[1]);
  template.left = COPIES_MAX;
  template.shared = shared_now ();
  return template.pid > 0;
}

/* template_copy: has it make one; false where it is gone. */
static bool
template_copy (pid_t *out_pid)
{
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (sizeof (int))];
  } control = { .header = { .cmsg_len = CMSG_LEN (sizeof (int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS } };
  char word = 0;
  struct iovec data = { .iov_base = &word, .iov_len = 1 };
  struct msghdr message = { .msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control.space };
  int status = given (STATUS_FD);
  pid_t pid = -1;

  memcpy (CMSG_DATA (&control.header), &status, sizeof status);
  if (syscall (SYS_sendmsg, template.sock, &message, MSG_NOSIGNAL) != 1 ||
      syscall (SYS_recvfrom, template.sock, &pid, sizeof pid, 0, NULL, NULL) != sizeof pid)
    return false;
  template.left--;
  *out_pid = pid;
  return pid > 0;
}

/* What cannot get ready as a template does not as a worker either: that the listener sees for itself. */
int
worker_fork (pid_t *pid, char *const *argv)
{
  if (template.left == 0 || template.shared != shared_now ())
    {
      template_end ();
      if (!template_begin (argv))
        return errno;
    }
  if (template_copy (pid))
    return 0;
  template_end ();
  *pid = fork ();
  if (*pid < 0)
    return errno;
  if (*pid == 0)
    program_run (argv, -1);
  return 0;
}

/* --- the locks of a template --- */

static int flocked[NOTES_MAX];
static size_t n_flocked;
static struct
{
  int fd;
  struct flock lock;
} locked[NOTES_MAX];
static size_t n_locked;

void
worker_note_flock (int fd)
{
  if (template_fd < 0)
    return;
  for (size_t i = 0; i < n_flocked; i++)
    if (flocked[i] == fd)
      return;
  if (n_flocked == NOTES_MAX)
    abort ();
  flocked[n_flocked++] = fd;
}

static off_t
lock_end (const struct flock *lock)
{
  return lock->l_len == 0 ? INT64_MAX : lock->l_start + lock->l_len;
}

/* What is locked or unlocked as a whole is so from here on: nobody here does it in part. */
static void
note_lock (int fd, const struct flock *lock)
{
  size_t n = 0;

  for (size_t i = 0; i < n_locked; i++)
    if (locked[i].fd != fd || locked[i].lock.l_start < lock->l_start ||
        lock_end (&locked[i].lock) > lock_end (lock))
      locked[n++] = locked[i];
  n_locked = n;
  if (lock->l_type == F_UNLCK)
    return;
  if (n_locked == NOTES_MAX || lock->l_whence != SEEK_SET)
    abort ();
  locked[n_locked].fd = fd;
  locked[n_locked++].lock = *lock;
}

#define WRAP_FCNTL(name)                                                                           \
  WRAP (int, name, (int fd, int what, ...))                                                        \
  {                                                                                                \
    va_list args;                                                                                  \
    void *value = NULL;                                                                            \
    int result = -1;                                                                               \
    REAL (int, name, (int, int, ...));                                                             \
                                                                                                   \
    va_start (args, what);                                                                         \
    value = va_arg (args, void *);                                                                 \
    va_end (args);                                                                                 \
    result = real (fd, what, value);                                                               \
    if (template_fd >= 0 && result == 0 && (what == F_SETLK || what == F_SETLKW))                  \
      note_lock (fd, value);                                                                       \
    return result;                                                                                 \
  }

WRAP_FCNTL (fcntl)
WRAP_FCNTL (fcntl64)

/* locks_take: what flock() locks belongs to whoever has the descriptor, so it is opened anew; what
 * fcntl() locks belongs to the process. */
static void
locks_take (void)
{
  for (size_t i = 0; i < n_flocked; i++)
    {
      char path[32];
      int fd = -1;

      snprintf (path, sizeof path, "/proc/self/fd/%d", flocked[i]);
      fd = (int) syscall (SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
      if (fd < 0 || syscall (SYS_dup3, fd, flocked[i], O_CLOEXEC) < 0)
        abort ();
      syscall (SYS_close, fd);
    }
  for (size_t i = 0; i < n_locked; i++)
    if (syscall (SYS_fcntl, locked[i].fd, F_SETLK, &locked[i].lock) != 0)
      abort ();
  n_flocked = n_locked = 0;
}

/* --- the template's side --- */

/* libcrypto_warm: what a libcrypto that is loaded builds for its first HMAC, once for all copies. */
static void
libcrypto_warm (void)
{
  const void *(*sha256) (void) = NULL;
  unsigned char *(*hmac) (const void *, const void *, int, const unsigned char *, size_t,
                          unsigned char *, unsigned int *) = NULL;
  unsigned char digest[64];

  *(void **) &sha256 = dlsym (RTLD_DEFAULT, "EVP_sha256");
  *(void **) &hmac = dlsym (RTLD_DEFAULT, "HMAC");
  if (sha256 != NULL && hmac != NULL)
    hmac (sha256 (), "", 0, digest, 0, digest, NULL);
}

/* status_receive: the status socket of the copy that is wanted; -1 once the listener wants no more. */
static int
status_receive (void)
{
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (sizeof (int))];
  } control;
  char word = 0;
  struct iovec data = { .iov_base = &word, .iov_len = 1 };
  struct msghdr message = { .msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control.space };
  int fd = -1;

  if (syscall (SYS_recvmsg, template_fd, &message, MSG_CMSG_CLOEXEC) == 1 &&
      message.msg_controllen > 0)
    memcpy (&fd, CMSG_DATA (&control.header), sizeof fd);
  return fd;
}

static void
copy_begin (int status)
{
  syscall (SYS_close, template_fd);
  template_fd = -1;
  syscall (SYS_dup3, status, STATUS_FD, O_CLOEXEC);
  syscall (SYS_close, status);
  locks_take ();
}

void
worker_copies (int fd)
{
  if (template_fd < 0 || fd != STATUS_FD)
    return;
  libcrypto_warm ();
  for (;;)
    {
      int status = status_receive ();
      pid_t pid = -1;

      if (status < 0)
        _exit (EXIT_SUCCESS);
      pid = (pid_t) syscall (SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0);
      if (pid == 0)
        {
          copy_begin (status);
          return;
        }
      syscall (SYS_close, status);
      syscall (SYS_sendto, template_fd, &pid, sizeof pid, MSG_NOSIGNAL, NULL, 0);
    }
}
