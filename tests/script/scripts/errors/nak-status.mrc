# A NAK for message 2: messages 0 and 1 succeed, message 2 gets the status that the NAK names, later
# ones are flushed. REQ(req.error.nak) REQ(req.error.flush) REQ(req.complete.order)
config evs 8

post write 8 bytes id 1..4
> WRITE ONLY psn 100..103
+10us < ACK msn 2 nak remote_access
expect completion id 1..2 success
expect completion id 3 remote_access
expect completion id 4 flushed
expect qp_error remote_access
expect state ERR
post write 8 bytes id 5
expect completion id 5 flushed
expect nothing for 10s
