# A NAK whose message number has wrapped at 2^24: the two before it succeed, the message that it
# names, the first after the wrap, gets the status, the one behind it is flushed.
# REQ(req.error.nak) REQ(wire.aeth.layout)
config evs 8 msn 16777214

post write 8 bytes id 1..4
> WRITE ONLY psn 100..103 msn 65534..1
+10us < ACK msn 0 nak remote_access
expect completion id 1..2 success
expect completion id 3 remote_access
expect completion id 4 flushed
expect qp_error remote_access
