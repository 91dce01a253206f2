/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See bench.h. */
#include "tests/executor/bench.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"
#include "tests/lib/folder.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* hr.kim and it.lead may approve a mail; one outside the company needs both; a note may be written
 * twice a day without asking; suspending needs alice and has facts. */
static const char rules[] = "[Rule mail]\n"
                            "Agents=offboarding\n"
                            "Actions=mail.send\n"
                            "Decision=ask\n"
                            "Approvers=@hr @it-leads\n"
                            "Passkeys=software unattested\n"
                            "[Rule mail-outside]\n"
                            "Agents=offboarding\n"
                            "Actions=mail.send\n"
                            "When=to,cc,bcc any-not *@example.com\n"
                            "Decision=ask\n"
                            "Approvers=@it-leads\n"
                            "Passkeys=software\n"
                            "[Rule note]\n"
                            "Agents=offboarding\n"
                            "Actions=note.write\n"
                            "Decision=allow\n"
                            "Limit=2/1d all-agents\n"
                            "[Rule suspend]\n"
                            "Agents=offboarding other\n"
                            "Actions=account.suspend\n"
                            "Decision=ask\n"
                            "Approvers=hr.kim\n"
                            "Passkeys=software\n";

/* --- the runner --- */

/* facts_declared: of the call at hand, in the other order. */
static GVariant *
facts_declared (Bench *bench)
{
  g_autoptr (GVariant) declared = g_variant_get_child_value (bench->call, 5);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE (WIRE_FACTS));
  for (gsize i = g_variant_n_children (declared); i > 0; i--)
    {
      const char *name = NULL;

      g_variant_get_child (declared, i - 1, "(&s&s)", &name, NULL);
      g_variant_builder_add (&builder, "(ss)", name,
                             strcmp (name, "known") == 0 ? bench->known : bench->manager);
    }
  return g_variant_builder_end (&builder);
}

static void
runner_describe (Bench *bench, int sock)
{
  handover_send (
      sock, HANDOVER_REPLY,
      g_variant_new ("(s@" WIRE_FACTS "s)", bench->behaviour, facts_declared (bench), ""), NULL, 0,
      NULL);
}

static void
runner_execute (Bench *bench, int sock)
{
  const char *behaviour = bench->behaviour;
  g_autoptr (GError) error = NULL;
  autofd file = -1;

  bench->executed++;
  if (strcmp (behaviour, "close") == 0)
    return;
  if (strcmp (behaviour, "error") == 0)
    {
      us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "broken");
      handover_send_error (sock, error, NULL);
      return;
    }
  if (strcmp (behaviour, "long-error") == 0)
    {
      g_autofree char *text = g_strnfill (2000, 'x');

      us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s", text);
      handover_send_error (sock, error, NULL);
      return;
    }
  if (strcmp (behaviour, "files") == 0)
    file = memfd_new_sealed ("file", "x", 1, NULL);
  if (strcmp (behaviour, "garbage") == 0)
    handover_send (sock, HANDOVER_REPLY, g_variant_new ("(s)", "done"), NULL, 0, NULL);
  else
    handover_send (sock, HANDOVER_REPLY,
                   g_variant_new_parsed ("(%s, @a(ss) [], 'sent')", file >= 0 ? "done" : behaviour),
                   &file, file >= 0 ? 1 : 0, NULL);
}

/* It has every credential but the one that the test takes away. */
static void
runner_tell (Bench *bench, int sock)
{
  static const char *const credentials[] = { "work-smtp", "directory-read" };
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&bench->lock);
  g_autoptr (GError) error = NULL;
  GVariantBuilder names;

  bench->told++;
  if (bench->impaired)
    {
      us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "it cannot be loaded");
      handover_send_error (sock, error, NULL);
      return;
    }
  g_variant_builder_init (&names, G_VARIANT_TYPE_STRING_ARRAY);
  for (gsize i = 0; i < G_N_ELEMENTS (credentials); i++)
    if (g_strcmp0 (credentials[i], bench->lacks) != 0)
      g_variant_builder_add (&names, "s", credentials[i]);
  handover_send (sock, HANDOVER_REPLY, g_variant_new (WIRE_MODULE_STATE, &names), NULL, 0, NULL);
}

static void
runner_serve (Bench *bench, int sock)
{
  g_autoptr (GMutexLocker) locker = NULL;
  g_auto (Handover) handover = { 0 };
  autofd body_fd = -1;

  if (!handover_receive (sock, &handover, &body_fd, NULL))
    return;
  if (!handover_decode (&handover, body_fd, WIRE_MODULE_CALL, NULL))
    return;

  locker = g_mutex_locker_new (&bench->lock);
  g_clear_pointer (&bench->call, g_variant_unref);
  bench->call = g_variant_ref (handover.body);
  if (handover.kind == HANDOVER_MODULE_EXECUTE)
    runner_execute (bench, sock);
  else
    {
      bench->described++;
      runner_describe (bench, sock);
    }
}

static gpointer
runner_main (gpointer data)
{
  Bench *bench = data;

  for (;;)
    {
      autofd sock = accept4 (bench->listen_fd, NULL, NULL, SOCK_CLOEXEC);

      if (sock < 0)
        return NULL;
      runner_serve (bench, sock);
    }
}

static gpointer
teller_main (gpointer data)
{
  Bench *bench = data;

  for (;;)
    {
      autofd sock = accept4 (bench->tell_fd, NULL, NULL, SOCK_CLOEXEC);

      if (sock < 0)
        return NULL;
      runner_tell (bench, sock);
    }
}

int
bench_listen (const char *folder, const char *name, int backlog)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_autofree char *path = g_build_filename (folder, name, NULL);
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

  g_assert_cmpuint (strlen (path), <, sizeof address.sun_path);
  strcpy (address.sun_path, path);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (bind (fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fd, backlog), ==, 0);
  return fd;
}

/* The null module is the same runner. */
static void
runner_start (Bench *bench)
{
  static const char *const kinds[] = { "sock", "state" };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *target = g_strconcat ("mail.", kinds[i], NULL);
      g_autofree char *name = g_strconcat ("null.", kinds[i], NULL);
      g_autofree char *path = g_build_filename (bench->runner, name, NULL);

      g_assert_cmpint (symlink (target, path), ==, 0);
    }
  bench->listen_fd = bench_listen (bench->runner, "mail.sock", 128);
  bench->tell_fd = bench_listen (bench->runner, "mail.state", 128);
  bench->thread = g_thread_new ("runner", runner_main, bench);
  bench->teller = g_thread_new ("teller", teller_main, bench);
}

/* --- the executor --- */

static int
bench_connect (Client *client, gboolean admin, GError **error)
{
  Bench *bench = (Bench *) client;
  int pair[2] = { -1, -1 };

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), ==, 0);
  bench->peer = pair[1];
  return pair[0];
}

static void
bench_serve (Client *client)
{
  Bench *bench = (Bench *) client;
  g_autoptr (GError) error = NULL;
  g_autoptr (Executor) executor = executor_new (&bench->config, bench->image_fd, &error);

  g_assert_no_error (error);
  executor_serve (executor, bench->peer);
  fd_clear (&bench->peer);
}

static Bench *reloaded;

static gboolean
bench_reload (GError **error)
{
  reloaded->reloads++;
  return TRUE;
}

static void
image_load (Bench *bench)
{
  g_autoptr (GBytes) read = set_image (bench->set);
  g_autoptr (GBytes) image = policy_resolve (read, &set_names);
  g_autoptr (GError) error = NULL;

  fd_clear (&bench->image_fd);
  bench->image_fd =
      memfd_new_sealed ("image", g_bytes_get_data (image, NULL), g_bytes_get_size (image), &error);
  g_assert_no_error (error);
  fd_clear (&bench->lease_fd);
  bench->lease_fd = memfd_lease (bench->image_fd, &error);
  g_assert_no_error (error);
}

void
bench_policy (Bench *bench, const char *name, const char *text)
{
  set_put (bench->set, name, text);
  image_load (bench);
}

static char *
folder_make (Bench *bench, const char *name)
{
  char *path = g_build_filename (bench->root, name, NULL);

  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  return path;
}

void
bench_set_up (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  bench->root = g_dir_make_tmp ("undersign-bench-XXXXXX", &error);
  g_assert_no_error (error);
  bench->state = folder_make (bench, "state");
  bench->runtime = folder_make (bench, "runtime");
  bench->runner = folder_make (bench, "runner");
  bench->attestation = folder_make (bench, "attestation.d");
  bench->client = (Client){
    .connect = bench_connect, .serve = bench_serve, .host = g_strdup (BENCH_HOST), .agent_uid = 2001
  };
  bench->config = (ExecutorConfig){
    .state_dir = bench->state,
    .runtime_dir = bench->runtime,
    .runner_dir = bench->runner,
    .policy = { .data_dir = bench->root, .config_dir = bench->root, .module_dir = bench->root,
                .owner = geteuid () },
    .attestation_dir = bench->attestation,
    .names = &set_names,
    .host = BENCH_HOST,
    .broker_uid = getuid (),
    .admin_uid = getuid (),
    .check_timeout = 60,
    .describe_timeout = 60,
    .module_timeout = 60,
    .reload = bench_reload,
  };
  reloaded = bench;
  bench->peer = -1;
  bench->image_fd = bench->lease_fd = -1;
  bench->behaviour = "done";
  bench->known = g_strdup ("first time");
  bench->manager = g_strdup ("hr.jones");
  g_mutex_init (&bench->lock);
  bench->set = set_new ();
  bench_policy (bench, "rules/test.rule", rules);
  runner_start (bench);
}

void
bench_tear_down (Bench *bench, gconstpointer data)
{
  shutdown (bench->listen_fd, SHUT_RDWR);
  shutdown (bench->tell_fd, SHUT_RDWR);
  g_thread_join (bench->thread);
  g_thread_join (bench->teller);
  fd_clear (&bench->listen_fd);
  fd_clear (&bench->tell_fd);
  fd_clear (&bench->image_fd);
  fd_clear (&bench->lease_fd);
  set_free (bench->set);
  g_clear_pointer (&bench->call, g_variant_unref);
  g_mutex_clear (&bench->lock);
  folder_remove (bench->root);
  g_free (bench->client.host);
  g_free (bench->known);
  g_free (bench->manager);
  g_free (bench->root);
  g_free (bench->attestation);
  g_free (bench->state);
  g_free (bench->runtime);
  g_free (bench->runner);
}

Ledger *
bench_ledger (Bench *bench)
{
  g_autoptr (GError) error = NULL;
  Ledger *ledger = ledger_open (bench->state, bench->runtime, &error);

  g_assert_no_error (error);
  return ledger;
}

guint
bench_executed (Bench *bench)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&bench->lock);

  return bench->executed;
}

void
bench_behave (Bench *bench, const char *behaviour)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&bench->lock);

  bench->behaviour = behaviour;
}

void
bench_fact (Bench *bench, const char *known)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&bench->lock);

  request_set (&bench->known, known);
}

Request *
bench_mail (Bench *bench)
{
  Request *request = request_new (&bench->client, "mail.send");

  request_arguments (request, "[('to', <['security@example.com']>), ('subject', <'Report'>)]");
  return request;
}
