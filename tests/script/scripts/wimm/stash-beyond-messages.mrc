# Immediates of messages far apart: RQMSN counts only writes with immediate, MSN all messages.
# REQ(rsp.wimm.stash) REQ(wire.meth.rqmsn)
config max_wimm_dest 2 sack_bytes 1000000

post recv id 1..2
< WRITE ONLY IMM psn 500 msn 400 rqmsn 1 imm 22 len 8
< WRITE ONLY IMM psn 300 msn 200 rqmsn 0 imm 11 len 8
< WRITE ONLY psn 101..299 msn 1..199 rqmsn 0 len 8
< WRITE ONLY psn 301..499 msn 201..399 rqmsn 1 len 8
expect nothing
< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 401
expect receive id 1 success imm 11
expect receive id 2 success imm 22
