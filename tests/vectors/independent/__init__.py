# SPDX-License-Identifier: LGPL-2.1-or-later
"""The formats of undersign-record(7), written from that page alone."""
