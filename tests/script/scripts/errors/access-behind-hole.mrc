# The error in message 2 is reported when messages 0 and 1 are complete, not before; they succeed.
# REQ(rsp.error.in-order)
config mr 65536 sack_bytes 100000

< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 1
< WRITE ONLY psn 102 msn 2 len 8 at 65536
< WRITE ONLY psn 103 msn 3 len 8                     # behind the refused one: not placed any more
expect nothing for 1ms
expect state RTS
< WRITE ONLY psn 101 msn 1 len 8
> ACK msn 2 nak remote_access
expect qp_error remote_access by peer
expect placed 8 at 0
expect placed 8 at 1024
expect placed nothing
