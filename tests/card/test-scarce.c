/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A security key where memory runs out in libfido2 and libcbor, at each of their allocations: a
 * refusal with a reason, or all that a ceremony gives; never an end of the process.  The key is this
 * program's own, behind the I/O functions of libfido2: it says the same each time.
 */
#include "module/card/key/key.h"
#include "module/card/key/security.h"

#include "dbus/error.h"
#include "service/base/encode.h"
#include "service/passkey/passkey.h"
#include "service/record/statement.h"
#include "tests/lib/scarce.h"
#include "tests/passkey/fixture.h"

#include <dlfcn.h>
#include <fido.h>
#include <string.h>

#define REPORT 64
#define CID_SIZE 4
#define MESSAGE_MAX 2048

/* CTAPHID and CTAP2 commands. */
#define HID_INIT 0x86
#define HID_CBOR 0x90
#define CTAP_MAKE 0x01
#define CTAP_GET 0x02
#define CTAP_INFO 0x04

#define FLAGS_MADE (TEST_FLAGS | 0x40)

const char *__lsan_default_suppressions (void);

const char *
__lsan_default_suppressions (void)
{
  return "leak:libfido2\nleak:libcbor\nleak:libcrypto\n";
}

/* --- the key --- */

static TestKey *held;
static struct
{
  guint8 cid[CID_SIZE], command;
  GByteArray *request, *answer;
  gsize wanted, sent;
  guint8 sequence;
} wire;

static void
put_pair (GByteArray *out, const char *name, gboolean yes)
{
  const guint8 value = yes ? 0xf5 : 0xf4;

  cbor_put_text (out, name);
  g_byte_array_append (out, &value, 1);
}

static void
put_data (GByteArray *out, guint8 flags, GByteArray *attested)
{
  g_autoptr (GBytes) data = test_auth_data (TEST_RP, flags, 3, attested);

  cbor_put_bytes (out, g_bytes_get_data (data, NULL), g_bytes_get_size (data));
}

static void
answer_info (GByteArray *out)
{
  static const guint8 aaguid[16] = { 0xaa };

  cbor_put_head (out, 5, 3);
  cbor_put_int (out, 1);
  cbor_put_head (out, 4, 1);
  cbor_put_text (out, "FIDO_2_0");
  cbor_put_int (out, 3);
  cbor_put_bytes (out, aaguid, sizeof aaguid);
  cbor_put_int (out, 4);
  cbor_put_head (out, 5, 3);
  put_pair (out, "rk", FALSE);
  put_pair (out, "up", TRUE);
  put_pair (out, "uv", TRUE);
}

static void
answer_make (GByteArray *out)
{
  g_autoptr (GByteArray) attested = test_attested (held, 32);

  cbor_put_head (out, 5, 3);
  cbor_put_int (out, 1);
  cbor_put_text (out, "none");
  cbor_put_int (out, 2);
  put_data (out, FLAGS_MADE, attested);
  cbor_put_int (out, 3);
  cbor_put_head (out, 5, 0);
}

static void
answer_get (GByteArray *out)
{
  static const guint8 signature[70] = { 0x30 };
  guint8 id[32];

  memset (id, 0x5a, sizeof id);
  cbor_put_head (out, 5, 3);
  cbor_put_int (out, 1);
  cbor_put_head (out, 5, 2);
  cbor_put_text (out, "id");
  cbor_put_bytes (out, id, sizeof id);
  cbor_put_text (out, "type");
  cbor_put_text (out, "public-key");
  cbor_put_int (out, 2);
  put_data (out, TEST_FLAGS, NULL);
  cbor_put_int (out, 3);
  cbor_put_bytes (out, signature, sizeof signature);
}

static void
answer_make_up (void)
{
  static const guint8 fixed[] = { 1, 2, 3, 4, 2, 1, 0, 0, 0x04 }; /* a channel; CBOR is known */
  const guint8 ok = 0;

  g_byte_array_set_size (wire.answer, 0);
  wire.sent = 0;
  wire.sequence = 0;
  if (wire.command == HID_INIT)
    {
      g_byte_array_append (wire.answer, wire.request->data, 8);
      g_byte_array_append (wire.answer, fixed, sizeof fixed);
      return;
    }
  g_byte_array_append (wire.answer, &ok, 1);
  if (wire.command != HID_CBOR || wire.request->len == 0)
    return;
  if (wire.request->data[0] == CTAP_INFO)
    answer_info (wire.answer);
  else if (wire.request->data[0] == CTAP_MAKE)
    answer_make (wire.answer);
  else if (wire.request->data[0] == CTAP_GET)
    answer_get (wire.answer);
}

static void *
key_open (const char *path)
{
  return &wire;
}

static void
key_close (void *handle)
{
}

/* One report, behind the byte of its number. */
static int
key_write (void *handle, const unsigned char *data, size_t len)
{
  const guint8 *packet = data + 1;
  gsize head = CID_SIZE + 1;

  if (len != REPORT + 1)
    return -1;
  if (packet[CID_SIZE] & 0x80)
    {
      memcpy (wire.cid, packet, CID_SIZE);
      wire.command = packet[CID_SIZE];
      wire.wanted = (gsize) packet[CID_SIZE + 1] << 8 | packet[CID_SIZE + 2];
      g_byte_array_set_size (wire.request, 0);
      head += 2;
    }
  g_byte_array_append (wire.request, packet + head,
                       (guint) MIN (REPORT - head, wire.wanted - wire.request->len));
  if (wire.request->len == wire.wanted)
    answer_make_up ();
  return (int) len;
}

static int
key_read (void *handle, unsigned char *data, size_t len, int ms)
{
  gsize head = CID_SIZE + 1, n = 0;

  if (len != REPORT || (wire.sent > 0 && wire.sent >= wire.answer->len))
    return -1;
  memset (data, 0, len);
  memcpy (data, wire.cid, CID_SIZE);
  if (wire.sent == 0)
    {
      data[CID_SIZE] = wire.command;
      data[CID_SIZE + 1] = (guint8) (wire.answer->len >> 8);
      data[CID_SIZE + 2] = (guint8) wire.answer->len;
      head += 2;
    }
  else
    data[CID_SIZE] = wire.sequence++;
  n = MIN (REPORT - head, wire.answer->len - wire.sent);
  memcpy (data + head, wire.answer->data + wire.sent, n);
  wire.sent += n;
  return (int) len;
}

/* In place of libfido2's: every device is the key above. */
int
fido_dev_open (fido_dev_t *device, const char *path)
{
  static int (*open_really) (fido_dev_t *device, const char *path);
  const fido_dev_io_t io = { key_open, key_close, key_read, key_write };
  int code = fido_dev_set_io_functions (device, &io);

  if (open_really == NULL)
    {
      void *symbol = dlsym (RTLD_NEXT, "fido_dev_open");

      memcpy (&open_really, &symbol, sizeof open_really);
    }
  return code == FIDO_OK ? open_really (device, path) : code;
}

/* --- its person --- */

static Secret *
ask (KeyPrompt prompt, const KeyInfo *info, int tries, gpointer data, GError **error)
{
  g_assert_not_reached ();
}

static void
touch (gpointer data)
{
}

static gboolean
left (gpointer data)
{
  return FALSE;
}

static Key *
key_new (void)
{
  static const char *const devices[] = { "/dev/null", NULL };
  const SecurityKeyOptions options = {
    .devices = devices, .touch_ms = 60000, .ask = ask, .touch = touch, .left = left
  };

  return security_key_new (&options);
}

static gboolean
verdict_of (gboolean taken, gboolean right, const GError *error)
{
  g_assert_true (taken == (error == NULL));
  g_assert_true (taken || error->domain == US_ERROR);
  g_assert_true (!taken || right);
  return taken;
}

static gboolean
attempt_enrol (gpointer data)
{
  g_autoptr (Key) key = key_new ();
  g_autoptr (GBytes) user = g_bytes_new_static ("user", 4);
  KeyEnrolment enrolment = { .rp = TEST_RP, .label = "Key", .user = "it.lead", .user_id = user };
  g_auto (KeyRegistration) made = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean ok = FALSE;

  memset (enrolment.challenge, 7, sizeof enrolment.challenge);
  ok = key_enrol (key, &enrolment, &made, &error);
  return verdict_of (ok, ok && g_bytes_get_size (made.credential) == 32 && made.attestation != NULL,
                     error);
}

static GBytes *
statement_for (const char *credential)
{
  g_autofree char *zeros = g_strnfill (43, 'A');
  g_autofree char *record = g_strnfill (64, '0');
  g_autofree char *digest = g_strconcat ("sha256:", record, NULL);
  Statement statement = { .decision = (char *) "approve",
                          .request = (char *) "00112233445566778899aabbccddeeff",
                          .record = digest,
                          .approver_name = (char *) "it.lead",
                          .approver_uid = 1001,
                          .credential = (char *) credential,
                          .rp = (char *) TEST_RP,
                          .seal = zeros,
                          .nonce = zeros,
                          .issued = (char *) "2026-11-30T10:00:00Z",
                          .expires = (char *) "2026-11-30T10:30:00Z" };

  return statement_encode (&statement, NULL);
}

static gboolean
attempt_sign (gpointer data)
{
  g_autoptr (Key) key = key_new ();
  guint8 id[32];
  g_autoptr (GBytes) credential = NULL, statement = NULL;
  g_autofree char *name = NULL;
  g_auto (KeyAssertion) made = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean ok = FALSE;

  memset (id, 0x5a, sizeof id);
  credential = g_bytes_new (id, sizeof id);
  name = base64url_encode (id, sizeof id);
  statement = statement_for (name);
  ok = key_sign (key, credential, statement, &made, &error);
  return verdict_of (ok, ok && g_bytes_get_size (made.signature) == 70 &&
                             g_bytes_get_size (made.auth_data) == PASSKEY_AUTH_DATA_SIZE,
                     error);
}

static void
test_attempt (gconstpointer data)
{
  ScarceAttempt attempt = data == NULL ? attempt_enrol : attempt_sign;

  g_assert_true (attempt (NULL));
  g_assert_cmpuint (scarce_run (attempt, NULL, SCARCE_FOR_FIDO, G_MAXUINT), >, 50);
}

int
main (int argc, char **argv)
{
  int status = 0;

  g_test_init (&argc, &argv, NULL);
  held = test_key_new (PASSKEY_ES256);
  wire.request = g_byte_array_new ();
  wire.answer = g_byte_array_new ();
  g_test_add_data_func ("/scarce/security-key/enrol", NULL, test_attempt);
  g_test_add_data_func ("/scarce/security-key/sign", GINT_TO_POINTER (1), test_attempt);
  status = g_test_run ();
  test_key_free (held);
  g_byte_array_unref (wire.request);
  g_byte_array_unref (wire.answer);
  return status;
}
