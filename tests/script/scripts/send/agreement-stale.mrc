# The answer to a probe of a former connection decides nothing about this one. REQ(ext.agreement)
config extended on

post send 100 bytes id 1
> PROBE probe P ext 0x41
< SACK probe 0x7777 cack 99 ext 0                # plain MRC: not what was asked
expect nothing for 10us
< SACK probe P cack 99 ext 0x41
> SEND ONLY psn 100 msn 0 dmalen 100
< ACK msn 1
expect completion id 1 success
