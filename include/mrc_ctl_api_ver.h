/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_ctl_api_ver.h - the version of the MRC controller API and how a program picks one.
 *
 * The controller API has versions of its own, packed as in <mrc_api_ver.h>: major in the top 8
 * bits, minor in the next 8, sub-minor in the low 16. A program that wants exactly one version
 * defines MRC_CTL_API_VER_USED before it includes <mrc_ctl.h>; MRC_CTL_API_VER_LATEST, or no
 * definition at all, takes whatever this header has.
 */
#ifndef MRC_CTL_API_VER_H
#define MRC_CTL_API_VER_H

#define MRC_CTL_API_VER_MAJOR_OFFSET 24
#define MRC_CTL_API_VER_MINOR_OFFSET 16
#define MRC_CTL_API_VER_SUBMINOR_OFFSET 0

/* MRC_CTL_API_VER packs a version; it is usable in #if. */
#define MRC_CTL_API_VER(_major, _minor, _sub_minor)                                                \
	(((_major) << MRC_CTL_API_VER_MAJOR_OFFSET) | ((_minor) << MRC_CTL_API_VER_MINOR_OFFSET) | \
	 ((_sub_minor) << MRC_CTL_API_VER_SUBMINOR_OFFSET))

/* MRC_CTL_API_VER(0xFF, 0xFF, 0xFFFF), for programs that follow the newest version unnamed. */
#define MRC_CTL_API_VER_LATEST 0xFFFFFFFF

/* REQ(api.version) */
#define MRC_CTL_API_CURRENT_VERSION MRC_CTL_API_VER(1, 0, 1)
#define MRC_CTL_API_LAST_SUPPORTED_VERSION MRC_CTL_API_VER(0, 0, 0)

#ifndef MRC_CTL_API_VER_USED
#define MRC_CTL_API_VER_USED MRC_CTL_API_CURRENT_VERSION
#elif MRC_CTL_API_VER_USED == MRC_CTL_API_VER_LATEST
#undef MRC_CTL_API_VER_USED
#define MRC_CTL_API_VER_USED MRC_CTL_API_CURRENT_VERSION
#endif

#if MRC_CTL_API_VER_USED > MRC_CTL_API_CURRENT_VERSION
#error "MRC_CTL_API_VER_USED asks for a newer version than MRC_CTL_API_CURRENT_VERSION"
#elif MRC_CTL_API_VER_USED < MRC_CTL_API_LAST_SUPPORTED_VERSION
#error "MRC_CTL_API_VER_USED asks for an older version than MRC_CTL_API_LAST_SUPPORTED_VERSION"
#elif MRC_CTL_API_VER_USED == MRC_CTL_API_LAST_SUPPORTED_VERSION
#warning "MRC_CTL_API_VER_USED is the oldest version still supported: the next release may drop it"
#endif

/* The same once more for what a provider adds of its own; softmrc adds nothing to mrc_ctl.h. */
#define MRC_CTL_VENDOR_API_CURRENT_VERSION MRC_CTL_API_VER(1, 0, 0)
#define MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION MRC_CTL_API_VER(0, 0, 0)

#ifndef MRC_CTL_VENDOR_API_VER_USED
#define MRC_CTL_VENDOR_API_VER_USED MRC_CTL_VENDOR_API_CURRENT_VERSION
#elif MRC_CTL_VENDOR_API_VER_USED == MRC_CTL_API_VER_LATEST
#undef MRC_CTL_VENDOR_API_VER_USED
#define MRC_CTL_VENDOR_API_VER_USED MRC_CTL_VENDOR_API_CURRENT_VERSION
#endif

#if MRC_CTL_VENDOR_API_VER_USED > MRC_CTL_VENDOR_API_CURRENT_VERSION
#error "MRC_CTL_VENDOR_API_VER_USED asks for a newer version than the current one"
#elif MRC_CTL_VENDOR_API_VER_USED < MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION
#error "MRC_CTL_VENDOR_API_VER_USED asks for an older version than the last one supported"
#elif MRC_CTL_VENDOR_API_VER_USED == MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION
#warning "MRC_CTL_VENDOR_API_VER_USED is the oldest version still supported: it may be dropped"
#endif

#endif
