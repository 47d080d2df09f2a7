# At the responder: the packet that was held to be lost comes twice, by its first and its second way.
# It is placed once and completes once. REQ(rsp.place.once) REQ(rsp.window.duplicate-below)
config planes 1

post recv id 1..2
< WRITE ONLY psn 101 msn 1 len 8
< WRITE ONLY IMM psn 100 msn 0 imm 7 len 8 rtx ev 3
> SACK cack 101 trigger 100 ev 3 rtx
> ACK msn 2
expect receive id 1 success imm 7
< WRITE ONLY IMM psn 100 msn 0 imm 7 len 8 ev 2
> SACK cack 101 trigger 100 ev 2
> ACK msn 2
expect nothing
expect placed 8 at 1024
expect placed 8 at 0
expect placed nothing
