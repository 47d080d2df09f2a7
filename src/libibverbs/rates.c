/* SPDX-License-Identifier: BSD-2-Clause */
/* rates.c - verbs' codes of link rates, in Mb/s and in multiples of 2.5 Gb/s. */
#include "libibverbs/libibverbs.h"

/* A rate's multiple of 2.5 Gb/s is its name's, also where lanes are a little faster than that. */
static const struct {
	enum ibv_rate code;
	int mult, mbps;
} rates[] = {
	{IBV_RATE_2_5_GBPS, 1, 2500},	    {IBV_RATE_5_GBPS, 2, 5000},
	{IBV_RATE_10_GBPS, 4, 10000},	    {IBV_RATE_20_GBPS, 8, 20000},
	{IBV_RATE_30_GBPS, 12, 30000},	    {IBV_RATE_40_GBPS, 16, 40000},
	{IBV_RATE_60_GBPS, 24, 60000},	    {IBV_RATE_80_GBPS, 32, 80000},
	{IBV_RATE_120_GBPS, 48, 120000},    {IBV_RATE_14_GBPS, -1, 14062},
	{IBV_RATE_56_GBPS, -1, 56250},	    {IBV_RATE_112_GBPS, -1, 112500},
	{IBV_RATE_168_GBPS, -1, 168750},    {IBV_RATE_25_GBPS, -1, 25781},
	{IBV_RATE_100_GBPS, -1, 103125},    {IBV_RATE_200_GBPS, -1, 206250},
	{IBV_RATE_300_GBPS, -1, 309375},    {IBV_RATE_28_GBPS, 11, 28125},
	{IBV_RATE_50_GBPS, 20, 53125},	    {IBV_RATE_400_GBPS, 160, 425000},
	{IBV_RATE_600_GBPS, 240, 637500},   {IBV_RATE_800_GBPS, 320, 850000},
	{IBV_RATE_1200_GBPS, 480, 1275000},
};

/* Returns `what` of the first rate whose `field` is `value`, or else `none`. */
#define LOOK_UP(field, value, what, none)                             \
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) \
		if (rates[i].field == (value))                        \
			return rates[i].what;                         \
	return none

int ibv_rate_to_mult(enum ibv_rate rate)
{
	LOOK_UP(code, rate, mult, -1);
}

/* Rates without a multiple have -1, which is none. */
enum ibv_rate mult_to_ibv_rate(int mult)
{
	LOOK_UP(mult, mult > 0 ? mult : 0, code, IBV_RATE_MAX);
}

int ibv_rate_to_mbps(enum ibv_rate rate)
{
	LOOK_UP(code, rate, mbps, -1);
}

enum ibv_rate mbps_to_ibv_rate(int mbps)
{
	LOOK_UP(mbps, mbps, code, IBV_RATE_MAX);
}
