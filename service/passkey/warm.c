/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the first signature of a process costs beyond itself: the libraries fetch algorithms, make the
 * curve and its tables.  A process that waits does that beforehand, by verifying a signature that is
 * nobody's.  Nothing is learnt or decided by it, and no passkey of anybody is looked at.
 */
#include "service/passkey/assertion.h"

#include <openssl/evp.h>
#include <string.h>

#define AUTH_DATA_SIZE 37
#define OFFSET_FLAGS 32
#define FLAGS 0x05 /* user present and verified */

/* P-256's base point, and r = s = 1 in DER. */
static const guint8 point[] = {
  0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2,
  0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96,
  0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16,
  0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
};
static const guint8 signature[] = { 0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01 };

void
passkey_warm (void)
{
  char rp[] = "warm";
  guint8 data[AUTH_DATA_SIZE] = { 0 };
  g_autoptr (GBytes) key = g_bytes_new_static (point, sizeof point);
  g_auto (Assertion) assertion = { 0 };
  const Passkey passkey = { .algorithm = PASSKEY_ES256, .public_key = key, .rp = rp };

  /* libfido2 compares this before it looks at the signature */
  if (EVP_Digest (rp, strlen (rp), data, NULL, EVP_sha256 (), NULL) != 1)
    return;
  data[OFFSET_FLAGS] = FLAGS;
  assertion.client_data = g_bytes_new_static ("{}", 2);
  assertion.auth_data = g_bytes_new (data, sizeof data);
  assertion.signature = g_bytes_new_static (signature, sizeof signature);
  (void) assertion_check_signature (&passkey, &assertion, NULL);
}
