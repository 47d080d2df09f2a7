# ACKs from nobody who has the packets: that name a PSN which was not sent, one of long ago, or one
# before the messages that they count. None completes what did not arrive, and no NAK ends the QP.
# REQ(req.ack.psn) REQ(req.complete.acked)
config evs 4 psn 5000

post write 8 bytes id 1..3
> WRITE ONLY psn 5000..5002
< ACK msn 3 psn 5003
< ACK msn 3 psn 3000
< ACK msn 0 nak remote_access psn 3000
< ACK msn 1 nak remote_access psn 4999                # message 0 has not arrived
expect stat drop_bogus_ack 3
expect stat acks_stale 1
< ACK msn 3 psn 4999
< ACK msn 3 psn 0                                     # as an end that does not fill it in; ours has
expect stat drop_bogus_ack 3
expect stat acks_stale 2
expect nothing
expect state RTS
< SACK cack 5000
expect completion id 1 success
expect nothing
< ACK msn 3 psn 5002
expect completion id 2..3 success
