# SPDX-License-Identifier: LGPL-2.1-or-later
"""TYPES, Addresses: for each type, whether a spelling is canonical and which one is named."""
import ipaddress
import re

from . import unidata

LABEL = re.compile(r'[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?')
NUMERIC = re.compile(r'[0-9]+|0x[0-9a-f]*')
OCTET = r'(0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])'
IPV4 = re.compile(r'\.'.join([OCTET] * 4))
PORT = re.compile(r'[1-9][0-9]{0,4}')
LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
URL = re.compile(r'([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?', re.DOTALL)
SCHEME = re.compile(r'[a-z][a-z0-9+.-]*')
USUAL = {'http': '80', 'ws': '80', 'https': '443', 'wss': '443'}
UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'
IN_PATH = UNRESERVED + "!$&'()*+,;=:@/"
ENCODED = re.compile(r'%[0-9A-Fa-f]{2}')


def host_name(text):
    labels = text.split('.')
    return (len(text) <= 253 and all(LABEL.fullmatch(label) for label in labels)
            and not NUMERIC.fullmatch(labels[-1]))


def ipv4(text):
    return IPV4.fullmatch(text) is not None


def ipv6_spelling(text):
    """The form of RFC 5952; None for what is no address or names an IPv4 host."""
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return None
    number = int(address)
    if '%' in text or number >> 32 == 0xFFFF or (number >> 32 == 0 and number > 1):
        return None
    return str(address)


def hostname(text):
    if ':' in text:
        return ipv6_spelling(text) == text
    return host_name(text) or ipv4(text)


def ascii_lower(text):
    return ''.join(character.lower() if character.isascii() else character for character in text)


def a_label(label):
    """A label in ASCII; None where not all versions of IDNA find the same."""
    if label.isascii():
        return label
    if (label.startswith('xn--') or unidata.mark(label[0]) or '-' in (label[0], label[-1])
            or not all(character == '-' or unidata.letter(character) or unidata.mark(character)
                       or unidata.decimal_digit(character) for character in label)
            or not unidata.unmapped(label)):
        return None
    return 'xn--' + label.encode('punycode').decode('ascii')


def name_domain(text):
    """The name in ASCII, in lower case, without one full stop at the end; None where none is."""
    labels = [a_label(label) for label in ascii_lower(text).removesuffix('.').split('.')]
    return None if None in labels else '.'.join(labels)


def name_hostname(text):
    return ipv6_spelling(text) if ':' in text else name_domain(text)


def split_port(text):
    """Host (without brackets), whether it was in brackets, and port; None for another form."""
    match = re.fullmatch(r'\[([^\[\]]*)\]:(.*)', text, re.DOTALL)
    if match:
        return match.group(1), True, match.group(2)
    host, colon, port = text.rpartition(':')
    if not colon or ':' in host:
        return None
    return host, False, port


def port_good(text):
    return PORT.fullmatch(text) is not None and int(text) <= 65535


def host_good(host, brackets):
    return hostname(host) and brackets == (':' in host)


def hostport(text):
    parts = split_port(text)
    return parts is not None and host_good(parts[0], parts[1]) and port_good(parts[2])


def join_port(host, brackets, port):
    named = name_hostname(host) if host else None
    if named is None:
        return None
    port = port.lstrip('0') if re.fullmatch('[0-9]+', port) else port
    return ('[%s]:%s' if brackets else '%s:%s') % (named, port)


def name_hostport(text):
    parts = split_port(text)
    return parts and join_port(*parts)


def email(text):
    local, at, domain = text.partition('@')
    return (at != '' and len(text) <= 254 and len(local) <= 64
            and LOCAL.fullmatch(local) is not None and host_name(domain))


def name_email(text):
    local, at, domain = text.partition('@')
    named = name_domain(domain) if at else None
    return None if named is None else local + '@' + named


def split_authority(authority):
    """Host, brackets and port (None where there is none)."""
    match = re.fullmatch(r'\[([^\[\]]*)\]', authority)
    if match:
        return match.group(1), True, None
    return split_port(authority) or (authority, False, None)


def encoded_good(text, also):
    """Whether every byte is spelled as the page says, in a part whose characters are `also`."""
    rest = re.sub(r'%[0-9A-F]{2}', '', text)
    return (all(character in also for character in rest)
            and not any(chr(int(code, 16)) in UNRESERVED
                        for code in re.findall('%([0-9A-F]{2})', text)))


def url(text):
    match = URL.fullmatch(text)
    if not match or len(text) > 8192:
        return False
    scheme, authority, path, query, fragment = match.groups()
    host, brackets, port = split_authority(authority)
    return (SCHEME.fullmatch(scheme) is not None and host_good(host, brackets)
            and (port is None or (port_good(port) and USUAL.get(scheme) != port))
            and path.startswith('/') and not {'.', '..'} & set(path.split('/'))
            and encoded_good(path, IN_PATH)
            and all(part is None or (len(part) > 1 and encoded_good(part[1:], IN_PATH + '?'))
                    for part in (query, fragment)))


def encode(text, also):
    """Percent-encoding as the page says; '#' never stands in a part, so it is left alone."""
    out, at = [], 0
    while at < len(text):
        if ENCODED.match(text, at):
            byte = int(text[at + 1:at + 3], 16)
            out.append(chr(byte) if chr(byte) in UNRESERVED else '%%%02X' % byte)
            at += 3
            continue
        character = text[at]
        out.append(character if character in also + '#' else
                   ''.join('%%%02X' % byte for byte in character.encode('utf-8')))
        at += 1
    return ''.join(out)


def name_authority(scheme, authority):
    host, brackets, port = split_authority(authority)
    named = name_hostname(host) if host else None
    if named is None:
        return None
    named = '[%s]' % named if brackets else named
    if port is not None and re.fullmatch('[0-9]+', port):
        port = port.lstrip('0')
    return named if port is None or port == USUAL.get(scheme) else named + ':' + port


def name_url(text):
    match = URL.fullmatch(text)
    if not match:
        return None
    scheme, authority, path, query, fragment = match.groups()
    scheme = scheme.lower()
    authority = name_authority(scheme, authority)
    if authority is None:
        return None
    return (scheme + '://' + authority + (encode(path, IN_PATH) or '/')
            + ''.join(part[0] + encode(part[1:], IN_PATH + '?')
                      for part in (query, fragment) if part is not None))


def url_host(text):
    """Host and port of a canonical URL, as they stand in it."""
    return URL.fullmatch(text).group(2)
