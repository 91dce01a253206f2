# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of the whole service share: the namespace, the service in it, its users."""
