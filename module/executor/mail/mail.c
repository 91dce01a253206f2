/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The module "mail": sends one e-mail by SMTP.  It takes the arguments and settings of
 * undersign-module-mail(8), refuses any other, and has the effect or says that there was none.  The
 * credential goes to the server of the setting, over verified TLS or to this machine, and nowhere
 * else.
 */
#include "module/executor/mail/message.h"
#include "module/executor/mail/mime.h"
#include "module/executor/mail/smtp.h"
#include "service/abi/undersign-module.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

US_SM_DEFINE_ABI

#define CA_MAX (1024 * 1024)
#define CREDENTIAL_MAX 4096

/* What is to be sent.  Strings are the handle's; the arrays of them are ours. */
typedef struct
{
  GPtrArray *to;
  GPtrArray *cc;
  GPtrArray *recipients; /* of To, Cc and Bcc, each once */
  Attachment *attachments;
  gsize n_attachments;
  const char *from;
  const char *server;
  SmtpSecurity security;
  GBytes *ca;
  char *user;
  char *password;
} Mail;

static void
secret_string_free (char *string)
{
  if (string != NULL)
    explicit_bzero (string, strlen (string));
  g_free (string);
}

static void
mail_clear (Mail *mail)
{
  g_clear_pointer (&mail->to, g_ptr_array_unref);
  g_clear_pointer (&mail->cc, g_ptr_array_unref);
  g_clear_pointer (&mail->recipients, g_ptr_array_unref);
  g_clear_pointer (&mail->ca, g_bytes_unref);
  g_clear_pointer (&mail->user, secret_string_free);
  g_clear_pointer (&mail->password, secret_string_free);
  g_free (mail->attachments);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Mail, mail_clear)

/* --- what the action gives --- */

/* names_fault: a name that is not known, or NULL. */
static const char *
names_fault (const us_sm_handle *handle)
{
  static const char *const arguments[] = {
    "to", "cc", "bcc", "subject", "body", "attachment", NULL
  };
  static const char *const settings[] = { "server", "from", "security", "ca", NULL };
  const char *name = NULL;

  for (size_t i = 0; (name = us_sm_argument_name (handle, i)) != NULL; i++)
    if (!g_strv_contains (arguments, name))
      return "there is an argument that this module does not know";
  for (size_t i = 0; (name = us_sm_setting_name (handle, i)) != NULL; i++)
    if (!g_strv_contains (settings, name))
      return "there is a setting that this module does not know";
  return NULL;
}

static gboolean
has_argument (const us_sm_handle *handle, const char *wanted)
{
  const char *name = NULL;

  for (size_t i = 0; (name = us_sm_argument_name (handle, i)) != NULL; i++)
    if (strcmp (name, wanted) == 0)
      return TRUE;
  return FALSE;
}

static void
add_recipient (Mail *mail, const char *address)
{
  for (guint i = 0; i + 1 < mail->recipients->len; i++)
    if (strcmp (g_ptr_array_index (mail->recipients, i), address) == 0)
      return;
  /* The last element stays NULL. */
  g_ptr_array_insert (mail->recipients, (gint) mail->recipients->len - 1, (gpointer) address);
}

static gboolean
take_address (Mail *mail, GPtrArray *list, const char *address)
{
  if (!address_is_clean (address))
    return FALSE;
  if (list != NULL)
    g_ptr_array_insert (list, (gint) list->len - 1, (gpointer) address);
  add_recipient (mail, address);
  return TRUE;
}

/*
 * take_addresses: an argument of type email-list or email; one that the action does not have gives
 * nobody.
 * @list: (nullable): of the header that shows them
 */
static gboolean
take_addresses (Mail *mail, const us_sm_handle *handle, const char *name, GPtrArray *list)
{
  const char *one = us_sm_string (handle, name);
  size_t count = 0;
  const char *const *many = us_sm_strings (handle, name, &count);

  if (!has_argument (handle, name))
    return TRUE;
  if (one != NULL)
    return *one == '\0' || take_address (mail, list, one);
  if (many == NULL)
    return FALSE;
  for (size_t i = 0; i < count; i++)
    if (!take_address (mail, list, many[i]))
      return FALSE;
  return TRUE;
}

static gboolean
take_attachments (Mail *mail, const us_sm_handle *handle)
{
  const struct us_sm_file *files = us_sm_files (handle, "attachment", &mail->n_attachments);

  if (files == NULL)
    return !has_argument (handle, "attachment");
  mail->attachments = g_new0 (Attachment, mail->n_attachments + 1);
  for (gsize i = 0; i < mail->n_attachments; i++)
    mail->attachments[i] = (Attachment){ files[i].name, files[i].fd, files[i].size };
  return TRUE;
}

static const char *
take_security (Mail *mail, const us_sm_handle *handle)
{
  const char *security = us_sm_setting (handle, "security");

  if (g_strcmp0 (security, "starttls") == 0)
    mail->security = SMTP_STARTTLS;
  else if (g_strcmp0 (security, "tls") == 0)
    mail->security = SMTP_TLS;
  else if (g_strcmp0 (security, "plain") != 0)
    return "the setting security is not starttls, tls or plain";
  else if (smtp_server_is_loopback (mail->server))
    mail->security = SMTP_PLAIN;
  else
    return "the setting security is plain, but the server is not this machine";
  return NULL;
}

/* ca_read: the file of the setting; only root, or the user of this process, may be able to change
 * it. */
static GBytes *
ca_read (const char *path)
{
  g_autofree char *data = g_malloc (CA_MAX + 1);
  gsize have = 0;
  struct stat info;
  ssize_t n = -1;
  int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  if (fd < 0)
    return NULL;
  if (fstat (fd, &info) == 0 && S_ISREG (info.st_mode) &&
      (info.st_uid == 0 || info.st_uid == geteuid ()) && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    do
      {
        n = read (fd, data + have, CA_MAX + 1 - have);
        have += n > 0 ? (gsize) n : 0;
      }
    while (n > 0 || (n < 0 && errno == EINTR));
  close (fd);
  return n == 0 && have > 0 && have <= CA_MAX ? g_bytes_new (data, have) : NULL;
}

static const char *
take_settings (Mail *mail, const us_sm_handle *handle)
{
  const char *ca = us_sm_setting (handle, "ca");
  const char *fault = NULL;

  mail->server = us_sm_setting (handle, "server");
  mail->from = us_sm_setting (handle, "from");
  if (mail->server == NULL || !smtp_server_is_valid (mail->server))
    return "the setting server is not HOST:PORT";
  if (mail->from == NULL || !address_is_clean (mail->from))
    return "the setting from is not an address";
  fault = take_security (mail, handle);
  if (fault != NULL)
    return fault;
  if (ca == NULL)
    return "the setting ca is missing";
  if (*ca != '\0')
    {
      mail->ca = ca_read (ca);
      if (mail->ca == NULL)
        return "the file of the setting ca cannot be read, or can be changed by others";
    }
  return NULL;
}

/* Two lines, user and password; the second may lack its end.  Nothing else, nothing invisible. */
static gboolean
take_credential (Mail *mail, const us_sm_handle *handle)
{
  size_t size = 0;
  const char *text = us_sm_credential (handle, &size);
  const char *end = NULL;
  const char *second = NULL;

  if (text == NULL)
    return TRUE;
  if (size > CREDENTIAL_MAX || strlen (text) != size)
    return FALSE;
  end = strchr (text, '\n');
  if (end == NULL)
    return FALSE;
  second = end + 1;
  mail->user = g_strndup (text, (gsize) (end - text));
  mail->password = g_strndup (second, strcspn (second, "\n"));
  second += strlen (mail->password);
  return (*second == '\0' || strcmp (second, "\n") == 0) && *mail->user != '\0' &&
         *mail->password != '\0' && value_is_clean (mail->user) && value_is_clean (mail->password);
}

static const char *
take_all (Mail *mail, const us_sm_handle *handle)
{
  const char *fault = names_fault (handle);

  mail->to = g_ptr_array_new ();
  mail->cc = g_ptr_array_new ();
  mail->recipients = g_ptr_array_new ();
  g_ptr_array_add (mail->to, NULL);
  g_ptr_array_add (mail->cc, NULL);
  g_ptr_array_add (mail->recipients, NULL);

  if (fault == NULL)
    fault = take_settings (mail, handle);
  if (fault != NULL)
    return fault;
  if (!take_addresses (mail, handle, "to", mail->to) ||
      !take_addresses (mail, handle, "cc", mail->cc) || !take_addresses (mail, handle, "bcc", NULL))
    return "a recipient is not a plain address";
  if (mail->recipients->len < 2)
    return "there is no recipient";
  if (us_sm_string (handle, "subject") == NULL || us_sm_string (handle, "body") == NULL)
    return "there is no subject or no body";
  if (!take_attachments (mail, handle))
    return "the attachments are not files";
  if (!take_credential (mail, handle))
    return "the credential is not a line with the user and a line with the password";
  return NULL;
}

/* --- the effect --- */

static int
fail (us_sm_handle *handle, const char *text)
{
  us_sm_set_result (handle, text);
  return US_SM_FAILED;
}

US_SM_EXPORT int
us_sm_execute (us_sm_handle *handle)
{
  g_auto (Mail) mail = { 0 };
  g_autoptr (MessageReader) reader = NULL;
  g_autofree char *text = NULL;
  const char *fault = take_all (&mail, handle);
  Message message = { 0 };
  Smtp smtp = { 0 };
  SmtpOutcome outcome = SMTP_UNKNOWN;

  if (fault != NULL)
    return fail (handle, fault);

  message = (Message){ .from = mail.from,
                       .to = (const char *const *) mail.to->pdata,
                       .cc = (const char *const *) mail.cc->pdata,
                       .subject = us_sm_string (handle, "subject"),
                       .body = us_sm_string (handle, "body"),
                       .attachments = mail.attachments,
                       .n_attachments = mail.n_attachments,
                       .request = us_sm_request (handle),
                       .date = time (NULL) };
  reader = message_reader_new (&message, &fault);
  if (reader == NULL)
    return fail (handle, fault);

  smtp = (Smtp){ .server = mail.server,
                 .security = mail.security,
                 .from = mail.from,
                 .recipients = (const char *const *) mail.recipients->pdata,
                 .user = mail.user,
                 .password = mail.password,
                 .ca = mail.ca };
  outcome = smtp_send (&smtp, reader, &text);
  us_sm_set_result (handle, text);
  switch (outcome)
    {
    case SMTP_DONE:
      return US_SM_DONE;
    case SMTP_FAILED:
      return US_SM_FAILED;
    case SMTP_UNKNOWN:
    default:
      return US_SM_UNKNOWN;
    }
}
