# Two bad messages, the later one found first: the NAK is about the earlier one.
# REQ(rsp.error.in-order)
config mr 65536

< WRITE ONLY psn 103 msn 3 len 8 at 70000
< WRITE ONLY psn 101 msn 1 len 8 at 70000
expect nothing
< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 1 nak remote_access
expect qp_error remote_access by peer
