# The number of writes with immediate wraps at 2^16, in what we send and in the stash of early
# immediates. REQ(wire.meth.rqmsn) REQ(rsp.wimm.stash)
config rqmsn 65535 peer_rqmsn 65535

post recv id 1..2
< WRITE ONLY IMM psn 101 msn 1 rqmsn 0 imm 22 len 8
expect nothing
< WRITE ONLY IMM psn 100 msn 0 rqmsn 65535 imm 11 len 8
> ACK msn 2
expect receive id 1 success imm 11
expect receive id 2 success imm 22
post write 0 bytes id 7 imm 5
post write 0 bytes id 8 imm 6
> WRITE ONLY IMM psn 100..101 msn 0..1 rqmsn 65535..0
< ACK msn 2
expect completion id 7..8 success
