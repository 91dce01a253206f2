/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread between a bus and GDBus.  It waits for both at once and never for one alone, keeps
 * nothing that the judge did not count, and is asleep as long as neither has anything to say.
 */
#include "service/base/bus-relay.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/bus-body.h"
#include "service/base/bus-frames.h"
#include "service/base/bus-socket.h"
#include "service/base/bus-turns.h"
#include "service/base/fd.h"

#include <gio/gunixconnection.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define READS_MAX 256             /* before what was read is passed on */
#define WINDOW (16 * 1024)        /* bytes of calls that GDBus may be at, or one call */
#define NEWS_MAX (256 * 1024)     /* bytes of signals and replies that wait: the bus waits then */
#define REPLY_MAX (64 * 1024)     /* bytes of another service's reply */
#define DRIVER_MAX (1024 * 1024)  /* bytes of what the bus itself says */
#define DRIVER_FDS_MAX 16         /* that come with it: it may say who calls by a pidfd, too */
#define REFUSALS_MAX 256          /* messages that GDBus may be at before one more is refused */
#define LAST_WORDS 5000           /* milliseconds for what is still to be sent at the end */

/* A call that GDBus has, or is getting. */
typedef struct
{
  gsize size;
  guint32 serial;
  gpointer ticket;
} Handed;

struct BusRelay
{
  gatomicrefcount refs;
  BusRelayJudge judge;
  GDestroyNotify ticket_free;
  gpointer data;
  GThread *thread;
  GDBusConnection *connection;

  /* the thread's own */
  GSocketConnection *stream; /* (nullable): owns bus_fd */
  int bus_fd, local_fd;
  BusFrames *from_bus, *from_local;
  GQueue news;        /* (element-type BusParcel): of the bus, what is no call */
  gsize news_size;
  BusTurns *calls;
  BusParcel *to_local; /* under way, and so is the next */
  GQueue to_bus;       /* (element-type BusParcel) */
  guint32 refused;     /* the serial of the last refusal, or later */
  guint32 said;        /* the serial of the last message that GDBus wrote */
  gboolean bus_ended, local_ended;

  /* under the lock */
  GMutex lock;
  gboolean is_open;
  gboolean is_ending;
  gboolean is_blocked; /* a call waits until GDBus is done with others */
  GQueue handed;       /* (element-type Handed) */
  gsize handed_size;
  guint64 passed;
  char *heard; /* (nullable): unique name of who may send signals */
  int wake_fd;
};

/* --- what comes from the bus --- */

static void
refuse (BusRelay *relay, const BusHeader *header, const GError *error)
{
  g_autofree char *name = g_strconcat (US_ERROR_PREFIX, us_error_name ((UsError) error->code), NULL);
  g_autoptr (GDBusMessage) reply = g_dbus_message_new ();
  volatile guint32 serial = relay->refused;

  g_dbus_message_set_message_type (reply, G_DBUS_MESSAGE_TYPE_ERROR);
  g_dbus_message_set_flags (reply, G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED);
  g_dbus_message_set_reply_serial (reply, header->serial);
  g_dbus_message_set_destination (reply, header->sender);
  g_dbus_message_set_error_name (reply, name);
  g_dbus_message_set_body (reply, g_variant_new ("(s)", error->message));
  g_dbus_connection_send_message (relay->connection, reply, G_DBUS_SEND_MESSAGE_FLAGS_NONE, &serial,
                                  NULL);
  relay->refused = serial;
}

static gboolean
judge_call (BusRelay *relay, const BusHeader *header, BusParcel *parcel)
{
  g_autoptr (GError) error = NULL;
  gboolean is_open = FALSE;

  g_mutex_lock (&relay->lock);
  is_open = relay->is_open;
  g_mutex_unlock (&relay->lock);
  if (!is_open)
    return FALSE;
  if (relay->judge (header, &parcel->lane, &parcel->ticket, relay->data, &error))
    return TRUE;
  if (error != NULL && (header->flags & BUS_NO_REPLY) == 0)
    refuse (relay, header, error);
  return FALSE;
}

static gboolean
is_heard (BusRelay *relay, const char *sender)
{
  gboolean found = FALSE;

  g_mutex_lock (&relay->lock);
  found = relay->heard != NULL && strcmp (relay->heard, sender) == 0;
  g_mutex_unlock (&relay->lock);
  return found;
}

static gboolean
judge_message (const BusHeader *header, BusParcel *parcel, gpointer data)
{
  BusRelay *relay = data;
  gboolean by_bus = g_strcmp0 (header->sender, BUS_DRIVER) == 0;

  if (header->sender == NULL)
    return FALSE;
  if (header->type == BUS_CALL)
    return judge_call (relay, header, parcel);
  if (by_bus)
    return header->body_size <= DRIVER_MAX && header->n_fds <= DRIVER_FDS_MAX;
  if (header->type == BUS_SIGNAL && !is_heard (relay, header->sender))
    return FALSE;
  return header->body_size <= REPLY_MAX && header->n_fds == 0;
}

/* A call that is all there: GDBus gets it unless it would become too much. */
static void
take_call (BusRelay *relay, BusParcel *parcel)
{
  BusHeader header = { 0 };
  guint32 body_at = 0;
  guint32 body_size = 0;
  g_autoptr (GError) error = NULL;

  if (bus_header_size (parcel->bytes, &body_at, &body_size) &&
      bus_header_read (parcel->bytes, body_at, &header, &error) &&
      bus_body_check (parcel->bytes, parcel->size, body_at, header.signature, &error))
    {
      bus_turns_add (relay->calls, parcel);
      return;
    }
  if ((header.flags & BUS_NO_REPLY) == 0)
    refuse (relay, &header, error);
  relay->ticket_free (g_steal_pointer (&parcel->ticket));
  bus_parcel_free (parcel);
}

static void
take_from_bus (BusParcel *parcel, gpointer data)
{
  BusRelay *relay = data;

  if (parcel->ticket != NULL)
    {
      take_call (relay, parcel);
      return;
    }
  relay->news_size += parcel->size;
  g_queue_push_tail (&relay->news, parcel);
}

static void
take_from_local (BusParcel *parcel, gpointer data)
{
  static const char begin[] = "BEGIN\r\n";
  BusRelay *relay = data;

  if (parcel->size == sizeof begin - 1 && memcmp (parcel->bytes, begin, sizeof begin - 1) == 0)
    {
      bus_frames_begin (relay->from_local);
      bus_frames_begin (relay->from_bus);
    }
  relay->said = parcel->serial;
  if ((gint32) (relay->refused - relay->said) < 0)
    relay->refused = relay->said;
  g_queue_push_tail (&relay->to_bus, parcel);
}

/* --- what goes to GDBus --- */

/* Whether GDBus may have one more call; if not, bus_relay_taken() wakes us. */
static gboolean
hand_over (BusRelay *relay, const BusParcel *parcel)
{
  gboolean may = FALSE;

  g_mutex_lock (&relay->lock);
  may = relay->handed_size == 0 || relay->handed_size + parcel->size <= WINDOW;
  relay->is_blocked = !may;
  if (may)
    {
      Handed *handed = g_new0 (Handed, 1);

      handed->size = parcel->size;
      handed->serial = parcel->serial;
      handed->ticket = parcel->ticket;
      g_queue_push_tail (&relay->handed, handed);
      relay->handed_size += parcel->size;
      relay->passed += parcel->size;
    }
  g_mutex_unlock (&relay->lock);
  return may;
}

/* The next that GDBus gets: news first, then the call whose turn it is. */
static BusParcel *
next_for_local (BusRelay *relay)
{
  BusParcel *parcel = g_queue_pop_head (&relay->news);
  const BusParcel *call = NULL;

  if (parcel != NULL)
    {
      relay->news_size -= parcel->size;
      return parcel;
    }
  call = bus_turns_peek (relay->calls);
  if (call == NULL || !hand_over (relay, call))
    return NULL;
  parcel = bus_turns_take (relay->calls);
  parcel->ticket = NULL;
  return parcel;
}

static void
write_all (BusRelay *relay)
{
  while (!relay->bus_ended && !g_queue_is_empty (&relay->to_bus) &&
         bus_socket_write (relay->bus_fd, g_queue_peek_head (&relay->to_bus), &relay->bus_ended))
    bus_parcel_free (g_queue_pop_head (&relay->to_bus));

  while (!relay->local_ended)
    {
      if (relay->to_local == NULL)
        relay->to_local = next_for_local (relay);
      if (relay->to_local == NULL ||
          !bus_socket_write (relay->local_fd, relay->to_local, &relay->local_ended))
        break;
      g_clear_pointer (&relay->to_local, bus_parcel_free);
    }
}

/* --- the thread --- */

/* Whether more may come: what came before is not too much to be kept, nor are its answers. */
static gboolean
may_read (const BusRelay *relay)
{
  gint32 refusals = (gint32) (relay->refused - relay->said);

  return relay->news_size < NEWS_MAX && refusals < REFUSALS_MAX;
}

static void
read_all (BusRelay *relay)
{
  for (guint i = 0; i < READS_MAX && may_read (relay) && !relay->bus_ended; i++)
    if (!bus_socket_read (relay->bus_fd, relay->from_bus, &relay->bus_ended))
      break;
  while (g_queue_is_empty (&relay->to_bus) && !relay->local_ended)
    if (!bus_socket_read (relay->local_fd, relay->from_local, &relay->local_ended))
      break;
}

/* What is waited for of a side; of one that nothing is wanted of not even its end is looked at. */
static struct pollfd
side (int fd, gboolean read, gboolean write)
{
  return (struct pollfd) { read || write ? fd : -1,
                           (short) ((read ? POLLIN : 0) | (write ? POLLOUT : 0)), 0 };
}

/* FALSE once there is nothing more to wait for. */
static gboolean
wait_for_more (BusRelay *relay)
{
  gboolean to_bus = !g_queue_is_empty (&relay->to_bus);
  struct pollfd polled[] = {
    side (relay->bus_fd, may_read (relay), to_bus),
    side (relay->local_fd, !to_bus && !relay->local_ended,
          relay->to_local != NULL && !relay->local_ended),
    side (relay->wake_fd, TRUE, FALSE),
  };
  gboolean is_ending = FALSE;
  guint64 count = 0;
  int n = 0;

  /* Without the bus nothing can be answered; without GDBus there are only its last words. */
  if (relay->bus_ended || (relay->local_ended && !to_bus))
    return FALSE;
  g_mutex_lock (&relay->lock);
  is_ending = relay->is_ending;
  g_mutex_unlock (&relay->lock);

  n = poll (polled, G_N_ELEMENTS (polled), is_ending || relay->local_ended ? LAST_WORDS : -1);
  if (n < 0 && errno != EINTR)
    g_error ("cannot wait for the bus: %s", g_strerror (errno));
  if (n > 0 && polled[2].revents != 0 && read (relay->wake_fd, &count, sizeof count) < 0 &&
      errno != EAGAIN)
    g_error ("cannot be woken: %s", g_strerror (errno));
  return n != 0;
}

static gpointer
relay_run (gpointer data)
{
  BusRelay *relay = data;

  do
    {
      read_all (relay);
      write_all (relay);
    }
  while (wait_for_more (relay));

  /* The other sides see that it is over. */
  fd_clear (&relay->local_fd);
  shutdown (relay->bus_fd, SHUT_RDWR);
  return NULL;
}

/* --- the relay --- */

static void
relay_init (BusRelay *relay)
{
  g_atomic_ref_count_init (&relay->refs);
  g_mutex_init (&relay->lock);
  g_queue_init (&relay->news);
  g_queue_init (&relay->to_bus);
  g_queue_init (&relay->handed);
  relay->calls = bus_turns_new ();
  relay->from_bus = bus_frames_new (judge_message, take_from_bus, relay);
  relay->from_local = bus_frames_new (NULL, take_from_local, relay);
  relay->local_fd = -1;
  relay->wake_fd = -1;
}

/* GDBus's end of the pair, with our side of it served. */
static GDBusConnection *
connect_local (BusRelay *relay, GError **error)
{
  int pair[2] = { -1, -1 };
  g_autoptr (GSocket) socket = NULL;
  g_autoptr (GSocketConnection) stream = NULL;

  relay->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (relay->wake_fd < 0 || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "cannot make the way to the bus: %s", g_strerror (errno));
      return NULL;
    }
  relay->local_fd = pair[0];
  socket = g_socket_new_from_fd (pair[1], error);
  if (socket == NULL)
    {
      close (pair[1]);
      return NULL;
    }
  relay->thread = g_thread_try_new ("bus-relay", relay_run, relay, error);
  if (relay->thread == NULL)
    return NULL;
  stream = g_socket_connection_factory_create_connection (socket);
  return g_dbus_connection_new_sync (G_IO_STREAM (stream), NULL,
                                     G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                         G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                     NULL, NULL, error);
}

static BusRelay *
relay_new (GSocketConnection *stream,
           int fd,
           BusRelayJudge judge,
           GDestroyNotify ticket_free,
           gpointer data,
           GError **error)
{
  BusRelay *relay = g_new0 (BusRelay, 1);

  relay_init (relay);
  relay->stream = stream;
  relay->bus_fd = fd;
  relay->judge = judge;
  relay->ticket_free = ticket_free;
  relay->data = data;
  relay->connection = connect_local (relay, error);
  if (relay->connection != NULL)
    return relay;
  bus_relay_close (relay);
  bus_relay_unref (relay);
  return NULL;
}

BusRelay *
bus_relay_new_for_fd (
    int fd, BusRelayJudge judge, GDestroyNotify ticket_free, gpointer data, GError **error)
{
  return relay_new (NULL, fd, judge, ticket_free, data, error);
}

BusRelay *
bus_relay_new (const char *address,
               BusRelayJudge judge,
               GDestroyNotify ticket_free,
               gpointer data,
               GError **error)
{
  g_autofree char *found = g_strdup (address);
  g_autoptr (GIOStream) stream = NULL;
  int fd = -1;

  if (found == NULL)
    found = g_dbus_address_get_for_bus_sync (G_BUS_TYPE_SYSTEM, NULL, error);
  if (found == NULL)
    return NULL;
  stream = g_dbus_address_get_stream_sync (found, NULL, NULL, error);
  if (stream == NULL)
    return NULL;
  if (!G_IS_UNIX_CONNECTION (stream))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "the bus at %s is not a local one", found);
      return NULL;
    }
  fd = g_socket_get_fd (g_socket_connection_get_socket (G_SOCKET_CONNECTION (stream)));
  return relay_new (G_SOCKET_CONNECTION (g_steal_pointer (&stream)), fd, judge, ticket_free, data,
                    error);
}

static void
relay_drop_waiting (BusRelay *relay)
{
  gpointer ticket = bus_frames_ticket (relay->from_bus);
  BusParcel *parcel = NULL;
  Handed *handed = NULL;

  if (ticket != NULL)
    relay->ticket_free (ticket);
  while ((parcel = bus_turns_take (relay->calls)) != NULL)
    {
      relay->ticket_free (g_steal_pointer (&parcel->ticket));
      bus_parcel_free (parcel);
    }
  g_queue_clear_full (&relay->news, (GDestroyNotify) bus_parcel_free);
  g_queue_clear_full (&relay->to_bus, (GDestroyNotify) bus_parcel_free);
  g_clear_pointer (&relay->to_local, bus_parcel_free);

  g_mutex_lock (&relay->lock);
  while ((handed = g_queue_pop_head (&relay->handed)) != NULL)
    {
      relay->ticket_free (handed->ticket);
      g_free (handed);
    }
  g_mutex_unlock (&relay->lock);
}

static void
wake (BusRelay *relay)
{
  const guint64 one = 1;

  if (write (relay->wake_fd, &one, sizeof one) < 0 && errno != EAGAIN)
    g_error ("cannot wake the thread of the bus: %s", g_strerror (errno));
}

void
bus_relay_close (BusRelay *relay)
{
  if (relay == NULL || relay->thread == NULL)
    return;
  if (relay->connection != NULL)
    {
      g_dbus_connection_flush_sync (relay->connection, NULL, NULL);
      g_dbus_connection_close_sync (relay->connection, NULL, NULL);
    }
  else
    shutdown (relay->bus_fd, SHUT_RDWR);
  g_mutex_lock (&relay->lock);
  relay->is_ending = TRUE;
  g_mutex_unlock (&relay->lock);
  wake (relay);
  g_thread_join (g_steal_pointer (&relay->thread));
  relay_drop_waiting (relay);
}

BusRelay *
bus_relay_ref (BusRelay *relay)
{
  g_atomic_ref_count_inc (&relay->refs);
  return relay;
}

void
bus_relay_unref (BusRelay *relay)
{
  if (relay == NULL || !g_atomic_ref_count_dec (&relay->refs))
    return;
  g_assert (relay->thread == NULL);
  g_clear_object (&relay->connection);
  bus_turns_free (relay->calls);
  bus_frames_free (relay->from_bus);
  bus_frames_free (relay->from_local);
  fd_clear (&relay->local_fd);
  fd_clear (&relay->wake_fd);
  if (relay->stream == NULL)
    fd_clear (&relay->bus_fd);
  g_clear_object (&relay->stream);
  g_free (relay->heard);
  g_mutex_clear (&relay->lock);
  g_free (relay);
}

GDBusConnection *
bus_relay_connection (BusRelay *relay)
{
  return relay->connection;
}

void
bus_relay_open (BusRelay *relay)
{
  g_mutex_lock (&relay->lock);
  relay->is_open = TRUE;
  g_mutex_unlock (&relay->lock);
}

gpointer
bus_relay_taken (BusRelay *relay, guint32 serial)
{
  gboolean is_blocked = FALSE;
  gpointer ticket = NULL;
  Handed *handed = NULL;

  g_mutex_lock (&relay->lock);
  handed = g_queue_pop_head (&relay->handed);
  /* GDBus gives calls in the order in which it gets them; one may be late, after the end. */
  g_assert (handed != NULL ? handed->serial == serial : relay->is_ending);
  if (handed != NULL)
    {
      ticket = handed->ticket;
      relay->handed_size -= handed->size;
    }
  is_blocked = relay->is_blocked;
  relay->is_blocked = FALSE;
  g_mutex_unlock (&relay->lock);

  g_free (handed);
  if (is_blocked)
    wake (relay);
  return ticket;
}

void
bus_relay_hear (BusRelay *relay, const char *sender)
{
  g_mutex_lock (&relay->lock);
  g_free (relay->heard);
  relay->heard = g_strdup (sender);
  g_mutex_unlock (&relay->lock);
}

guint64
bus_relay_passed (BusRelay *relay)
{
  guint64 passed = 0;

  g_mutex_lock (&relay->lock);
  passed = relay->passed;
  g_mutex_unlock (&relay->lock);
  return passed;
}
