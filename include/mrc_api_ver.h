/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_api_ver.h - the version of the MRC application API and how a program picks one.
 *
 * A version is one 32-bit number: major in the top 8 bits, minor in the next 8, sub-minor in the
 * low 16, so that versions compare as numbers. A new major version may break programs; a new minor
 * version only adds; a new sub-minor version changes nothing that a program can see in the ABI.
 *
 * A program that wants exactly the calls of one version defines MRC_API_VER_USED before it includes
 * <mrc.h>, for example
 *
 *	#define MRC_API_VER_USED MRC_API_VER(1, 0, 0)
 *
 * MRC_API_VER_LATEST, or no definition at all, takes whatever this header has.
 */
#ifndef MRC_API_VER_H
#define MRC_API_VER_H

#define MRC_API_VER_MAJOR_OFFSET 24
#define MRC_API_VER_MINOR_OFFSET 16
#define MRC_API_VER_SUBMINOR_OFFSET 0

/* MRC_API_VER packs a version; it is usable in #if. */
#define MRC_API_VER(_major, _minor, _sub_minor)                                            \
	(((_major) << MRC_API_VER_MAJOR_OFFSET) | ((_minor) << MRC_API_VER_MINOR_OFFSET) | \
	 ((_sub_minor) << MRC_API_VER_SUBMINOR_OFFSET))

/* MRC_API_VER(0xFF, 0xFF, 0xFFFF), for programs that follow the newest version unnamed. */
#define MRC_API_VER_LATEST 0xFFFFFFFF

/* REQ(api.version) */
#define MRC_API_CURRENT_VERSION MRC_API_VER(1, 0, 1)
#define MRC_API_LAST_SUPPORTED_VERSION MRC_API_VER(0, 0, 0)

#ifndef MRC_API_VER_USED
#define MRC_API_VER_USED MRC_API_CURRENT_VERSION
#elif MRC_API_VER_USED == MRC_API_VER_LATEST
#undef MRC_API_VER_USED
#define MRC_API_VER_USED MRC_API_CURRENT_VERSION
#endif

#if MRC_API_VER_USED > MRC_API_CURRENT_VERSION
#error "MRC_API_VER_USED asks for a newer version than MRC_API_CURRENT_VERSION"
#elif MRC_API_VER_USED < MRC_API_LAST_SUPPORTED_VERSION
#error "MRC_API_VER_USED asks for an older version than MRC_API_LAST_SUPPORTED_VERSION"
#elif MRC_API_VER_USED == MRC_API_LAST_SUPPORTED_VERSION
#warning "MRC_API_VER_USED is the oldest version still supported: the next release may drop it"
#endif

/*
 * The same once more for what a provider adds of its own. softmrc adds nothing to mrc.h, so its
 * vendor version never changes what a program can call.
 */
#define MRC_VENDOR_API_CURRENT_VERSION MRC_API_VER(1, 0, 0)
#define MRC_VENDOR_API_LAST_SUPPORTED_VERSION MRC_API_VER(0, 0, 0)

#ifndef MRC_VENDOR_API_VER_USED
#define MRC_VENDOR_API_VER_USED MRC_VENDOR_API_CURRENT_VERSION
#elif MRC_VENDOR_API_VER_USED == MRC_API_VER_LATEST
#undef MRC_VENDOR_API_VER_USED
#define MRC_VENDOR_API_VER_USED MRC_VENDOR_API_CURRENT_VERSION
#endif

#if MRC_VENDOR_API_VER_USED > MRC_VENDOR_API_CURRENT_VERSION
#error "MRC_VENDOR_API_VER_USED asks for a newer version than MRC_VENDOR_API_CURRENT_VERSION"
#elif MRC_VENDOR_API_VER_USED < MRC_VENDOR_API_LAST_SUPPORTED_VERSION
#error "MRC_VENDOR_API_VER_USED asks for an older version than the last one supported"
#elif MRC_VENDOR_API_VER_USED == MRC_VENDOR_API_LAST_SUPPORTED_VERSION
#warning "MRC_VENDOR_API_VER_USED is the oldest version still supported: it may be dropped"
#endif

#endif
