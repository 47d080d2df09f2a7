# A copy of a packet with an immediate delivers nothing twice, neither while the first waits in the
# stash nor later. REQ(rsp.wimm.stash) REQ(rsp.place.once)
config planes 1

post recv id 1..3
< WRITE ONLY IMM psn 101 msn 1 rqmsn 0 imm 5 len 8
< WRITE ONLY IMM psn 101 msn 1 rqmsn 0 imm 5 len 8 rtx
> SACK cack 99 map 0b10 rtx
expect nothing
< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 2
expect receive id 1 success imm 5
< WRITE ONLY IMM psn 101 msn 1 rqmsn 0 imm 5 len 8 rtx
> SACK cack 101 rtx
> ACK msn 2
expect nothing
expect placed 8 at 1024
expect placed 8 at 0
expect placed nothing
