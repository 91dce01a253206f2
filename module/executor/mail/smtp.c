/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The SMTP transaction, by libcurl.  What decides the outcome is ours: whether the whole mail was
 * handed to the connection, and the number of the reply after that.  Before the end of the mail a
 * server cannot have taken it (RFC 5321, 4.1.1.4); after it only a reply says whether it has.
 */
#include "module/executor/mail/smtp.h"

#include <curl/curl.h>
#include <string.h>

/* All in all less than the runner gives a module, with a last word and a good-bye. */
#define CONNECT_SECONDS 15L
#define TOTAL_SECONDS 52L
#define REPLY_SECONDS 25L
#define GOODBYE_SECONDS 2L

/* Over TLS, or to this machine, these show the password to the server and to nobody else. */
#define AUTH_MECHANISMS "AUTH=PLAIN;AUTH=LOGIN;AUTH=CRAM-MD5"

#define MAX_STATUS 16 /* of "5.7.26" */

typedef struct
{
  CURL *curl;
  MessageReader *reader;
  gboolean must_authenticate;
  gboolean authenticated;
  gboolean refused_to_send; /* by us */
  long last_code;           /* of the last whole reply, the good-bye left out */
  long final_code;          /* of the reply after the end of the mail, 0 for none */
  char status[MAX_STATUS];  /* enhanced status code of the last whole reply, "" for none */
} Transfer;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CURL, curl_easy_cleanup)

typedef struct curl_slist StringList;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StringList, curl_slist_free_all)

gboolean
smtp_server_is_valid (const char *server)
{
  const char *port = strrchr (server, ':');

  if (port == NULL || port == server || strspn (port + 1, "0123456789") != strlen (port + 1) ||
      strlen (port + 1) < 1 || strlen (port + 1) > 5)
    return FALSE;
  if (server[0] == '[')
    return port[-1] == ']' &&
           strspn (server + 1, "0123456789abcdef:") == (gsize) (port - server) - 2;
  return strspn (server, "abcdefghijklmnopqrstuvwxyz0123456789.-") == (gsize) (port - server);
}

gboolean
smtp_server_is_loopback (const char *server)
{
  return smtp_server_is_valid (server) &&
         (g_str_has_prefix (server, "localhost:") || g_str_has_prefix (server, "127.0.0.1:") ||
          g_str_has_prefix (server, "[::1]:"));
}

/* --- what libcurl calls --- */

static size_t
read_message (char *data, size_t size, size_t count, void *user_data)
{
  Transfer *transfer = user_data;
  gssize n = -1;

  /* libcurl goes on without AUTH where the server offers none that it knows. */
  if (transfer->must_authenticate && !transfer->authenticated)
    {
      transfer->refused_to_send = TRUE;
      return CURL_READFUNC_ABORT;
    }

  n = message_reader_read (transfer->reader, data, size * count);
  if (n < 0)
    {
      transfer->refused_to_send = TRUE;
      return CURL_READFUNC_ABORT;
    }
  if (message_reader_is_at_end (transfer->reader))
    curl_easy_setopt (transfer->curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, TOTAL_SECONDS);
  return (size_t) n;
}

/* The enhanced status code of RFC 3463 that may follow the number: digits and dots alone. */
static void
take_status (Transfer *transfer, const char *text, gsize len)
{
  gsize n = 0;

  while (n < len && (g_ascii_isdigit (text[n]) || text[n] == '.'))
    n++;
  if (n >= MAX_STATUS || n < strlen ("2.0.0") || memchr (text, '.', n) == NULL)
    n = 0;
  memcpy (transfer->status, text, n);
  transfer->status[n] = '\0';
}

/* Called with each line of each reply. */
static size_t
take_reply (char *data, size_t size, size_t count, void *user_data)
{
  Transfer *transfer = user_data;
  gsize len = size * count;
  long code = 0;

  if (len < 4 || !g_ascii_isdigit (data[0]) || !g_ascii_isdigit (data[1]) ||
      !g_ascii_isdigit (data[2]) || data[3] == '-')
    return len;
  code = (data[0] - '0') * 100 + (data[1] - '0') * 10 + (data[2] - '0');
  if (code == 221)
    return len;

  transfer->last_code = code;
  take_status (transfer, data + 4, len - 4);
  if (transfer->last_code == 235)
    transfer->authenticated = TRUE;
  if (message_reader_is_at_end (transfer->reader) && transfer->final_code == 0)
    {
      transfer->final_code = transfer->last_code;
      curl_easy_setopt (transfer->curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, GOODBYE_SECONDS);
    }
  return len;
}

/* --- the transaction --- */

static StringList *
recipient_list (const char *const *recipients)
{
  g_autoptr (StringList) list = NULL;

  for (guint i = 0; recipients[i] != NULL; i++)
    {
      g_autofree char *path = g_strdup_printf ("<%s>", recipients[i]);
      StringList *longer = curl_slist_append (list, path);

      if (longer == NULL)
        return NULL;
      list = longer;
    }
  return g_steal_pointer (&list);
}

static gboolean
set_security (CURL *curl, const Smtp *smtp)
{
  gboolean ok = TRUE;

  ok = curl_easy_setopt (curl, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK && ok;
  ok =
      curl_easy_setopt (curl, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_USE_SSL,
                         smtp->security == SMTP_PLAIN ? (long) CURLUSESSL_NONE
                                                      : (long) CURLUSESSL_ALL) == CURLE_OK &&
       ok;
  if (smtp->ca != NULL)
    {
      gsize len = 0;
      const void *data = g_bytes_get_data (smtp->ca, &len);
      struct curl_blob blob = { .data = (void *) data, .len = len, .flags = CURL_BLOB_COPY };

      ok = curl_easy_setopt (curl, CURLOPT_CAINFO, NULL) == CURLE_OK && ok;
      ok = curl_easy_setopt (curl, CURLOPT_CAPATH, NULL) == CURLE_OK && ok;
      ok = curl_easy_setopt (curl, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK && ok;
    }
  return ok;
}

static gboolean
set_connection (CURL *curl, const Smtp *smtp)
{
  gboolean tls = smtp->security == SMTP_TLS;
  /* The path is what EHLO says: the domain of the sender, not the name of this machine. */
  g_autofree char *url = g_strdup_printf ("%s://%s/%s", tls ? "smtps" : "smtp", smtp->server,
                                          strchr (smtp->from, '@') + 1);
  gboolean ok = TRUE;

  ok = curl_easy_setopt (curl, CURLOPT_URL, url) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_PROTOCOLS_STR, tls ? "smtps" : "smtp") == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_PROXY, "") == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_TIMEOUT, TOTAL_SECONDS) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, REPLY_SECONDS) == CURLE_OK && ok;
  /* The good-bye is then said within the transfer, under its time-out. */
  ok = curl_easy_setopt (curl, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK && ok;
  if (smtp->user != NULL)
    {
      ok = curl_easy_setopt (curl, CURLOPT_USERNAME, smtp->user) == CURLE_OK && ok;
      ok = curl_easy_setopt (curl, CURLOPT_PASSWORD, smtp->password) == CURLE_OK && ok;
      ok = curl_easy_setopt (curl, CURLOPT_LOGIN_OPTIONS, AUTH_MECHANISMS) == CURLE_OK && ok;
    }
  return ok;
}

static gboolean
set_message (CURL *curl, const Smtp *smtp, const StringList *recipients, Transfer *transfer)
{
  g_autofree char *from = g_strdup_printf ("<%s>", smtp->from);
  curl_off_t size = (curl_off_t) message_reader_size (transfer->reader);
  gboolean ok = TRUE;

  ok = curl_easy_setopt (curl, CURLOPT_UPLOAD, 1L) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_MAIL_FROM, from) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_MAIL_RCPT, recipients) == CURLE_OK && ok;
  /* One refused recipient, and nobody gets anything. */
  ok = curl_easy_setopt (curl, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 0L) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_INFILESIZE_LARGE, size) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_READFUNCTION, read_message) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_READDATA, transfer) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_HEADERFUNCTION, take_reply) == CURLE_OK && ok;
  ok = curl_easy_setopt (curl, CURLOPT_HEADERDATA, transfer) == CURLE_OK && ok;
  return ok;
}

static const char *
failure_text (const Transfer *transfer, CURLcode code)
{
  if (transfer->refused_to_send)
    return transfer->must_authenticate && !transfer->authenticated
               ? "the server offers no way to log in that is known here"
               : "a file could not be read";

  switch ((int) code)
    {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "the server's name could not be resolved";
    case CURLE_COULDNT_CONNECT:
      return "the server could not be reached";
    case CURLE_USE_SSL_FAILED:
      return "the server offers no TLS";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return "the server's certificate is not valid for it";
    case CURLE_SSL_CONNECT_ERROR:
      return "TLS could not be set up";
    case CURLE_LOGIN_DENIED:
      return "the server refused the login";
    case CURLE_OPERATION_TIMEDOUT:
      return "the server took too long before the mail was sent";
    default:
      return transfer->last_code >= 400 ? "the server refused sender, recipient or mail"
                                        : "the connection ended before the mail was sent";
    }
}

static char *
with_code (const Transfer *transfer, const char *text, long code)
{
  if (code == 0)
    return g_strdup (text);
  return g_strdup_printf ("%s (%ld%s%s)", text, code, *transfer->status != '\0' ? " " : "",
                          transfer->status);
}

static SmtpOutcome
judge (const Transfer *transfer, CURLcode code, char **out_text)
{
  if (!message_reader_is_at_end (transfer->reader))
    {
      *out_text = with_code (transfer, failure_text (transfer, code),
                             transfer->last_code >= 400 ? transfer->last_code : 0);
      return SMTP_FAILED;
    }
  if (transfer->final_code >= 400 && transfer->final_code < 600)
    {
      *out_text = with_code (transfer, "the server refused the mail", transfer->final_code);
      return SMTP_FAILED;
    }
  if (code == CURLE_OK && transfer->final_code >= 200 && transfer->final_code < 300)
    {
      *out_text = with_code (transfer, "the server took the mail", transfer->final_code);
      return SMTP_DONE;
    }
  *out_text = g_strdup ("the mail was sent, but the server did not say whether it took it");
  return SMTP_UNKNOWN;
}

SmtpOutcome
smtp_send (const Smtp *smtp, MessageReader *reader, char **out_text)
{
  g_autoptr (StringList) recipients = recipient_list (smtp->recipients);
  Transfer transfer = { .reader = reader, .must_authenticate = smtp->user != NULL };
  g_autoptr (CURL) curl = NULL;

  if (curl_global_init (CURL_GLOBAL_DEFAULT) == CURLE_OK)
    curl = curl_easy_init ();
  transfer.curl = curl;
  if (curl == NULL || recipients == NULL || !set_security (curl, smtp) ||
      !set_connection (curl, smtp) || !set_message (curl, smtp, recipients, &transfer))
    {
      *out_text = g_strdup ("the transfer could not be set up");
      return SMTP_FAILED;
    }
  return judge (&transfer, curl_easy_perform (curl), out_text);
}
