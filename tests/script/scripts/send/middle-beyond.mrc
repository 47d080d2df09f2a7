# A middle packet whose last bytes lie behind the end of its message, within what the receive has room for.
# REQ(ext.recv.length)
config extended on sack_bytes 100000

< PROBE probe 1 ext 0x41
> SACK probe 1
post recv id 1 sge 5000 at 0
< SEND MIDDLE psn 101 msn 0 rqmsn 0 dmalen 1500 at 1024
> ACK msn 0 nak invalid_request
expect placed nothing
expect receive id 1 flushed
expect qp_error invalid_request by peer
