# A message whose receive is complete already is an invalid request. REQ(ext.recv.match)
config extended on sack_bytes 100000

< PROBE probe 1 ext 0x41
> SACK probe 1
post recv id 1..2 sge 5000 at 0
< SEND ONLY psn 100 msn 0 rqmsn 0 len 8
> ACK msn 1
expect receive id 1 success len 8
expect placed 8 at 0
< SEND ONLY psn 101 msn 1 rqmsn 0 len 8
> ACK msn 1 nak invalid_request
expect placed nothing
expect receive id 2 flushed
expect qp_error invalid_request by peer
