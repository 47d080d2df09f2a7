# The memory behind a region is gone when a packet comes: the message is refused with an operation
# error, behind all earlier ones. REQ(rsp.place.memory-gone) REQ(rsp.error.in-order)
config planes 1

< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 1
memory gone
< WRITE ONLY psn 102 msn 2 len 8
expect nothing
< WRITE ONLY psn 101 msn 1 len 0 dmalen 0              # needs no memory
> ACK msn 2 nak remote_op
expect qp_error remote_op by peer
