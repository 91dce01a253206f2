# SPDX-License-Identifier: LGPL-2.1-or-later
"""TYPES: whether a value is spelled as its type says, and the spelling that is named if not."""
import datetime
import re

from . import addresses, unidata
from .refusal import Refused

ACCOUNT = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.@+$-]*')
INTEGER = re.compile(r'0|-?[1-9][0-9]*')
DECIMAL = re.compile(r'0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9]')
LOOSE = re.compile(r'([+-]?)([0-9]*)(\.([0-9]*))?')
MOMENT = re.compile(r'([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.0+)?'
                    r'(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))')
TIME = re.compile(r'[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z')
TIME_FORMAT = '%Y-%m-%dT%H:%M:%SZ'
DURATION = re.compile(r'\+?([0-9]+)(s|min|h|d)')
UNITS = (('d', 86400), ('h', 3600), ('min', 60), ('s', 1))
HEX64 = re.compile(r'[0-9a-f]{64}')
STRING_LIMIT, LIST_LIMIT, FILE_LIMIT, FILES_LIMIT = 65536, 1000, 26214400, 16

MINOR_UNITS = {code: digits for digits, codes in {
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
    2: '''AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL
MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN
QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD
TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG''',
}.items() for code in codes.split()}


def size_of(text):
    return len(text.encode('utf-8'))


def line(text):
    return not any(unidata.category(character) in ('Cc', 'Cf', 'Zl', 'Zp') for character in text)


def text(value):
    return '\r' not in value


def choice(value):
    return len(value) <= 256 and all('!' <= character <= '~' for character in value)


def account(value):
    return len(value) <= 256 and ACCOUNT.fullmatch(value) is not None


def showable(value):
    return (all(unidata.shown(character) or unidata.mark(character) for character in value)
            and unidata.nfc(value) == value)


def path(value):
    if not value.startswith('/') or size_of(value) > 4095 or not showable(value):
        return False
    return value == '/' or all(component not in ('', '.', '..') and size_of(component) <= 255
                               for component in value[1:].split('/'))


def name_path(value):
    kept = [component for component in value.split('/') if component not in ('', '.')]
    return unidata.nfc('/' + '/'.join(kept)) if value.startswith('/') else None


def digits_in(value):
    return sum(character in '0123456789' for character in value)


def integer(value):
    return INTEGER.fullmatch(value) is not None and digits_in(value) <= 38


def decimal(value):
    return DECIMAL.fullmatch(value) is not None and digits_in(value) <= 38


def name_decimal(value):
    match = LOOSE.fullmatch(value)
    if not match or not match.group(2) + (match.group(4) or ''):
        return None
    whole, fraction = match.group(2).lstrip('0') or '0', (match.group(4) or '').rstrip('0')
    number = whole + ('.' + fraction if fraction else '')
    return '-' + number if match.group(1) == '-' and number != '0' else number


def name_integer(value):
    return None if '.' in value else name_decimal(value)


def filled(amount, digits):
    """A canonical decimal with exactly so many digits after the full stop; None if it has more."""
    whole, _, fraction = amount.partition('.')
    if len(fraction) > digits:
        return None
    return whole + ('.' + fraction.ljust(digits, '0') if digits else '')


def name_money(value):
    words = value.split(' ')
    if len(words) != 2:
        return None
    for amount, code in (words, words[::-1]):
        code = code.upper() if code.isascii() else code
        amount = name_decimal(amount)
        if code in MINOR_UNITS and amount is not None:
            amount = filled(amount, MINOR_UNITS[code])
            return amount and amount + ' ' + code
    return None


def money(value):
    return name_money(value) == value and digits_in(value) <= 38


def size(value):
    return INTEGER.fullmatch(value) is not None and 0 <= int(value) <= 9223372036854775807


def name_size(value):
    return None if value.startswith('-') else name_integer(value)


def timestamp(value):
    if not TIME.fullmatch(value):
        return False
    try:
        datetime.datetime.strptime(value[:-1], TIME_FORMAT[:-1])
    except ValueError:
        return False
    return value[17:19] <= '59'


def name_timestamp(value):
    match = MOMENT.fullmatch(value)
    if not match or not timestamp(match.group(1) + 'Z'):
        return None
    sign, hours, minutes = match.group(2, 3, 4)
    shift = datetime.timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    moment = datetime.datetime.strptime(match.group(1) + 'Z', TIME_FORMAT)
    try:
        moment = moment + shift if sign == '-' else moment - shift
    except OverflowError:
        return None
    return '%04d-%s' % (moment.year, moment.strftime(TIME_FORMAT).split('-', 1)[1])


def name_duration(value):
    match = DURATION.fullmatch(value)
    seconds = int(match.group(1)) * dict(UNITS)[match.group(2)] if match else 0
    if not 0 < seconds < 1 << 64:
        return None
    return next('%d%s' % (seconds // length, unit)
                for unit, length in UNITS if seconds % length == 0)


def duration(value):
    return name_duration(value) == value


def none(_value):
    return None


STRINGS = {
    'line': (line, none),
    'text': (text, lambda value: value.replace('\r\n', '\n')),
    'choice': (choice, none),
    'account': (account, none),
    'path': (path, name_path),
    'integer': (integer, name_integer),
    'decimal': (decimal, name_decimal),
    'money': (money, name_money),
    'size': (size, name_size),
    'timestamp': (timestamp, name_timestamp),
    'duration': (duration, name_duration),
    'hostname': (addresses.hostname, addresses.name_hostname),
    'hostport': (addresses.hostport, addresses.name_hostport),
    'email': (addresses.email, addresses.name_email),
    'url': (addresses.url, addresses.name_url),
}
LISTS = {'email-list': 'email', 'line-list': 'line', 'argv': None}
TYPES = frozenset(STRINGS) | frozenset(LISTS) | {'boolean', 'file', 'file-list'}
FILE_TYPES = frozenset(('file', 'file-list'))


def check_string(kind, value):
    if not isinstance(value, str):
        raise Refused('wrong-type')
    if size_of(value) > STRING_LIMIT:
        raise Refused('too-large')
    if value == '' or kind is None:
        return
    accepted, name = STRINGS[kind]
    if accepted(value):
        return
    named = name(value)
    if named and named != value and accepted(named):
        raise Refused('not-canonical', named)
    raise Refused('bad-value')


def check_list(kind, value):
    if not isinstance(value, list):
        raise Refused('wrong-type')
    if len(value) > LIST_LIMIT:
        raise Refused('too-large')
    seen = set()
    for item in value:
        check_string(LISTS[kind], item)
        if item == '' and kind != 'argv':
            raise Refused('bad-value')
        folded = item.lower() if kind == 'email-list' else None
        if folded in seen:
            raise Refused('bad-value')
        if folded is not None:
            seen.add(folded)


def file_name(value):
    return (0 < size_of(value) <= 255 and '/' not in value and value not in ('.', '..')
            and showable(value))


def check_file(value):
    members = ('name', 'size', 'sha256')
    if not isinstance(value, dict) or set(value) != set(members) \
            or not all(isinstance(value[member], str) for member in members):
        raise Refused('wrong-type')
    name = value['name']
    if not file_name(name):
        named = unidata.nfc(name)
        if file_name(named):
            raise Refused('not-canonical', named)
        raise Refused('bad-value')
    if not size(value['size']):
        raise Refused('bad-value')
    if int(value['size']) > FILE_LIMIT:
        raise Refused('too-large')
    if not HEX64.fullmatch(value['sha256']):
        raise Refused('bad-value')


def check_file_list(value):
    if not isinstance(value, list):
        raise Refused('wrong-type')
    if len(value) > FILES_LIMIT:
        raise Refused('too-large')
    seen = set()
    for file in value:
        check_file(file)
        if file['name'] in seen:
            raise Refused('bad-value')
        seen.add(file['name'])


def check(kind, value):
    """Refuses a value that is not spelled as its type says."""
    if kind in STRINGS:
        check_string(kind, value)
    elif kind in LISTS:
        check_list(kind, value)
    elif kind == 'file':
        check_file(value)
    elif kind == 'file-list':
        check_file_list(value)
    elif not isinstance(value, bool):
        raise Refused('wrong-type')


def empty(kind, value):
    """The empty values stand for what was not given; false is shown as the word no."""
    return kind != 'boolean' and value in ('', [])
