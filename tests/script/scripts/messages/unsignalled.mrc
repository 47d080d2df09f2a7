# An unsignalled request gives no completion when it succeeds, and one when it fails.
# REQ(req.complete.order) REQ(req.complete.once)
config evs 8

post write 8 bytes id 1 unsignalled
post write 8 bytes id 2
post write 8 bytes id 3 unsignalled
> WRITE ONLY psn 100..102
< ACK msn 2
expect completion id 2 success
< ACK msn 2 nak remote_access
expect completion id 3 remote_access
expect qp_error remote_access
