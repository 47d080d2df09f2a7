# A NAK for a failed operation. REQ(req.error.nak)
config evs 8

post write 8 bytes id 1
> WRITE ONLY psn 100
< ACK msn 0 nak remote_op
expect completion id 1 remote_op
expect qp_error remote_op
