# ACKs and NAKs for messages that were not sent, and an RNR NAK, which MRC does not have.
# REQ(req.complete.acked) REQ(req.error.nak)
config evs 4

post write 8 bytes id 1
> WRITE ONLY psn 100
room none
post write 8 bytes id 2
< ACK msn 2
< ACK msn 1 nak remote_access                         # message 1 is posted, but nothing of it was sent
< ACK msn 8388608
expect nothing
expect state RTS
expect stat drop_bogus_ack 3
< ACK msn 1
expect completion id 1 success
room all
> WRITE ONLY psn 101
< ACK msn 2
expect completion id 2 success
