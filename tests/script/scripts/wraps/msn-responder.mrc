# The peer's message numbers wrap at 2^16 while a message is missing; the ACK goes on counting.
# REQ(rsp.ack.transport) REQ(rsp.window.any-order)
config peer_msn 65535

< WRITE ONLY psn 101 msn 0 len 8
< WRITE ONLY psn 102 msn 1 len 8
expect nothing
< WRITE ONLY psn 100 msn 65535 len 8
> ACK msn 65538
expect stat drop_malformed 0
