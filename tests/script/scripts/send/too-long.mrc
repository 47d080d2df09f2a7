# A SEND longer than its receive ends the QP, when all before it is complete.
# REQ(ext.recv.length)
config extended on sack_bytes 100000

< PROBE probe 1 ext 0x41
> SACK probe 1
post recv id 1 sge 8 at 0
post recv id 2 sge 8 at 65536
post recv id 3
< SEND ONLY psn 101 msn 1 rqmsn 1 len 9
expect nothing
< SEND ONLY psn 100 msn 0 rqmsn 0 len 8
> ACK msn 1 nak invalid_request
expect placed 8 at 0
expect placed nothing
expect receive id 1 success len 8
expect receive id 2 length
expect receive id 3 flushed
expect qp_error invalid_request by peer
