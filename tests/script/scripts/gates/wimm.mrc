# At most max_wimm writes with immediate are in flight; the next waits for an ACK, and what is posted
# behind it waits too. REQ(req.gate.wimm)
config max_wimm 2 evs 8

post write 8 bytes id 1 imm 1
post write 8 bytes id 2 imm 2
post write 8 bytes id 3 imm 3
post write 8 bytes id 4
> WRITE ONLY IMM psn 100..101 rqmsn 0..1
expect nothing for 100us
< SACK cack 101
expect nothing                                       # arrived, but not complete
< ACK msn 1
expect completion id 1 success
> WRITE ONLY IMM psn 102 rqmsn 2
> WRITE ONLY psn 103 rqmsn 3
< ACK msn 4
expect completion id 2..4 success
