# Of a message of 4 packets the first and the last come, next to each other: the packets between them
# would be what the receive held before. Its packets must agree on where it begins.
# REQ(rsp.complete.whole) REQ(ext.recv.length)
config extended on sack_bytes 100000

< PROBE probe 1 ext 0x41
> SACK probe 1
post recv id 1 sge 5000 at 0
< SEND FIRST psn 100 msn 0 rqmsn 0 dmalen 4096 at 0
< SEND LAST psn 101 msn 0 rqmsn 0 dmalen 4096 at 3072
> ACK msn 0 nak invalid_request
expect receive id 1 flushed
expect qp_error invalid_request by peer
