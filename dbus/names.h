/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of the service on the system bus. */
#pragma once

#define US_BUS_NAME "org.undersign1"
#define US_OBJECT_PATH "/org/undersign1"
#define US_REQUEST_PATH_PREFIX "/org/undersign1/request/"
#define US_INTERFACE_AGENT "org.undersign1.Agent"
#define US_INTERFACE_REQUEST "org.undersign1.Request"
#define US_INTERFACE_APPROVER "org.undersign1.Approver"

#define US_ADMIN_BUS_NAME "org.undersign1.Admin"
#define US_ADMIN_OBJECT_PATH "/org/undersign1/Admin"
#define US_INTERFACE_ADMIN "org.undersign1.Admin"

#define US_LAUNCHER_BUS_NAME "org.undersign1.Launcher"
#define US_LAUNCHER_OBJECT_PATH "/org/undersign1/Launcher"
#define US_INTERFACE_LAUNCHER "org.undersign1.Launcher"
