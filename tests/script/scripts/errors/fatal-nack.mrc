# A NACK for an unexpected event ends the QP. REQ(req.error.fatal-nack) REQ(req.error.flush)
config evs 8

post recv id 9
post write 8 bytes id 1..2
> WRITE ONLY psn 100..101
< NACK psn 100 reason unexp_event
expect completion id 1 remote_op
expect completion id 2 flushed
expect receive id 9 flushed
expect qp_error remote_op
