# A stashed immediate needs its receive only when its turn comes. REQ(rsp.wimm.stash)
config planes 1

< WRITE ONLY IMM psn 101 msn 1 imm 4 len 8
post recv id 9
< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 2
expect receive id 9 success imm 4 len 8
