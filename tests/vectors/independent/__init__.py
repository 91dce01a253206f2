# SPDX-License-Identifier: LGPL-2.1-or-later
"""The formats of undersign-record(7) and undersign-receipt(7), written from these pages alone."""
