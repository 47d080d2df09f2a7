/* SPDX-License-Identifier: BSD-2-Clause */
/* opcode.h - mw_opcode_info for those who ask for each packet. */
#ifndef SOFTMRC_WIRE_OPCODE_H
#define SOFTMRC_WIRE_OPCODE_H

#include "wire/packet.h"

/* The high two bits of an opcode are the prefix of MRC and the extension, the others its row. */
#define MW_OPCODE_PREFIX 0xC0u
#define MW_OPCODE_ROW_MASK 0x3Fu

/* Where no opcode is defined, as in row 0, a row has no flags. */
extern const struct mw_opcode_info mw_opcode_rows[MW_OPCODE_ROW_MASK + 1];

/* mw_opcode_row is mw_opcode_info. REQ(wire.opcode.prefix) REQ(svc.no-rc-interop) */
static inline const struct mw_opcode_info *mw_opcode_row(uint8_t opcode)
{
	return &mw_opcode_rows[opcode >= MW_OPCODE_PREFIX ? opcode & MW_OPCODE_ROW_MASK : 0];
}

#endif
