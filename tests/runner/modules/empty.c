/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A module that can do nothing at all. */
#include "service/abi/undersign-module.h"

US_SM_DEFINE_ABI
