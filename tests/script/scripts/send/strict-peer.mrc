# A peer that says nothing knows MRC alone. WRITEs go; a SEND fails when all before it is complete.
# REQ(ext.strict-peer)
config extended on

post write 100 bytes id 1
> PROBE probe P ext 0x41
post send 100 bytes id 2
post write 100 bytes id 3
< SACK probe P cack 99
> WRITE ONLY psn 100 msn 0
expect nothing for 10us
< ACK msn 1
expect completion id 1 success
expect completion id 2 remote_op
expect completion id 3 flushed
expect qp_error remote_op
expect state ERR
