# Our message numbers wrap at 2^16 in the METH, and at 2^24 in the ACK.
# REQ(wire.meth.msn) REQ(req.complete.acked)
config evs 8 msn 65534

post write 0 bytes id 1..4
> WRITE ONLY psn 100..103 msn 65534..1
< SACK cack 103
< ACK msn 65536
expect completion id 1..2 success
< ACK msn 65538
expect completion id 3..4 success
