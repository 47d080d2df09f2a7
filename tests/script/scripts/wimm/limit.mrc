# As many immediates as agreed may be under way, one more ends the QP. Earlier messages complete
# first. REQ(rsp.wimm.limit)
config max_wimm_dest 2

post recv id 1..4
< WRITE ONLY IMM psn 101..102 msn 1..2 rqmsn 0..1 imm 5 len 8
< WRITE ONLY IMM psn 103 msn 3 rqmsn 2 imm 5 len 8
expect nothing
< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 3 nak invalid_request
expect receive id 1..2 success imm 5
expect receive id 3..4 flushed
expect qp_error invalid_request by peer
