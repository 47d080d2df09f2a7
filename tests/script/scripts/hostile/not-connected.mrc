# A QP in RTR receives, but it has sent nothing, so nothing can be acknowledged.
# REQ(rsp.qp.demux) REQ(api.qp.modify.order)
config state RTR

post write 8 bytes id 1 fails state
< SACK cack 100
< ACK msn 1
< NACK psn 100 reason trimmed ev 0
expect stat drop_bogus_ack 3
< WRITE ONLY psn 100 len 8
> ACK msn 1
expect placed 8 at 0
state SQD fails state
state RTS
expect state RTS
