/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds and opens security keys and has them work.  Called by security.c alone.  libfido2 blocks
 * while a key waits for its person, so that runs beside the main loop; nothing but the request to
 * stop may touch a device that is at work.
 */
#include "module/card/key/device.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#define ANSWER_MS 3000 /* for what needs no person */
#define STOP_AGAIN_MS 200
#define STOP_MS 3000 /* after that a device is given up */

struct Device
{
  fido_dev_t *fido;
  char *name;
  guint touch_ms;
};

typedef struct
{
  Device *device;
  DeviceWork work;
  gpointer data;
  GDestroyNotify unref;
  int code;
  gint done; /* atomic; code is written before */
} Task;

void
device_name_free (DeviceName *name)
{
  if (name == NULL)
    return;
  g_free (name->path);
  g_free (name->name);
  g_free (name);
}

static void
add_name (GPtrArray *names, const char *path, const char *name)
{
  DeviceName *new = g_new0 (DeviceName, 1);

  new->path = g_strdup (path);
  new->name = g_strdup (name != NULL && name[0] != '\0' ? name : path);
  g_ptr_array_add (names, new);
}

/* No debug output whatever the environment says, and never the older protocol, which has no PIN. */
static void
library_prepare (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      g_unsetenv ("FIDO_DEBUG");
      fido_init (FIDO_DISABLE_U2F_FALLBACK);
      g_once_init_leave (&once, 1);
    }
}

GPtrArray *
devices_find (const char *const *paths, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func ((GDestroyNotify) device_name_free);
  fido_dev_info_t *list = NULL;
  size_t n = 0;
  int code = FIDO_OK;

  library_prepare ();
  for (guint i = 0; paths != NULL && paths[i] != NULL; i++)
    add_name (names, paths[i], NULL);
  if (paths != NULL)
    return g_steal_pointer (&names);

  list = fido_dev_info_new (DEVICE_MAX);
  code = list != NULL ? fido_dev_info_manifest (list, DEVICE_MAX, &n) : FIDO_ERR_INTERNAL;
  for (size_t i = 0; code == FIDO_OK && i < n; i++)
    {
      const fido_dev_info_t *info = fido_dev_info_ptr (list, i);

      add_name (names, fido_dev_info_path (info), fido_dev_info_product_string (info));
    }
  fido_dev_info_free (&list, DEVICE_MAX);
  if (code != FIDO_OK)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_FAILED,
                    "the security keys cannot be listed: %s", fido_strerr (code));
      return NULL;
    }
  return g_steal_pointer (&names);
}

static void
device_clear (gpointer data)
{
  Device *device = data;

  if (device->fido != NULL)
    fido_dev_close (device->fido);
  fido_dev_free (&device->fido);
  g_free (device->name);
}

Device *
device_ref (Device *device)
{
  return g_atomic_rc_box_acquire (device);
}

void
device_unref (Device *device)
{
  if (device != NULL)
    g_atomic_rc_box_release_full (device, device_clear);
}

fido_dev_t *
device_fido (Device *device)
{
  return device->fido;
}

const char *
device_name (const Device *device)
{
  return device->name;
}

Device *
device_open (const DeviceName *name, guint touch_ms, GError **error)
{
  g_autoptr (Device) device = g_atomic_rc_box_new0 (Device);
  int code = FIDO_ERR_INTERNAL;

  library_prepare ();
  device->name = g_strdup (name->name);
  device->fido = fido_dev_new ();
  if (device->fido != NULL)
    code = fido_dev_set_timeout (device->fido, ANSWER_MS);
  if (code == FIDO_OK)
    code = fido_dev_open (device->fido, name->path);
  if (code != FIDO_OK)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_FAILED,
                    "the security key %s does not answer", device->name);
      return NULL;
    }
  if (!fido_dev_is_fido2 (device->fido))
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_KEY_UNFIT,
                    "the security key %s knows no FIDO2", device->name);
      return NULL;
    }
  device->touch_ms = touch_ms;
  return g_steal_pointer (&device);
}

/* --- work --- */

static void
task_clear (gpointer data)
{
  Task *task = data;

  task->unref (task->data);
  device_unref (task->device);
}

static gpointer
task_main (gpointer data)
{
  Task *task = data;

  task->code = task->work (task->device, task->data);
  g_atomic_int_set (&task->done, TRUE);
  g_main_context_wakeup (NULL);
  g_atomic_rc_box_release_full (task, task_clear);
  return NULL;
}

static gboolean
on_tick (gpointer data)
{
  Task *task = data;

  if (!g_atomic_int_get (&task->done))
    fido_dev_cancel (task->device->fido);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_late (gpointer data)
{
  gboolean *late = data;

  *late = TRUE;
  return G_SOURCE_REMOVE;
}

/*
 * A device that was told to stop before it had begun has not heard it: it is told again.  What else
 * wakes the main loop, a key that is held down for one, takes nothing of its time.
 */
static void
task_stop (Task *task)
{
  const gint64 end = g_get_monotonic_time () + STOP_MS * G_TIME_SPAN_MILLISECOND;
  guint tick = g_timeout_add (STOP_AGAIN_MS, on_tick, task);

  fido_dev_cancel (task->device->fido);
  while (!g_atomic_int_get (&task->done) && g_get_monotonic_time () < end)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (tick);
}

/* task_wait: the code of what ended it; FIDO_OK where it ended by itself. */
static int
task_wait (Task *task, DeviceLeft left, gpointer left_data)
{
  gboolean late = FALSE;
  guint timer = g_timeout_add (task->device->touch_ms, on_late, &late);
  int code = FIDO_OK;

  while (!g_atomic_int_get (&task->done) && code == FIDO_OK)
    {
      g_main_context_iteration (NULL, TRUE);
      if (g_atomic_int_get (&task->done))
        break;
      if (left (left_data))
        code = FIDO_ERR_KEEPALIVE_CANCEL;
      else if (late)
        code = FIDO_ERR_USER_ACTION_TIMEOUT;
    }
  if (code != FIDO_OK)
    task_stop (task);
  if (!late)
    g_source_remove (timer);
  return code;
}

int
device_run (Device *device,
            DeviceWork work,
            gpointer data,
            GDestroyNotify unref,
            DeviceLeft left,
            gpointer left_data)
{
  Task *task = g_atomic_rc_box_new0 (Task);
  GThread *thread = NULL;
  int code = FIDO_ERR_INTERNAL;

  task->device = device_ref (device);
  task->work = work;
  task->data = data;
  task->unref = unref;
  /* The time is kept here, where the device can be told that it is over; the library only gives up. */
  fido_dev_set_timeout (device->fido, (int) device->touch_ms + STOP_MS);
  thread = g_thread_new ("security-key", task_main, g_atomic_rc_box_acquire (task));
  code = task_wait (task, left, left_data);
  if (g_atomic_int_get (&task->done))
    {
      g_thread_join (thread);
      fido_dev_set_timeout (device->fido, ANSWER_MS);
    }
  else
    g_thread_unref (thread);
  if (code == FIDO_OK)
    code = task->code;
  g_atomic_rc_box_release_full (task, task_clear);
  return code;
}

/* --- codes --- */

static const struct
{
  int code;
  UsError error;
  const char *reason, *text;
} codes[] = {
  { FIDO_ERR_PIN_INVALID, US_ERROR_REFUSED, US_REASON_KEY_UNVERIFIED, "that is not its PIN" },
  { FIDO_ERR_PIN_AUTH_INVALID, US_ERROR_REFUSED, US_REASON_KEY_UNVERIFIED, "that is not its PIN" },
  { FIDO_ERR_PIN_POLICY_VIOLATION, US_ERROR_REFUSED, US_REASON_KEY_UNFIT,
    "it wants another PIN to be set first" },
  { FIDO_ERR_UV_INVALID, US_ERROR_REFUSED, US_REASON_KEY_UNVERIFIED,
    "it did not recognise its person" },
  { FIDO_ERR_PIN_AUTH_BLOCKED, US_ERROR_REFUSED, US_REASON_KEY_BLOCKED,
    "too many wrong PINs in a row: unplug it and plug it in again" },
  { FIDO_ERR_PIN_BLOCKED, US_ERROR_REFUSED, US_REASON_KEY_BLOCKED,
    "no tries are left: it is blocked until it is reset, which destroys every passkey on it" },
  { FIDO_ERR_UV_BLOCKED, US_ERROR_REFUSED, US_REASON_KEY_BLOCKED,
    "it takes no more tries to recognise its person" },
  { FIDO_ERR_PIN_NOT_SET, US_ERROR_REFUSED, US_REASON_KEY_UNFIT, "it has no PIN" },
  { FIDO_ERR_PIN_REQUIRED, US_ERROR_REFUSED, US_REASON_KEY_UNVERIFIED, "it demands its PIN" },
  { FIDO_ERR_UNSUPPORTED_ALGORITHM, US_ERROR_REFUSED, US_REASON_KEY_UNFIT, "it knows no ES256" },
  { FIDO_ERR_KEY_STORE_FULL, US_ERROR_REFUSED, US_REASON_KEY_UNFIT, "it is full" },
  { FIDO_ERR_CREDENTIAL_EXCLUDED, US_ERROR_REFUSED, US_REASON_CREDENTIAL_EXISTS,
    "it holds an enrolled passkey already" },
  { FIDO_ERR_NO_CREDENTIALS, US_ERROR_NOT_FOUND, US_REASON_KEY_ABSENT,
    "it holds no passkey that is accepted here" },
  { FIDO_ERR_OPERATION_DENIED, US_ERROR_REFUSED, US_REASON_NO_ANSWER, "it was refused on the key" },
  { FIDO_ERR_KEEPALIVE_CANCEL, US_ERROR_REFUSED, US_REASON_NO_ANSWER, "nobody touched it" },
  { FIDO_ERR_USER_ACTION_TIMEOUT, US_ERROR_REFUSED, US_REASON_KEY_TIMEOUT,
    "nobody touched it in time" },
  { FIDO_ERR_ACTION_TIMEOUT, US_ERROR_REFUSED, US_REASON_KEY_TIMEOUT, "nobody touched it in time" },
  { FIDO_ERR_TIMEOUT, US_ERROR_REFUSED, US_REASON_KEY_TIMEOUT, "nobody touched it in time" },
  { FIDO_ERR_RX, US_ERROR_UNAVAILABLE, US_REASON_KEY_FAILED, "it stopped answering" },
  { FIDO_ERR_TX, US_ERROR_UNAVAILABLE, US_REASON_KEY_FAILED, "it stopped listening" },
};

gboolean
device_error (GError **error, const Device *device, int code)
{
  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    if (codes[i].code == code)
      return us_error_set (error, codes[i].error, codes[i].reason, "the security key %s: %s",
                           device->name, codes[i].text);
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_FAILED, "the security key %s: %s",
                       device->name, fido_strerr (code));
}
