/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The currencies of ISO 4217 list one that have a minor unit, as of January 2026, by the number of
 * digits after the point.  Only the type `money` asks.  A currency that is not here is refused; one
 * must never be added without its minor unit.
 */
#include "service/record/type-private.h"

#include <string.h>

#define CODE_LENGTH 3

/* undersign-record(7) repeats these lists; they are part of the format. */
static const char no_digits[] = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF "
                                "XPF ";
static const char three_digits[] = "BHD IQD JOD KWD LYD OMR TND ";
static const char four_digits[] = "CLF UYW ";
static const char two_digits[] =
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD "
    "CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS "
    "GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD "
    "LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB "
    "PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP "
    "SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG ";

static gboolean
list_has (const char *list, const char *code)
{
  for (const char *c = list; *c != '\0'; c += CODE_LENGTH + 1)
    if (memcmp (c, code, CODE_LENGTH) == 0)
      return TRUE;
  return FALSE;
}

int
currency_digits (const char *code)
{
  if (strlen (code) != CODE_LENGTH)
    return -1;
  if (list_has (two_digits, code))
    return 2;
  if (list_has (no_digits, code))
    return 0;
  if (list_has (three_digits, code))
    return 3;
  if (list_has (four_digits, code))
    return 4;
  return -1;
}
